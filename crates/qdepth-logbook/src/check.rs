//! Integrity checks of a logbook, applied to every record that is read.

use std::collections::BTreeMap;
use std::fmt;

use qdepth_files::is_stored_command;
use qdepth_measure::{Code, Finding, label};
use rusqlite::{Connection, Result};
use sha2::{Digest as _, Sha256};

use crate::certificate;
use crate::digest::{Chain, Parts, Purpose, is_unreadable};
use crate::read::{self, Attempt};
use qdepth_record::{PointRecord, RunRecord};

/// Damaged record: its contents do not match its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// ID of the run; empty for the list of runs.
    pub run: String,
    /// The record.
    pub record: DamagedRecord,
    /// Damaged parts, for example `series` or `environment`; empty for a list.
    pub parts: Vec<String>,
}

/// Kind of damaged record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamagedRecord {
    /// A run itself.
    Run,
    /// A point, by its index in the plan.
    Point(u32),
    /// A point whose index in the plan is unknown, by its row.
    Row(i64),
    /// List of a run's points.
    Points,
    /// List of runs.
    Runs,
    /// Headline of a run.
    Line,
    /// A certificate, by its ID.
    Certificate(String),
}

impl fmt::Display for DamagedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => f.write_str("run"),
            Self::Point(index) => write!(f, "point {index}"),
            Self::Row(row) => write!(f, "row {row} of the points"),
            Self::Points => f.write_str("list of points: points may be missing"),
            Self::Runs => f.write_str("list of runs: runs may be missing"),
            Self::Line => f.write_str("line of the list of runs"),
            Self::Certificate(id) => write!(f, "certificate {id}"),
        }
    }
}

impl Damage {
    /// Finding to be added to the run.
    pub(crate) fn finding(&self) -> Finding {
        let record = |code: &str| Finding::invalid(Code::RecordDamaged).label("record", code);
        let finding = match &self.record {
            DamagedRecord::Run => record(label::RUN_RECORD),
            DamagedRecord::Point(index) => {
                record(label::POINT_RECORD).value("point", f64::from(*index))
            }
            DamagedRecord::Row(row) => record(label::POINT_ROW).value("row", *row as f64),
            DamagedRecord::Points => record(label::POINT_LIST),
            DamagedRecord::Runs | DamagedRecord::Line => record(label::RUN_LIST),
            DamagedRecord::Certificate(id) => record(id),
        };
        if self.parts.is_empty() { finding } else { finding.label("parts", self.parts.join(", ")) }
    }
}

/// Result of a check of the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of runs that were read.
    pub runs: u64,
    /// Number of undamaged points, including superseded ones.
    pub points: u64,
    /// Output of SQLite's `integrity_check`, one line each; empty if the file is sound.
    pub file: Vec<String>,
    /// All damaged records.
    pub damaged: Vec<Damage>,
}

impl Checked {
    /// True if there is no damage.
    pub fn is_whole(&self) -> bool {
        self.file.is_empty() && self.damaged.is_empty()
    }
}

/// Reads a run; with the damage of its own record, if any.
pub(crate) fn run(connection: &Connection, number: i64) -> Result<(RunRecord, Option<Damage>)> {
    let mut parts = Parts::of_run(connection, number, Purpose::Check);
    let mut run = read::run(&mut parts)?;
    // It is printed for people to paste, and the logbook may be somebody else's.
    run.environment.retain(|seen| {
        (&*seen.subject, &*seen.key) != RunRecord::COMMAND
            || seen.value.as_ref().is_ok_and(|line| is_stored_command(line))
    });
    if !is_of_its_hash(&run) {
        parts.damaged.push("plan".to_owned());
    }
    let damage = (!parts.damaged.is_empty()).then(|| Damage {
        run: run.id.clone(),
        record: DamagedRecord::Run,
        parts: parts.damaged,
    });
    run.findings.extend(damage.iter().map(Damage::finding));
    Ok((run, damage))
}

/// True if the plan matches its hash, which older schemas have as well. Imported runs have neither.
fn is_of_its_hash(run: &RunRecord) -> bool {
    let hash = Sha256::digest(&run.plan_text);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    run.plan_hash == hash || (run.plan_text.is_empty() && run.plan_hash.is_empty())
}

