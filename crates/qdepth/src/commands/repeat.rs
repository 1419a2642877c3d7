//! `qdepth run A B --repeat N`: runs the plan on each column repeatedly, interleaved in blocks of
//! random order, then prints the combined result. Built on top of single runs: each repetition is a
//! complete run in the logbook.

use std::path::{Path, PathBuf};

use anyhow::Result;
use qdepth_logbook::Logbook;
use qdepth_measure::{ROUNDS_MAX, Tolerance, WINDOW_ROUNDS};
use qdepth_record::{Document, RunState};
use qdepth_report::{
    Lang, Measured, Rounds, Side, Versus, by_variant, documents, repeated, repeated_json,
    repeated_table, rounds_sentences, versus, versus_json, versus_sentences, versus_table,
};
use qdepth_workload::Choices;

use crate::commands::compare::status;
use crate::commands::read::print_list;
use crate::exit_status::{Status, status_of};
use crate::flags::{REPORT_NAME, RunOptions};
use crate::screen::Screen;
use crate::terminal::{print, print_raw};
use qdepth_lab::campaign::repeat::Repeat;
use qdepth_lab::campaign::{Campaign, CampaignColumn, CampaignRequest, Member, StoredRun};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_lab::ranks::all_ranks::launched;
use qdepth_lab::request::{PlanRequest, RunRequest};
use qdepth_lab::run;

/// Numbers of blocks after which the interim result is checked. The distances grow because every
/// check adds a chance of stopping wrongly. The last entry is the maximum.
const INTERIM_CHECKS: [u32; 5] = [6, 9, 14, 20, 30];
/// Default threshold of a comparison: smaller differences count as equal.
const THRESHOLD: f64 = 0.02;
/// Factor by which repeated interim checks widen the interval (docs/design/0009).
const INTERIM_WIDENING: f64 = 1.13;

/// A side of a comparison: its name and runs.
type Group = (String, Vec<Measured>);

/// Context of a campaign.
struct CampaignContext<'a> {
    options: &'a RunOptions,
    screen: &'a Screen,
    signals: &'a Signals,
}

/// Begins a campaign.
pub(crate) fn measure(options: &RunOptions, repeat: Repeat) -> Result<Status> {
    if launched().is_some() {
        anyhow::bail!(Usage(
            "--repeat needs a single rank: remove it, and repeat the command".to_owned()
        ));
    }
    let report = &options.report.report;
    if report != Path::new(REPORT_NAME) {
        anyhow::bail!(Usage(format!(
            "--report with --repeat: a campaign does not write a report. Remove --report, then \
             report its runs, which `qdepth list` shows: qdepth report RUN RUN -o {}",
            report.display()
        )));
    }
    let request = options.request()?;
    let Some(asked) = &request.plan else {
        anyhow::bail!(Usage("--repeat starts a new campaign: remove --resume".to_owned()));
    };
    let columns = columns(options, asked)?;
    if repeat == Repeat::UntilSteady && columns.len() > 1 {
        anyhow::bail!(Usage(
            "--repeat until-steady: needs exactly one target, because rounds follow one another. \
             Name one"
                .to_owned()
        ));
    }
    let id = uuid::Uuid::now_v7();
    let seed = options.load.seed.unwrap_or_else(|| id.as_u128() as u64 & u64::from(u32::MAX));
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let names = names.join(", ");
    let engine = request.engine;
    let expect = request.expect.clone();
    let campaign = Campaign {
        id: id.to_string(),
        request: CampaignRequest { repeat, seed, columns, engine, expect },
    };
    let screen = Screen::from_options(options);
    let signals = Signals::watch()?;
    screen.print_line(&format!(
        "campaign   {} × {}, in blocks of random order, seed {seed}",
        match repeat {
            Repeat::Times(times) => times.to_string(),
            Repeat::Until(tolerance) => format!("until {tolerance}, at most {}", most(repeat)),
            Repeat::UntilSteady => format!("until steady, at most {}", most(repeat)),
        },
        names
    ));
    let context = CampaignContext { options, screen: &screen, signals: &signals };
    Ok(measure_missing(&context, &campaign)?.unwrap_or(Status::Valid))
}

/// Resumes the last campaign. Returns `None` if there is no campaign to resume or nothing is
/// missing.
pub(crate) fn resume(options: &RunOptions) -> Result<Option<Status>> {
    let path = &options.logbook.logbook;
    if launched().is_some() || !path.exists() {
        return Ok(None);
    }
    // If the logbook is unreadable, or its first run was killed before it began, the run itself
    // reports that.
    let Ok(logbook) = Logbook::open_read_only(path) else { return Ok(None) };
    let Some(last) = logbook.newest_runs(1, |_| true)?.pop() else { return Ok(None) };
    let run = logbook.run(&last.id)?;
    drop(logbook);
    let Some(campaign) = Campaign::from_run(&run).transpose()? else { return Ok(None) };
    let options = RunOptions { repeat: Some(campaign.request.repeat), ..options.clone() };
    let screen = Screen::from_options(&options);
    let signals = Signals::watch()?;
    let context = CampaignContext { options: &options, screen: &screen, signals: &signals };
    measure_missing(&context, &campaign)
}

