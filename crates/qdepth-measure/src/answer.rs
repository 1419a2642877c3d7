//! Search for the highest rate of an open loop at which percentiles of the response time stay
//! within their limits. The search chooses the rates to probe, and gives the answer with its error.
//!
//! Single probes first enclose the rate at which the share of requests beyond a limit reaches what
//! the percentile allows (1 % for p99). Rounds of probes then surround it, each round longer than
//! the one before. Only the last two rounds count, because the behaviour of a device before it
//! slowed down says nothing about the answer. Near the answer the logarithm of the share is close
//! to linear in the rate (exactly so for M/M/1). A Poisson regression therefore gives the rate, and
//! Fieller's theorem its interval. The variance is that of the probes around the line, because
//! requests beyond a limit come in bursts.

mod shares;

use crate::units::Nanos;
use shares::{Crossing, Level, Line, Point, REACH};

/// First rate, as a share of the rate of a closed loop.
const FIRST: f64 = 0.5;
/// Lowest and highest rate to probe, as shares of the rate of a closed loop. Beyond that rate an
/// open loop falls behind, unless the closed loop had too few requests in flight.
const ENDS: [f64; 2] = [1e-4, 4.0];
/// Ratio of the two enclosing rates below which rounds start to surround the answer.
const NEAR: f64 = 1.25;
/// Ratio of the two enclosing rates at which they are the answer, because a share that jumps has no
/// slope.
const AT_ONCE: f64 = 1.01;
/// A share jumps if it goes from below the allowed share divided by this factor to above the
/// allowed share times this factor.
const JUMP: f64 = 3.0;
/// Fewest probes on each side of a jump.
const JUMP_LEAST: usize = 2;
/// Least half-width of the interval at a jump, relative to the rate: a queue near its capacity has
/// a memory longer than a window.
const JUMP_MODEL: f64 = 0.019;
/// Least total time of the probes for an answer at a jump: a device that absorbs bursts shows an
/// overload late.
const JUMP_TIME: Nanos = Nanos::from_secs(240);
/// Rates of a round, as distances from the current answer in units of the round's reach. Rounds
/// start alternately below and above the answer, so that drift is not mistaken for slope. The two
/// ends give the slope. The others give the level and follow each other directly: with pauses at
/// equal intervals, separate windows could each contain one more pause than their share.
const ROUND: [f64; 6] = [-1.0, -0.2, 0.1, -0.1, 0.2, 1.0];
/// Distance from the answer, in units of the reach, up to which a probe counts for the level.
const CENTRE: f64 = 0.4;
/// Number of rounds that the answer is computed from.
const ROUNDS: usize = 2;
/// Factor between the windows of a round and of the next.
const GROWTH: f64 = 1.5;
/// Expected number of requests beyond the strictest limit in the first windows.
const BEYOND: f64 = 20.0;
/// Shortest and longest warm-up, and window, of a probe.
const WARM_UP: [Nanos; 2] = [Nanos::from_millis(500), Nanos::from_secs(10)];
const LENGTH: [Nanos; 2] = [Nanos::from_secs(3), Nanos::from_secs(180)];
/// Least length of the warm-up and of the window, in relaxation times of the queue.
const RELAXATIONS: [u64; 2] = [5, 25];
/// Least total time of the probes for an answer, unless the search has less time.
const TIME: Nanos = Nanos::from_secs(60);
/// Divisors of the time of a search. The warm-up and the shortest window take at most 1/60 of it,
/// the longest window and the least time of the last rounds at most 1/3.
const PARTS: [u64; 2] = [60, 3];
/// Half-width of the interval, relative to the rate, at which the search ends.
const TOLERANCE: f64 = 0.02;
/// Largest factor between the rate and an end of its interval. A wider interval gives no answer.
const WIDEST: f64 = 2.0;
/// Least half-width of an interval, relative to the rate, because the line is an approximation.
const MODEL: f64 = 0.0025;
/// Largest distance between two rounds, in standard errors, that chance can explain.
const APART: f64 = 3.5;
/// Fewest independent bursts beyond a limit for an interval: with fewer, its error is unknown, too.
const BURSTS_LEAST: f64 = 20.0;
/// Maximum number of probes before the answer is surrounded: some may have to be repeated.
const ENCLOSING_MOST: usize = 40;
/// Consecutive invalid probes after which the search ends without an answer.
const INVALID_MOST: usize = 5;

/// A rate to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Offered load, I/Os per second.
    pub rate: f64,
    /// Unrecorded warm-up.
    pub warm_up: Nanos,
    /// Length of the measured window.
    pub length: Nanos,
}

