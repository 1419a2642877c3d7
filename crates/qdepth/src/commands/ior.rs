//! `qdepth ior`: a command line of IOR, measured by the same lab as a plan of our own, and told in
//! IOR's words.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use qdepth_files::Privacy;
use qdepth_foreign::ior::{Ior, IorPhase, IorRank, IorTest, Summary, ior_csv, ior_json, ior_text};
use qdepth_measure::Nanos;
use qdepth_record::RunRecord;
use qdepth_workload::{Choices, PlanFile, Point};

use crate::commands::run;
use crate::exit_status::Status;
use crate::flags::{IorOptions, RunOptions};
use crate::result_file::ResultFile;
use crate::terminal::print_document;
use qdepth_lab::all_ranks::launched;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::PlanRequest;
use qdepth_lab::worker_result::{WorkerResult, WorkerResults};

pub(crate) fn ior(options: &IorOptions) -> Result<Status> {
    let ior = Ior::read(&options.words).map_err(|refusal| {
        let how = "qdepth's own options stand before IOR's: qdepth ior --no-report -- -t 1m …";
        Usage(format!("{refusal}. {how}"))
    })?;
    let tasks = ior.tasks.or(launched()).unwrap_or(1);
    let text = ior.plan(tasks);
    if options.convert {
        print_document(text.trim_end())?;
        return Ok(Status::Valid);
    }
    let summary = ior.summary_file.as_ref().map(|path| ResultFile::at(path, Privacy::Private));
    let summary = summary.transpose()?;
    let plan = plan(&ior, &text)?;
    let run = run_options(options)?;
    run::measure(&run, &run.request_of(plan), |ran| {
        tell(&ior, &test(&ior, tasks, &ran.run), &phases(&ran.ranks), summary.as_ref())
    })
}

/// The options of `qdepth run` that this stands for.
fn run_options(options: &IorOptions) -> Result<RunOptions> {
    Ok(RunOptions {
        logbook: options.logbook.clone(),
        no_report: options.no_report,
        report: options.report.clone(),
        engine: options.engine,
        ..RunOptions::usual()?
    })
}

/// What the command line asks the lab for.
fn plan(ior: &Ior, text: &str) -> Result<PlanRequest> {
    let file: PlanFile = text.parse().context("the plan that was made cannot be read")?;
    let mut targets = Vec::new();
    for name in ior.names() {
        let path = Path::new(name);
        if path.file_name().is_none() || name.ends_with('/') {
            anyhow::bail!(Usage(format!("-o {name} names no file")));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        targets.push(folder.unwrap_or(Path::new(".")).to_owned());
    }
    let missing = targets.iter().find(|folder: &&PathBuf| !folder.is_dir());
    if let Some(folder) = missing {
        anyhow::bail!(Usage(format!("-o: there is no directory {}", folder.display())));
    }
    if !ior.writes {
        must_be_there(ior, &targets, &file.file_names)?;
    }
    Ok(PlanRequest { file, choices: Choices::default(), targets })
}

/// What is only read must be there: nothing is made in its place.
fn must_be_there(ior: &Ior, targets: &[PathBuf], names: &[String]) -> Result<()> {
    let (tasks, count) = (ior.tasks.or(launched()).unwrap_or(1) as usize, targets.len());
    let ranks = if ior.file_per_process { tasks } else { 1 };
    for rank in 0..ranks {
        let (folder, stem) = (&targets[rank % count], &names[rank % count]);
        let name = if ior.file_per_process { format!("{stem}.{rank:08}") } else { stem.clone() };
        let bytes = if ior.file_per_process { 1 } else { tasks as u64 } * ior.bytes_per_task();
        let path = folder.join(name);
        let long = std::fs::metadata(&path).map(|found| found.len());
        if long.as_ref().is_ok_and(|length| *length >= bytes) {
            continue;
        }
        let found = long.map_or_else(|why| why.to_string(), |length| format!("{length} B"));
        anyhow::bail!(Usage(format!(
            "-r reads {bytes} B of {}, and there is: {found}. Write it first, with -w -k",
            path.display()
        )));
    }
    Ok(())
}

/// What each rank did in each phase: points of one step are one phase, on several directories.
fn phases(points: &WorkerResults) -> Vec<IorPhase> {
    let mut phases: Vec<IorPhase> = Vec::new();
    let mut iterations = [0, 0];
    let told = |group: &&[(Point, Vec<WorkerResult>)]| {
        // What checks what was written is no result of IOR's.
        group.iter().all(|(point, _)| !point.profile.starts_with("ior-check"))
    };
    for group in points.chunk_by(|(a, _), (b, _)| a.group == b.group).filter(told) {
        let writes = group.iter().any(|(point, _)| point.writes());
        let iteration = &mut iterations[usize::from(writes)];
        let ranks = group.iter().flat_map(|(_, ranks)| ranks.iter().map(rank));
        let access = if writes { "write" } else { "read" };
        phases.push(IorPhase { access, iteration: *iteration, ranks: ranks.collect() });
        *iteration += 1;
    }
    phases
}

fn rank(rank: &WorkerResult) -> IorRank {
    let seconds = |time: Nanos| time.as_secs_f64();
    IorRank {
        bytes: rank.bytes,
        transfers: rank.transfers,
        open_s: seconds(rank.opened),
        moved_s: seconds(rank.moved),
        close_s: seconds(rank.closed),
    }
}

fn test(ior: &Ior, tasks: u32, record: &RunRecord) -> IorTest {
    let system = rustix::system::uname();
    let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    IorTest {
        command_line: ior.command_line.clone(),
        program: format!("qdepth {}", record.qdepth_version),
        began: record.started_at.clone(),
        finished: record.ended_at.clone().unwrap_or_default(),
        machine: format!("{} {}", part(system.sysname()), part(system.nodename())),
        file_name: ior.files.join("@"),
        file_per_process: ior.file_per_process,
        tasks,
        nodes: 1,
        repetitions: ior.repetitions,
        transfer: ior.transfer,
        block: ior.block,
        segments: ior.segments,
        random: ior.random,
        reorder: ior.reorder,
        task_offset: ior.task_offset,
        reorder_random: ior.reorder_random,
        seed: if ior.reorder_random { ior.seed } else { 0 },
        deadline_s: ior.deadline_s,
        emulated: record.emulated,
    }
}

fn tell(
    ior: &Ior,
    test: &IorTest,
    phases: &[IorPhase],
    summary: Option<&ResultFile>,
) -> Result<()> {
    let text = match ior.summary {
        Summary::Default => ior_text(test, phases, ior.verbose),
        Summary::Json => ior_json(test, phases),
        Summary::Csv => ior_csv(test, phases),
    };
    match summary {
        Some(file) => file.write(text + "\n"),
        None => print_document(&text),
    }
}
