//! Statistics of a quantity over phases, ranks or windows.

/// Extremes, mean and standard deviation; all 0 without values.
#[derive(Default)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) count: u64,
}

impl Spread {
    /// Spread of these values. `lost` is the number of lost degrees of freedom: 1 if the values are
    /// a sample, 0 if they are all there are.
    pub(crate) fn new(values: &[f64], lost: usize) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let free = values.len().saturating_sub(lost).max(1);
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean,
            deviation: (squares / free as f64).sqrt(),
            count: values.len() as u64,
        }
    }
}