/// Result of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Probed {
    /// Offered load, I/Os per second.
    pub rate: f64,
    /// Requests completed.
    pub count: u64,
    /// Number of completed requests with a response time beyond each limit.
    pub beyond: Vec<u64>,
    /// True if its figures cannot be used.
    pub invalid: bool,
}

/// Answer of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The highest rate.
    Rate {
        /// I/Os per second.
        rate: f64,
        /// Ends of its 95 % interval.
        interval: (f64, f64),
        /// Index of the limit that is reached at this rate.
        limit: usize,
    },
    /// A limit is exceeded at the lowest rate that was probed.
    ExceededAtLowest {
        /// Lowest rate that was probed, I/Os per second.
        lowest: f64,
        /// Index of the limit.
        limit: usize,
    },
    /// No limit is exceeded at the highest rate that was probed.
    MetAtHighest {
        /// Highest rate that was probed, I/Os per second.
        highest: f64,
    },
    /// Probes were too short for the percentile, or contradicted each other.
    Unknown,
}

/// Search for the highest rate at latency limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Share of the requests that may be beyond each limit.
    allowed: Vec<f64>,
    /// Time in which a queue near the answer loses the memory of its state.
    relaxation: Nanos,
    /// Rate of a closed loop, I/Os per second.
    reached: f64,
    /// Total time of the search.
    time: Nanos,
    /// Probes that enclosed the answer.
    enclosing: Vec<Probed>,
    /// Rounds that surround the answer.
    rounds: Vec<Vec<Probed>>,
    /// Total length of the windows of each round.
    lengths: Vec<Nanos>,
    /// Total length of all windows.
    spent: Nanos,
}

impl Search {
    /// A search of at most `time` on a target that reached the rate `reached` in a closed loop,
    /// I/Os per second. Each limit is a response time and the share of the requests that may exceed
    /// it, above 0.
    pub fn new(reached: f64, limits: &[(Nanos, f64)], time: Nanos) -> Self {
        // For M/M/1: 4 µ / (µ - λ)², where µ - λ is ln(1 / share) / limit at the limit.
        let relaxation = |(limit, share): &(Nanos, f64)| {
            let decay = (1.0 / share.clamp(1e-9, 0.9)).ln() / limit.as_secs_f64();
            Nanos((4.0 * reached / (decay * decay) * 1e9) as u64)
        };
        Self {
            allowed: limits.iter().map(|(_, share)| *share).collect(),
            relaxation: limits.iter().map(relaxation).min().unwrap_or(Nanos::ZERO),
            reached,
            time,
            enclosing: Vec::new(),
            rounds: Vec::new(),
            lengths: Vec::new(),
            spent: Nanos::ZERO,
        }
    }

    /// Adds the results of the probes that [`next`](Self::next) asked for.
    pub fn add(&mut self, probes: Vec<Probed>) {
        let length = Nanos(self.next().iter().map(|probe| probe.length.0).sum());
        self.spent += length;
        if self.is_enclosed() {
            self.lengths.push(length);
            self.rounds.push(probes);
        } else {
            self.enclosing.extend(probes);
        }
    }

    /// The next probes; empty once there is an answer.
    pub fn next(&self) -> Vec<Probe> {
        if self.is_over() {
            return Vec::new();
        }
        let rates = if self.is_enclosed() {
            let (centre, reach) = self.around();
            let reach = if self.rounds.len().is_multiple_of(2) { reach } else { -reach };
            ROUND.iter().map(|distance| centre + distance * reach).collect()
        } else {
            vec![match self.enclosed() {
                (None, None) => FIRST * self.reached,
                (None, Some(high)) => high / 3.0,
                (Some(low), None) => low * 1.5,
                (Some(low), Some(high)) => (low * high).sqrt(),
            }]
        };
        let warm_up = RELAXATIONS[0].saturating_mul(self.relaxation.0);
        let warm_up = Nanos(warm_up.clamp(WARM_UP[0].0, WARM_UP[1].0).min(self.time.0 / PARTS[0]));
        let probe = |rate: f64| Probe { rate, warm_up, length: self.length(rate) };
        rates.into_iter().map(probe).collect()
    }

