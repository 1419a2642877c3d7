//! Rounds of one load that are repeated until its rate is steady: the verdict after each round, and
//! the decision to stop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spectrum::{join_neighbours, mean};
use crate::steady::{ROUNDS_MAX, Steadiness, SteadyState, WINDOW_ROUNDS, Window, steadiness};
use crate::units::Nanos;

/// Samples that a round is divided into for qdepth's own rule.
const SAMPLES_EACH: u64 = 20;
/// Longer series are halved until they fit, like the samples of a point.
const SAMPLES_MAX: usize = 600;
/// Number of times that random writes must have covered the area before qdepth's rule decides
/// (docs/method/steady.md).
const WRITTEN_LEAST: f64 = 2.0;
/// The same for a drifting rate. A decline of 1 + 9·exp(−written) needs nine times the area, and
/// for one or two checks it is neither drifting nor steady.
const WRITTEN_MOST_DRIFTING: f64 = 16.0;
const AIMLESS_CHECKS: u32 = 3;
/// Factor between the numbers of rounds of successive interim checks, as in the simulated campaigns
/// that give the error rate of qdepth's rule: each check may be the wrong one.
const CHECK_FACTOR: f64 = 1.25;

/// By which rule rounds are steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyRule {
    /// Our own: three conditions over the last half of all that was seen, and the area written
    /// twice.
    #[default]
    Own,
    /// SNIA's, to the letter: the last five rounds within 20 % of their mean, their line within 10
    /// %.
    Snia,
}

impl SteadyRule {
    /// Fewest rounds for a verdict.
    pub const ROUNDS_MIN: u32 = WINDOW_ROUNDS as u32;

    /// Name as written and stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Snia => "snia",
        }
    }

    /// Default maximum number of rounds: 25 for SNIA's rule; a day of one-minute rounds for
    /// qdepth's own.
    pub fn rounds_most(self) -> u32 {
        match self {
            Self::Own => 1440,
            Self::Snia => ROUNDS_MAX as u32,
        }
    }
}

/// The rounds of a load on one target so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyRounds {
    rule: SteadyRule,
    /// Rate of each round, I/Os per second.
    rates: Vec<f64>,
    /// Samples of all rounds.
    samples: Vec<f64>,
    /// Number of times that the area was written.
    written: f64,
    /// Number of rounds at the next interim check, or at the current one.
    next_check: usize,
    /// Number of consecutive interim checks that found neither a level nor a drift.
    aimless: u32,
}

/// Verdict on rounds by their rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyVerdict {
    /// State of the rate. By SNIA's rule: steady, never steady, or too short (fewer than five
    /// rounds).
    pub state: SteadyState,
    /// Rate that the verdict is based on, I/Os per second: the mean of SNIA's window, or of the
    /// last half.
    pub level: f64,
    /// Range of the rounds, or of parts of the last half, relative to the level.
    pub range_share: f64,
    /// Rise of the line through them, relative to the level.
    pub slope_share: f64,
    /// Period of a cyclic rate, in rounds.
    pub period_rounds: Option<f64>,
}

impl SteadyRounds {
    /// Number of times that an area is written before qdepth's own rule gives up, after at least 25
    /// rounds, if the last three interim checks found the rate neither steady nor drifting: the end
    /// of SNIA's write saturation test.
    pub const WRITTEN_MOST: f64 = 4.0;

    /// No rounds yet; the load has written its area `written` times before.
    pub fn new(rule: SteadyRule, written: f64) -> Self {
        Self { rule, written, next_check: WINDOW_ROUNDS, ..Self::default() }
    }

    /// Adds a round: the completed I/Os and the length of each interval, and the number of times
    /// that the round wrote the area.
    pub fn push(&mut self, slices: &[(u64, Nanos)], written: f64) {
        let (completed, took) = slices.iter().fold((0, 0), |(n, t), (m, l)| (n + m, t + l.0));
        let rate = |completed: u64, ns: u64| completed as f64 / (ns.max(1) as f64 / 1e9);
        if self.rates.len() >= self.next_check {
            self.next_check = (self.next_check as f64 * CHECK_FACTOR) as usize + 1;
        }
        self.rates.push(rate(completed, took));
        self.written += written;
        let (mut some, mut since) = (0, 0);
        for (completed, length) in slices {
            (some, since) = (some + completed, since + length.0);
            if since >= took.div_ceil(SAMPLES_EACH) {
                self.samples.push(rate(some, since));
                (some, since) = (0, 0);
            }
        }
        if self.rule == SteadyRule::Own && self.is_checked() {
            let aimless = self.verdict().state == SteadyState::NeverSteady;
            self.aimless = if aimless { self.aimless + 1 } else { 0 };
        }
    }

    /// Rounds so far.
    pub fn count(&self) -> usize {
        self.rates.len()
    }

    /// Rate of the last round, I/Os per second.
    pub fn last_rate(&self) -> f64 {
        self.rates.last().copied().unwrap_or(0.0)
    }

    /// Number of times that the area was written.
    pub fn written(&self) -> f64 {
        self.written
    }

