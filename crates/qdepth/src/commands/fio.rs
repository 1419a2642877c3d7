//! `qdepth fio`: measures a fio job file with the load generator of `qdepth run`, and prints the
//! result in fio's formats if asked.

mod created;
mod disks;
mod output;
mod terms;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use qdepth_files::{Input, Privacy, limit};
use qdepth_foreign::fio::{
    CommandLine, Converted, Engine, FioRefusals, FioRemark, InfoCommand, JobSet, MissingFile,
    OutputFormat, Surroundings, fio_options,
};
use qdepth_host::placement::{Cpus, cpus_of_node};
use qdepth_host::system::System;
use qdepth_host::target::Kind;
use qdepth_linux::{Engine as linux, EngineChoice};
use qdepth_record::export_json;
use qdepth_workload::{Choices, Extent, TargetShape, resolve};

use crate::commands::remarks;
use crate::commands::run;
use crate::exit_status::{self, Status};
use crate::flags::{FioOptions, FioRun, SortedWords, own_options};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::{print_line, print_raw};
use disks::Watcher;
use qdepth_lab::failure::Usage;
use qdepth_lab::request::provision::Provision;
use qdepth_lab::request::{Pinning, PlanRequest, RunRequest};
use qdepth_lab::target::prepare::{find, previewed};
use qdepth_lab::target::would_refuse::would_refuse;

/// Name under which the program was started: `qdepth`, or `fio` through a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Called {
    Qdepth,
    Fio,
}

pub(crate) fn fio(options: &FioOptions) -> Result<Status> {
    measure_words(&options.words, Called::Qdepth)
}

/// Entry point for a link named `fio`: returns fio's exit statuses, and writes no report unless one
/// is requested.
pub(crate) fn as_fio(words: &[String]) -> u8 {
    let status = match measure_words(words, Called::Fio) {
        Ok(status) => status.number(),
        Err(error) => exit_status::explain(&error),
    };
    // fio exits with 1 on any failure, and with 128 plus the number on a signal.
    if status < 128 { status.min(1) } else { status }
}

/// Parses the options that belong to qdepth.
fn own(words: &[String]) -> Result<FioRun> {
    let run = FioRun::try_parse_from(words)
        .map_err(|error| Usage(error.to_string().trim_end().to_owned()))?;
    if run.replace {
        qdepth_files::replace_all();
    }
    Ok(run)
}

fn measure_words(words: &[String], called: Called) -> Result<Status> {
    let words = SortedWords::sort(words);
    let line = CommandLine::read(&words.fios).map_err(refused)?;
    if let Some(what) = &line.info {
        return inform(what, &words.fios);
    }
    let mut run = own(&words.ours)?;
    if line.files.is_empty() && line.jobs.is_empty() {
        if called == Called::Fio {
            print_line("No job(s) defined");
        }
        return Err(no_job().into());
    }
    let mut set = jobs(&line, run.convert)?;
    if set.jobs.is_empty() {
        print_line("there is no job: add a section [NAME] to a file, or --name=NAME");
        return Ok(Status::Valid);
    }
    let converted = convert(&mut set, &line, &run, called)?;
    if converted.plan.steps.is_empty() {
        return lay_out(&line, &set, &converted, &run);
    }
    if run.convert {
        print_raw(&plan_text(&converted)?)?;
        return Ok(Status::Valid);
    }
    let request = request(&run, &line, &converted)?;
    if line.parse_only {
        // Remarks on options that are implemented differently come before any measurement.
        converted.remarks.iter().for_each(|remark| print_line(&remark.to_string()));
        print_refusals(&request);
        return Ok(Status::Valid);
    }
    let names_report = words.ours.iter().any(|word| word.starts_with("--report"));
    run.report.no_report |= called == Called::Fio && !names_report;
    let results = Results::open(&line, &set, &converted, &run)?;
    let quiet = run.qdepth_quiet || (!run.strict && !std::io::stderr().is_terminal());
    let screen = if quiet { Screen::quiet() } else { Screen::new() };
    let mut failed = false;
    let _folders = created::make_folders(converted.targets.iter().map(Path::new))?;
    let watcher = Watcher::new(&screen, &converted.targets, output::logs_ios(&set));
    let measured = run::measure_on(&screen, &watcher, &run.report, &request, |ran| {
        let short = output::too_slow(&set, &converted, &ran.points);
        let unverified = output::unverified(&set, &converted, &ran.points);
        short.iter().chain(&unverified).for_each(|line| print_line(line));
        failed = ran.points.iter().any(|point| output::has_failed(&set, &converted, point))
            || !short.is_empty();
        // Clients such as bench-fio treat any output of fio on standard error as a failure.
        if quiet && !run.qdepth_quiet && called != Called::Fio {
            output::findings(ran).iter().for_each(|line| print_line(line));
        }
        results.logs.write(&set, &converted, &ran.points, &watcher, called == Called::Fio)?;
        if run.json {
            return print_raw(&export_json(&ran.run, &ran.points));
        }
        let text = output::text(formats(&line), &set, &converted, ran, &watcher);
        let seeds = if line.shows_seeds { seeds(&converted) } else { String::new() };
        results.print(&(seeds + &text))
    });
    let status = measured.map_err(|error| terms::in_fio_terms(error, &set))?;
    // An invalid point is a finding for qdepth, but an ordinary result for fio.
    Ok(match status {
        Status::Invalid if !run.strict && !failed => Status::Valid,
        status => status,
    })
}