    /// The answer that the probes so far give.
    pub fn answer(&self) -> Answer {
        match ends(&self.enclosing, &self.allowed) {
            // The lowest rates may have too few requests.
            (None, Some(_)) => {
                self.clearly_exceeded().map_or(Answer::Unknown, |probe| Answer::ExceededAtLowest {
                    lowest: probe.rate,
                    limit: worst(probe, &self.allowed).1,
                })
            }
            (Some(highest), None) if highest.rate >= ENDS[1] * self.reached => {
                Answer::MetAtHighest { highest: highest.rate }
            }
            (Some(_), Some(_)) => self.surrounded().unwrap_or(Answer::Unknown),
            _ => Answer::Unknown,
        }
    }

    /// The lowest enclosing probe that by itself exceeds a limit by more than chance explains.
    fn clearly_exceeded(&self) -> Option<&Probed> {
        usable(&self.enclosing)
            .filter(|probe| self.is_clearly_exceeded(std::iter::once(*probe), None))
            .min_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// The rates of the two enclosing probes that are nearest to the answer.
    fn enclosed(&self) -> (Option<f64>, Option<f64>) {
        let (low, high) = ends(&self.enclosing, &self.allowed);
        (low.map(|probe| probe.rate), high.map(|probe| probe.rate))
    }

    /// The answer of the last rounds; `None` if they disagree or their error is unknown.
    fn surrounded(&self) -> Option<Answer> {
        let last = &self.rounds[self.rounds.len().checked_sub(ROUNDS)?..];
        let probes = last.concat();
        let crossings = (0..self.allowed.len())
            .filter_map(|limit| Some((limit, self.crossing(&probes, limit)?)));
        let first = crossings.min_by(|(_, a), (_, b)| a.rate.total_cmp(&b.rate));
        let Some((limit, Crossing { rate, interval, bursts, .. })) = first else {
            return self.jumped(last);
        };
        let below = usable(&probes).filter(|probe| probe.rate <= rate);
        let is_known = bursts >= BURSTS_LEAST
            && interval.0 * WIDEST >= rate
            && interval.1 <= rate * WIDEST
            // Another limit may be exceeded even if too few requests exceed it for a line.
            && !self.is_clearly_exceeded(below, Some(limit))
            && self.agree(last, limit);
        let least = MODEL * rate;
        let interval = (interval.0.min(rate - least), interval.1.max(rate + least));
        is_known.then_some(Answer::Rate { rate, interval, limit })
    }

    /// True if the probes together exceed a limit, other than the excluded one, by more than chance
    /// explains.
    fn is_clearly_exceeded<'p>(
        &self,
        probes: impl Iterator<Item = &'p Probed> + Clone,
        but_for: Option<usize>,
    ) -> bool {
        let count = probes.clone().map(|probe| probe.count as f64).sum::<f64>();
        let others = (0..).zip(&self.allowed).filter(|(limit, _)| Some(*limit) != but_for);
        others.into_iter().any(|(limit, allowed): (usize, &f64)| {
            let beyond = probes.clone().filter_map(|probe| probe.beyond.get(limit));
            let beyond = beyond.map(|beyond| *beyond as f64).sum::<f64>();
            let expected = count * allowed;
            beyond > expected + 6.0 * expected.sqrt() + 3.0
        })
    }

    /// True unless the shares beyond the limit in the last round and in the round before differ by
    /// more than chance explains.
    fn agree(&self, rounds: &[Vec<Probed>], limit: usize) -> bool {
        let found: Vec<(f64, f64)> = rounds
            .iter()
            .filter_map(|round| self.crossing(round, limit))
            .map(|crossing| (crossing.rate, crossing.error))
            .collect();
        let [(a, error_of_a), (b, error_of_b)] = found[..] else { return true };
        (a - b).abs() <= APART * error_of_a.hypot(error_of_b)
    }

    /// The answer if the share beyond a limit jumps from small to large between two rates that are
    /// near each other. Probes between these rates may contradict each other, because a queue near
    /// its capacity has a memory longer than a window.
    fn jumped(&self, rounds: &[Vec<Probed>]) -> Option<Answer> {
        let probes = rounds.concat();
        let share = |probe: &&Probed| worst(probe, &self.allowed).0;
        let by_rate = |a: &&Probed, b: &&Probed| a.rate.total_cmp(&b.rate);
        let lowest = usable(&probes).filter(|probe| share(probe) >= 1.0 / JUMP).min_by(by_rate)?;
        let highest = usable(&probes).filter(|probe| share(probe) <= JUMP).max_by(by_rate)?;
        let below = usable(&probes).filter(|probe| probe.rate < lowest.rate);
        let above = usable(&probes).filter(|probe| probe.rate > highest.rate);
        if below.clone().count() < JUMP_LEAST || above.clone().count() < JUMP_LEAST {
            return None;
        }
        let (low, high) = (below.max_by(by_rate)?, above.min_by(by_rate)?);
        let is_near = high.rate <= low.rate * (1.0 + 2.0 * TOLERANCE);
        let rate = (low.rate * high.rate).sqrt();
        let least = JUMP_MODEL * rate;
        (is_near && self.rests_on(JUMP_TIME)).then(|| Answer::Rate {
            rate,
            interval: (low.rate.min(rate - least), high.rate.max(rate + least)),
            limit: worst(high, &self.allowed).1,
        })
    }

