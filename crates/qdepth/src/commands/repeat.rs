//! `qdepth run A B --repeat N`: the plan on each column again and again, interleaved in blocks of
//! random order, until there were enough; then what the runs say together. A layer above a run:
//! each repetition is one, with everything that a run has.

use anyhow::{Context, Result};
use qdepth_logbook::Logbook;
use qdepth_measure::{ROUNDS_MAX, Tolerance, WINDOW_ROUNDS};
use qdepth_record::{Document, RunState};
use qdepth_report::{
    Measured, Rounds, Side, Versus, documents, repeated, repeated_json, repeated_table,
    rounds_sentences, versus, versus_json, versus_sentences, versus_table,
};

use crate::commands::run::status_of;
use crate::exit_status::Status;
use crate::flags::read_plan::{self, plan_word};
use crate::flags::{Command, Flags, Repeat, RunOptions};
use crate::screen::Screen;
use crate::terminal::{print, print_document, print_table};
use qdepth_lab::all_ranks::launched;
use qdepth_lab::campaign::{Campaign, Kept, Member};
use qdepth_lab::failure::Usage;
use qdepth_lab::request::{PlanRequest, RunRequest};
use qdepth_lab::run;
use qdepth_lab::signals::Signals;

/// After so many blocks it is asked whether the answer is known; growing, since each check may be
/// the one that is wrong. The last is the most.
const INTERIM_CHECKS: [u32; 5] = [6, 9, 14, 20, 30];
/// Differences up to this do not matter where nothing else was asked for.
const THRESHOLD: f64 = 0.02;
/// What looking several times costs an interval that ends its own campaign (docs/design/0009).
const INTERIM_WIDENING: f64 = 1.13;

/// What is measured in turn.
struct Columns {
    /// The words of the plan and of each column's target; empty where the plan names its own.
    words: Vec<Vec<String>>,
    names: Vec<String>,
    /// Names of columns within the plan, where it compares by itself.
    variants: Option<Vec<String>>,
}

/// What a campaign is measured with.
struct Desk<'a> {
    options: &'a RunOptions,
    screen: &'a Screen,
    signals: &'a Signals,
}

/// Begins a campaign.
pub(crate) fn measure(options: &RunOptions, repeat: Repeat) -> Result<Status> {
    if launched().is_some() {
        anyhow::bail!(Usage("several ranks cannot repeat a run: repeat the command".to_owned()));
    }
    if options.report != RunOptions::usual()?.report {
        anyhow::bail!(Usage(format!(
            "--report with --repeat: a campaign writes none by itself. Leave it out, and \
             afterwards name the runs that `qdepth list` shows: qdepth report RUN RUN -o {}",
            options.report.display()
        )));
    }
    let request = options.request()?;
    let (Some(asked), Some(mut words)) = (&request.plan, request.command) else {
        anyhow::bail!(Usage("--repeat begins a campaign anew: leave --resume out".to_owned()));
    };
    let columns = columns(options, asked)?;
    if repeat == Repeat::UntilSteady && columns.names.len() > 1 {
        anyhow::bail!(Usage(
            "--repeat until-steady: rounds follow one another on one target; name one".to_owned()
        ));
    }
    let id = uuid::Uuid::now_v7();
    let seed = options.load.seed.unwrap_or_else(|| id.as_u128() as u64 & u64::from(u32::MAX));
    words.extend(["--seed".to_owned(), seed.to_string()]);
    words.extend(["--repeat".to_owned(), repeat.to_string()]);
    words.extend(options.expect.iter().flat_map(|e| ["--expect".to_owned(), e.clone()]));
    let campaign = Campaign {
        id: id.to_string(),
        words: serde_json::to_string(&words)?,
        seed,
        columns: columns.names.len() as u32,
    };
    let screen = Screen::from_options(options)?;
    let signals = Signals::watch()?;
    screen.print_line(&format!(
        "campaign   {} × {}, in blocks of random order, seed {seed}",
        match repeat {
            Repeat::Times(times) => times.to_string(),
            Repeat::Until(tolerance) => format!("until {tolerance}, at most {}", most(repeat)),
            Repeat::UntilSteady => format!("until steady, at most {}", most(repeat)),
        },
        columns.names.join(", ")
    ));
    let desk = Desk { options, screen: &screen, signals: &signals };
    Ok(go_on(&desk, &campaign, &columns, repeat)?.unwrap_or(Status::Valid))
}

