//! What of a logbook is whole: every record passes here on its way to a reader.

use qdepth_measure::{Code, Finding};
use rusqlite::{Connection, Result};
use sha2::{Digest as _, Sha256};

use crate::certificate;
use crate::digest::{Chain, Parts, Purpose, is_unreadable};
use crate::read::{self, Attempt};
use qdepth_record::RunRecord;

/// A record that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Id of the run that it is of; empty for the list of runs.
    pub run: String,
    /// Which: `run`, `list of points`, `list of runs`, `point 3`, or `row 17 of the points` where
    /// its place in the plan is not sure.
    pub record: String,
    /// Which of its parts, as `series` or `environment`.
    pub parts: Vec<String>,
}

impl Damage {
    fn list(run: &str, records: &str) -> Self {
        let (record, parts) =
            (format!("list of {records}"), vec![format!("{records} may be missing")]);
        Self { run: run.to_owned(), record, parts }
    }

    /// As it is said of the run.
    pub(crate) fn finding(&self) -> Finding {
        Finding::invalid(Code::RecordDamaged)
            .label("record", &self.record)
            .label("parts", self.parts.join(", "))
    }
}

/// What a check of the whole file found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Runs that were read.
    pub runs: u64,
    /// Points that were read and are whole, superseded ones among them.
    pub points: u64,
    /// What SQLite's own `integrity_check` says, a line each; empty where the file is sound.
    pub file: Vec<String>,
    /// Every record that is not what was written.
    pub damaged: Vec<Damage>,
    /// Whether the file's schema is older than digests, so that there was nothing to hold records
    /// against.
    pub without_digests: bool,
}

impl Checked {
    /// Whether nothing was found.
    pub fn is_whole(&self) -> bool {
        self.file.is_empty() && self.damaged.is_empty()
    }
}

/// A run, with what of its own record is damaged.
pub(crate) fn run(
    connection: &Connection,
    number: i64,
    purpose: Purpose,
) -> Result<(RunRecord, Option<Damage>)> {
    let mut parts = Parts::of_run(connection, number, purpose);
    let mut run = read::run(&mut parts)?;
    if !is_of_its_hash(&run) {
        parts.damaged.push("plan".to_owned());
    }
    let damage = (!parts.damaged.is_empty()).then(|| Damage {
        run: run.id.clone(),
        record: "run".to_owned(),
        parts: parts.damaged,
    });
    run.findings.extend(damage.iter().map(Damage::finding));
    Ok((run, damage))
}

/// Whether the plan is the one that was hashed, which older schemas can tell too. Imported runs
/// have neither.
fn is_of_its_hash(run: &RunRecord) -> bool {
    let hash = Sha256::digest(&run.plan_text);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    run.plan_hash == hash || (run.plan_text.is_empty() && run.plan_hash.is_empty())
}

/// The points of a run that are whole, and what was damaged.
pub(crate) struct Points {
    /// Every attempt, in the order of storing.
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) damaged: Vec<Damage>,
}

impl Points {
    /// Of each point the attempt that counts, in the order of the plan.
    pub(crate) fn last(self) -> Vec<Attempt> {
        let mut all = self.attempts;
        all.sort_by_key(|attempt| (attempt.point.index, attempt.attempt));
        let mut last: Vec<Attempt> = Vec::new();
        for attempt in all {
            match last.last_mut().filter(|before| before.point.index == attempt.point.index) {
                Some(before) => *before = attempt,
                None => last.push(attempt),
            }
        }
        last
    }
}

pub(crate) fn points(
    connection: &Connection,
    number: i64,
    id: &str,
    purpose: Purpose,
) -> Result<Points> {
    let mut found = Points { attempts: Vec::new(), damaged: Vec::new() };
    let numbers = read::point_numbers(connection, number)?;
    for row in &numbers {
        match point(connection, number, *row, purpose)? {
            Ok(attempt) => found.attempts.push(attempt),
            Err(damage) => found.damaged.push(Damage { run: id.to_owned(), ..damage }),
        }
    }
    let listed =
        purpose != Purpose::Check || Chain::Points(number).is_whole(connection, &numbers)?;
    found.damaged.extend((!listed).then(|| Damage::list(id, "points")));
    Ok(found)
}

