//! A job: typed options of one section. Anything unsupported is refused.

use std::collections::BTreeMap;

use qdepth_measure::Settling;
use qdepth_workload::{Durability, FlowSpec, Operation, Priorities, StridesSpec, Way};

use super::access::Access;
use super::getopt::SUGGESTIONS_MAX;
use super::job_parts::{
    Duplicates, ExitScope, LatencyGoal, MinimumRate, Reporting, Span, Verification,
};
use super::number::Base;
use super::option_reader::OptionReader;
use super::options::{Rule, canonical, nearest, rule};
use super::refusal::{FioRefusal, FioRefusals, FioRemark};
use super::replay_log::Replay;
use super::setting::{Section, Setting};
use super::values::{Caching, Distribution, Engine, Sizes, Trims, texts};
use crate::remark::Remark;

/// Maximum number of clones of a job.
const CLONES_MAX: u64 = 256;

/// Job of one section, before it is cloned.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Job file, or `command line`.
    pub file: String,
    /// Line of its header.
    pub line: u32,
    /// Name in reports.
    pub name: String,
    /// Description by the user; may be empty.
    pub description: String,
    /// Value of `rw`.
    pub rw_name: String,
    /// Value of `ioengine`.
    pub engine_name: String,
    /// True if fio would start a thread instead of a process.
    pub thread: bool,
    /// Number of clones, which run at the same time.
    pub clones: u32,
    /// True if it waits for all previous jobs.
    pub stonewall: bool,
    /// True if it starts a new reporting group.
    pub new_group: bool,
    /// True if it is reported together with the other jobs of its group.
    pub group_reporting: bool,
    /// Share of random accesses, 0..=100.
    pub random: f64,
    /// Share of random accesses among the writes of a mix, if different.
    pub random_writes: Option<f64>,
    /// Share of reads, 0..=100.
    pub read: f64,
    /// Discards of the job.
    pub trims: Trims,
    /// Operation of its requests, if they transfer no data.
    pub operation: Operation,
    /// Number of directory entries, for operations on entries.
    pub entries: u64,
    /// Trace to replay.
    pub replay: Option<Replay>,
    /// Request sizes and alignment.
    pub sizes: Sizes,
    /// Bytes skipped after each sequential request, by means of its alignment.
    pub gap: u64,
    /// True if sequential requests go backwards.
    pub backwards: bool,
    /// Zones of a strided job.
    pub zones: Option<StridesSpec>,
    /// Queue depth.
    pub depth: u32,
    /// I/O engine.
    pub engine: Engine,
    /// True if the page cache is bypassed.
    pub direct: bool,
    /// Requests per second, both directions together.
    pub rate: Option<f64>,
    /// The only direction of a mix that the rate limits.
    pub rate_of: Option<Way>,
    /// Think time, ns, and the number of requests between two pauses.
    pub think: Option<(u64, u32)>,
    /// Steady-state rule that ends the job.
    pub settling: Option<Settling>,
    /// Minimum rate.
    pub least: Option<MinimumRate>,
    /// Coupling with other jobs.
    pub flow: Option<FlowSpec>,
    /// Name of the job to wait for.
    pub waits_for: Option<String>,
    /// True if requests arrive as a Poisson process.
    pub poisson: bool,
    /// Distribution of random requests.
    pub distribution: Distribution,
    /// True if each repetition of a sequence of places begins after the previous one.
    pub sequence_advances: bool,
    /// True if each block is accessed once per pass (random map).
    pub once: bool,
    /// Random seed; `None` for a new one in each run.
    pub seed: Option<u64>,
    /// Number of writes between two flushes (0 for none), and true if they flush data only.
    pub fsync_every: (u32, bool),
    /// True if data is flushed at the end.
    pub fsync_end: bool,
    /// Durability that each write waits for.
    pub durability: Durability,
    /// Use of the page cache.
    pub caching: Caching,
    /// Priorities of the requests; `None` for that of the process.
    pub priorities: Option<Priorities>,
    /// Compressible share of the payload, per cent.
    pub compressible: f64,
    /// Writes with duplicate contents.
    pub duplicates: Option<Duplicates>,
    /// Stamps of writes, against which reads are verified; `None` without verification.
    pub verify: Option<Verification>,
    /// True if it only lays out its files.
    pub creates_only: bool,
    /// True if its writes begin at the end of its file.
    pub appends: bool,
    /// True if its files are removed at the end.
    pub unlinks: bool,
    /// Paths of files and devices.
    pub filenames: Vec<String>,
    /// Directories of files; clones use them round-robin.
    pub directories: Vec<String>,
    /// Pattern for unnamed files, with `$jobname`, `$jobnum`, `$filenum`.
    pub file_format: String,
    /// Jobs that end together with this one.
    pub ends_all: Option<ExitScope>,
    /// CPU list of the workers in the kernel's format; `None` for any CPU.
    pub cpus: Option<String>,
    /// True if each worker gets a CPU of its own.
    pub split_cpus: bool,
    /// Differences from fio.
    pub remarks: Vec<FioRemark>,
    /// Range of the target, and end conditions.
    pub span: Span,
    /// Reporting options.
    pub report: Reporting,
    /// Latency goal of a search for the queue depth.
    pub goal: Option<LatencyGoal>,
}

