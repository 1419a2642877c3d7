//! Reader of traces for replay: fio's iolog versions 2 and 3, and blktrace records.
//!
//! Times as observed with fio 3.33: microseconds in version 3; in version 2, a `wait` lasts until
//! this many milliseconds after the start.

use std::collections::BTreeMap;

use qdepth_workload::{Direction, Recorded, Request, Trace};

use super::blktrace;
use super::job::Job;
use super::option_reader::OptionReader;
use super::refusal::FioRefusal;
use super::replay_log::{Line, Log, REQUESTS_MAX, Replay};
use super::setting::Section;
use super::surroundings::Surroundings;
use super::values::{number, texts};

/// Options of a replay.
struct How {
    redirect: Option<String>,
    skip: Vec<Direction>,
    scale: u64,
    align: u64,
}

/// Sets the replay of a job that has `read_iolog`.
pub(super) fn into(
    job: &mut Job,
    section: &Section,
    around: &Surroundings<'_>,
) -> Result<(), FioRefusal> {
    let opts = OptionReader::new(section, super::number::Base::default());
    let Some(setting) = section.get("read_iolog") else {
        let alone = ["merge_blktrace_file", "replay_redirect", "replay_time_scale"];
        let dependent = alone.iter().find_map(|name| section.get(name));
        return dependent.map_or(Ok(()), |dependent| {
            Err(dependent.refuse(&section.name, "needs read_iolog=, which is missing"))
        });
    };
    let refuse = |why: String| setting.refuse(&section.name, why);
    let how = how(&opts);
    let no_stall = opts.switch("replay_no_stall", false);
    let per_cent = opts.whole("replay_time_scale", 100);
    if let Some(refusal) = opts.refused.into_inner().list().first() {
        return Err(refusal.clone());
    }
    if job.verify.is_some() || job.goal.is_some() || job.duplicates.is_some() || job.think.is_some()
    {
        return Err(refuse(
            "refused: cannot be combined with verify, latency_target, dedupe or thinktime".into(),
        ));
    }
    let paths = texts(setting.value.as_deref().unwrap_or(""));
    let mut logs = Vec::new();
    for path in &paths {
        let bytes = (around.trace)(path).map_err(|why| refuse(format!("{path}: {why}")))?;
        logs.push(read(&bytes).map_err(|why| refuse(format!("{path}: {why}")))?);
    }
    if section.get("merge_blktrace_file").is_some() {
        logs = vec![merge(section, logs).map_err(refuse)?];
    }
    let mut traces = Vec::new();
    for log in &logs {
        traces.push(by_file(&log.lines, &how).map_err(refuse)?);
    }
    if traces.is_empty() {
        return Err(refuse("name a file".to_owned()));
    }
    let speed = (!no_stall).then_some(per_cent as f64 / 100.0);
    if speed.is_some_and(|speed| !(0.001..=1000.0).contains(&speed)) {
        return Err(refuse("replay_time_scale must be between 1 and 100000".to_owned()));
    }
    let probed = logs.iter().filter_map(|log| log.depth).max();
    if let Some(depth) =
        probed.filter(|_| section.get("iodepth").is_none() && job.is_asynchronous())
    {
        job.depth = depth;
    }
    let replay = Replay { traces, speed };
    let does = |direction: Direction| replay.all().any(|r| r.request.direction == direction);
    job.read = if does(Direction::Write) || does(Direction::Trim) { 50.0 } else { 100.0 };
    job.rw_name = match (does(Direction::Read), does(Direction::Write), does(Direction::Trim)) {
        (true, false, false) => "read",
        (false, true, false) => "write",
        (false, false, true) => "trim",
        _ => "rw",
    }
    .to_owned();
    (job.rate, job.rate_of) = (None, None);
    job.replay = Some(replay);
    Ok(())
}