/// How many points of a run are measured, without reading them.
pub(crate) struct Counted {
    pub(crate) done: u32,
    /// Whether all that were stored are listed.
    pub(crate) are_listed: bool,
}

pub(crate) fn counted(connection: &Connection, run: i64, purpose: Purpose) -> Result<Counted> {
    let numbers = read::point_numbers(connection, run)?;
    let are_listed =
        purpose != Purpose::Check || Chain::Points(run).is_whole(connection, &numbers)?;
    Ok(Counted { done: read::points_counted(connection, run)?, are_listed })
}

/// An attempt at a point, or that it is damaged.
pub(crate) fn point(
    connection: &Connection,
    run: i64,
    row: i64,
    purpose: Purpose,
) -> Result<std::result::Result<Attempt, Damage>> {
    let mut parts = Parts::of_point(connection, run, row, purpose);
    let attempt = read::point(&mut parts)?;
    let is_sure = !parts.damaged.iter().any(|part| part == "point");
    let record = match &attempt {
        Some(attempt) if is_sure => format!("point {}", attempt.point.index),
        _ => format!("row {row} of the points"),
    };
    Ok(match attempt {
        Some(attempt) if parts.damaged.is_empty() => Ok(attempt),
        _ => Err(Damage { run: String::new(), record, parts: parts.damaged }),
    })
}

/// Whether the list of runs is the one that was written.
pub(crate) fn lists_all_runs(connection: &Connection, purpose: Purpose) -> Result<bool> {
    if purpose != Purpose::Check {
        return Ok(true);
    }
    let numbers: Vec<i64> =
        read::run_numbers(connection)?.into_iter().map(|(number, _)| number).collect();
    Chain::Runs.is_whole(connection, &numbers)
}

/// Every record of the file.
pub(crate) fn all(connection: &Connection, purpose: Purpose) -> Result<Checked> {
    let mut checked =
        Checked { without_digests: purpose == Purpose::Nothing, ..Checked::default() };
    for (number, id) in read::run_numbers(connection)? {
        checked.runs += 1;
        match run(connection, number, purpose) {
            Ok((_, damage)) => checked.damaged.extend(damage),
            Err(error) if is_unreadable(&error) => checked.damaged.push(Damage {
                run: id.clone(),
                record: "run".to_owned(),
                parts: vec!["run".to_owned()],
            }),
            Err(error) => return Err(error),
        }
        let points = points(connection, number, &id, purpose)?;
        checked.points += points.attempts.len() as u64;
        checked.damaged.extend(points.damaged);
    }
    if !lists_all_runs(connection, purpose)? {
        checked.damaged.push(Damage::list("", "runs"));
    }
    checked.damaged.extend(certificate::damaged(connection)?.into_iter().map(|id| Damage {
        run: String::new(),
        record: format!("certificate {id}"),
        parts: vec!["document".to_owned()],
    }));
    Ok(checked)
}

/// Digests of everything, as it is found: of a file whose schema had none. What cannot be read gets
/// none, and counts as damaged from then on.
pub(crate) fn digest_all(connection: &Connection) -> Result<()> {
    let runs = read::run_numbers(connection)?;
    let numbers: Vec<i64> = runs.iter().map(|(number, _)| *number).collect();
    Chain::Runs.store(connection, &numbers)?;
    for number in numbers {
        passed_over(read::run(&mut Parts::of_run(connection, number, Purpose::Store)).map(|_| ()))?;
        let points = read::point_numbers(connection, number)?;
        Chain::Points(number).store(connection, &points)?;
        for point in points {
            let mut parts = Parts::of_point(connection, number, point, Purpose::Store);
            passed_over(read::point(&mut parts).map(|_| ()))?;
        }
    }
    Ok(())
}

fn passed_over(read: Result<()>) -> Result<()> {
    match read {
        Err(error) if is_unreadable(&error) => Ok(()),
        other => other,
    }
}