    /// True if the rule is evaluated after this round: SNIA's after each round from the fifth on,
    /// qdepth's own after 5, 7, 9, 12, 16 rounds and so on.
    pub fn is_checked(&self) -> bool {
        match self.rule {
            SteadyRule::Snia => self.count() >= WINDOW_ROUNDS,
            SteadyRule::Own => self.count() == self.next_check,
        }
    }

    /// True if the rounds end now because the level is known.
    pub fn is_settled(&self) -> bool {
        self.is_checked() && self.verdict().state.has_level()
    }

    /// Index of the first round that the level is computed from: the last half by qdepth's own
    /// rule, the last five by SNIA's. `None` if there is no level. Also evaluated, at any number of
    /// rounds, if the rounds ended at their maximum, so that they have either a level or a finding.
    pub fn steady_from(&self) -> Option<usize> {
        let first = match self.rule {
            SteadyRule::Own => self.count() / 2,
            SteadyRule::Snia => self.count().saturating_sub(WINDOW_ROUNDS),
        };
        self.verdict().state.has_level().then_some(first)
    }

    /// True if the rounds reached the maximum. By qdepth's own rule also after at least 25 rounds
    /// in which the area was written four times, or sixteen times if the rate drifts.
    pub fn is_over(&self, most: u32) -> bool {
        let enough =
            if self.aimless >= AIMLESS_CHECKS { Self::WRITTEN_MOST } else { WRITTEN_MOST_DRIFTING };
        let long =
            self.rule == SteadyRule::Own && self.count() >= ROUNDS_MAX && self.written >= enough;
        long || self.count() >= most as usize
    }

    /// Verdict.
    pub fn verdict(&self) -> SteadyVerdict {
        match self.rule {
            SteadyRule::Snia => self.by_snia(),
            SteadyRule::Own => self.by_own(),
        }
    }

    fn by_snia(&self) -> SteadyVerdict {
        let Some(window) = Window::from_rounds(&self.rates) else {
            let state = match self.count() < WINDOW_ROUNDS {
                true => SteadyState::TooShort,
                false => SteadyState::NeverSteady,
            };
            let level = mean(&self.rates);
            let (range_share, slope_share, period_rounds) = (0.0, 0.0, None);
            return SteadyVerdict { state, level, range_share, slope_share, period_rounds };
        };
        SteadyVerdict {
            state: if window.is_steady() { SteadyState::Steady } else { SteadyState::NeverSteady },
            level: window.mean,
            range_share: window.range / window.mean,
            slope_share: window.line.slope * (WINDOW_ROUNDS as f64 - 1.0) / window.mean,
            period_rounds: None,
        }
    }

