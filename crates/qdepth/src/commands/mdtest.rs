//! `qdepth mdtest`: runs an mdtest command line with the load generator of `qdepth run`, and prints
//! mdtest's output.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use qdepth_files::{Folder, Privacy};
use qdepth_foreign::mdtest::{
    MDTEST_HELP, MDTEST_STEM, Mdtest, MdtestPhase, MdtestRefusal, MdtestRun, mdtest_text,
};
use qdepth_linux::{Engine, EngineChoice};
use qdepth_workload::{Choices, Point};

use crate::commands::ior::surroundings;
use crate::commands::remarks::{self, has_errors};
use crate::commands::run;
use crate::exit_status::{self, Status};
use crate::flags::{LOGBOOK_NAME, LogbookOption, MdtestOptions, RunReport};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::print_raw;
use qdepth_lab::failure::Usage;
use qdepth_lab::ranks::all_ranks::launched;
use qdepth_lab::request::worker_result::WorkerResult;
use qdepth_lab::request::{FinishedRun, PlanRequest, RunRequest};

/// Entry point for a link named `mdtest`: every argument is mdtest's, and no report is written.
pub(crate) fn as_mdtest(words: &[String]) -> u8 {
    let options = MdtestOptions {
        logbook: LogbookOption { logbook: LOGBOOK_NAME.into() },
        report: RunReport::none(),
        tasks: None,
        convert: false,
        words: words.to_vec(),
    };
    mdtest(&options).map_or_else(|error| exit_status::explain(&error), Status::number)
}

pub(crate) fn mdtest(options: &MdtestOptions) -> Result<Status> {
    let mut mdtest = Mdtest::read(&options.words).map_err(refused)?;
    if mdtest.help {
        print_raw(MDTEST_HELP.trim_end())?;
        return Ok(Status::Valid);
    }
    let tasks = options.tasks.or(launched()).unwrap_or(1);
    if !mdtest.creates
        && let Some(path) = &mdtest.status_file
    {
        let why = || Usage(format!("-x: {path} contains no number of entries"));
        mdtest.items = surroundings::number_in(path)?.with_context(why)?;
    }
    let plan = mdtest.plan(tasks);
    if options.convert {
        print_raw(plan.to_toml().context("cannot write the plan as TOML")?.trim_end())?;
        return Ok(Status::Valid);
    }
    if mdtest.creates && mdtest.stonewall_s > 0 && launched().is_some() {
        bail!(Usage(
            "-W: each MPI rank sees only how many entries it has created itself. Remove -W, or use \
             threads: qdepth mdtest --tasks 8"
                .to_owned()
        ));
    }
    let at = Path::new(&mdtest.directory);
    // Removed again if nothing is kept in it.
    let _made = if mdtest.creates { Folder::make_new(at, 0o700)? } else { None };
    if !mdtest.creates {
        must_exist(&mdtest, tasks)?;
    }
    let written = mdtest.status_file.as_ref().filter(|_| mdtest.creates);
    let written = written.map(|path| ResultFile::at(path, Privacy::Private)).transpose()?;
    let targets = vec![PathBuf::from(at)];
    let said = mdtest.remarks.iter();
    let request = RunRequest {
        engine: EngineChoice::Only(Engine::Sync),
        remarks: said.map(|(option, what)| remarks::finding(option, what)).collect(),
        ..RunRequest::new(
            PlanRequest { file: plan, choices: Choices::default(), targets },
            options.logbook.logbook.clone(),
        )
    };
    let path = mdtest.directory.clone();
    let file_system = surroundings::file_system_of(at, path).unwrap_or_default();
    let began = now();
    let (screen, mut failed) = (Screen::new(), false);
    let status = run::measure_on(&screen, &screen, &options.report, &request, |ran| {
        failed = ran.points.iter().any(has_errors);
        let program = format!("qdepth-{}", ran.run.qdepth_version);
        let (phases, finished) =
            (ran.ranks.iter().map(|(point, ranks)| phase(point, ranks)).collect(), now());
        let run = MdtestRun { mdtest, program, began, finished, tasks, file_system, phases };
        print_raw(&mdtest_text(&run))?;
        match written.zip(entries_per_task(ran)) {
            Some((file, entries)) => Ok(file.write(entries.to_string())?),
            None => Ok(()),
        }
    })?;
    Ok(match status {
        // An invalid point is a finding for qdepth, but an ordinary result for mdtest.
        Status::Invalid if !failed => Status::Valid,
        status => status,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it")]
fn refused(refusal: MdtestRefusal) -> Usage {
    Usage(format!(
        "{refusal}. `qdepth mdtest -- -h` lists mdtest's options; those of qdepth come before `--`"
    ))
}

fn now() -> String {
    Timestamp::now().strftime("%m/%d/%Y %H:%M:%S").to_string()
}

/// Checks that an earlier run has kept the entries.
fn must_exist(mdtest: &Mdtest, tasks: u32) -> Result<()> {
    let name = |task: u32| match mdtest.unique {
        true => format!("{MDTEST_STEM}.{task:08}"),
        false => MDTEST_STEM.to_owned(),
    };
    let path = |task| Path::new(&mdtest.directory).join(name(task));
    match (0..tasks).map(path).find(|path| !path.is_dir()) {
        Some(missing) => bail!(Usage(format!(
            "there is no directory {}: create the entries first, with -C and the same -d, -u and \
             number of tasks",
            missing.display()
        ))),
        None => Ok(()),
    }
}

fn phase(point: &Point, ranks: &[WorkerResult]) -> MdtestPhase {
    MdtestPhase {
        name: point.profile_title.clone(),
        operations: ranks.iter().map(|rank| rank.transfers).sum(),
        seconds: ranks.iter().map(|rank| rank.duration.as_secs_f64()).fold(0.0, f64::max),
    }
}

/// Number of entries that each task created in the last creation.
fn entries_per_task(ran: &FinishedRun) -> Option<u64> {
    let (_, ranks) = ran.ranks.iter().rfind(|(point, _)| point.operation.makes_entries())?;
    ranks.iter().map(|rank| rank.transfers).max()
}
