//! The plan as TOML, which the user may keep and run without fio's file.

use std::fmt::Write;

use qdepth_measure::{Bytes, Nanos};

use super::convert::Load;
use super::job::{Duplicates, Flow, Job, Least};
use super::replay::Replay;
use super::values::{Amount, Distribution, Durability, SizePart, Trims};

/// The text of a plan: profiles, one for each load, then the steps.
pub(super) fn plan(
    name: &str,
    seed: u64,
    jobs: &[Job],
    steps: &[Vec<Load>],
    file_bytes: Option<u64>,
) -> String {
    let mut text = format!("name = {}\nseed = {seed}\ntargets = \"together\"\n", quoted(name));
    if let Some(bytes) = file_bytes {
        line(&mut text, "file_size", &quoted(&Bytes(bytes).to_string()));
    }
    if jobs.iter().any(|job| job.operation.is_of_entries()) {
        line(&mut text, "files", &quoted("entries"));
    }
    for load in steps.iter().flatten() {
        profile(&mut text, &jobs[load.origin.job], load);
    }
    for (number, loads) in steps.iter().enumerate() {
        let title = format!("{}: {}", number + 1, names(jobs, loads));
        text.push_str("\n[[step]]\n");
        line(&mut text, "title", &quoted(&title));
        for load in loads {
            one_load(&mut text, &jobs[load.origin.job], load);
        }
    }
    text
}

fn names(jobs: &[Job], loads: &[Load]) -> String {
    let mut names: Vec<&str> =
        loads.iter().map(|load| jobs[load.origin.job].name.as_str()).collect();
    names.dedup();
    names.truncate(8);
    names.join(", ")
}

fn one_load(text: &mut String, job: &Job, load: &Load) {
    text.push_str("[[step.load]]\n");
    line(text, "profile", &quoted(&load.profile));
    line(text, "target", &(load.target + 1).to_string());
    line(text, "outstanding", &load.depth.to_string());
    if job.span.delay_ns > 0 && !load.reads_back {
        line(text, "delay", &quoted(&Nanos(job.span.delay_ns).to_string()));
    }
    line(text, "warm_up", &quoted(&Nanos(job.span.ramp_ns).to_string()));
    line(text, "duration", &quoted(&Nanos(load.duration_ns).to_string()));
    if let Some(bytes) = load.bytes {
        line(text, "bytes_per_stream", &quoted(&Bytes(bytes).to_string()));
    }
    if let Some(flow) = job.flow.filter(|_| !load.reads_back) {
        let Flow { group, weight, pause_ns } = flow;
        let pause = match pause_ns {
            0 => String::new(),
            ns => format!(", pause = \"{}\"", Nanos(ns)),
        };
        line(text, "flow", &format!("{{ group = {group}, weight = {weight}{pause} }}"));
    }
    if let Some(settling) = load.settling.as_ref().and_then(inline) {
        line(text, "settling", &settling);
    }
    if let Some(Least { bytes, ios, cycle_ns }) = load.least {
        let over = Nanos(cycle_ns);
        let rates = format!("io_per_s = {ios:?}, bytes_per_s = {bytes:?}, over = \"{over}\"");
        line(text, "least_rate", &format!("{{ {rates} }}"));
    }
    if load.ends_step {
        line(text, "ends_step", "true");
    }
    if let Some(passes) = load.passes {
        line(text, "passes", &passes.to_string());
    }
}