/// Converts jobs to a plan. Creates the files that the jobs would leave behind.
fn convert(
    set: &mut JobSet,
    line: &CommandLine,
    run: &FioRun,
    called: Called,
) -> Result<Converted> {
    let name = line.files.first().map_or("fio", |path| stem(path));
    // One bit less than 64: TOML integers are signed.
    let fresh = uuid::Uuid::new_v4().as_u64_pair().0 >> 1;
    let absent = match (line.parse_only, run.convert) {
        (_, true) => MissingFile::Later,
        (true, false) => MissingFile::AnyLength,
        (false, false) => MissingFile::Refused,
    };
    let convert = |set: &JobSet| set.convert(name, fresh, &usable_bytes, absent).map_err(refused);
    let mut converted = convert(set)?;
    if converted.plan.steps.is_empty() {
        return Ok(converted);
    }
    let checked = check(&converted, set);
    // fio leaves its files behind, and scripts that start it read them. In files of their own,
    // which are kept, direct and buffered jobs can run side by side.
    let own_files = called == Called::Fio || checked.is_err();
    let may_own = absent == MissingFile::Refused && set.keeps_files();
    if !own_files || !may_own || converted.missing.is_empty() {
        return checked.map(|()| converted);
    }
    // Nothing is created if the run is refused later.
    let _folders = created::make_folders(converted.targets.iter().map(Path::new))?;
    let buffered = alike(&converted);
    check(&buffered, set)?;
    if !would_refuse(&System::real(), &request(run, line, &buffered)?).is_empty() {
        return Ok(converted);
    }
    set.own_files = created::lay_out_own(&converted.missing)?;
    converted = convert(set)?;
    check(&converted, set)?;
    Ok(converted)
}

/// The plan with the same use of the page cache for all its jobs, if they differ.
fn alike(converted: &Converted) -> Converted {
    let mut alike = converted.clone();
    let profiles = &mut alike.plan.own_profiles;
    if profiles.iter().any(|profile| profile.direct != profiles[0].direct) {
        for profile in profiles {
            (profile.direct, profile.io_flag) = (Some(false), None);
        }
    }
    alike
}

/// Lines of `--debug=random`: the seed from which those of all jobs are derived.
fn seeds(converted: &Converted) -> String {
    let (process, seed) = (std::process::id(), converted.plan.seed.unwrap_or(0));
    format!("random   {process} FIO_RAND_NR_OFFS=1\nrandom   {process} rand_seeds[0]={seed}\n")
}

/// Jobs that measure nothing: lays out their files, and prints fio's output without I/Os.
fn lay_out(
    line: &CommandLine,
    set: &JobSet,
    converted: &Converted,
    run: &FioRun,
) -> Result<Status> {
    if run.convert {
        let why = "create_only: these jobs measure nothing, so there is no plan: run them";
        return Err(Usage(why.to_owned()).into());
    }
    if line.parse_only {
        converted.remarks.iter().for_each(|remark| print_line(&remark.to_string()));
        return Ok(Status::Valid);
    }
    let results = Results::open(line, set, converted, run)?;
    created::lay_out(&converted.created)?;
    results.print(&output::text_without_points(formats(line), set, converted))?;
    Ok(Status::Valid)
}

/// Formats of the output.
fn formats(line: &CommandLine) -> &[OutputFormat] {
    if line.formats.is_empty() { &[OutputFormat::Normal] } else { &line.formats }
}

/// Prints the reasons why a run would be refused now. The jobs themselves are valid: refusals
/// depend on the machine.
fn print_refusals(request: &RunRequest) {
    for refusal in would_refuse(&System::real(), request) {
        print_line(&format!("a run on this machine would be refused: {refusal:#}"));
    }
}

