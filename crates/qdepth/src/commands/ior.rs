//! `qdepth ior`: runs an IOR command line with the load generator of `qdepth run`, and prints IOR's
//! output.

pub(crate) mod surroundings;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use qdepth_files::{Input, Privacy, limit};
use qdepth_foreign::ior::{
    IOR_HELP, Ior, IorPhase, IorRank, IorRefusal, IorRun, IorTest, Summary, ior_csv, ior_json,
    ior_outliers, ior_ranks_csv, ior_text,
};
use qdepth_linux::{Engine, EngineChoice};
use qdepth_measure::Nanos;
use qdepth_workload::{Choices, Point};

use crate::commands::remarks::{self, has_errors};
use crate::commands::run;
use crate::exit_status::{self, Status};
use crate::flags::{IorOptions, LOGBOOK_NAME, LogbookOption, RunReport};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::{print_line, print_raw};
use qdepth_lab::failure::Usage;
use qdepth_lab::ranks::all_ranks::launched;
use qdepth_lab::request::worker_result::{WorkerResult, WorkerResults};
use qdepth_lab::request::{FinishedRun, PlanRequest, RunRequest};

/// Entry point for a link named `ior`: every argument is IOR's, and no report is written.
pub(crate) fn as_ior(words: &[String]) -> u8 {
    let options = IorOptions {
        logbook: LogbookOption { logbook: LOGBOOK_NAME.into() },
        report: RunReport::none(),
        engine: EngineChoice::Only(Engine::Sync),
        convert: false,
        words: words.to_vec(),
    };
    ior(&options).map_or_else(|error| exit_status::explain(&error), Status::number)
}