fn most(repeat: Repeat) -> u32 {
    match repeat {
        Repeat::Times(times) => times,
        Repeat::Until(_) => INTERIM_CHECKS[INTERIM_CHECKS.len() - 1],
        Repeat::UntilSteady => ROUNDS_MAX as u32,
    }
}

/// Columns of a campaign: one for each target; a plan that already compares is a single column.
fn columns(options: &RunOptions, asked: &PlanRequest) -> Result<Vec<CampaignColumn>> {
    let compares = asked.file.comparison.is_some()
        || !asked.file.variants.is_empty()
        || !options.load.array.is_empty();
    if compares || !asked.file.own_targets.is_empty() {
        return Ok(vec![CampaignColumn {
            name: asked.file.name.clone(),
            plan: asked.clone(),
            command: options.words_again(&asked.file),
        }]);
    }
    let targets = &asked.targets;
    let names = match &options.load.variants {
        Some(names) if names.len() == targets.len() => names.clone(),
        Some(names) => anyhow::bail!(Usage(format!(
            "--variants: {} for {} targets; give one name per target, separated by commas",
            if names.len() == 1 { "1 name".to_owned() } else { format!("{} names", names.len()) },
            targets.len()
        ))),
        None => targets.iter().map(|target| target.display().to_string()).collect(),
    };
    if options.json && targets.len() > 2 {
        anyhow::bail!(Usage(
            "--json supports one or two targets. For more, compare two at a time: qdepth compare \
             A B --json"
                .to_owned()
        ));
    }
    let column = |(target, name): (&PathBuf, String)| CampaignColumn {
        name,
        plan: PlanRequest {
            file: asked.file.clone(),
            choices: Choices { variants: None, ..asked.choices.clone() },
            targets: vec![target.clone()],
        },
        command: options.on_target(&target.display().to_string()).words_again(&asked.file),
    };
    Ok(targets.iter().zip(names).map(column).collect())
}

/// Measures the missing runs and prints the combined result. Returns `None` if nothing was missing.
fn measure_missing(context: &CampaignContext<'_>, campaign: &Campaign) -> Result<Option<Status>> {
    let repeat = campaign.request.repeat;
    let (mut index, mut measured, mut worst) = (0, false, Status::Valid);
    let stored_runs = stored_runs(context, campaign)?;
    for block in 0..most(repeat) {
        for column in campaign.order(block) {
            let member = Member { campaign, index, column };
            let found = stored_runs.iter().find(|kept| kept.index == index);
            index += 1;
            if found.is_some_and(|kept| kept.whole) {
                continue;
            }
            match run_at(context, member, block, found.is_some())? {
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
                    && is_decided(&groups(context, campaign)?, tolerance)
            }
            Repeat::UntilSteady => rounds(&groups(context, campaign)?).is_steady(),
        };
        if enough {
            break;
        }
    }
    if !measured {
        return Ok(None);
    }
    let status = print_result(context, campaign)?;
    // A verdict does not include points of grade C, so they do not change its status.
    let is_alone = campaign.request.columns.len() == 1;
    Ok(Some(if is_alone && worst == Status::Invalid { worst } else { status }))
}

