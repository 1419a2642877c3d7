//! Loads of one clone of a job: files, bytes, time.

use qdepth_workload::Way;

use crate::fio::job::Job;
use crate::fio::job_parts::LatencyGoal;
use crate::fio::load::{Load, Origin};
use crate::fio::refusal::FioRefusal;
use crate::fio::values::{Amount, Engine, Trims};

/// Time limit of a job that ends by bytes only, ns: a day.
const UNTIL_DONE_NS: u64 = 86_400_000_000_000;
/// Emulated device for `ioengine=null`, on which I/Os complete one after the other, each in a
/// microsecond of virtual time, and its length. With zero latency, a job with a runtime would never
/// end.
const NOTHING: &str = "media:null@service_us=1@servers=1";
pub(super) const NOTHING_BYTES: u64 = 1_000_000_000_000;

/// File of a job, or the directory in which one is created for it.
pub(super) struct JobFile {
    pub(super) path: String,
    /// Directory, for a job without a file name.
    pub(super) folder: Option<String>,
    /// This file's share of the queue depth.
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
    let mut paths = paths(job, clone);
    if job.filenames.is_empty() {
        let folder = Some(folder(job, clone).cloned().unwrap_or_else(|| ".".to_owned()));
        let depth = job.depth;
        return Ok(paths
            .into_iter()
            .map(|path| JobFile { path, folder: folder.clone(), depth })
            .collect());
    }
    let made = |path: &String| !path.starts_with("/dev/") && whole(path).is_none();
    if (job.depth as usize) < paths.len() {
        if !paths.iter().all(made) {
            return Err(refuse(
                job,
                format!(
                    "iodepth={} is less than its {} files, but in qdepth each file has its own \
                     queue depth: write one job per file, or increase iodepth",
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

fn folder(job: &Job, clone: u32) -> Option<&String> {
    job.directories.get(clone as usize % job.directories.len().max(1))
}

/// Paths of a clone's files; the one of `filename_format` if the job names none.
pub(super) fn paths(job: &Job, clone: u32) -> Vec<String> {
    let within = |name: &str| match folder(job, clone) {
        Some(folder) if !name.starts_with('/') => {
            format!("{}/{name}", folder.trim_end_matches('/'))
        }
        _ => name.to_owned(),
    };
    if job.filenames.is_empty() {
        let name = job.file_format.replace("$jobname", &job.name);
        let name = name.replace("$jobnum", &clone.to_string()).replace("$filenum", "0");
        return vec![within(&name)];
    }
    job.filenames.iter().map(|name| within(name)).collect()
}

/// Load that reads back the data of a writing load, once for each of its loops.
pub(super) fn read_back(written: &Load, job: &Job) -> Load {
    let loops = job.span.loops;
    let bytes = match (written.bytes, written.area) {
        (Some(bytes), Some(area)) => Some(bytes.min(area.saturating_mul(loops))),
        (bytes, _) => bytes,
    };
    Load {
        profile: format!("{}-verify", written.profile),
        bytes,
        // A load that ends by time is read back in one pass.
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

/// Loads of a mix with a rate for one direction only: that direction keeps the rate, and the other
/// one runs freely until it has moved all bytes of the job.
pub(super) fn by_direction(job: &Job, load: Load) -> Vec<Load> {
    let Some(rated) = job.rate_of else { return vec![load] };
    let only = |way: Way| {
        let is_rated = way == rated;
        Load {
            way: Some(way),
            rate: load.rate.filter(|_| is_rated),
            least: load.least.map(|least| least.only(way)),
            bytes: load.bytes.filter(|_| !is_rated),
            passes: load.passes.filter(|_| !is_rated),
            ends_step: !is_rated && (load.bytes.is_some() || load.passes.is_some()),
            ..load.clone()
        }
    };
    vec![only(Way::Reads), only(Way::Writes)]
}

/// Steps of a job that searches for a queue depth: one per depth to be measured.
pub(super) fn depths(
    job: &Job,
    goal: LatencyGoal,
    loads: &[Load],
    alone: bool,
) -> Result<Vec<Vec<Load>>, FioRefusal> {
    let [load] = loads else {
        return Err(refuse(
            job,
            "latency_target: refused: the job must not have several clones or files",
        ));
    };
    if !alone || job.verifies(|verify| verify.reads_back) {
        let why = "latency_target: refused: the job must run alone and must not verify; add a \
                   stonewall before and after it";
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

/// Load on a whole target, without an end by bytes.
pub(super) fn on_all(target: usize, origin: Origin, job: &Job, depth: u32, files: usize) -> Load {
    Load {
        origin,
        target,
        duration_ns: job.span.runtime_ns.unwrap_or(UNTIL_DONE_NS),
        depth,
        rate: job.rate.map(|rate| rate / files as f64),
        least: job.least.map(|least| least.shared(files)),
        direct: job.direct,
        ..Load::default()
    }
}

/// Bytes after which a job ends; `None` if it ends by time.
pub(super) fn end(
    job: &Job,
    area: u64,
    whole: Option<u64>,
    share: u64,
) -> Result<Option<u64>, FioRefusal> {
    if job.span.time_based {
        return Ok(None);
    }
    let smallest = job.sizes.smallest();
    let step = smallest.saturating_add(job.gap);
    let pass = match job.span.io_size {
        // As in fio, a further pass covers gaps only if the area ends with a gap.
        None if job.gap > 0 && !job.backwards && area >= smallest && !area.is_multiple_of(step) => {
            ((area - smallest) / step + 1).saturating_mul(smallest)
        }
        // As in fio, a rest that is smaller than a block is left out.
        None => area - area % smallest,
        Some(Amount::Bytes(bytes)) => bytes / share,
        Some(amount) => amount.bytes(whole).ok_or_else(|| {
            refuse(
                job,
                "io_size is a percentage of a target whose size is unknown: write it in bytes",
            )
        })?,
    };
    // Trims and writes count separately.
    let ways = if job.trims == Trims::BeforeWrites { 2 } else { 1 };
    let mut bytes = pass.saturating_mul(ways);
    if let Some(requests) = job.span.requests {
        let Some(size) = job.sizes.mean() else {
            return Err(refuse(job, "number_ios needs a single block size: use bs= alone"));
        };
        let counted = (requests as f64 * size).round() as u64;
        bytes = bytes.min(counted.saturating_mul(ways) / share);
    }
    Ok(Some(bytes.saturating_mul(job.span.loops).max(1)))
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

/// Name in lower-case letters, digits and hyphens, for profiles.
pub(super) fn slug(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().take(40).map(letter).collect();
    let text = text.trim_matches('-');
    if text.is_empty() { "job".to_owned() } else { text.to_owned() }
}