    /// True if the last rounds took the time `least`, or as much of it as the search has for them.
    fn rests_on(&self, least: Nanos) -> bool {
        let last = &self.lengths[self.lengths.len().saturating_sub(ROUNDS)..];
        let time = last.iter().map(|length| length.0).sum::<u64>();
        time >= least.0.min(self.time.0 / PARTS[1])
    }

    fn is_over(&self) -> bool {
        if self.spent >= self.time {
            return true;
        }
        if !self.is_enclosed() {
            let invalid = self.enclosing.iter().rev().take_while(|probe| probe.invalid).count();
            return match self.enclosed() {
                _ if self.enclosing.len() >= ENCLOSING_MOST => true,
                _ if invalid >= INVALID_MOST => true,
                (None, Some(high)) => high <= ENDS[0] * self.reached,
                (Some(low), None) => low >= ENDS[1] * self.reached,
                _ => false,
            };
        }
        let is_near = match self.answer() {
            Answer::Rate { rate, interval: (low, high), .. } => {
                high - low <= 2.0 * TOLERANCE * rate
            }
            _ => false,
        };
        is_near && self.rests_on(TIME)
    }

    /// True once rounds can surround the answer: the enclosing rates are near each other. If the
    /// share jumps, they can at once.
    fn is_enclosed(&self) -> bool {
        let (Some(low), Some(high)) = ends(&self.enclosing, &self.allowed) else { return false };
        let jumps = jumps_between(&[low.clone(), high.clone()], low.rate, &self.allowed);
        high.rate <= low.rate * if jumps { AT_ONCE } else { NEAR }
    }

    /// Length of a window: long enough for requests beyond the strictest limit, and longer in each
    /// round, because pauses may be rare.
    fn length(&self, rate: f64) -> Nanos {
        let strictest = self.allowed.iter().copied().fold(1.0, f64::min);
        let settled = Nanos(RELAXATIONS[1].saturating_mul(self.relaxation.0)).as_secs_f64();
        let shortest = LENGTH[0].0.min(self.time.0 / PARTS[0]).max(1);
        let first = (BEYOND / strictest / rate).max(shortest as f64 / 1e9).max(settled);
        let seconds = first * GROWTH.powi(self.rounds.len() as i32);
        let longest = LENGTH[1].0.min(self.time.0 / PARTS[1]).max(shortest);
        Nanos(((seconds * 1e9) as u64).clamp(shortest, longest))
    }

    /// Centre of the next round, and its reach to each side.
    fn around(&self) -> (f64, f64) {
        let last = &self.rounds[self.rounds.len().saturating_sub(ROUNDS)..];
        let middle = |low: f64, high: f64| ((low + high) / 2.0, (high - low) / 2.0);
        let Some(latest) = last.last() else {
            let (low, high) = self.enclosed();
            return middle(low.unwrap_or(self.reached), high.unwrap_or(self.reached));
        };
        let probes = last.concat();
        let rates = || latest.iter().map(|probe| probe.rate);
        let (lowest, highest) =
            (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let (below, above) = ends(&probes, &self.allowed);
        if let Some((low, high)) = below.zip(above)
            && jumps_between(&probes, low.rate, &self.allowed)
        {
            let (centre, reach) = middle(low.rate, high.rate);
            return (centre, reach.max(REACH[0] * centre));
        }
        let lines = (0..self.allowed.len()).filter_map(|limit| {
            let line = self.line(&probes, limit)?;
            Some((line.rate_at(self.allowed[limit].ln()), line))
        });
        if let Some((rate, line)) = lines.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
            let rate = rate.clamp(lowest / (1.0 + REACH[1]), highest * (1.0 + REACH[1]));
            return (rate, line.reach(rate));
        }
        let (rate, _) = middle(lowest, highest);
        let exceeding = |exceeds: bool| {
            let all = usable(&self.enclosing).chain(self.rounds.iter().flat_map(|r| usable(r)));
            let judged = all.filter(move |p| (worst(p, &self.allowed).0 > 1.0) == exceeds);
            judged.map(|probe| probe.rate)
        };
        // Earlier probes show how far to go, but not where the answer is.
        let far = 1.0 + 2.0 * REACH[1];
        match (below, above) {
            (Some(_), Some(_)) => (rate, REACH[1] * rate),
            (Some(_), None) => {
                let above = exceeding(true).filter(|rate| *rate > highest);
                middle(highest, above.fold(highest * far, f64::min))
            }
            _ => {
                let below = exceeding(false).filter(|rate| *rate < lowest);
                middle(below.fold(lowest / far, f64::max), lowest)
            }
        }
    }