fn how(opts: &OptionReader<'_>) -> How {
    let skip = |text: &str| {
        let direction = |word: &str| match word.trim() {
            "read" => Ok(Direction::Read),
            "write" => Ok(Direction::Write),
            "trim" => Ok(Direction::Trim),
            "sync" => Ok(Direction::Sync),
            other => Err(format!("`{other}`: must be read, write, trim or sync")),
        };
        text.split(',').map(direction).collect::<Result<Vec<_>, _>>()
    };
    let power = |text: &str| match super::number::size(text, opts.base)? {
        align if align.is_power_of_two() && align <= 1 << 30 => Ok(align),
        _ => Err("must be a power of two".to_owned()),
    };
    How {
        redirect: opts.value("replay_redirect", None, |text| Ok(texts(text).into_iter().next())),
        skip: opts.value("replay_skip", Vec::new(), skip),
        scale: opts.whole("replay_scale", 1).max(1),
        align: opts.value("replay_align", 1, power),
    }
}

/// Parses a trace of any format.
fn read(bytes: &[u8]) -> Result<Log, String> {
    if blktrace::is_trace(bytes) {
        return blktrace::read(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "neither an iolog of fio nor a blktrace")?;
    let mut lines = text.lines();
    match lines.next().map(str::trim) {
        Some("fio version 2 iolog") => iolog(lines, false),
        Some("fio version 3 iolog") => iolog(lines, true),
        _ => Err("neither an iolog of fio (version 2 or 3) nor a blktrace of blkparse -d".into()),
    }
}

fn iolog<'a>(lines: impl Iterator<Item = &'a str>, timed: bool) -> Result<Log, String> {
    let (mut log, mut at_ns) = (Log::default(), 0);
    let mut first = None;
    for (number, line) in (2..).zip(lines) {
        let wrong = || format!("line {number}: `{line}` is not a line of an iolog");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if timed {
            let at_us: u64 = words.remove(0).parse().map_err(|_| wrong())?;
            at_ns = at_us.saturating_mul(1000);
        }
        let (path, action, figures) = match words.as_slice() {
            [_, "add" | "open" | "close"] => continue,
            [path, action, figures @ ..] => (*path, *action, figures),
            _ => return Err(wrong()),
        };
        let figure = |index: usize| -> Result<u64, String> {
            figures.get(index).map_or(Ok(0), |text| text.parse().map_err(|_| wrong()))
        };
        let direction = match action {
            "read" => Direction::Read,
            "write" => Direction::Write,
            "trim" => Direction::Trim,
            "sync" | "datasync" => Direction::Sync,
            // fio ignores `wait` if lines have times.
            "wait" if timed => continue,
            "wait" => {
                at_ns = at_ns.max(figure(0)?.saturating_mul(1_000_000));
                continue;
            }
            _ => return Err(wrong()),
        };
        // The first request starts at once.
        let from = *first.get_or_insert(if timed { at_ns } else { 0 });
        let (offset, size) = match direction {
            Direction::Sync => (0, 0),
            _ => (figure(0)?, u32::try_from(figure(1)?).map_err(|_| wrong())?),
        };
        let request = Request { direction, offset, size };
        let recorded = Recorded { at_ns: at_ns.saturating_sub(from), request };
        // Requests without a length transfer nothing.
        if size > 0 || direction == Direction::Sync {
            log.lines.push(Line { path: path.to_owned(), recorded });
        }
        if log.lines.len() > REQUESTS_MAX {
            return Err(format!("more than {REQUESTS_MAX} I/Os"));
        }
    }
    Ok(log)
}

/// Merges several traces. Each has a time scale in per cent and a number of repetitions.
fn merge(section: &Section, logs: Vec<Log>) -> Result<Log, String> {
    let list = |name: &str, usual: f64| -> Result<Vec<f64>, String> {
        let text = section.get(name).and_then(|setting| setting.value.as_deref());
        let given: Vec<f64> = match text {
            None => Vec::new(),
            Some(text) => text.split([':', ',']).map(number).collect::<Result<_, _>>()?,
        };
        if !given.is_empty() && given.len() != logs.len() {
            return Err(format!("{name} has {} values for {} traces", given.len(), logs.len()));
        }
        if given.iter().any(|figure| !(*figure > 0.0 && *figure <= 1e6)) {
            return Err(format!("{name}: values must be above 0 and at most 1000000"));
        }
        Ok(if given.is_empty() { vec![usual; logs.len()] } else { given })
    };
    let scalars = list("merge_blktrace_scalars", 100.0)?;
    let times = list("merge_blktrace_iters", 1.0)?;
    let mut merged = Log::default();
    for ((log, scalar), times) in logs.into_iter().zip(scalars).zip(times) {
        let last = log.lines.iter().map(|line| line.recorded.at_ns).max().unwrap_or(0);
        for pass in 0..times as u64 {
            if merged.lines.len() + log.lines.len() > REQUESTS_MAX {
                return Err(format!("more than {REQUESTS_MAX} I/Os"));
            }
            merged.lines.extend(log.lines.iter().cloned().map(|mut line| {
                let at_ns = line.recorded.at_ns.saturating_add(last.saturating_mul(pass));
                line.recorded.at_ns = (at_ns as f64 * scalar / 100.0) as u64;
                line
            }));
        }
        merged.depth = merged.depth.max(log.depth);
    }
    merged.lines.sort_by_key(|line| line.recorded.at_ns);
    Ok(merged)
}

