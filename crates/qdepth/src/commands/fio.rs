//! `qdepth fio`: a fio job file, measured by the same lab as a plan of our own, and told in fio's
//! words where that is asked.

mod output;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::CommandFactory;
use qdepth_files::{Input, Privacy, limit};
use qdepth_foreign::fio::{
    CommandLine, Converted, Engine, FioRefusal, FioRemark, JobSet, OutputFormat, Surroundings,
};
use qdepth_host::placement::Cpus;
use qdepth_host::system::System;
use qdepth_host::target::Kind;
use qdepth_measure::{Code, Finding};
use qdepth_workload::{Choices, PlanFile};

use crate::commands::run;
use crate::ended::{Status, Usage};
use crate::flags::{Command, FioOptions, Flags, RunOptions};
use crate::lab::prepare::{Made, find, foreseen};
use crate::lab::request::{Pinning, PlanRequest, RunRequest};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::print_document;

/// Options of `qdepth run` that stand among fio's.
const OURS: &[&str] = &[
    "logbook",
    "json",
    "no-report",
    "report",
    "lang",
    "keep",
    "destroy",
    "consent",
    "overwrite-signature",
    "engine",
    "cpus",
];

pub(crate) fn fio(options: &FioOptions) -> Result<Status> {
    let Words { ours, fios, convert } = sort(&options.words);
    let line = CommandLine::read(&fios).map_err(refused)?;
    if line.files.is_empty() && line.jobs.is_empty() {
        return Err(Usage("name a job file, or a job: --name=JOB --rw=…".to_owned()).into());
    }
    let files: Vec<(String, String)> = line.files.iter().map(read).collect::<Result<_>>()?;
    let set = JobSet::read(&line, &files, &surroundings()).map_err(refused)?;
    let name = line.files.first().map_or("fio", |path| stem(path));
    // TOML's whole numbers have a sign.
    let fresh = uuid::Uuid::new_v4().as_u64_pair().0 >> 1;
    let converted = set.convert(name, fresh, &usable_bytes).map_err(refused)?;
    let screen = Screen::new();
    for remark in &converted.remarks {
        screen.say(&remark.to_string());
    }
    if convert {
        print_document(&plan_text(&converted))?;
        return Ok(Status::Valid);
    }
    if line.parse_only {
        return Ok(Status::Valid);
    }
    let run = run_options(ours, converted.engine)?;
    let request = request(&run, &converted)?;
    let results = Results::open(&line, &set, &converted, &run)?;
    let in_fios_words = line.format != OutputFormat::Normal && !run.json;
    run::measure(&run, &request, |ran| {
        results.logs.write(&set, &converted, &ran.points, &screen)?;
        if !in_fios_words {
            return run::tell(&run, ran);
        }
        let text = output::json(line.format, &set, &converted, &ran.run, &ran.points);
        match &results.document {
            Some(file) => file.write(text + "\n"),
            None => print_document(&text),
        }
    })
}

/// What the jobs ask the lab for.
fn request(run: &RunOptions, converted: &Converted) -> Result<RunRequest> {
    let file: PlanFile =
        toml::from_str(&converted.toml).context("the plan that was made cannot be read")?;
    let targets = converted.targets.iter().map(PathBuf::from).collect();
    let mut request = run.request_of(PlanRequest { file, choices: Choices::default(), targets });
    if let Some((cpus, split)) = converted.cpus.as_ref().filter(|_| run.cpus.is_none()) {
        let cpus: Cpus = cpus.parse().map_err(|why| Usage(format!("cpus_allowed: {why}")))?;
        request.pinning = if *split { Pinning::InTurn(cpus.0) } else { Pinning::Among(cpus.0) };
    }
    let remark = |remark: &FioRemark| {
        Finding::remark(Code::NotLiteral).label("option", &remark.place).label("what", &remark.what)
    };
    request.remarks = converted.remarks.iter().map(remark).collect();
    Ok(request)
}

/// Files in fio's forms.
struct Results {
    document: Option<ResultFile>,
    logs: output::Logs,
}