fn profile(text: &mut String, job: &Job, load: &Load) {
    text.push_str("\n[[profile]]\n");
    line(text, "name", &quoted(&load.profile));
    let title = if load.reads_back { "verify " } else { "" };
    line(text, "title", &quoted(&format!("{title}{}", job.name)));
    if !job.description.is_empty() {
        line(text, "application", &quoted(&job.description));
    }
    if let Some((replay, place)) = job.replay.as_ref().zip(load.replays) {
        return replayed(text, job, load, replay, place);
    }
    line(text, "random", &job.random.to_string());
    let read = if load.reads_back { 100.0 } else { job.read };
    line(text, "read", &read.to_string());
    kinds(text, job);
    let durable = match job.durability {
        Durability::Cached => None,
        Durability::Sync => Some("sync"),
        Durability::DataSync => Some("data-sync"),
    };
    if let Some(priorities) = job.priorities.as_ref().and_then(inline) {
        line(text, "priorities", &priorities);
    }
    if let Some(durable) = durable.filter(|_| read < 100.0) {
        line(text, "durability", &quoted(durable));
    }
    line(text, "request_size", &request_size(&job.sizes.parts));
    line(text, "alignment", &quoted(&Bytes(job.sizes.alignment).to_string()));
    if let Some((parts, alignment)) = job.sizes.writes.as_ref().filter(|_| !load.reads_back) {
        line(text, "write_size", &request_size(parts));
        line(text, "write_alignment", &quoted(&Bytes(*alignment).to_string()));
        if let Some(random) = job.random_writes {
            line(text, "write_random", &random.to_string());
        }
    }
    if let Some((zone, skip)) = job.zones {
        let (zone, skip) = (Bytes(zone), Bytes(skip));
        line(text, "strides", &format!("{{ zone = \"{zone}\", skip = \"{skip}\" }}"));
    }
    if job.backwards {
        line(text, "backwards", "true");
    }
    let size = load.area.map_or_else(|| "full".to_owned(), |bytes| Bytes(bytes).to_string());
    let offset = Bytes(load.offset).to_string();
    line(text, "area", &format!("{{ size = {}, offset = {} }}", quoted(&size), quoted(&offset)));
    if let Some(rate) = load.rate {
        let kind = if job.poisson { "poisson" } else { "fixed" };
        line(text, "arrivals", &format!("{{ kind = \"{kind}\", rate = {rate:?} }}"));
    }
    if let Some((time_ns, requests)) = job.think.filter(|_| !load.reads_back) {
        let think = format!("time_ns = {time_ns}, requests = {requests}");
        line(text, "arrivals", &format!("{{ kind = \"think-time\", {think} }}"));
    }
    if job.compressible > 0.0 {
        line(text, "compressible", &job.compressible.to_string());
    }
    if let Some(duplicates) = job.duplicates.filter(|_| !load.reads_back) {
        line(text, "duplicates", &repeated(job, load, duplicates));
    }
    line(text, "direct", &load.direct.to_string());
    line(text, "fsync", &fsync(job));
    if let Some(distribution) = distribution(job, load) {
        line(text, "distribution", &distribution);
    }
}

/// What requests do besides reading and writing.
fn kinds(text: &mut String, job: &Job) {
    match job.trims {
        Trims::None => {}
        Trims::All => line(text, "trim", "100"),
        Trims::BeforeWrites => line(text, "trim_first", "true"),
    }
    if !job.operation.is_transfer() {
        line(text, "operation", &inline(&job.operation).unwrap_or_default());
    }
    if job.verify {
        line(text, "verify", "true");
        line(text, "verify_unwritten", "false");
    }
}

/// The rest of a profile that makes requests again which were recorded.
fn replayed(text: &mut String, job: &Job, load: &Load, replay: &Replay, place: usize) {
    let Some((_, trace)) = replay.for_clone(load.origin.clone).get(place) else { return };
    let (reads, trims) = trace.shares();
    let share = |share: f64| (share * 1e6).round() / 1e4;
    // What it never does keeps no share, and what it does at all keeps one.
    let read =
        if reads > 0.0 && reads < 1.0 { share(reads).clamp(0.01, 99.98) } else { 100.0 * reads };
    let trim =
        if trims > 0.0 && trims < 1.0 { share(trims).clamp(0.01, 99.98) } else { 100.0 * trims };
    let trim = if reads + trims >= 1.0 { 100.0 - read } else { trim };
    line(text, "random", &share(trace.random_share()).to_string());
    line(text, "read", &read.to_string());
    if trims > 0.0 {
        line(text, "trim", &trim.to_string());
    }
    let parts: Vec<SizePart> = trace
        .sizes()
        .sizes
        .iter()
        .map(|(bytes, weight)| SizePart { bytes: u64::from(*bytes), weight: *weight })
        .collect();
    line(text, "request_size", &request_size(&parts));
    let places = trace.requests().iter().map(|recorded| recorded.request);
    let bits = places.fold(4096, |bits, r| bits | r.offset | u64::from(r.size));
    line(text, "alignment", &quoted(&Bytes(1 << bits.trailing_zeros()).to_string()));
    let size = load.area.map_or_else(|| "full".to_owned(), |bytes| Bytes(bytes).to_string());
    let offset = Bytes(load.offset).to_string();
    line(text, "area", &format!("{{ size = {}, offset = {} }}", quoted(&size), quoted(&offset)));
    if let Some(speed) = replay.speed {
        line(text, "arrivals", &format!("{{ kind = \"recorded\", speed = {speed:?} }}"));
    }
    if job.compressible > 0.0 {
        line(text, "compressible", &job.compressible.to_string());
    }
    if let Some(priorities) = job.priorities.as_ref().and_then(inline) {
        line(text, "priorities", &priorities);
    }
    line(text, "direct", &load.direct.to_string());
    line(text, "fsync", &fsync(job));
    // Written as it is read: letters, figures and ends of lines.
    line(text, "trace", &format!("\"\"\"\n{}\"\"\"", String::from(trace.clone())));
}