    fn by_own(&self) -> SteadyVerdict {
        let mut samples = self.samples.clone();
        while samples.len() > SAMPLES_MAX {
            join_neighbours(&mut samples);
        }
        let least = match self.written > 0.0 {
            true => (samples.len() as f64 * WRITTEN_LEAST / self.written).ceil() as usize,
            false => usize::MAX,
        };
        let Steadiness { state, level, range_share, slope_share, .. } = steadiness(&samples, least);
        let each = samples.len() as f64 / self.count().max(1) as f64;
        let period_rounds = match state {
            SteadyState::Cyclic { period } => Some(period / each),
            _ => None,
        };
        SteadyVerdict { state, level, range_share, slope_share, period_rounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation_test::Draw;
    use crate::steady::first_steady;

    /// A round of twenty slices of 50 ms with these rates.
    fn round(rates: &[f64]) -> Vec<(u64, Nanos)> {
        let slice = |rate: &f64| ((rate / 20.0).round() as u64, Nanos::from_millis(50));
        rates.iter().map(slice).collect()
    }

    /// Rounds of a rate that falls from 1 + `height` to 1 over `tau` rounds, in 100,000 I/Os per
    /// second, until they end; `written` is how often a round writes the area.
    fn cliff(
        (rule, most): (SteadyRule, u32),
        (height, tau, written): (f64, f64, f64),
        draw: &mut Draw,
    ) -> SteadyRounds {
        let mut rounds = SteadyRounds::new(rule, 0.0);
        while !rounds.is_settled() && !rounds.is_over(most) {
            let from = rounds.count() as f64;
            let rate = |part: u32, draw: &mut Draw| {
                let at = from + f64::from(part) / 20.0;
                1e5 * (1.0 + height * (-at / tau).exp()) * (1.0 + 0.02 * draw.normal())
            };
            let rates: Vec<f64> = (0..20).map(|part| rate(part, draw)).collect();
            rounds.push(&round(&rates), written);
        }
        rounds
    }

    #[test]
    fn rounds_steady_after_last_check_have_a_level() {
        let (mut draw, mut rounds) = (Draw::new(7), SteadyRounds::new(SteadyRule::Own, 4.0));
        for number in 0..ROUNDS_MAX {
            assert!(!rounds.is_settled(), "after {number}");
            let falling = 12_usize.saturating_sub(number) as f64 / 10.0;
            let rate = |draw: &mut Draw| 1e5 * (1.0 + falling) * (1.0 + 0.02 * draw.normal());
            let rates: Vec<f64> = (0..20).map(|_| rate(&mut draw)).collect();
            rounds.push(&round(&rates), 0.0);
        }
        assert!(rounds.is_over(ROUNDS_MAX as u32) && !rounds.is_checked());
        assert_eq!(rounds.steady_from(), Some(12));
        assert!((rounds.verdict().level / 1e5 - 1.0).abs() < 0.02);
    }

    #[test]
    fn snia_rounds_end_by_rule_or_after_25() {
        let mut draw = Draw::new(21);
        let mut never = 0;
        for _ in 0..300 {
            let noise = 0.25 * draw.uniform();
            let rates: Vec<f64> =
                (0..ROUNDS_MAX).map(|_| 1e5 * (noise * draw.normal()).exp()).collect();
            let mut rounds = SteadyRounds::new(SteadyRule::Snia, 0.0);
            let all = rates.iter().map(|rate| (*rate).round());
            let most = SteadyRule::Snia.rounds_most();
            for rate in all.clone() {
                rounds.push(&[(rate as u64, Nanos::from_secs(1))], 0.0);
                if rounds.is_settled() || rounds.is_over(most) {
                    break;
                }
            }
            let known = first_steady(&all.collect::<Vec<_>>());
            assert_eq!(rounds.count(), known.map_or(ROUNDS_MAX, |window| window.last));
            let state = rounds.verdict().state;
            assert_eq!(state == SteadyState::Steady, known.is_some(), "{state:?}");
            never += u32::from(known.is_none());
        }
        assert!(never > 20, "{never}: both were tried");
    }

    #[test]
    fn own_rule_outlasts_a_slow_decline_unlike_snia() {
        let mut draw = Draw::new(22);
        let (mut levels_found, mut biased, mut by_snia) = (0, 0, 0);
        for _ in 0..60 {
            let height = 1.0 + 8.0 * draw.uniform();
            let tau = 3.0 + 57.0 * draw.uniform();
            // The decline has ended when the area was written once.
            let falls = (height, tau, 1.0 / tau);
            let own = cliff((SteadyRule::Own, 1440), falls, &mut draw);
            assert!(own.written() >= WRITTEN_LEAST - 1e-9);
            let bias = |rounds: &SteadyRounds| (rounds.verdict().level / 1e5 - 1.0).abs();
            if own.verdict().state.has_level() {
                levels_found += 1;
                biased += u32::from(bias(&own) > 0.05);
            }
            let snia = cliff((SteadyRule::Snia, 25), falls, &mut draw);
            by_snia += u32::from(bias(&snia) > 0.05);
        }
        assert!(levels_found >= 57, "{levels_found} of 60");
        assert_eq!(biased, 0, "of {levels_found}");
        assert!(by_snia > 30, "{by_snia} of 60: what SNIA's rule does");
    }

    #[test]
    fn unsettled_rounds_end_with_a_drift_verdict() {
        let falls = |round: u32| 2.0 - 0.02 * f64::from(round);
        let mut rounds = SteadyRounds::new(SteadyRule::Own, 0.0);
        while !rounds.is_settled() && !rounds.is_over(1440) {
            let from = rounds.count() as u32;
            let rates: Vec<f64> =
                (0..20).map(|part| 1e5 * (falls(from) - 0.001 * f64::from(part))).collect();
            rounds.push(&round(&rates), 0.5);
        }
        assert_eq!(rounds.count(), 32, "half the area a round, sixteen times");
        assert_eq!(rounds.verdict().state, SteadyState::Drifting { rises: false });
        // No claim is made before the area was written twice, however level the rate is.
        let mut level = SteadyRounds::new(SteadyRule::Own, 0.0);
        while !level.is_settled() && !level.is_over(40) {
            level.push(&round(&[1e5; 20]), 0.04);
        }
        assert_eq!((level.count(), level.verdict().state), (40, SteadyState::TooShort));
        let mut put = SteadyRounds::new(SteadyRule::Own, 2.0);
        while !put.is_settled() && !put.is_over(40) {
            put.push(&round(&[1e5; 20]), 0.0);
        }
        assert_eq!((put.count(), put.verdict().state), (5, SteadyState::Steady));
    }

    #[test]
    fn cycle_period_is_reported_in_rounds() {
        let mut draw = Draw::new(23);
        let mut rounds = SteadyRounds::new(SteadyRule::Own, 2.0);
        while !rounds.is_settled() && !rounds.is_over(60) {
            let from = rounds.count() as f64;
            let rate = |part: u32, draw: &mut Draw| {
                let at = from + f64::from(part) / 20.0;
                1e5 * (1.0 + 0.2 * (at / 1.5 * std::f64::consts::TAU).sin() + 0.01 * draw.normal())
            };
            let rates: Vec<f64> = (0..20).map(|part| rate(part, &mut draw)).collect();
            rounds.push(&round(&rates), 0.1);
        }
        let verdict = rounds.verdict();
        assert!(matches!(verdict.state, SteadyState::Cyclic { .. }), "{verdict:?}");
        let period = verdict.period_rounds.unwrap();
        assert!((period / 1.5 - 1.0).abs() < 0.05, "{period}");
    }
}