pub(crate) fn ior(options: &IorOptions) -> Result<Status> {
    let words = Ior::read(&options.words).map_err(refused)?;
    if words.help {
        print_raw(IOR_HELP.trim_end())?;
        return Ok(Status::Valid);
    }
    let tests = tests(&words)?;
    if options.convert {
        let plans = tests.iter().map(|test| test.plan(tasks(test)).to_toml());
        let plans: Vec<String> =
            plans.collect::<Result<_, _>>().context("cannot write the plan as TOML")?;
        print_raw(plans.join("\n").trim_end())?;
        return Ok(Status::Valid);
    }
    let parts: usize = tests.iter().map(|test| test.parts().len()).sum();
    if let Some(ranks) = launched().filter(|_| parts > 1) {
        bail!(Usage(format!(
            "{ranks} MPI ranks can measure one run, but these options make {parts}: remove -T, -f, \
             and -m with -i"
        )));
    }
    let first = tests.first().context("the script contains no test")?;
    let results = OutputFiles::open(first)?;
    let _memory = surroundings::allocate_memory(first)?;
    let results_of_all = ior_run(&words);
    let mut whole =
        IorSession { options, results: results_of_all, status: Status::Valid, failed: false };
    for (id, test) in (0_u32..).zip(&tests) {
        whole.measure(id, test)?;
        if matches!(whole.status, Status::Interrupted(_)) {
            break;
        }
    }
    // Under MPI only the first rank has results to print.
    if !whole.results.began.is_empty() {
        results.write(&words, &whole.results)?;
    }
    Ok(match whole.status {
        // An invalid point is a finding for qdepth, but an ordinary result for IOR.
        Status::Invalid if !whole.failed => Status::Valid,
        status => status,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` hands it")]
fn refused(refusal: IorRefusal) -> Usage {
    Usage(format!(
        "{refusal}. `qdepth ior -- -h` lists IOR's options; those of qdepth come before `--`"
    ))
}

/// Tests of the command line, or of the script that it names.
fn tests(words: &Ior) -> Result<Vec<Ior>> {
    let Some(script) = &words.script else { return Ok(vec![words.clone()]) };
    let bytes = Input::at(script, limit::JOB).bytes()?;
    let tests = words.tests_of(script, &String::from_utf8_lossy(&bytes)).map_err(refused)?;
    if tests.is_empty() {
        bail!(Usage(format!("{script}: no test between `IOR START` and `IOR STOP`")));
    }
    Ok(tests)
}

fn tasks(test: &Ior) -> u32 {
    test.tasks.or(launched()).unwrap_or(1)
}

fn ior_run(words: &Ior) -> IorRun {
    let system = rustix::system::uname();
    let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    IorRun {
        command_line: words.command_line.clone(),
        machine: format!("{} {}", part(system.sysname()), part(system.nodename())),
        ..IorRun::default()
    }
}

/// State of an IOR run: options, results so far, and status.
struct IorSession<'a> {
    options: &'a IorOptions,
    results: IorRun,
    status: Status,
    failed: bool,
}

impl IorSession<'_> {
    fn measure(&mut self, id: u32, test: &Ior) -> Result<()> {
        let mut test = test.clone();
        let tasks = tasks(&test);
        let _folders = surroundings::directories(&mut test, tasks)?;
        surroundings::status_of(&mut test)?;
        let (nodes, ior) = (1, test.clone());
        self.results.tests.push(IorTest { ior, id, tasks, nodes, ..IorTest::default() });
        let began = Timestamp::now();
        for mut part in test.parts() {
            let minutes = Timestamp::now().duration_since(began).as_secs() / 60;
            if part.repetition > 0 && test.most_minutes > 0 && minutes >= test.most_minutes.into() {
                print_line(&format!("-T: no further repetition after {minutes} min"));
                break;
            }
            let plan = plan(&mut part, tasks)?;
            let others = part.remarks.iter();
            let request = RunRequest {
                engine: self.options.engine,
                remarks: others.map(|(option, what)| remarks::finding(option, what)).collect(),
                ..RunRequest::new(plan, self.options.logbook.logbook.clone())
            };
            let Self { options, results, failed, .. } = self;
            let screen = Screen::new();
            let status = run::measure_on(&screen, &screen, &options.report, &request, |ran| {
                *failed |= ran.points.iter().any(has_errors);
                add_part(results, &part, ran);
                Ok(())
            })?;
            match status {
                Status::Valid => {}
                status => self.status = status,
            }
            if matches!(status, Status::Interrupted(_)) {
                break;
            }
        }
        let phases = self.results.tests.last().map_or(&[][..], |test| &test.phases);
        ior_outliers(phases, test.outlier_s).iter().for_each(|line| print_line(line));
        Ok(())
    }
}

/// Adds the results of a measured part to the last test, to which the part belongs.
fn add_part(results: &mut IorRun, part: &Ior, ran: &FinishedRun) {
    let record = &ran.run;
    if results.began.is_empty() {
        results.began.clone_from(&record.started_at);
    }
    results.program = format!("qdepth {}", record.qdepth_version);
    results.finished = record.ended_at.clone().unwrap_or_default();
    results.emulated |= record.emulated;
    let Some(test) = results.tests.last_mut() else { return };
    if test.began.is_empty() {
        test.began.clone_from(&record.started_at);
        test.file_system = surroundings::file_system(part);
    }
    test.phases.extend(phases(&ran.ranks, part.repetition));
}

/// Plan request of an IOR command line.
fn plan(ior: &mut Ior, tasks: u32) -> Result<PlanRequest> {
    let mut targets = Vec::new();
    for name in ior.names() {
        let path = Path::new(name);
        if path.file_name().is_none() || name.ends_with('/') {
            bail!(Usage(format!("-o {name}: must be a file name")));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        targets.push(folder.unwrap_or(Path::new(".")).to_owned());
    }
    let missing = targets.iter().find(|folder: &&PathBuf| !folder.is_dir());
    if let Some(folder) = missing {
        bail!(Usage(format!("-o: there is no directory {}", folder.display())));
    }
    if ior.writes {
        surroundings::limit_to_free_space(ior, &targets, tasks);
    } else {
        surroundings::check_files_exist(ior, &targets, tasks)?;
    }
    Ok(PlanRequest { file: ior.plan(tasks), choices: Choices::default(), targets })
}

/// Results by phase and rank. Points of one group form one phase, also on several directories.
fn phases(points: &WorkerResults, first: u32) -> Vec<IorPhase> {
    let mut phases: Vec<IorPhase> = Vec::new();
    let mut iterations = [first; 2];
    let is_measured = |group: &&[(Point, Vec<WorkerResult>)]| {
        // IOR reports no result for the points that verify the written data.
        group.iter().all(|(point, _)| !point.profile.starts_with("ior-check"))
    };
    for group in points.chunk_by(|(a, _), (b, _)| a.group == b.group).filter(is_measured) {
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
        moved_s: seconds(rank.duration),
        close_s: seconds(rank.closed),
        wall_s: seconds(rank.caught_up_from),
        wall_bytes: rank.bytes_before,
    }
}

/// Destinations of results; checked before the measurement.
struct OutputFiles {
    summary: Option<ResultFile>,
    ranks: Option<ResultFile>,
    /// Status file of a test that writes (`stoneWallingStatusFile`): it holds the number of
    /// transfers for a later test that reads.
    status: Option<ResultFile>,
}

impl OutputFiles {
    fn open(test: &Ior) -> Result<Self> {
        let at = |path: &Option<String>| {
            path.as_ref().map(|path| ResultFile::at(path, Privacy::Private)).transpose()
        };
        let status = test.status_file.clone().filter(|_| test.writes);
        let (summary, ranks) = (at(&test.summary_file)?, at(&test.ranks_file)?);
        Ok(Self { summary, ranks, status: at(&status)? })
    }

    fn write(&self, words: &Ior, run: &IorRun) -> Result<()> {
        let form = run.tests.first().map_or(words.summary, |test| test.ior.summary);
        let text = match form {
            Summary::Default => ior_text(run),
            Summary::Json => ior_json(run),
            Summary::Csv => ior_csv(run),
        };
        match &self.summary {
            Some(file) => file.write(text + "\n")?,
            None => print_raw(&text)?,
        }
        if let Some(file) = &self.ranks {
            file.write(ior_ranks_csv(run))?;
        }
        let mut phases = run.tests.iter().flat_map(|test| &test.phases);
        let last = phases.rfind(|phase| phase.access == "write");
        if let Some((file, phase)) = self.status.as_ref().zip(last) {
            file.write(phase.pairs().to_string())?;
        }
        Ok(())
    }
}
