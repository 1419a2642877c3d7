//! Error of the mean of an evenly spaced series: its variance at frequency zero, estimated from the
//! lowest cosine ordinates, as far up as the spectrum is flat.

use std::f64::consts::PI;

use statrs::distribution::{Beta, ContinuousCDF, FisherSnedecor};

/// Largest number of ordinates. More would narrow the interval by less than 5 %, and include
/// frequencies that say nothing about frequency zero.
const ORDINATES_MAX: usize = 16;
/// Fewest ordinates for an interval: with fewer, Student's factor is above 4 and depends on a
/// single draw.
const ORDINATES_MIN: usize = 3;
/// Fewest degrees of freedom for a decision to end a measurement.
pub(crate) const DEGREES_TO_END: usize = 5;
/// Fewest samples per ordinate.
const SAMPLES_EACH: usize = 4;
/// Highest order of the autoregressive model.
const ORDER_MAX: usize = 8;
/// Largest deviation of the model's mean spectrum over the ordinates from its value at zero.
const FLAT: f64 = 0.1;
/// Largest frequency of the ordinates, as a share of the corner frequency. The process is taken as
/// persistent as the series allows at one standard error.
const CORNER_SHARE: f64 = 0.45;
/// Probabilities below which a peak or a slope among the ordinates is considered real.
const PEAK_CHANCE: f64 = 0.005;
const SLOPE_CHANCE: f64 = 0.02;
/// Longer series are halved by joining neighbours until they fit, which limits the time of an
/// interim check.
const SAMPLES_MAX: usize = 1024;

/// Buffers, so that an interim check allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    series: Vec<f64>,
    forward: Vec<f64>,
    backward: Vec<f64>,
}

/// Squared standard error of a mean, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanError {
    /// Variance of the mean.
    pub(crate) variance: f64,
    /// Degrees of freedom.
    pub(crate) degrees: usize,
}

impl Workspace {
    /// Room for a series of this many samples.
    pub(crate) fn for_samples(count: usize) -> Self {
        let [series, forward, backward] = [count, SAMPLES_MAX, SAMPLES_MAX].map(Vec::with_capacity);
        Self { series, forward, backward }
    }

    /// The error of the mean of `series`; `None` if the series is too short or too persistent.
    pub(crate) fn mean_error(&mut self, series: &[f64]) -> Option<MeanError> {
        self.series.clear();
        self.series.extend_from_slice(series);
        while self.series.len() > SAMPLES_MAX {
            join_neighbours(&mut self.series);
        }
        let count = self.series.len();
        let centre = mean(&self.series);
        self.series.iter_mut().for_each(|x| *x -= centre);
        if count < SAMPLES_EACH * ORDINATES_MIN {
            return None;
        }
        let model = self.model();
        let most = model.flat_ordinates(count).min(count / SAMPLES_EACH).min(ORDINATES_MAX);
        let mut ordinates = [0.0; ORDINATES_MAX];
        for (index, ordinate) in ordinates.iter_mut().enumerate().take(most) {
            *ordinate = cosine_ordinate(&self.series, index + 1);
        }
        let flat = without_features(&ordinates[..most]);
        (flat.len() >= ORDINATES_MIN)
            .then(|| MeanError { variance: mean(flat) / count as f64, degrees: flat.len() })
    }

    /// Fits a model by Burg's recursion (Marple, *Digital Spectral Analysis*, 8.5), with the order
    /// that minimises the corrected Akaike information criterion (Hurvich and Tsai 1989).
    fn model(&mut self) -> Model {
        let Self { series, forward, backward } = self;
        let count = series.len() as f64;
        forward.clone_from(series);
        backward.clone_from(series);
        let mut energy = series.iter().map(|x| x * x).sum::<f64>() / count;
        let mut model = Model::default();
        let (mut best, mut least) = (model, count * energy.max(f64::MIN_POSITIVE).ln());
        for order in 1..=(series.len() / 6).min(ORDER_MAX) {
            let pairs = forward[order..].iter().zip(&backward[order - 1..]);
            let (product, squares) = pairs.fold((0.0, 0.0), |(product, squares), (f, b)| {
                (product + f * b, squares + f * f + b * b)
            });
            if squares <= 0.0 {
                break;
            }
            let reflection = 2.0 * product / squares;
            model = model.raised(reflection);
            for at in (order..series.len()).rev() {
                let (f, b) = (forward[at], backward[at - 1]);
                forward[at] = f - reflection * b;
                backward[at] = b - reflection * f;
            }
            energy *= 1.0 - reflection * reflection;
            let k = order as f64;
            let criterion =
                count * energy.max(f64::MIN_POSITIVE).ln() + 2.0 * k * count / (count - k - 2.0);
            if criterion < least {
                (best, least) = (model, criterion);
            }
        }
        best
    }
}

/// An autoregressive model: predicts each sample from the preceding ones.
#[derive(Clone, Copy, Debug, Default)]
struct Model {
    weights: [f64; ORDER_MAX],
    order: usize,
}