/// Runs of the campaign that are already in the logbook; empty for a new campaign.
fn stored_runs(context: &CampaignContext<'_>, campaign: &Campaign) -> Result<Vec<StoredRun>> {
    match Logbook::open_read_only(&context.options.logbook.logbook) {
        Ok(logbook) => campaign.stored_runs(&logbook),
        Err(error) if error.is_absent() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Measures one run of the campaign, or resumes it if it was begun.
fn run_at(
    context: &CampaignContext<'_>,
    member: Member<'_>,
    block: u32,
    begun: bool,
) -> Result<Status> {
    let Member { campaign, column, .. } = member;
    let CampaignRequest { columns, engine, expect, repeat: _, seed: _ } = &campaign.request;
    let CampaignColumn { name, command, .. } = &columns[column as usize];
    let seed = campaign.seed_of(block);
    let request = RunRequest {
        plan: (!begun).then(|| columns[column as usize].plan_with(seed)),
        engine: *engine,
        expect: expect.clone(),
        command: Some(command.clone()),
        facts: member.facts()?,
        ..context.options.request_for(None)
    };
    context.screen.print_line(&format!("block {}   {name}", block + 1));
    let ran = run::run(&request, context.screen, context.signals)?;
    if let Some(signal) = context.signals.caught() {
        context.screen.print_line(
            "interrupted: the measured points are kept; `qdepth run --resume` continues",
        );
        return Ok(Status::Interrupted(signal));
    }
    let Some(ran) = ran.filter(|ran| ran.run.state == RunState::Complete && ran.lost == 0) else {
        anyhow::bail!(
            "block {} on {name} is incomplete; `qdepth run --resume` continues it",
            block + 1
        );
    };
    context.screen.print_run_location(&request.logbook, &ran.run.id);
    Ok(status_of(&ran.run, &ran.points))
}

/// Name and complete runs of each column.
fn groups(context: &CampaignContext<'_>, campaign: &Campaign) -> Result<Vec<Group>> {
    let logbook = Logbook::open_read_only(&context.options.logbook.logbook)?;
    let mut all = vec![Vec::new(); campaign.request.columns.len()];
    for kept in campaign.stored_runs(&logbook)?.into_iter().filter(|kept| kept.whole) {
        let (run, points) = logbook.measured(&kept.run)?;
        let is_whole = run.state == RunState::Complete;
        if let Some(group) = all.get_mut(kept.column as usize).filter(|_| is_whole) {
            group.push((run, points));
        }
    }
    Ok(campaign.request.columns.iter().map(|column| column.name.clone()).zip(all).collect())
}

/// True if every rate is known well enough: its interval for a single column, its verdict for
/// several. Latency percentiles are printed but not waited for.
fn is_decided(groups: &[Group], tolerance: Tolerance) -> bool {
    if let [(name, alone)] = groups {
        let known = repeated(name, alone);
        let narrow = |share: f64| share * INTERIM_WIDENING <= tolerance.share();
        let mut rates = known.rows.iter().filter(|row| row.is_rate());
        return rates.all(|row| row.half_width_share().is_some_and(narrow));
    }
    compared(groups, tolerance.share(), INTERIM_CHECKS.len() as u32).iter().all(|comparison| {
        let mut rates = comparison.rows.iter().filter(|row| row.is_rate());
        rates.all(|row| row.verdict != "inconclusive")
    })
}

/// Comparison of each later side with the first.
fn compared(groups: &[Group], threshold: f64, interim_checks: u32) -> Vec<Versus> {
    let sides: Vec<(&str, Vec<Document>)> =
        groups.iter().map(|(name, runs)| (&**name, documents(runs))).collect();
    let named = |index: usize| Side { name: sides[index].0, runs: &sides[index].1 };
    (1..sides.len())
        .map(|index| versus(named(0), named(index), &[], threshold, interim_checks))
        .collect()
}

/// The rounds of a campaign on one target.
fn rounds(groups: &[Group]) -> Rounds {
    Rounds::from_runs(groups.first().map_or(&[][..], |(_, runs)| runs))
}

fn print_compared(all: &[Versus], lang: Lang) -> Result<()> {
    for comparison in all {
        print_list(&versus_table(comparison, lang))?;
        versus_sentences(comparison, lang).iter().try_for_each(|sentence| print(sentence))?;
    }
    Ok(())
}

fn print_result(context: &CampaignContext<'_>, campaign: &Campaign) -> Result<Status> {
    let repeat = campaign.request.repeat;
    let groups = groups(context, campaign)?;
    let lang = context.options.report.presentation.lang;
    let silent = context.options.prints_events_alone();
    let (threshold, interim_checks) = match repeat {
        Repeat::Times(_) | Repeat::UntilSteady => (THRESHOLD, 1),
        Repeat::Until(tolerance) => (tolerance.share(), INTERIM_CHECKS.len() as u32),
    };
    let decided = match repeat {
        Repeat::Times(_) => true,
        Repeat::Until(tolerance) => is_decided(&groups, tolerance),
        Repeat::UntilSteady => rounds(&groups).is_steady(),
    };
    if let [(name, alone)] = groups.as_slice() {
        // Only the last `WINDOW_ROUNDS` rounds count.
        let counted = match repeat {
            Repeat::UntilSteady => &alone[alone.len().saturating_sub(WINDOW_ROUNDS)..],
            Repeat::Times(_) | Repeat::Until(_) => alone,
        };
        let mut report = repeated(name, counted);
        if repeat == Repeat::UntilSteady {
            report.rounds = rounds(&groups).tracked;
        }
        let variants = by_variant(counted, lang);
        if silent {
            // The events are the output.
        } else if context.options.json {
            print_raw(repeated_json(&report).trim_end())?;
        } else if variants.len() > 1 && repeat != Repeat::UntilSteady {
            print_compared(&compared(&variants, threshold, interim_checks), lang)?;
        } else {
            print_list(&repeated_table(&report, lang))?;
            rounds_sentences(&report.rounds, lang)
                .iter()
                .try_for_each(|sentence| print(sentence))?;
        }
        return Ok(if decided { Status::Valid } else { Status::CannotTell });
    }
    let all = compared(&groups, threshold, interim_checks);
    if silent {
        // The events are the output.
    } else if context.options.json {
        all.iter().try_for_each(|comparison| print_raw(versus_json(comparison).trim_end()))?;
    } else {
        print_compared(&all, lang)?;
    }
    let ids = |group: &[Measured]| -> String {
        group.iter().map(|(run, _)| &run.id[..13]).collect::<Vec<_>>().join(",")
    };
    if let [(_, a), (_, b)] = groups.as_slice() {
        context.screen.print_line(&format!("compare    qdepth compare {} {}", ids(a), ids(b)));
    }
    let statuses: Vec<Status> = all.iter().map(status).collect();
    let worst = [Status::Invalid, Status::CannotTell].into_iter().find(|s| statuses.contains(s));
    Ok(worst.unwrap_or(Status::Valid))
}