/// Takes up the campaign that was measured last, where something of it is missing.
pub(crate) fn resume(now: &RunOptions) -> Result<Option<Status>> {
    let path = &now.logbook.logbook;
    if launched().is_some() || !path.exists() {
        return Ok(None);
    }
    // One that cannot be read, or whose first run was killed before it began, is for the run to
    // tell.
    let Ok(logbook) = Logbook::open_read_only(path) else { return Ok(None) };
    let Some(last) = logbook.newest_runs(1, |_| true)?.pop() else { return Ok(None) };
    let run = logbook.run(&last.id)?;
    let Some((id, words)) = Campaign::of_run(&run) else { return Ok(None) };
    let (id, words) = (id.to_owned(), words.to_owned());
    drop(logbook);
    let line: Vec<String> = serde_json::from_str(&words)
        .with_context(|| format!("the command of campaign {id} cannot be read"))?;
    let Some(Command::Run(asked_then)) = Flags::read_from(line)?.command else {
        return Ok(None);
    };
    let options = taken_up(*asked_then, now.clone());
    let Some(repeat) = options.repeat else { return Ok(None) };
    let columns = columns(&options, &read_plan::read(&options.load)?)?;
    let seed = options.load.seed.unwrap_or(run.seed);
    let campaign = Campaign { id, words, seed, columns: columns.names.len() as u32 };
    let screen = Screen::from_options(&options)?;
    let signals = Signals::watch()?;
    let desk = Desk { options: &options, screen: &screen, signals: &signals };
    go_on(&desk, &campaign, &columns, repeat)
}

/// What a campaign was asked for, with what may be said anew beside `--resume`
/// (`flags/resumed.rs`). An option that is added is decided on here, or it does not compile.
fn taken_up(then: RunOptions, now: RunOptions) -> RunOptions {
    let RunOptions { load, expect, repeat, resume, engine, .. } = then;
    let RunOptions {
        load: _,
        logbook,
        json,
        events,
        otlp,
        plain,
        no_report,
        report,
        presentation,
        keep,
        stop_on_throttle,
        expect: _,
        repeat: _,
        resume: _,
        consent,
        engine: _,
        no_pin,
        cpus,
    } = now;
    RunOptions {
        load,
        logbook,
        json,
        events,
        otlp,
        plain,
        no_report,
        report,
        presentation,
        keep,
        stop_on_throttle,
        expect,
        repeat,
        resume,
        consent,
        engine,
        no_pin,
        cpus,
    }
}

fn most(repeat: Repeat) -> u32 {
    match repeat {
        Repeat::Times(times) => times,
        Repeat::Until(_) => INTERIM_CHECKS[INTERIM_CHECKS.len() - 1],
        Repeat::UntilSteady => ROUNDS_MAX as u32,
    }
}

/// Each target is a column; a plan that compares already is one as a whole.
fn columns(options: &RunOptions, asked: &PlanRequest) -> Result<Columns> {
    let (plan, _) = plan_word(&options.load);
    let compares = asked.file.comparison.is_some()
        || !asked.file.variants.is_empty()
        || !options.load.array.is_empty();
    if compares || !asked.file.own_targets.is_empty() {
        return Ok(Columns {
            words: vec![options.load.words.clone()],
            names: vec![asked.file.name.clone()],
            variants: options.load.variants.clone(),
        });
    }
    let spelled: Vec<String> =
        asked.targets.iter().map(|target| target.display().to_string()).collect();
    let names = match &options.load.variants {
        Some(names) if names.len() == spelled.len() => names.clone(),
        Some(names) => anyhow::bail!(Usage(format!(
            "--variants names {} columns, and there are {} targets",
            names.len(),
            spelled.len()
        ))),
        None => spelled.clone(),
    };
    if options.json && spelled.len() > 2 {
        anyhow::bail!(Usage(
            "--json tells of one target or of two; of more: qdepth compare A B --json, two at a \
             time"
                .to_owned()
        ));
    }
    let words = spelled.into_iter().map(|target| vec![plan.to_owned(), target]).collect();
    Ok(Columns { words, names, variants: None })
}

