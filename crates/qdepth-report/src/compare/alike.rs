//! Finds the runs of a logbook that a trend covers. Runs are read one at a time, because a complete
//! run takes more than a megabyte of memory per point.

use qdepth_measure::FIGURES_MAX;
use qdepth_record::{RunHeadline, RunRecord};

use crate::compare::run_figures::RunFigures;
use crate::compare::trend::{Trend, trend};
use crate::presentation::Measured;

/// Request of a trend.
#[derive(Clone, Copy, Debug)]
pub struct TrendRequest<'a> {
    /// Name of the plan; `None` for the plan of the newest run.
    pub plan: Option<&'a str>,
    /// Targets in the user's spelling or in the displayed form; `None` for the targets of the
    /// newest run.
    pub target: Option<&'a str>,
    /// Largest number of runs, the newest first; a change point needs no more.
    pub most: usize,
    /// Smallest change that is reported, as a share: 0.02 for 2 %.
    pub threshold: f64,
}

/// The trend of the matching runs of a list, which is ordered from the newest run. `record` reads
/// the record of a run, `measured` also its points; both return `None` for a run that is missing or
/// damaged.
///
/// # Errors
/// The errors of `record` and `measured`.
pub fn trend_of<E>(
    lines: &[RunHeadline],
    request: &TrendRequest<'_>,
    record: impl Fn(&str) -> Result<Option<RunRecord>, E>,
    measured: impl Fn(&str) -> Result<Option<Measured>, E>,
) -> Result<Trend, E> {
    let ids = alike(lines, request, record)?;
    let most = request.most.min(FIGURES_MAX);
    let (mut runs, mut gone, mut different) = (Vec::<RunFigures>::new(), 0, 0);
    for id in &ids {
        match measured(id)?.map(RunFigures::from_run) {
            Some(run) if runs.first().is_none_or(|newest| newest.settings == run.settings) => {
                runs.push(run);
            }
            Some(_) => different += 1,
            None => gone += 1,
        }
        if runs.len() == most {
            break;
        }
    }
    runs.reverse();
    let kept = ids.len() - gone - different;
    Ok(Trend { different, ..trend(&runs, kept, request.threshold) })
}

/// Ids of the matching runs, the newest first.
fn alike<'l, E>(
    lines: &'l [RunHeadline],
    request: &TrendRequest<'_>,
    record: impl Fn(&str) -> Result<Option<RunRecord>, E>,
) -> Result<Vec<&'l str>, E> {
    let mut plan = request.plan.map(str::to_owned);
    let mut target = request.target.map(str::to_owned);
    let mut ids = Vec::new();
    for line in lines.iter().filter(|line| line.is_comparable()) {
        if plan.as_ref().is_some_and(|plan| *plan != line.plan) {
            continue;
        }
        let is_shown_so = target.as_ref().is_some_and(|asked| line.targets.join(", ") == *asked);
        if !is_shown_so {
            // The list has only display names, not the user's spelling of the target.
            let Some(run) = record(&line.id)? else { continue };
            let spelled = spelled(&run);
            if *target.get_or_insert_with(|| spelled.clone()) != spelled {
                continue;
            }
        }
        plan.get_or_insert_with(|| line.plan.clone());
        ids.push(line.id.as_str());
    }
    Ok(ids)
}

/// Targets of a run in the user's spelling.
fn spelled(run: &RunRecord) -> String {
    run.targets.iter().map(|target| target.expression.as_str()).collect::<Vec<_>>().join(", ")
}
