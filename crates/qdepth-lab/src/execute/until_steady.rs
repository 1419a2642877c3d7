//! Preconditioning until steady: a load runs in rounds until the rule finds its rate steady or
//! cyclic, or until the maximum number of rounds. A rate that is not steady is not an error: the
//! run continues with a finding.

use anyhow::{Context, Result, bail};
use qdepth_measure::{Bytes, Nanos, SteadyRounds, SteadyRule, SteadyState, SteadyVerdict};
use qdepth_record::event::Phase;
use qdepth_record::figures::{Figures, ROUNDS};
use qdepth_record::{Observation, PhaseStep, phase_step, source};
use qdepth_workload::{Point, UntilSteady};

use crate::events::observer::Progress;
use crate::execute::execute;
use crate::execute::measure_options::MeasureOptions;
use crate::execute::preconditioned::{Done, fact, is_there};
use crate::execute::virtual_time::bounded;
use crate::outcome::findings::not_steady;
use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

/// Description, for example `random 4KiB over 64GiB until steady by qdepth's rule, 1440 rounds of
/// 60 s at most`.
pub(crate) fn rounds_text(point: &Point, asked: UntilSteady) -> String {
    format!(
        "{} {} over {} until steady by {} rule, {} rounds of {} at most",
        point.profile,
        point.block_size.text(),
        Bytes(point.area.length_bytes).for_people(),
        whose(asked.rule),
        asked.rounds,
        Nanos(point.stop.duration_ns)
    )
}

/// The same as a step, for observers.
fn rounds_step(point: &Point, asked: UntilSteady) -> PhaseStep {
    PhaseStep::new(phase_step::ROUNDS)
        .label("load", &point.profile)
        .label("block_size", point.block_size.text())
        .label("rule", asked.rule.as_str())
        .value("area_bytes", point.area.length_bytes as f64)
        .value("rounds", f64::from(asked.rounds))
        .value("round_ns", point.stop.duration_ns as f64)
}

fn whose(rule: SteadyRule) -> &'static str {
    match rule {
        SteadyRule::Own => "qdepth's",
        SteadyRule::Snia => "SNIA's",
    }
}

/// Runs rounds of the loads on all targets at the same time, until each is settled or has the
/// maximum number of rounds. `put` is true if emulated devices were set to the steady state: then
/// nothing has to be written before a verdict.
pub(crate) fn rounds(
    targets: &[Prepared],
    group: &[Point],
    options: MeasureOptions<'_>,
    asked: UntilSteady,
    put: bool,
) -> Result<Done> {
    let observer = options.lab.observer;
    let step = group.first().map(|point| rounds_step(point, asked)).unwrap_or_default();
    let before = if put { SteadyRounds::WRITTEN_MOST } else { 0.0 };
    let mut all = vec![SteadyRounds::new(asked.rule, before); group.len()];
    let mut bytes = vec![0; group.len()];
    let mut progress = Progress::begin(observer, Phase::Preconditioning, step, None);
    let is_done = |rounds: &SteadyRounds| rounds.is_settled() || rounds.is_over(asked.rounds);
    while !all.iter().all(is_done) {
        let number = all.first().map_or(0, SteadyRounds::count) as u32;
        let round: Vec<Point> = group.iter().map(|point| point.round(number)).collect();
        let round = bounded(targets, &round);
        let measured = execute(targets, &round, options, &mut |event| {
            progress.add(event.written());
        })?;
        for (index, (point, measured)) in round.iter().zip(&measured).enumerate() {
            let target = &targets[point.target as usize];
            let written = whole(measured).with_context(|| {
                format!(
                    "{} did not reach steady state: round {}",
                    target.expression.display(),
                    number + 1
                )
            })?;
            bytes[index] += written;
            all[index].push(&slices(measured), written as f64 / point.area.length_bytes as f64);
        }
        if all.iter().any(SteadyRounds::is_checked) {
            all.iter().for_each(|rounds| observer.message(progress_line(rounds, asked.rule)));
        }
    }
    drop(progress);
    let mut done = Done::default();
    for ((point, rounds), bytes) in group.iter().zip(&all).zip(bytes) {
        let index = point.target as usize;
        let value = describe(point, rounds, asked.rule, bytes);
        let source = if put { source::VIRTUAL } else { source::WRITTEN };
        let observation: Observation = fact(&targets[index], value.stored(), source);
        done.facts.push((index, observation));
        done.findings.extend(not_steady(&targets[index], point, rounds, asked.rule));
    }
    Ok(done)
}