/// Measures what is missing, and tells what all of it says. None where nothing was missing.
fn go_on(
    desk: &Desk<'_>,
    campaign: &Campaign,
    columns: &Columns,
    repeat: Repeat,
) -> Result<Option<Status>> {
    let (mut place, mut measured, mut worst) = (0, false, Status::Valid);
    let known = known(desk, campaign)?;
    for block in 0..most(repeat) {
        for column in campaign.order(block) {
            let member = Member { campaign, index: place, column };
            let found = known.iter().find(|kept| kept.index == place);
            place += 1;
            if found.is_some_and(|kept| kept.whole) {
                continue;
            }
            match run_at(desk, member, block, columns, found.is_some())? {
                interrupted @ Status::Interrupted(_) => return Ok(Some(interrupted)),
                Status::Invalid => worst = Status::Invalid,
                Status::Valid | Status::CannotTell | Status::Refused => {}
            }
            measured = true;
        }
        let enough = match repeat {
            Repeat::Times(_) => false,
            Repeat::Until(tolerance) => {
                INTERIM_CHECKS.contains(&(block + 1))
                    && is_decided(&groups(desk, campaign)?, columns, tolerance)
            }
            Repeat::UntilSteady => rounds(&groups(desk, campaign)?).is_steady(),
        };
        if enough {
            break;
        }
    }
    if !measured {
        return Ok(None);
    }
    let told = print_result(desk, campaign, columns, repeat)?;
    Ok(Some(if worst == Status::Valid { told } else { worst }))
}