/// Undamaged points of a run, and the damage.
pub(crate) struct Points {
    /// All attempts, in the order in which they were stored.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) damaged: Vec<Damage>,
}

impl Points {
    /// Last attempt at each point, in the order of the plan.
    pub(crate) fn last(mut self) -> Vec<PointRecord> {
        self.attempts.sort_by_key(|attempt| attempt.attempt);
        let all = self.attempts.into_iter().map(|attempt| (attempt.point.index, attempt.point));
        all.collect::<BTreeMap<_, _>>().into_values().collect()
    }
}

pub(crate) fn points(connection: &Connection, number: i64, id: &str) -> Result<Points> {
    let mut found = Points { attempts: Vec::new(), damaged: Vec::new() };
    let numbers = read::point_numbers(connection, number)?;
    for row in &numbers {
        match point(connection, number, *row)? {
            Ok(attempt) => found.attempts.push(attempt),
            Err(damage) => found.damaged.push(Damage { run: id.to_owned(), ..damage }),
        }
    }
    let listed = Chain::Points(number).is_whole(connection, &numbers)?;
    let list = || Damage { run: id.to_owned(), record: DamagedRecord::Points, parts: Vec::new() };
    found.damaged.extend((!listed).then(list));
    Ok(found)
}

/// Number of measured points of a run, without reading them.
pub(crate) struct Counted {
    pub(crate) done: u32,
    /// True if the list of points is undamaged.
    pub(crate) are_listed: bool,
}

pub(crate) fn counted(connection: &Connection, run: i64) -> Result<Counted> {
    let numbers = read::point_numbers(connection, run)?;
    let are_listed = Chain::Points(run).is_whole(connection, &numbers)?;
    Ok(Counted { done: read::points_counted(connection, run)?, are_listed })
}

/// Reads an attempt at a point, or returns its damage.
pub(crate) fn point(
    connection: &Connection,
    run: i64,
    row: i64,
) -> Result<std::result::Result<Attempt, Damage>> {
    let mut parts = Parts::of_point(connection, run, row, Purpose::Check);
    let attempt = read::point(&mut parts)?;
    let is_sure = !parts.damaged.iter().any(|part| part == "point");
    let record = match &attempt {
        Some(attempt) if is_sure => DamagedRecord::Point(attempt.point.index),
        _ => DamagedRecord::Row(row),
    };
    Ok(match attempt {
        Some(attempt) if parts.damaged.is_empty() => Ok(attempt),
        _ => Err(Damage { run: String::new(), record, parts: parts.damaged }),
    })
}

/// True if the list of runs is undamaged.
pub(crate) fn lists_all_runs(connection: &Connection) -> Result<bool> {
    let numbers: Vec<i64> =
        read::run_numbers(connection)?.into_iter().map(|(number, _)| number).collect();
    Chain::Runs.is_whole(connection, &numbers)
}

/// Checks every record of the file.
pub(crate) fn all(connection: &Connection) -> Result<Checked> {
    let mut checked = Checked::default();
    for (number, id) in read::run_numbers(connection)? {
        checked.runs += 1;
        match run(connection, number) {
            Ok((_, damage)) => checked.damaged.extend(damage),
            Err(error) if is_unreadable(&error) => checked.damaged.push(Damage {
                run: id.clone(),
                record: DamagedRecord::Run,
                parts: vec!["run".to_owned()],
            }),
            Err(error) => return Err(error),
        }
        let points = points(connection, number, &id)?;
        checked.points += points.attempts.len() as u64;
        checked.damaged.extend(points.damaged);
    }
    if !lists_all_runs(connection)? {
        let (run, record) = (String::new(), DamagedRecord::Runs);
        checked.damaged.push(Damage { run, record, parts: Vec::new() });
    }
    checked.damaged.extend(certificate::damaged(connection)?.into_iter().map(|id| Damage {
        run: String::new(),
        record: DamagedRecord::Certificate(id),
        parts: vec!["document".to_owned()],
    }));
    Ok(checked)
}