/// Requests of each file, with their offsets transformed by the options.
fn by_file(lines: &[Line], how: &How) -> Result<Vec<(String, Trace)>, String> {
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: Vec<(String, Vec<Recorded>)> = Vec::new();
    for line in lines.iter().filter(|line| !how.skip.contains(&line.recorded.request.direction)) {
        let path = how.redirect.as_deref().unwrap_or(&line.path);
        let index = *indices.entry(path).or_insert_with(|| {
            files.push((path.to_owned(), Vec::new()));
            files.len() - 1
        });
        let mut recorded = line.recorded;
        let offset = recorded.request.offset / how.scale;
        recorded.request.offset = offset - offset % how.align;
        files[index].1.push(recorded);
    }
    // Drop files with only syncs: they have no data to sync.
    files.retain(|(_, list)| list.iter().any(|recorded| recorded.request.size > 0));
    let made = files.into_iter().map(|(path, list)| Ok((path, Trace::new(list)?)));
    let made: Vec<_> = made.collect::<Result<_, String>>()?;
    if made.is_empty() { Err("no I/O is left of the trace".to_owned()) } else { Ok(made) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V3: &str = "fio version 3 iolog\n0 /a add\n5 /a open\n100 /a read 0 4096\n\
                      350 /b write 8192 4096\n350 /a sync 0 0\n900 /a wait 5 0\n\
                      1100 /a trim 65536 4096\n1200 /a close\n";

    #[test]
    fn iolog_version_3_times_are_relative_microseconds() {
        let log = read(V3.as_bytes()).unwrap();
        let times: Vec<u64> = log.lines.iter().map(|line| line.recorded.at_ns).collect();
        assert_eq!(times, [0, 250_000, 250_000, 1_000_000]);
        let how = How { redirect: None, skip: vec![Direction::Trim], scale: 2, align: 4096 };
        let files = by_file(&log.lines, &how).unwrap();
        assert_eq!(files.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["/a", "/b"]);
        assert_eq!(String::from(files[0].1.clone()), "0 r 0 4096\n250000 s 0 0\n");
        assert_eq!(String::from(files[1].1.clone()), "250000 w 4096 4096\n");
        let all = How { redirect: Some("/c".into()), skip: Vec::new(), scale: 1, align: 1 };
        assert_eq!(by_file(&log.lines, &all).unwrap()[0].1.requests().len(), 4);
    }

    #[test]
    fn iolog_version_2_waits_are_milliseconds_from_start() {
        let text = "fio version 2 iolog\nf add\nf open\nf read 0 512\nf wait 20 0\nf read 512 512\n\
                    f wait 10 0\nf datasync 0 0\nf close\n";
        let log = read(text.as_bytes()).unwrap();
        let times: Vec<u64> = log.lines.iter().map(|line| line.recorded.at_ns).collect();
        assert_eq!(times, [0, 20_000_000, 20_000_000]);
    }

    #[test]
    fn invalid_iolog_error_names_the_line() {
        assert!(read(b"fio version 1 iolog\n").is_err());
        let wrong = read(b"fio version 3 iolog\n0 /a read x 4096\n").unwrap_err();
        assert!(wrong.starts_with("line 2: "), "{wrong}");
        let shorter = read(b"fio version 2 iolog\n/a\n").unwrap_err();
        assert!(shorter.starts_with("line 2: "), "{shorter}");
    }
}