impl Job {
    /// True if it writes.
    pub(super) fn writes(&self) -> bool {
        self.read < 100.0 || self.operation.changes()
    }

    /// True if it verifies, in this way.
    pub(super) fn verifies(&self, how: impl Fn(&Verification) -> bool) -> bool {
        self.verify.as_ref().is_some_and(how)
    }

    /// True if none of its loads writes.
    pub(super) fn only_reads(&self) -> bool {
        !self.writes() || self.verifies(|verify| verify.only)
    }

    /// Writes per read that it leaves out because it only verifies.
    pub fn writes_left_out(&self) -> f64 {
        match self.writes() && self.verifies(|verify| verify.only) {
            true => 1.0 - self.read / 100.0,
            false => 0.0,
        }
    }

    /// True if several requests can be in flight.
    pub fn is_asynchronous(&self) -> bool {
        !self.engine.is_synchronous() && self.engine != Engine::Null
    }

    /// Parses a section.
    pub(super) fn from_section(section: &Section) -> Result<Self, FioRefusals> {
        let mut refused = FioRefusals::default();
        let remarks = obey_rules(section, &mut refused);
        let base = OptionReader::new(section, Base::default());
        let kb = base.value("kb_base", 1024, |text| match text {
            "1024" => Ok(1024),
            "1000" => Ok(1000),
            _ => Err("must be 1024 or 1000".to_owned()),
        });
        refused.add(base.refused.into_inner());
        let opts = OptionReader::new(section, Base { kb });
        let job = Self::read(&opts, remarks);
        let values = opts.refused.into_inner();
        refused.add(values);
        match refused.keep(job) {
            Some(job) => refused.or(job),
            None => Err(refused),
        }
    }