/// Bytes that a round wrote. Fails if the round is incomplete.
fn whole(measured: &Measured) -> Result<u64> {
    is_there(measured)?;
    let outcome = &measured.outcome;
    if outcome.interrupted {
        bail!("interrupted");
    }
    if outcome.failed() > 0 || outcome.failed_outside > 0 {
        bail!("{} writes failed", outcome.failed() + outcome.failed_outside);
    }
    Ok(outcome.bytes() + outcome.bytes_outside)
}

pub(crate) fn slices(measured: &Measured) -> Vec<(u64, Nanos)> {
    let intervals = measured.outcome.series.intervals();
    intervals.iter().map(|slice| (slice.completed.iter().sum(), slice.length)).collect()
}

/// Progress line after a round, for example `round 7   45210 IOPS: drifting down (range 12.1 %,
/// slope -9.3 %)`.
fn progress_line(rounds: &SteadyRounds, rule: SteadyRule) -> String {
    let verdict = rounds.verdict();
    format!(
        "round {:<4} {:.0} IOPS: {}",
        rounds.count(),
        rounds.last_rate(),
        match verdict.state {
            // Before the last round this is not a verdict.
            SteadyState::NeverSteady => format!("not steady{}", figures(&verdict)),
            state => format!("{}{}", state_text(state, rounds, rule), figures(&verdict)),
        }
    )
}

fn figures(verdict: &SteadyVerdict) -> String {
    if verdict.state == SteadyState::TooShort {
        return String::new();
    }
    let SteadyVerdict { range_share, slope_share, .. } = verdict;
    format!(" (range {:.1} %, slope {:.1} %)", range_share * 100.0, slope_share * 100.0)
}

fn state_text(state: SteadyState, rounds: &SteadyRounds, rule: SteadyRule) -> String {
    match state {
        SteadyState::Steady => "steady".to_owned(),
        SteadyState::Cyclic { .. } => format!(
            "cyclic, every {:.1} rounds",
            rounds.verdict().period_rounds.unwrap_or_default()
        ),
        SteadyState::Drifting { rises: true } => "drifting up".to_owned(),
        SteadyState::Drifting { rises: false } => "drifting down".to_owned(),
        SteadyState::NeverSteady => "never steady".to_owned(),
        SteadyState::TooShort if rule == SteadyRule::Snia => "too few rounds".to_owned(),
        SteadyState::TooShort => {
            format!("too short: the area was written {:.2} times", rounds.written())
        }
    }
}

/// Fact about the target.
fn describe(point: &Point, rounds: &SteadyRounds, rule: SteadyRule, bytes: u64) -> Figures {
    let SteadyVerdict { state, level, range_share, slope_share, period_rounds } = rounds.verdict();
    // Rounded, because nobody reads more digits.
    let rounded = |figure: f64, digits: i32| {
        let scale = 10_f64.powi(digits);
        (figure * scale).round() / scale
    };
    let mut figures = Figures::new(ROUNDS)
        .text("load", &point.profile)
        .text("block_size", &point.block_size.text())
        .text("state", state.as_str())
        .text("rule", rule.as_str())
        .figure("rounds", rounds.count() as f64)
        .figure("round_ns", point.stop.duration_ns as f64)
        .figure("io_per_s", rounded(level, 1))
        .figure("written_bytes", bytes as f64)
        .figure("times_written", rounded(bytes as f64 / point.area.length_bytes as f64, 3));
    if let Some(period) = period_rounds {
        figures = figures.figure("period_rounds", rounded(period, 2));
    }
    if state == SteadyState::TooShort {
        return figures;
    }
    figures
        .figure("range_share", rounded(range_share, 4))
        .figure("slope_share", rounded(slope_share, 4))
}
