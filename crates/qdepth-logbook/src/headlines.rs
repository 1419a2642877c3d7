//! List of runs. A headline with its own digest is stored for each run: reading a complete run
//! takes 0.2 ms, so 10,000 runs would take two seconds.

use std::ops::ControlFlow;

use qdepth_record::{Best, RunHeadline, RunRecord, RunState, answers};
use rusqlite::{Connection, OptionalExtension, Result, params};
use sha2::{Digest as _, Sha256};

use crate::check::{self, Damage, DamagedRecord};
use crate::digest::is_damage;
use crate::read;

/// Stores the headline of an undamaged run.
pub(crate) fn keep(connection: &Connection, number: i64, run: &RunRecord) -> Result<()> {
    let done = read::points_counted(connection, number)?;
    store(connection, number, &line_of(run, done, best(connection, number, run.state)?))
}

/// Best figures of a run that has ended; during a run they would be recomputed for each point. Uses
/// `total`, a floating-point sum, because `sum` fails on integer overflow.
fn best(connection: &Connection, number: i64, state: RunState) -> Result<Best> {
    let mut best = Best::default();
    if state == RunState::Running {
        return Ok(best);
    }
    let mut points = connection.prepare_cached(
        "SELECT p.duration_ns,
            CAST((SELECT total(completed) FROM direction AS d
                  WHERE d.point = p.id AND d.direction <> 'sync') AS INTEGER),
            CAST((SELECT total(bytes) FROM direction AS d
                  WHERE d.point = p.id AND d.direction <> 'sync') AS INTEGER),
            (SELECT min(f.severity) FROM finding AS f WHERE f.point = p.id)
         FROM point AS p WHERE p.run = ?1
         AND p.attempt = (SELECT max(q.attempt) FROM point AS q
                          WHERE q.run = p.run AND q.place = p.place)",
    )?;
    let mut rows = points.query([number])?;
    while let Some(row) = rows.next()? {
        let count = |index: usize| row.get::<_, i64>(index).map(i64::unsigned_abs);
        let (ns, completed, bytes) = (count(0)?, count(1)?, count(2)?);
        let severity: Option<String> = row.get(3)?;
        let grade = match severity.as_deref() {
            None => 0,
            Some("invalid") => 2,
            Some(_) => 1,
        };
        best.grades[grade] = best.grades[grade].saturating_add(1);
        let per_s = |count: u64| {
            let ns = u128::from(ns);
            let whole = (u128::from(count) * 1_000_000_000 + ns / 2) / ns;
            u64::try_from(whole).unwrap_or(u64::MAX)
        };
        if grade < 2 && completed > 0 && ns > 0 {
            best.io_per_s = best.io_per_s.max(Some(per_s(completed)));
            best.bytes_per_s = best.bytes_per_s.max(Some(per_s(bytes)));
        }
    }
    // Of loads that run at the same time, none has a rate that answers the plan's question.
    let together = "SELECT EXISTS (SELECT 1 FROM point WHERE run = ?1 AND step <> ''
                    GROUP BY load_group HAVING count(DISTINCT profile) > 1)";
    if connection.prepare_cached(together)?.query_row([number], |row| row.get(0))? {
        (best.io_per_s, best.bytes_per_s) = (None, None);
    }
    if let Some(answer) = answer(connection, number)? {
        (best.io_per_s, best.bytes_per_s) = (answer, None);
    }
    Ok(best)
}

/// The highest rate within the limits, if the plan searches for one: its points at other rates, and
/// those of the closed loop, answer nothing.
fn answer(connection: &Connection, number: i64) -> Result<Option<Option<u64>>> {
    let may_search = "SELECT coalesce(instr(plan_text, '\"answer\"'), 0) > 0
                      FROM run WHERE sequence = ?1";
    let mut may_search = connection.prepare_cached(may_search)?;
    if may_search.query_row([number], |row| row.get(0)).optional()? != Some(true) {
        return Ok(None);
    }
    let (run, _) = check::run(connection, number)?;
    let points = check::points(connection, number, &run.id)?.last();
    let rates = answers(&run, &points);
    if rates.is_empty() {
        return Ok(None);
    }
    let rates = rates.into_iter();
    let met = rates.filter(|entry| ["rate", "always"].contains(&&*entry.answer));
    Ok(Some(met.filter_map(|entry| entry.io_per_s).reduce(f64::max).map(|rate| rate as u64)))
}

