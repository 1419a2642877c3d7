//! Request of one clone of a job: files, bytes, time.

use crate::fio::job::Job;
use crate::fio::job_parts::Goal;
use crate::fio::load::{Load, Origin};
use crate::fio::refusal::FioRefusal;
use crate::fio::values::{Amount, Engine, Trims};

/// Time limit of a job that ends with its bytes alone, nanoseconds: a day.
const UNTIL_DONE_NS: u64 = 86_400_000_000_000;
/// Emulated device for `ioengine=null`, on which I/Os complete one after the other, each in a
/// microsecond of virtual time, and its length. With zero latency, a job with a runtime would never
/// end.
const NOTHING: &str = "media:null@service_us=1@servers=1";
pub(super) const NOTHING_BYTES: u64 = 1_000_000_000_000;

/// A file of a job, or the folder in which one is made for it.
pub(super) struct JobFile {
    pub(super) path: String,
    /// Directory for jobs without a file name.
    pub(super) folder: Option<String>,
    /// Outstanding I/Os of its share.
    pub(super) depth: u32,
}

/// Files of a clone, with their shares of its queue depth. Missing files, and more files than the
/// depth allows, are merged into one.
pub(super) fn job_files(
    job: &Job,
    clone: u32,
    whole: &dyn Fn(&str) -> Option<u64>,
) -> Result<Vec<JobFile>, FioRefusal> {
    if job.engine == Engine::Null {
        return Ok(vec![JobFile { path: NOTHING.to_owned(), folder: None, depth: job.depth }]);
    }
    let folder = job.directories.get(clone as usize % job.directories.len().max(1));
    let within = |name: &str| match folder {
        Some(folder) if !name.starts_with('/') => {
            format!("{}/{name}", folder.trim_end_matches('/'))
        }
        _ => name.to_owned(),
    };
    if job.filenames.is_empty() {
        let name = job.file_format.replace("$jobname", &job.name);
        let name = name.replace("$jobnum", &clone.to_string()).replace("$filenum", "0");
        let folder = folder.cloned().unwrap_or_else(|| ".".to_owned());
        return Ok(vec![JobFile { path: within(&name), folder: Some(folder), depth: job.depth }]);
    }
    let mut paths: Vec<String> = job.filenames.iter().map(|name| within(name)).collect();
    let made = |path: &String| !path.starts_with("/dev/") && whole(path).is_none();
    if (job.depth as usize) < paths.len() {
        if !paths.iter().all(made) {
            return Err(refuse(
                job,
                format!(
                    "iodepth={} is less than its {} files, of which each has outstanding I/Os of \
                     its own in qdepth: a job for each, or a greater iodepth",
                    job.depth,
                    paths.len()
                ),
            ));
        }
        paths.truncate(1);
    }
    let (each, more) = (job.depth / paths.len() as u32, job.depth as usize % paths.len());
    let file =
        |(number, path)| JobFile { path, folder: None, depth: each + u32::from(number < more) };
    Ok(paths.into_iter().enumerate().map(file).collect())
}

/// The load that reads back what another wrote, once.
pub(super) fn read_back(written: &Load) -> Load {
    let bytes = match (written.bytes, written.area) {
        (Some(bytes), Some(area)) => Some(bytes.min(area)),
        (bytes, _) => bytes,
    };
    Load {
        profile: format!("{}-verify", written.profile),
        bytes,
        // What ends by its time is read back once.
        passes: bytes.is_none().then_some(1),
        duration_ns: UNTIL_DONE_NS,
        rate: None,
        least: None,
        settling: None,
        reads_back: true,
        ends_step: false,
        ..written.clone()
    }
}

/// The depths at which a job is measured that searches for one, each a step.
pub(super) fn depths(
    job: &Job,
    goal: Goal,
    loads: &[Load],
    alone: bool,
) -> Result<Vec<Vec<Load>>, FioRefusal> {
    let [load] = loads else {
        return Err(refuse(job, "latency_target: refused: of a job with several clones or files"));
    };
    if !alone || job.reads_back {
        let why = "latency_target: refused: of a job that runs beside another, or verifies; a \
                   stonewall before and behind it";
        return Err(refuse(job, why));
    }
    let doubled = std::iter::successors(Some(1), |depth: &u32| depth.checked_mul(2));
    let depths = doubled.take_while(|depth| *depth < load.depth).chain([load.depth]);
    let at_depth = |depth: u32| Load {
        profile: format!("{}-at-{depth}", load.profile),
        depth,
        bytes: None,
        passes: None,
        duration_ns: goal.window_ns,
        ..load.clone()
    };
    Ok(depths.map(|depth| vec![at_depth(depth)]).collect())
}

/// A load on all of a target, without an end by bytes.
pub(super) fn on_all(target: usize, origin: Origin, job: &Job, depth: u32, files: usize) -> Load {
    Load {
        origin,
        target,
        profile: String::new(),
        offset: 0,
        area: None,
        bytes: None,
        passes: None,
        duration_ns: duration(job),
        depth,
        rate: job.rate.map(|rate| rate / files as f64),
        least: job.least.map(|least| least.shared(files)),
        settling: None,
        reads_back: false,
        ends_step: false,
        direct: job.direct,
        replays: None,
        area_of: None,
    }
}

/// Bytes after which a job ends.
pub(super) fn end(
    job: &Job,
    area: u64,
    whole: Option<u64>,
    share: u64,
) -> Result<Option<u64>, FioRefusal> {
    if job.span.time_based {
        return Ok(None);
    }
    // As in fio, what is left out is moved in a further pass over the rest.
    let pass = match job.span.io_size {
        None => area,
        Some(Amount::Bytes(bytes)) => bytes / share,
        Some(amount) => amount
            .bytes(whole)
            .ok_or_else(|| refuse(job, "io_size is a share of a target whose size is not known"))?,
    };
    // Trims and writes are counted each for themselves.
    let ways = if job.trims == Trims::BeforeWrites { 2 } else { 1 };
    let mut bytes = pass.saturating_mul(job.span.loops).saturating_mul(ways);
    if let Some(requests) = job.span.requests {
        let Some(size) = job.sizes.single() else {
            return Err(refuse(job, "number_ios with several request sizes cannot be honoured"));
        };
        bytes = bytes.min(requests.saturating_mul(size).saturating_mul(ways) / share);
    }
    Ok(Some(bytes.max(1)))
}

pub(super) fn duration(job: &Job) -> u64 {
    job.span.runtime_ns.filter(|ns| *ns > 0).unwrap_or(UNTIL_DONE_NS)
}

pub(super) fn refuse(job: &Job, why: impl Into<String>) -> FioRefusal {
    FioRefusal { section: job.name.clone(), ..FioRefusal::at(&job.file, job.line, why) }
}

pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => ".",
    }
}

/// Lower case, digits and hyphens.
pub(super) fn slug(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().take(40).map(letter).collect();
    let text = text.trim_matches('-');
    if text.is_empty() { "job".to_owned() } else { text.to_owned() }
}
