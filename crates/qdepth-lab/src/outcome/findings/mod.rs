//! All findings of a run: about a point, about the machine during it, and about the run as a whole.
//! `qdepth_measure::Code` lists them; the report words them.
//!
//! Two kinds are raised elsewhere: findings about imported measurements (`qdepth-foreign`), and
//! about damage to a logbook (`qdepth-logbook`, on reading).

mod below;
mod failure;
mod laws;
mod machine;
mod pauses;
mod point;
mod point_seen;
mod run;

use qdepth_measure::{Code, Finding, check_laws};
use qdepth_record::PointRecord;
use qdepth_workload::Point;

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

pub(crate) use machine::of_machine;
pub(crate) use point_seen::PointSeen;
pub use run::not_literal;
pub(crate) use run::{device_changed, far_drive, not_steady, of_run};

/// Findings of a rank other than the leader about its machine and itself.
pub(crate) fn of_rank(point: &Point, prepared: &Prepared, measured: &Measured) -> Vec<Finding> {
    let mut findings = of_machine(&measured.seen);
    // A rank without a stream of the point has measured nothing.
    if measured.outcome.issued > 0 {
        findings.extend(measured.seen.pauses.finding(&measured.outcome));
        findings.extend(point::not_direct(point, prepared, measured));
        findings.extend(point::engine(measured));
    }
    findings
}

/// All findings about a point; `record` is its record.
pub(crate) fn of_point(seen: &PointSeen<'_>, record: &PointRecord) -> Vec<Finding> {
    let laws = check_laws(&laws::facts(seen)).into_iter().map(|finding| match finding.code {
        Code::ForeignIo => machine::named(finding, &seen.measured.seen),
        _ => finding,
    });
    let mut findings: Vec<Finding> = laws.collect();
    findings.extend(point::findings(seen));
    findings.extend(below::findings(seen, record));
    findings.extend(of_machine(&seen.measured.seen));
    findings.extend(point::statistics(record, seen.measured));
    findings.extend(point::engine(seen.measured));
    findings.extend(seen.expected.and_then(|expected| point::below_expected(expected, record)));
    findings.extend(seen.measured.others.not_found_by(&findings));
    findings.extend(seen.is_resumed.then(|| Finding::remark(Code::Resumed)));
    if seen.is_staircase {
        point::staircase(&mut findings);
    }
    findings
}