/// Updates the headline after points were added. A damaged headline stays damaged.
pub(crate) fn recount(connection: &Connection, number: i64) -> Result<()> {
    let Some(line) = kept(connection, number)? else { return Ok(()) };
    let points_done = read::points_counted(connection, number)?;
    let best = best(connection, number, line.state)?;
    store(connection, number, &RunHeadline { points_done, best, ..line })
}

/// Removes the headline of a run whose record is damaged.
pub(crate) fn forget(connection: &Connection, number: i64) -> Result<()> {
    connection.prepare_cached("DELETE FROM headline WHERE run = ?1")?.execute([number])?;
    Ok(())
}

fn store(connection: &Connection, number: i64, line: &RunHeadline) -> Result<()> {
    let text = serde_json::to_string(line).map_err(read::unreadable)?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO headline (run, line, sha256) VALUES (?1, ?2, ?3)")?
        .execute(params![number, text, digest(number, &text)])?;
    Ok(())
}

fn digest(number: i64, text: &str) -> [u8; 32] {
    Sha256::new_with_prefix(number.to_be_bytes()).chain_update(text).finalize().into()
}

/// Stored headline of a run; `None` if it is missing or damaged.
pub(crate) fn kept(connection: &Connection, number: i64) -> Result<Option<RunHeadline>> {
    let found = connection
        .prepare_cached("SELECT line, sha256 FROM headline WHERE run = ?1")
        .and_then(|mut query| {
            query.query_row([number], |row| {
                let text = row.get_ref(0)?.as_str()?;
                let whole = row.get_ref(1)?.as_blob()? == digest(number, text);
                Ok(whole.then(|| serde_json::from_str(text).ok()).flatten())
            })
        })
        .optional();
    match found {
        Err(error) if is_damage(&error) => Ok(None),
        found => Ok(found?.flatten()),
    }
}

/// Headline from the complete record of a run, whose digests are checked.
pub(crate) fn checked(connection: &Connection, number: i64, id: &str) -> Result<RunHeadline> {
    let (run, damage) = match check::run(connection, number) {
        Ok((run, damage)) => (Some(run), damage.is_some()),
        Err(error) if is_damage(&error) => (None, true),
        Err(error) => return Err(error),
    };
    let points = check::counted(connection, number)?;
    let line = match run {
        Some(run) => line_of(&run, points.done, best(connection, number, run.state)?),
        None => unreadable(id, points.done),
    };
    Ok(RunHeadline { damaged: damage || !points.are_listed, ..line })
}

/// Headline in the list, and its origin.
pub(crate) struct Listed {
    pub(crate) run: i64,
    pub(crate) line: RunHeadline,
    /// True if the complete run was read because no headline is stored.
    pub(crate) was_verified: bool,
}

/// All headlines, the newest first, until `take` breaks.
pub(crate) fn lines(
    connection: &Connection,
    mut take: impl FnMut(Listed) -> Result<ControlFlow<()>>,
) -> Result<()> {
    for (run, id) in read::newest_first(connection)? {
        let kept = kept(connection, run)?;
        let was_verified = kept.is_none();
        let line = match kept {
            Some(line) => line,
            None => checked(connection, run, &id)?,
        };
        if take(Listed { run, line, was_verified })?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Runs whose stored headline does not match their record.
pub(crate) fn damaged(connection: &Connection) -> Result<Vec<Damage>> {
    let mut all = Vec::new();
    for (number, id) in read::run_numbers(connection)? {
        let run = checked(connection, number, &id)?;
        if !run.damaged && kept(connection, number)? != Some(run) {
            let (record, parts) = (DamagedRecord::Line, vec!["line".to_owned()]);
            all.push(Damage { run: id, record, parts });
        }
    }
    Ok(all)
}

/// Headline of a complete run, without the process that measures it.
fn line_of(run: &RunRecord, points_done: u32, best: Best) -> RunHeadline {
    RunHeadline {
        id: run.id.clone(),
        started_at: run.started_at.clone(),
        ended_at: run.ended_at.clone(),
        state: run.state,
        alive: false,
        plan: run.plan_name.clone(),
        host: run.host().unwrap_or_default().to_owned(),
        points_done,
        points_planned: run.points_planned,
        emulated: run.emulated,
        notes: run.notes().map(str::to_owned).collect(),
        retracted: run.retracted().map(str::to_owned),
        targets: run.targets.iter().map(|target| target.name.clone()).collect(),
        damaged: false,
        best,
    }
}

fn unreadable(id: &str, points_done: u32) -> RunHeadline {
    let (id, state) = (id.to_owned(), RunState::Failed);
    RunHeadline { id, state, points_done, damaged: true, ..RunHeadline::default() }
}