    /// The line of a limit near the answer. The first line is through all probes. It is then
    /// refined with the probes at which it predicts between a fifth and five times the allowed
    /// share, if there are enough. At higher rates bursts are longer, and a line fits the curve
    /// only locally. The selection uses the prediction and not the measured share, because that
    /// would exclude rare pauses.
    fn line(&self, probes: &[Probed], limit: usize) -> Option<Line> {
        let points = points(probes, limit);
        let mut line = Line::through(&points)?;
        for _ in 0..3 {
            let rate = line.rate_at(self.allowed[limit].ln());
            let far = 5.0_f64.ln() / line.slope * line.centre;
            let is_near = |point: &&Point| (point.rate - rate).abs() <= far;
            let near: Vec<Point> = points.iter().filter(is_near).copied().collect();
            let Some(of_near) = Line::through(&near) else { break };
            line = of_near;
        }
        Some(line)
    }

    /// The rate at which the share beyond a limit equals the allowed share. The slope is that of
    /// the line, to which the rates on both sides contribute equally. The level is that of the
    /// nearest probes, because the curve may be bent.
    fn crossing(&self, probes: &[Probed], limit: usize) -> Option<Crossing> {
        let line = self.line(probes, limit)?;
        let all = points(probes, limit);
        let expected = self.allowed[limit].ln();
        let (mut rate, mut crossing) = (line.rate_at(expected), None);
        for _ in 0..3 {
            let reach = CENTRE * line.reach(rate.max(0.0));
            let is_near = |point: &&Point| (point.rate - rate).abs() <= reach;
            let near: Vec<Point> = all.iter().filter(is_near).copied().collect();
            let found = Level::near(&near, &line)?.crossing(&line, expected)?;
            rate = found.rate;
            crossing = Some(found);
        }
        crossing
    }
}

fn usable(probes: &[Probed]) -> impl Iterator<Item = &Probed> + Clone {
    probes.iter().filter(|probe| !probe.invalid && probe.count > 0)
}

/// The largest share beyond a limit, as a multiple of the allowed share, and the index of that
/// limit.
fn worst(probe: &Probed, allowed: &[f64]) -> (f64, usize) {
    let share = |(beyond, allowed): (&u64, &f64)| *beyond as f64 / (probe.count as f64 * allowed);
    let shares = probe.beyond.iter().zip(allowed).map(share).zip(0..);
    shares.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap_or_default()
}

/// True if the share is small up to the rate `low`, and large above it.
fn jumps_between(probes: &[Probed], low: f64, allowed: &[f64]) -> bool {
    usable(probes)
        .map(|probe| (probe.rate, worst(probe, allowed).0))
        .all(|(rate, share)| if rate <= low { share < 1.0 / JUMP } else { share > JUMP })
}

/// The probe with the lowest rate that exceeds a limit (second), and the probe with the highest
/// rate below it that meets all limits (first).
fn ends<'p>(probes: &'p [Probed], allowed: &[f64]) -> (Option<&'p Probed>, Option<&'p Probed>) {
    let judged = |exceeds: bool| {
        usable(probes).filter(move |probe| (worst(probe, allowed).0 > 1.0) == exceeds)
    };
    let by_rate = |a: &&Probed, b: &&Probed| a.rate.total_cmp(&b.rate);
    let high = judged(true).min_by(by_rate);
    let below = high.map_or(f64::INFINITY, |probe| probe.rate);
    (judged(false).filter(|probe| probe.rate < below).max_by(by_rate), high)
}

fn points(probes: &[Probed], limit: usize) -> Vec<Point> {
    let point = |probe: &Probed| Point {
        rate: probe.rate,
        count: probe.count as f64,
        beyond: probe.beyond.get(limit).map_or(0.0, |beyond| *beyond as f64),
    };
    usable(probes).map(point).collect()
}