/// As many contents as the working set has requests.
fn repeated(job: &Job, load: &Load, duplicates: Duplicates) -> String {
    let Duplicates { share, working_set, common } = duplicates;
    let requests = load.area.unwrap_or(u64::MAX) / job.sizes.smallest().max(1);
    let contents = working_set.map_or(1.0, |set| (requests as f64 * set / 100.0).max(1.0));
    format!("{{ share = {share}, contents = {}, common = {common} }}", contents as u32)
}

fn request_size(parts: &[SizePart]) -> String {
    match parts {
        [part] => quoted(&Bytes(part.bytes).to_string()),
        sizes => {
            let entry = |part: &SizePart| {
                format!("{{ size = \"{}\", weight = {} }}", Bytes(part.bytes), part.weight)
            };
            format!("[{}]", sizes.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn fsync(job: &Job) -> String {
    match (job.fsync_every, job.fsync_end) {
        _ if !job.operation.is_transfer() => "{ kind = \"never\" }".to_owned(),
        (0, false) => "{ kind = \"never\" }".to_owned(),
        (0, true) => "{ kind = \"end\" }".to_owned(),
        (writes, _) => format!("{{ kind = \"every\", writes = {writes} }}"),
    }
}

fn distribution(job: &Job, load: &Load) -> Option<String> {
    match &job.distribution {
        _ if job.random <= 0.0 => None,
        Distribution::Zipf(exponent) => {
            Some(format!("{{ kind = \"zipf\", exponent = {exponent:?} }}"))
        }
        Distribution::Pareto(power) => Some(format!("{{ kind = \"pareto\", power = {power:?} }}")),
        Distribution::Zones(zones) => Some(zoned(zones, load.area)),
        Distribution::Uniform if job.once && job.sizes.single().is_some() => {
            Some("{ kind = \"each-once\" }".to_owned())
        }
        Distribution::Uniform => None,
    }
}

/// Zones as shares of the area; those in bytes end with the area, as in fio.
fn zoned(zones: &[(f64, Amount)], area: Option<u64>) -> String {
    let all = area.unwrap_or(0) as f64;
    let mut left = 100.0;
    let mut shares: Vec<(f64, f64)> = Vec::new();
    for (access, part) in zones {
        let share = match part {
            Amount::Share(share) => *share,
            Amount::Bytes(bytes) => (*bytes as f64 / all * 100.0).min(left),
        };
        left -= share;
        shares.push((*access, share));
    }
    if let Some(last) = shares.last_mut() {
        last.1 += left.max(0.0);
    }
    let zone = |(access, area): &(f64, f64)| format!("{{ access = {access:?}, area = {area:?} }}");
    let zones: Vec<String> = shares.iter().map(zone).collect();
    format!("{{ kind = \"zones\", zones = [{}] }}", zones.join(", "))
}

/// A value of a plan on one line.
fn inline(value: &impl serde::Serialize) -> Option<String> {
    toml::Value::try_from(value).ok().map(|value| value.to_string())
}

fn line(text: &mut String, key: &str, value: &str) {
    // Writing to a String never fails.
    let _ = writeln!(text, "{key} = {value}");
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