impl Model {
    /// Levinson's step to the next order.
    fn raised(self, reflection: f64) -> Self {
        let mut raised = Self { order: self.order + 1, ..self };
        for (index, weight) in self.weights[..self.order].iter().rev().enumerate() {
            raised.weights[index] = self.weights[index] - reflection * weight;
        }
        raised.weights[self.order] = reflection;
        raised
    }

    /// Power at an angular frequency, in units of the innovation's variance.
    fn power(&self, frequency: f64) -> f64 {
        let (mut real, mut imaginary) = (1.0, 0.0);
        for (index, weight) in self.weights[..self.order].iter().enumerate() {
            let angle = frequency * (index + 1) as f64;
            real -= weight * angle.cos();
            imaginary -= weight * angle.sin();
        }
        1.0 / (real * real + imaginary * imaginary).max(f64::MIN_POSITIVE)
    }

    /// Number of ordinates up to which the spectrum equals that at zero.
    fn flat_ordinates(&self, count: usize) -> usize {
        let step = PI / count as f64;
        let zero = self.power(0.0);
        let mut sum = 0.0;
        let flat = (1..=ORDINATES_MAX).take_while(|j| {
            sum += self.power(step * *j as f64);
            (sum / (*j as f64 * zero) - 1.0).abs() <= FLAT
        });
        flat.count().min((CORNER_SHARE * self.corner(count) / step) as usize)
    }

    /// Corner frequency of a first-order process whose persistence is one standard error above the
    /// model's: a short series of a slow process often appears faster than it is.
    fn corner(&self, count: usize) -> f64 {
        let sum: f64 = self.weights[..self.order].iter().sum();
        let persistence = sum.clamp(0.0, 1.0);
        let error = ((1.0 - persistence * persistence) / count as f64).sqrt();
        let upper = (persistence + error).min(1.0);
        (1.0 - upper) / upper.sqrt()
    }
}

/// Square of the `j`-th coefficient of the orthonormal cosine transform (type II), by a rotating
/// phasor. Its expectation is the spectrum at π·j/n (Müller 2004; Lazarus, Lewis, Stock and Watson
/// 2018, *HAR Inference*: the equal-weighted cosine estimator).
fn cosine_ordinate(series: &[f64], j: usize) -> f64 {
    let count = series.len() as f64;
    let step = PI * j as f64 / count;
    let (mut cosine, mut sine) = ((step / 2.0).cos(), (step / 2.0).sin());
    let (turn_cosine, turn_sine) = (step.cos(), step.sin());
    let mut sum = 0.0;
    for x in series {
        sum += x * cosine;
        (cosine, sine) =
            (cosine * turn_cosine - sine * turn_sine, sine * turn_cosine + cosine * turn_sine);
    }
    sum * sum * 2.0 / count
}

/// The ordinates below the first significant peak or slope: a cycle, a trend, or a slow component
/// that the model missed.
fn without_features(all: &[f64]) -> &[f64] {
    let mut kept = all;
    while kept.len() >= ORDINATES_MIN {
        let half = kept.len() / 2;
        if let Some(peak) = peak(kept) {
            // A peak leaks into its neighbours.
            kept = &kept[..peak * 3 / 5];
            continue;
        }
        match slope(kept) {
            Slope::Falling => kept = &kept[..half],
            // A rising spectrum only makes the interval too wide, which is no reason to give none.
            Slope::Rising if half >= DEGREES_TO_END => kept = &kept[..half],
            Slope::Rising | Slope::None => break,
        }
    }
    kept
}

/// Index of an ordinate that is too large a part of the sum (Fisher's test; for ordinates with one
/// degree of freedom, the part has a beta distribution).
fn peak(ordinates: &[f64]) -> Option<usize> {
    let sum: f64 = ordinates.iter().sum();
    let (index, largest) =
        ordinates.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if sum <= 0.0 {
        return None;
    }
    let count = ordinates.len() as f64;
    let part = Beta::new(0.5, (count - 1.0) / 2.0).ok()?;
    (count * part.sf(largest / sum) < PEAK_CHANCE).then_some(index)
}

enum Slope {
    None,
    Falling,
    Rising,
}

/// Tests if the lower half of the ordinates and the upper differ by more than chance.
fn slope(ordinates: &[f64]) -> Slope {
    let (lower, upper) = ordinates.split_at(ordinates.len() / 2);
    let quotient = mean(lower) / mean(upper).max(f64::MIN_POSITIVE);
    let Ok(chance) = FisherSnedecor::new(lower.len() as f64, upper.len() as f64) else {
        return Slope::None;
    };
    if mean(ordinates) <= 0.0 || !quotient.is_finite() {
        Slope::None
    } else if chance.sf(quotient) * 2.0 < SLOPE_CHANCE {
        Slope::Falling
    } else if chance.cdf(quotient) * 2.0 < SLOPE_CHANCE {
        Slope::Rising
    } else {
        Slope::None
    }
}

pub(crate) fn join_neighbours(series: &mut Vec<f64>) {
    let half = series.len() / 2;
    for index in 0..half {
        series[index] = (series[2 * index] + series[2 * index + 1]) / 2.0;
    }
    series.truncate(half);
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
