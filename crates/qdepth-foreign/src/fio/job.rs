//! A job: the options of one section, read into types, with everything refused that cannot be
//! honoured.

use super::look::Look;
use super::number::Base;
use super::options::{Rule, canonical, nearest, rule};
use super::refusal::{FioRefusal, FioRemark};
use super::setting::Section;
use super::values::{Amount, Distribution, Engine, SizePart, texts};

/// Most clones of a job.
const CLONES_MAX: u64 = 256;

/// One section as a job, before it is cloned.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The job file that it stands in, or `command line`.
    pub file: String,
    /// Line of its header.
    pub line: u32,
    /// Name, as reported.
    pub name: String,
    /// What the user says of it; may be empty.
    pub description: String,
    /// Clones that run at the same time.
    pub clones: u32,
    /// Waits for the jobs before it.
    pub stonewall: bool,
    /// Begins a new reporting group.
    pub new_group: bool,
    /// Is reported together with the other jobs of its group.
    pub group_reporting: bool,
    /// Share of random accesses, 0..=100.
    pub random: f64,
    /// Share of reads, 0..=100.
    pub read: f64,
    /// Request sizes with weights.
    pub sizes: Vec<SizePart>,
    /// Random accesses begin at whole multiples of this many bytes.
    pub alignment: u64,
    /// Outstanding I/Os.
    pub depth: u32,
    /// How requests are to reach the kernel.
    pub engine: Engine,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Requests per second of both directions together.
    pub rate: Option<f64>,
    /// Think time, nanoseconds, and the requests between two of them.
    pub think: Option<(u64, u32)>,
    /// The job that it waits for.
    pub waits_for: Option<String>,
    /// Whether they arrive by a Poisson process.
    pub poisson: bool,
    /// Where random requests go.
    pub distribution: Distribution,
    /// Whether each block is touched once in a pass.
    pub once: bool,
    /// Seed of all draws; none for one of its own in each run.
    pub seed: Option<u64>,
    /// Writes between two flushes; 0 for none.
    pub fsync_every: u32,
    /// Whether data is forced out at the end.
    pub fsync_end: bool,
    /// Share of the payload that compresses away, per cent.
    pub compressible: f64,
    /// Whether writes are stamped and reads held against that.
    pub verify: bool,
    /// Whether what was written is read back afterwards.
    pub reads_back: bool,
    /// Where requests go, each file or device by its path.
    pub filenames: Vec<String>,
    /// Folder of files.
    pub directory: Option<String>,
    /// CPUs of its workers, in the kernel's form; none = any.
    pub cpus: Option<String>,
    /// Whether each worker has one of them to itself.
    pub split_cpus: bool,
    /// What is not done literally.
    pub remarks: Vec<FioRemark>,
    /// Which part of the target, and until when.
    pub span: Span,
    /// What is reported.
    pub report: Reporting,
}

/// The part of a target under load, and when the load ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Part of the target under load.
    pub size: Amount,
    /// Where it begins.
    pub offset: Amount,
    /// How far the area of each clone is behind the former's.
    pub offset_increment: Amount,
    /// Bytes that one pass moves; as `size` where it is none.
    pub io_size: Option<Amount>,
    /// Requests that one pass makes.
    pub requests: Option<u64>,
    /// Passes.
    pub loops: u64,
    /// From the start of its step to its own, nanoseconds.
    pub delay_ns: u64,
    /// Longest time, nanoseconds.
    pub runtime_ns: Option<u64>,
    /// Passes go on until the time is over.
    pub time_based: bool,
    /// Lead-in that is not recorded, nanoseconds.
    pub ramp_ns: u64,
}

