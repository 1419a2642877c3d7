//! Execution of a run: preparation, measurement and storage.

pub(crate) mod begin;
pub(crate) mod events;
pub(crate) mod expect;
pub(crate) mod follower;
pub(crate) mod interleaved;
pub(crate) mod keeper;
pub(crate) mod one_run;
pub(crate) mod points;
pub mod record;
pub(crate) mod search;
pub(crate) mod segment;
pub(crate) mod steady_point;
pub(crate) mod variants;

use anyhow::Result;
use qdepth_host::system::System;

use crate::Lab;
use crate::events::observer::Observer;
use crate::events::signals::Signals;
use crate::execute::drive_tree::in_tree_order;
use crate::ranks::all_ranks::join;
use crate::request::{FinishedRun, RunRequest};
use crate::run::events::Publisher;
use crate::run::follower::run_as_follower;
use crate::run::one_run::run_single;

/// Executes the request. Returns `None` if nothing was measured: this process is a rank other than
/// the leader, or a signal arrived before the first point.
///
/// # Errors
/// If the request is refused or fails. Completed points are in the logbook.
pub fn run(
    request: &RunRequest,
    observer: &dyn Observer,
    signals: &Signals,
) -> Result<Option<FinishedRun>> {
    let (system, all_ranks) = (System::real(), join()?);
    let plan = request.plan.as_ref().map(|asked| in_tree_order(&system, asked));
    let request = &RunRequest { plan, ..request.clone() };
    let lab = Lab { request, system: &system, observer, signals, all_ranks: all_ranks.as_ref() };
    let ran = match lab.all_ranks.filter(|all_ranks| !all_ranks.is_leader()) {
        Some(all_ranks) => run_as_follower(lab, all_ranks).map(|()| None),
        None => run_as_leader(lab),
    };
    if let Some(all_ranks) = all_ranks {
        all_ranks.end();
    }
    ran
}

/// Main function of the only process, or of the leader.
fn run_as_leader(lab: Lab<'_>) -> Result<Option<FinishedRun>> {
    let publisher = Publisher::new(lab)?;
    let lab = Lab { observer: &publisher, ..lab };
    let ran = match lab.request.plan.as_ref().filter(|plan| !plan.file.variants.is_empty()) {
        Some(plan) => variants::measure(lab, &publisher, plan),
        None => run_single(lab, &publisher),
    };
    publisher.warn_of_lost_lines();
    ran
}