    fn read(opts: &OptionReader<'_>, mut remarks: Vec<FioRemark>) -> Result<Self, FioRefusal> {
        let access @ Access { random, random_writes, back, trims, .. } = opts.access();
        let mut sizes = opts.sizes(&access)?;
        let gap = gap(opts, &access, &sizes)?;
        sizes.align_to_gap(gap, back.is_some());
        let engine = opts.engine(trims);
        let (rate, read, rate_of) = opts.rate(&access, &sizes)?;
        let (rate, think) = opts.rate_or_think(rate, &mut remarks)?;
        remarks.extend(opts.notes(engine));
        let (distribution, once) = drawn(opts, random, &sizes, &mut remarks);
        Ok(Self {
            file: opts.section.file.to_string(),
            line: opts.section.line,
            name: own_name(opts.section),
            description: opts.value("description", String::new(), |text| Ok(text.to_owned())),
            rw_name: opts.value("rw", "read".to_owned(), |text| Ok(rw_name(text))),
            engine_name: opts.value("ioengine", "psync".to_owned(), |text| Ok(text.to_owned())),
            thread: opts.switch("thread", false),
            clones: clones(opts)?,
            stonewall: opts.switch("stonewall", false),
            new_group: opts.switch("new_group", false),
            group_reporting: opts.switch("group_reporting", false),
            rate,
            rate_of: rate_of.filter(|_| rate.is_some()),
            think,
            settling: opts.settling()?,
            least: opts.least(&access)?,
            flow: opts.flow(),
            waits_for: opts.value("wait_for", None, |text| Ok(Some(text.to_owned()))),
            poisson: opts.is_second("rate_process", ["linear", "poisson"]),
            random,
            random_writes,
            read,
            trims,
            operation: opts.operation(&access)?,
            entries: opts.whole("nrfiles", 1).max(1),
            replay: None,
            gap,
            backwards: back.is_some(),
            zones: opts.zones(&access, &sizes)?,
            span: opts.span(sizes.smallest()),
            sizes,
            depth: depth(opts, engine)?,
            engine,
            direct: opts.direct(),
            distribution,
            sequence_advances: opts.switch("random_sequence_stride", false),
            once,
            seed: opts.seed(),
            fsync_every: opts.flushes()?,
            fsync_end: opts.switch("end_fsync", false) || opts.switch("fsync_on_close", false),
            durability: opts.durability(),
            caching: opts.caching(&access)?,
            priorities: opts.priorities(engine)?,
            compressible: opts.compressible()?,
            duplicates: opts.duplicates()?,
            verify: opts.verification(read)?,
            creates_only: opts.switch("create_only", false),
            appends: opts.switch("file_append", false),
            unlinks: opts.switch("unlink", false) || opts.switch("unlink_each_loop", false),
            filenames: opts.filenames(),
            directories: opts.value("directory", Vec::new(), |text| Ok(texts(text))),
            file_format: opts.file_format(),
            ends_all: opts.ends_all(),
            cpus: opts.cpus(),
            split_cpus: opts.is_second("cpus_allowed_policy", ["shared", "split"]),
            remarks,
            report: opts.reporting(),
            goal: opts.goal()?,
        })
    }
}

/// Distribution of random requests, and true if each block is accessed once.
fn drawn(
    opts: &OptionReader<'_>,
    random: f64,
    sizes: &Sizes,
    remarks: &mut Vec<FioRemark>,
) -> (Distribution, bool) {
    let uniform = Distribution::Uniform;
    let distribution = opts.value("random_distribution", uniform, Distribution::read);
    // This generator never repeats a place within a pass.
    let lfsr = opts.value("random_generator", false, |text| Ok(text == "lfsr"));
    // As in fio, there is no map of places at other distances than the block size.
    let is_mapped = sizes.alignment == sizes.smallest() && !opts.switch("norandommap", false);
    let once = lfsr || is_mapped;
    let is_plain = distribution == Distribution::Uniform;
    if sizes.single().is_none() {
        let counted = opts.get("number_ios");
        remarks.extend(counted.map(|set| set.remark(&opts.section.name, Remark::IosOfMeanSize)));
    }
    if once && random > 0.0 && sizes.writes.is_some() && is_plain {
        remarks.extend(drawn_independently(opts.section));
    }
    (distribution, once)
}

fn clones(opts: &OptionReader<'_>) -> Result<u32, FioRefusal> {
    match opts.whole("numjobs", 1) {
        clones @ 1..=CLONES_MAX => Ok(clones as u32),
        _ => Err(opts.refuse("numjobs", format!("must be between 1 and {CLONES_MAX}"))),
    }
}

fn depth(opts: &OptionReader<'_>, engine: Engine) -> Result<u32, FioRefusal> {
    match u32::try_from(opts.whole("iodepth", 1)).unwrap_or(u32::MAX) {
        0 => Err(opts.refuse("iodepth", "must be at least 1")),
        _ if engine.is_synchronous() => Ok(1),
        asked => Ok(asked),
    }
}