/// Reads the jobs of a command line and of its job files. With `elsewhere`, the jobs may run on
/// another machine, so this machine's directories are not checked.
fn jobs(line: &CommandLine, elsewhere: bool) -> Result<JobSet> {
    let files: Vec<(String, String)> = line.files.iter().map(read).collect::<Result<_>>()?;
    let mut around = surroundings();
    if elsewhere {
        around.is_directory = &|_| true;
    }
    Ok(JobSet::read(line, &files, &around).map_err(refused)?)
}

/// Builds the run request of the jobs; options of qdepth take precedence over theirs.
fn request(run: &FioRun, line: &CommandLine, converted: &Converted) -> Result<RunRequest> {
    let targets = converted.targets.iter().map(PathBuf::from).collect();
    let file = converted.plan.clone();
    let plan = PlanRequest { file, choices: Choices::default(), targets };
    let of_jobs = pinning(converted)?.unwrap_or(Pinning::Near);
    let pinning = run.cpus.as_ref().map(|cpus| Pinning::InTurn(cpus.0.clone()));
    let chosen = run.engine.or(converted.engine.map(engine));
    let finding = |remark: &FioRemark| remarks::finding(&remark.location, &remark.what);
    Ok(RunRequest {
        keep: run.keep,
        consent: run.consent.words(),
        engine: chosen.unwrap_or(EngineChoice::Auto),
        pinning: pinning.unwrap_or(of_jobs),
        remarks: converted.remarks.iter().chain(&line.remarks).map(finding).collect(),
        ..RunRequest::new(plan, run.logbook.logbook.clone())
    })
}

/// CPUs that the jobs name, or `None` if they name none.
fn pinning(converted: &Converted) -> Result<Option<Pinning>> {
    let Some((cpus, split)) = converted.cpus.as_ref() else { return Ok(None) };
    let cpus = of_nodes(cpus)?;
    let cpus = each_once(&cpus).map_err(|why| Usage(format!("cpus_allowed: {why}")))?;
    Ok(Some(if *split { Pinning::InTurn(cpus) } else { Pinning::Among(cpus) }))
}

/// Numbers of several lists, without duplicates.
fn each_once(lists: &str) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    for list in lists.split(',') {
        let cpus: Cpus = list.parse()?;
        all.extend(cpus.0.iter().filter(|cpu| !all.contains(*cpu)).copied().collect::<Vec<_>>());
    }
    Ok(all)
}

/// Checks that targets with room for the plan are available.
fn check(converted: &Converted, set: &JobSet) -> Result<()> {
    let boundless = Extent { offset_bytes: 0, length_bytes: i64::MAX as u64 };
    let shape = TargetShape { holds_files: true, ..TargetShape::whole(boundless, 512) };
    let shapes = vec![shape; converted.targets.len()];
    match resolve(&converted.plan, &Choices::default(), &shapes) {
        Ok(_) => Ok(()),
        Err(error) => Err(terms::in_fio_terms(error.into(), set)),
    }
}

/// Text of `--help` among fio's options.
fn help() -> String {
    format!(
        "qdepth measures fio's jobs, with fio's options and job files:

  fio [OPTION …] [--name=JOB --OPTION=VALUE …] [JOBFILE …]

  --output=FILE, --output-format=normal,terse,json,json+, --minimal, --terse-version=2..5,
  --append-terse, --section=NAME, --readonly, --parse-only, --showcmd, --eta=WHEN, --version
  --cmdhelp[=OPTION]
      how qdepth treats each option of a job
  --enghelp
      the engines

Options of qdepth:
{}",
        own_options()
    )
}

fn no_job() -> Usage {
    Usage(format!("name a job file, or a job: --name=JOB --rw=…\n\n{}", help()))
}

fn inform(what: &InfoCommand, words: &[String]) -> Result<Status> {
    match what {
        InfoCommand::Version => print_raw(output::VERSION)?,
        InfoCommand::Help => print_raw(&help())?,
        InfoCommand::Options(name) => {
            let text = fio_options(name.as_deref());
            if text.is_empty() {
                return Err(
                    Usage(format!("there is no option {}", name.as_deref().unwrap_or(""))).into()
                );
            }
            print_raw(&text)?;
        }
        InfoCommand::Engines => print_raw(
            "libaio\nio_uring\nio_uring_cmd\nposixaio\nnull\nsync\npsync\nvsync\npvsync\npvsync2\n\
             mmap\nsplice\nfalloc\nftruncate\nfilecreate\nfilestat\nfiledelete\ndircreate\n\
             dirstat\ndirdelete",
        )?,
        InfoCommand::InflateLog(path) => print_raw(output::inflated(path)?.trim_end())?,
        InfoCommand::CommandLine => {
            let rest: Vec<String> =
                words.iter().filter(|word| !word.ends_with("-showcmd")).cloned().collect();
            let line = CommandLine::read(&rest).map_err(refused)?;
            print_raw(&jobs(&line, true)?.command_line())?;
        }
    }
    Ok(Status::Valid)
}