/// What of a job is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// Percentiles to report, per cent.
    pub percentiles: Vec<f64>,
    /// Percentiles of completion latency, total latency, submission latency.
    pub percentiles_of: [bool; 3],
    /// Names of the logs of throughput, latency, transaction rate.
    pub logs: [Option<String>; 3],
    /// Length of a log's windows, ms; 0 where each request was asked for.
    pub log_window_ms: u64,
    /// Whether each clone has its own logs.
    pub per_job_logs: bool,
    /// Options as written, for the report: name and value.
    pub written: Vec<(String, String)>,
}
impl Job {
    /// Reads a section.
    pub(super) fn of(section: &Section) -> Result<Self, FioRefusal> {
        let mut remarks = obey_rules(section)?;
        let kb = Look { section, base: Base::default() }.whole("kb_base", 1024)?;
        let look = Look { section, base: Base { kb } };
        if kb != 1024 && kb != 1000 {
            return Err(look.refuse("kb_base", "1024 and 1000 are possible"));
        }
        let (random, read) = look.direction()?;
        let (sizes, alignment) = look.sizes(read)?;
        let (rate, rated) = look.rate(read, &sizes)?;
        let engine = look.value("ioengine", Engine::Synchronous, Engine::read)?;
        remarks.extend(look.notes(engine)?);
        let asked = u32::try_from(look.whole("iodepth", 1)?).unwrap_or(u32::MAX);
        let depth = if engine == Engine::Synchronous { 1 } else { asked };
        let clones = look.whole("numjobs", 1)?;
        if clones == 0 || clones > CLONES_MAX {
            return Err(look.refuse("numjobs", format!("1 to {CLONES_MAX} are possible")));
        }
        Ok(Self {
            file: section.file.to_string(),
            line: section.line,
            name: look.value("name", section.name.clone(), |text| Ok(text.to_owned()))?,
            description: look.value("description", String::new(), |text| Ok(text.to_owned()))?,
            clones: clones as u32,
            stonewall: look.switch("stonewall", false)?,
            new_group: look.switch("new_group", false)?,
            group_reporting: look.switch("group_reporting", false)?,
            rate,
            think: look.think(rate)?,
            waits_for: look.value("wait_for", None, |text| Ok(Some(text.to_owned())))?,
            poisson: look.value("rate_process", false, poisson)?,
            random,
            read: rated,
            sizes,
            alignment,
            depth,
            engine,
            direct: look.direct()?,
            distribution: look.value(
                "random_distribution",
                Distribution::Uniform,
                Distribution::read,
            )?,
            once: !look.switch("norandommap", false)?,
            seed: look.seed()?,
            fsync_every: look.flushes()?,
            fsync_end: look.switch("end_fsync", false)? || look.switch("fsync_on_close", false)?,
            compressible: look.compressible()?,
            verify: look.verifies(rated)?,
            reads_back: rated <= 0.0 && look.verifies(rated)? && look.switch("do_verify", true)?,
            filenames: look.value("filename", Vec::new(), |text| Ok(texts(text)))?,
            directory: look.value("directory", None, |text| Ok(Some(text.to_owned())))?,
            cpus: look.cpus()?,
            split_cpus: look.value("cpus_allowed_policy", false, split)?,
            remarks,
            span: look.span()?,
            report: look.reporting()?,
        })
    }
}
/// Refuses what cannot be done, and gathers what is done otherwise.
fn obey_rules(section: &Section) -> Result<Vec<FioRemark>, FioRefusal> {
    // An option that is none of fio's core may be one of an engine that qdepth does not have: then
    // it is the engine that is refused.
    if let Some(engine) = section.get("ioengine")
        && let Some(why) = engine.value.as_deref().and_then(|name| Engine::read(name).err())
    {
        return Err(engine.refuse(&section.name, why));
    }
    let mut remarks = Vec::new();
    for setting in &section.settings {
        let counts =
            section.get(&setting.name).is_some_and(|last| std::ptr::eq(last, setting.as_ref()));
        if !counts {
            continue;
        }
        if canonical(&setting.name).is_none() {
            let hint = match nearest(&setting.name) {
                Some(near) => format!("fio has no such option; did you mean `{near}`?"),
                None => "fio has no such option".to_owned(),
            };
            return Err(setting.refuse(&section.name, hint));
        }
        let value = setting.value.as_deref().unwrap_or("");
        match rule(&setting.name) {
            Rule::Honoured | Rule::Silent => {}
            Rule::Remark(why) => remarks.push(setting.remark(&section.name, why)),
            Rule::Only(values, _) if values.contains(&value) => {}
            Rule::Only(_, why) | Rule::Refused(why) => {
                return Err(setting.refuse(&section.name, format!("refused: {why}")));
            }
        }
    }
    Ok(remarks)
}
fn split(text: &str) -> Result<bool, String> {
    match text {
        "shared" => Ok(false),
        "split" => Ok(true),
        other => Err(format!("`{other}`: shared and split are possible")),
    }
}

fn poisson(text: &str) -> Result<bool, String> {
    match text {
        "linear" => Ok(false),
        "poisson" => Ok(true),
        other => Err(format!("`{other}`: linear and poisson are possible")),
    }
}