/// Name from the brackets or from the section's own `name`; a global `name` is ignored.
fn own_name(section: &Section) -> String {
    let own = section.settings.iter().skip(section.inherited).rev();
    let name = own.filter(|setting| setting.name == "name").find_map(|name| name.value.clone());
    name.unwrap_or_else(|| section.name.clone())
}

/// Refuses unsupported options, and collects remarks on those with other effects.
fn obey_rules(section: &Section, refused: &mut FioRefusals) -> Vec<FioRemark> {
    // An option unknown to fio's core may belong to an unsupported engine: then refuse the engine.
    let engine = section.get("ioengine");
    let lacking = engine.and_then(|engine| Engine::read(engine.value.as_deref()?).err());
    let mut remarks = Vec::new();
    let last: BTreeMap<&str, &Setting> =
        section.settings.iter().map(|setting| (setting.name.as_str(), setting.as_ref())).collect();
    for setting in &section.settings {
        if !last.get(setting.name.as_str()).is_some_and(|last| std::ptr::eq(*last, &**setting)) {
            continue;
        }
        if canonical(&setting.name).is_none() {
            if lacking.is_some() {
                continue;
            }
            let suggest = refused.list().len() < SUGGESTIONS_MAX;
            let hint = match suggest.then(|| nearest(&setting.name)).flatten() {
                Some(near) => format!("fio has no such option; did you mean `{near}`?"),
                None => "fio has no such option".to_owned(),
            };
            refused.add(setting.refuse(&section.name, hint).into());
            continue;
        }
        let value = setting.value.as_deref().unwrap_or("");
        let rule = rule(&setting.name);
        let is_engines = matches!(rule, Rule::Only(..) | Rule::Refused(_)) && lacking.is_some();
        if setting.is_lost && !is_engines {
            let why = "the environment variable is not set, so there is no value";
            refused.add(setting.refuse(&section.name, why).into());
            continue;
        }
        match rule {
            Rule::Honoured | Rule::Silent => {}
            Rule::Remarked(what) => remarks.push(setting.remark(&section.name, what)),
            Rule::Only(values, _) if values.iter().any(|known| known == value) => {}
            // Only the engine is refused, because the option may belong to it.
            Rule::Only(..) | Rule::Refused(_) if is_engines => {}
            Rule::Only(_, why) | Rule::Refused(why) => {
                refused.add(setting.refuse(&section.name, format!("refused: {why}")).into());
            }
        }
    }
    remarks
}
/// Bytes between consecutive sequential requests, in either direction.
fn gap(opts: &OptionReader<'_>, access: &Access, sizes: &Sizes) -> Result<u64, FioRefusal> {
    if access.gap == 0 && access.back.is_none() {
        return Ok(0);
    }
    let Some(size) = sizes.single() else {
        return Err(opts.refuse("rw", "refused: a gap needs a single block size"));
    };
    match access.back {
        None => Ok(access.gap),
        // From the end of a request back to the start of the next one, which must end before it.
        Some(back) => back.checked_sub(2 * size).ok_or_else(|| {
            let why = format!(
                "refused: I/Os would overlap; to go backwards without gaps, use :-{}",
                2 * size
            );
            opts.refuse("rw", why)
        }),
    }
}

/// Remark on several sizes with a random map.
fn drawn_independently(section: &Section) -> Option<FioRemark> {
    let found =
        ["bssplit", "bsrange", "bs", "percentage_random"].iter().find_map(|name| section.get(name));
    found.map(|setting| setting.remark(&section.name, Remark::PlacesDrawnIndependently))
}

/// Access pattern before the colon, as its usual name.
fn rw_name(text: &str) -> String {
    let name = text.split(':').next().unwrap_or(text);
    if name == "readwrite" { "rw".to_owned() } else { name.to_owned() }
}