/// The runs that the campaign has already, where it is taken up again.
fn known(desk: &Desk<'_>, campaign: &Campaign) -> Result<Vec<Kept>> {
    match Logbook::open_read_only(&desk.options.logbook.logbook) {
        Ok(logbook) => campaign.kept(&logbook),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Measures the run at this place, or the rest of one that was begun.
fn run_at(
    desk: &Desk<'_>,
    member: Member<'_>,
    block: u32,
    columns: &Columns,
    begun: bool,
) -> Result<Status> {
    let Member { campaign, column, .. } = member;
    let mut options = desk.options.clone();
    options.resume = begun;
    options.load.words.clone_from(&columns.words[column as usize]);
    options.load.variants = columns.variants.clone();
    options.load.seed = Some(campaign.seed_of(block));
    let request = RunRequest { facts: member.facts(), ..options.request()? };
    let name = &columns.names[column as usize];
    desk.screen.print_line(&format!("block {}   {name}", block + 1));
    let ran = run::run(&request, desk.screen, desk.signals)?;
    if let Some(signal) = desk.signals.caught() {
        desk.screen
            .print_line("interrupted: what was measured is kept; `qdepth run --resume` continues");
        return Ok(Status::Interrupted(signal));
    }
    let Some(ran) = ran.filter(|ran| ran.run.state == RunState::Sealed && ran.lost == 0) else {
        anyhow::bail!(
            "block {} on {name} could not be measured whole; `qdepth run --resume` goes on with it",
            block + 1
        );
    };
    desk.screen.kept(&request.logbook, &ran.run.id);
    Ok(status_of(&ran.run, &ran.points))
}

/// The whole runs of each column.
fn groups(desk: &Desk<'_>, campaign: &Campaign) -> Result<Vec<Vec<Measured>>> {
    let logbook = Logbook::open_read_only(&desk.options.logbook.logbook)?;
    let mut all = vec![Vec::new(); campaign.columns as usize];
    for kept in campaign.kept(&logbook)?.into_iter().filter(|kept| kept.whole) {
        let (run, points) = logbook.measured(&kept.run)?;
        let is_whole = run.state == RunState::Sealed;
        if let Some(group) = all.get_mut(kept.column as usize).filter(|_| is_whole) {
            group.push((run, points));
        }
    }
    Ok(all)
}

/// Whether every rate is known so well: of one column its interval, of several every verdict. The
/// tails of the latency are told too, and are not waited for.
fn is_decided(groups: &[Vec<Measured>], columns: &Columns, tolerance: Tolerance) -> bool {
    if let [alone] = groups {
        let known = repeated(&columns.names[0], alone);
        let narrow = |share: f64| share * INTERIM_WIDENING <= tolerance.share();
        let mut rates = known.rows.iter().filter(|row| row.is_rate());
        return rates.all(|row| row.half_width_share().is_some_and(narrow));
    }
    compared(groups, columns, tolerance.share(), INTERIM_CHECKS.len() as u32).iter().all(|told| {
        let mut rates = told.rows.iter().filter(|row| row.is_rate());
        rates.all(|row| row.verdict != "cannot-tell")
    })
}

/// Each later column beside the first.
fn compared(
    groups: &[Vec<Measured>],
    columns: &Columns,
    threshold: f64,
    interim_checks: u32,
) -> Vec<Versus> {
    let groups: Vec<Vec<Document>> = groups.iter().map(|group| documents(group)).collect();
    let named = |column: usize| Side { name: &columns.names[column], runs: &groups[column] };
    (1..groups.len())
        .map(|column| versus(named(0), named(column), &[], threshold, interim_checks))
        .collect()
}

/// The rounds of a campaign on one target.
fn rounds(groups: &[Vec<Measured>]) -> Rounds {
    Rounds::from_runs(groups.first().map_or(&[][..], Vec::as_slice))
}

fn print_result(
    desk: &Desk<'_>,
    campaign: &Campaign,
    columns: &Columns,
    repeat: Repeat,
) -> Result<Status> {
    let groups = groups(desk, campaign)?;
    let lang = desk.options.presentation.lang.of_report();
    let silent = desk.options.prints_events_alone();
    let (threshold, interim_checks) = match repeat {
        Repeat::Times(_) | Repeat::UntilSteady => (THRESHOLD, 1),
        Repeat::Until(tolerance) => (tolerance.share(), INTERIM_CHECKS.len() as u32),
    };
    let decided = match repeat {
        Repeat::Times(_) => true,
        Repeat::Until(tolerance) => is_decided(&groups, columns, tolerance),
        Repeat::UntilSteady => rounds(&groups).is_steady(),
    };
    if let [alone] = groups.as_slice() {
        // Of rounds the last five count.
        let counted = match repeat {
            Repeat::UntilSteady => &alone[alone.len().saturating_sub(WINDOW_ROUNDS)..],
            Repeat::Times(_) | Repeat::Until(_) => alone,
        };
        let mut told = repeated(&columns.names[0], counted);
        if repeat == Repeat::UntilSteady {
            told.rounds = rounds(&groups).tracked;
        }
        if silent {
            // The lines of events stand there.
        } else if desk.options.json {
            print_document(repeated_json(&told).trim_end())?;
        } else {
            let table = repeated_table(&told, lang);
            print(&table.caption)?;
            print_table(&table, false)?;
            rounds_sentences(&told.rounds, lang).iter().try_for_each(|said| print(said))?;
        }
        return Ok(if decided { Status::Valid } else { Status::CannotTell });
    }
    let all = compared(&groups, columns, threshold, interim_checks);
    for told in all.iter().filter(|_| !silent) {
        if desk.options.json {
            print_document(versus_json(told).trim_end())?;
            continue;
        }
        let table = versus_table(told, lang);
        print(&table.caption)?;
        print_table(&table, false)?;
        versus_sentences(told, lang).iter().try_for_each(|said| print(said))?;
    }
    let ids = |group: &[Measured]| -> String {
        group.iter().map(|(run, _)| &run.id[..13]).collect::<Vec<_>>().join(",")
    };
    if let [a, b] = groups.as_slice() {
        desk.screen.print_line(&format!("again      qdepth compare {} {}", ids(a), ids(b)));
    }
    let any = |verdict: &str| all.iter().any(|told| told.count(verdict) > 0);
    Ok(match (any("slower"), any("cannot-tell")) {
        (true, _) => Status::Invalid,
        (false, true) => Status::CannotTell,
        (false, false) => Status::Valid,
    })
}