impl Results {
    fn open(
        line: &CommandLine,
        set: &JobSet,
        converted: &Converted,
        run: &RunOptions,
    ) -> Result<Self> {
        let asked = line.format != OutputFormat::Normal && !run.json;
        let path = line.output.as_ref().filter(|_| asked);
        let document = path.map(|path| ResultFile::at(path, Privacy::Private)).transpose()?;
        Ok(Self { document, logs: output::Logs::open(set, converted)? })
    }
}

/// The words, sorted by whose they are.
struct Words {
    ours: Vec<String>,
    fios: Vec<String>,
    convert: bool,
}

fn sort(words: &[String]) -> Words {
    let command = Flags::command();
    let run = command.find_subcommand("run");
    let takes_value = |name: &str| {
        let argument = run.and_then(|run| run.get_arguments().find(|a| a.get_long() == Some(name)));
        argument.is_some_and(|argument| argument.get_action().takes_values())
    };
    let mut sorted = Words { ours: Vec::new(), fios: Vec::new(), convert: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
        match name {
            Some("convert") => sorted.convert = true,
            Some(name) if OURS.contains(&name) => {
                sorted.ours.push(word.clone());
                if !word.contains('=') && takes_value(name) {
                    sorted.ours.extend(words.next().cloned());
                }
            }
            _ => sorted.fios.push(word.clone()),
        }
    }
    sorted
}

/// Our options, read as `qdepth run` reads them; the jobs' engine where none is chosen.
fn run_options(ours: Vec<String>, engine: Option<Engine>) -> Result<RunOptions> {
    let chosen = ours.iter().any(|word| word.starts_with("--engine"));
    let mut words = vec!["qdepth".to_owned(), "run".to_owned()];
    words.extend(ours);
    let name = match engine {
        Some(Engine::IoUring) => Some("io_uring"),
        Some(Engine::LinuxAio) => Some("linux-aio"),
        Some(Engine::Threads) => Some("threads"),
        Some(Engine::Synchronous) => Some("sync"),
        None => None,
    };
    if let Some(name) = name.filter(|_| !chosen) {
        words.extend(["--engine".to_owned(), name.to_owned()]);
    }
    match Flags::read_from(words).map(|flags| flags.command) {
        Ok(Command::Run(options)) => Ok(*options),
        Ok(_) => Err(Usage("these are no options of a run".to_owned()).into()),
        Err(error) => Err(Usage(error.to_string().trim_end().to_owned()).into()),
    }
}

fn refused(refusal: FioRefusal) -> Usage {
    Usage(refusal.to_string())
}

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
        page_bytes: rustix::param::page_size() as u64,
        memory_mib: (memory.totalram * u64::from(memory.mem_unit)) >> 20,
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
    }
}

/// Bytes that can be used of what is there; none where it is yet to be made: nothing is there, or an
/// empty file, or a directory. What is there and cannot be used is for the guards to refuse, never to
/// be replaced by a file beside it.
fn usable_bytes(path: &str) -> Option<u64> {
    let path = Path::new(path);
    let Ok(target) = find(&System::real(), path) else {
        return std::fs::symlink_metadata(path).is_ok().then_some(1);
    };
    let real = target.real().map(|inspected| &inspected.kind);
    if matches!(real, Some(Kind::Directory(_) | Kind::RegularFile { size_bytes: 0, .. })) {
        return None;
    }
    let shape = foreseen(&target, &Made::MeasurementFile(0)).ok();
    Some(shape.map_or(0, |shape| shape.usable.length_bytes).max(1))
}

/// The plan with the command that runs it.
fn plan_text(converted: &Converted) -> String {
    let targets: Vec<String> = converted.targets.iter().map(|name| format!("'{name}'")).collect();
    let mut text = format!("# qdepth run THIS-FILE.toml {}\n", targets.join(" "));
    for remark in &converted.remarks {
        text.push_str(&format!("# {}\n", remark.to_string().replace('\n', " ")));
    }
    text.push_str(converted.toml.trim_end());
    text
}