/// Expands `node:0,1` in a CPU list to the CPUs of these NUMA nodes.
fn of_nodes(cpus: &str) -> Result<String> {
    let Some((before, nodes)) = cpus.split_once("node:") else { return Ok(cpus.to_owned()) };
    let wrong = |why: String| Usage(format!("numa_cpu_nodes: {why}"));
    let mut all: Vec<String> =
        before.split(',').filter(|cpus| !cpus.is_empty()).map(str::to_owned).collect();
    for node in each_once(&nodes.replace("node:", "")).map_err(wrong)? {
        let found = cpus_of_node(&System::real(), node);
        let found = found.ok_or_else(|| wrong(format!("there is no node {node}")))?;
        all.extend(found.iter().map(u32::to_string));
    }
    Ok(all.join(","))
}

/// Output files in fio's formats, opened before the measurement.
struct Results {
    document: Option<ResultFile>,
    logs: output::Logs,
}

impl Results {
    fn open(line: &CommandLine, set: &JobSet, converted: &Converted, run: &FioRun) -> Result<Self> {
        let path = line.output.as_ref().filter(|_| !run.json);
        let document = path.map(|path| ResultFile::at(path, Privacy::Private)).transpose()?;
        Ok(Self { document, logs: output::Logs::open(set, converted)? })
    }

    /// Prints the text, or writes it into the output file.
    fn print(&self, text: &str) -> Result<()> {
        match &self.document {
            Some(file) => file.write(format!("{text}\n")),
            None => print_raw(text),
        }
    }
}

/// Engine that corresponds to the jobs' `ioengine`.
fn engine(engine: Engine) -> EngineChoice {
    EngineChoice::Only(match engine {
        Engine::IoUring => linux::IoUring,
        Engine::LinuxAio => linux::LinuxAio,
        Engine::IoUringPolled => linux::IoUringPolled,
        Engine::IoUringKernelPolled => linux::IoUringSqPoll,
        Engine::Passthrough => linux::IoUringPassthrough,
        Engine::PassthroughPolled => linux::IoUringPassthroughPolled,
        Engine::Threads => linux::Threads,
        Engine::Synchronous => linux::Sync,
        Engine::Mapped => linux::Mmap,
        Engine::Null => return EngineChoice::Auto,
    })
}

fn refused(refused: FioRefusals) -> Usage {
    Usage(refused.to_string())
}

/// Path and text of a job file; `-` is standard input.
fn read(path: &String) -> Result<(String, String)> {
    let bytes = Input::at(path, limit::JOB).bytes()?;
    Ok((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
}

fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("fio")
}

fn surroundings() -> Surroundings<'static> {
    let memory = rustix::system::sysinfo();
    Surroundings {
        variable: &|name| std::env::var(name).ok(),
        include: &|name| Input::file(name, limit::JOB).text().map_err(|error| error.to_string()),
        trace: &|name| Input::file(name, limit::TRACE).bytes().map_err(|error| error.to_string()),
        is_directory: &|name| Path::new(name).is_dir(),
        page_bytes: rustix::param::page_size() as u64,
        memory_mib: (memory.totalram * u64::from(memory.mem_unit)) >> 20,
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
    }
}

/// Usable bytes of an existing file; `None` if the run still has to create it because it is
/// missing, empty, or a directory. The guards refuse an unusable file; it is never replaced by
/// another one.
fn usable_bytes(path: &str) -> Option<u64> {
    let path = Path::new(path);
    let Ok(target) = find(&System::real(), path) else {
        return std::fs::symlink_metadata(path).is_ok().then_some(1);
    };
    let real = target.real().map(|inspected| &inspected.kind);
    if matches!(real, Some(Kind::Directory(_) | Kind::RegularFile { size_bytes: 0, .. })) {
        return None;
    }
    let shape = previewed(&target, &Provision::MeasurementFile(0)).ok();
    Some(shape.map_or(0, |shape| shape.usable.length_bytes).max(1))
}

/// Plan as TOML, with the command that runs it as a comment.
fn plan_text(converted: &Converted) -> Result<String> {
    let targets: Vec<String> = converted.targets.iter().map(|name| format!("'{name}'")).collect();
    let mut text = format!("# qdepth run THIS-FILE.toml {}\n", targets.join(" "));
    for remark in &converted.remarks {
        text.push_str(&format!("# {}\n", remark.to_string().replace('\n', " ")));
    }
    text.push_str(converted.plan.to_toml().context("the plan as TOML")?.trim_end());
    Ok(text)
}
