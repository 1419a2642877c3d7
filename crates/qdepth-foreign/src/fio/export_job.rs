//! Export of a plan as a fio job file, as far as fio can express it.

use std::fmt::Write;

use qdepth_workload::{
    Arrivals, CacheAdvice, Distribution, Durability, IoFlag, Plan, Point, Priorities, SizeMix,
};

/// Job file with the plan's loads on these targets. Comments list everything that fio cannot
/// express.
pub fn as_fio(plan: &Plan, targets: &[String]) -> String {
    let mut text = format!(
        "; plan {}, {}\n[global]\nioengine=io_uring\nthread\ntime_based\nrandrepeat=1\n\
         randseed={}\nrefill_buffers\ngroup_reporting\n",
        plan.name,
        &plan.hash()[..12],
        plan.seed
    );
    if let Some(wear) = plan.wear() {
        let _ = writeln!(
            text,
            "; not included: preconditioning of the targets to the state {}",
            wear.name()
        );
    }
    for group in plan.groups() {
        for (index, point) in group.iter().enumerate() {
            let target = targets.get(point.target as usize).map_or(".", String::as_str);
            section(&mut text, point, target, index == 0);
        }
    }
    text
}

fn section(text: &mut String, point: &Point, target: &str, first: bool) {
    let name: String = format!("{}-{}", point.profile, point.queue_depth)
        .chars()
        .map(|c| if c == ']' || c == ';' || c == '#' || c.is_control() { '-' } else { c })
        .collect();
    let _ = writeln!(text, "\n[{}-{name}]", point.index + 1);
    if first && point.index > 0 {
        text.push_str("stonewall\n");
    }
    let streams = u64::from(point.streams.max(1));
    let share = point.area.length_bytes / streams;
    let share = share - share % point.alignment_bytes.max(1);
    let mut option = |name: &str, value: String| {
        let _ = writeln!(text, "{name}={value}");
    };
    option("filename", target.replace(':', "\\:"));
    option("rw", direction(point));
    if let Some(strides) = point.strides {
        option("zonemode", "strided".to_owned());
        option("zonesize", strides.zone_bytes.to_string());
        option("zoneskip", strides.skip_bytes.to_string());
        if let Some(range) = strides.range_bytes {
            option("zonerange", range.to_string());
        }
    }
    if point.trims() && !point.trims_first && point.trim_share < 1.0 {
        option("; not included: share of trims", point.trim_share.to_string());
    }
    if point.read_share > 0.0 && point.read_share < 1.0 {
        // fio accepts whole per cents only.
        option("rwmixread", format!("{:.0}", point.read_share * 100.0));
    }
    if point.random_share > 0.0 && point.random_share < 1.0 {
        option("percentage_random", format!("{:.0}", point.random_share * 100.0));
    }
    sizes(point, &mut option);
    match point.own_writes {
        Some(own) => {
            option("blockalign", format!("{},{}", point.alignment_bytes, own.alignment_bytes));
        }
        None if u64::from(point.block_size.single().unwrap_or(0)) == point.alignment_bytes => {}
        None => option("blockalign", point.alignment_bytes.to_string()),
    }
    option("size", share.to_string());
    option("offset", point.area.offset_bytes.to_string());
    if streams > 1 {
        option("numjobs", streams.to_string());
        option("offset_increment", share.to_string());
    }
    option("iodepth", point.queue_depth.to_string());
    option("direct", u8::from(point.direct).to_string());
    option("ramp_time", format!("{}ms", point.warm_up_ns.div_ceil(1_000_000)));
    option("runtime", format!("{}ms", point.stop.duration_ns.div_ceil(1_000_000)));
    match (point.stop.bytes_per_stream, point.stop.bytes / streams) {
        (0, 0) => {}
        (0, share) => option("io_size", share.to_string()),
        (bytes, _) => option("io_size", bytes.to_string()),
    }
    let percent = (point.payload.compressible_share * 100.0).round();
    if percent > 0.0 {
        option("buffer_compress_percentage", format!("{percent:.0}"));
    }
    caching(point, &mut option);
    syncs(point, &mut option);
    arrivals(point, &mut option);
    flow(point, &mut option);
    point.priorities.iter().for_each(|all| priorities(all, &mut option));
    distribution(point, text);
}

fn direction(point: &Point) -> String {
    let what = match point.read_share {
        _ if point.trims_first => "trimwrite",
        _ if point.trim_share >= 1.0 => "trim",
        share if share >= 1.0 => "read",
        share if share <= 0.0 => "write",
        _ => "rw",
    };
    let random = if point.random_share > 0.0 { "rand" } else { "" };
    let back = match point.block_size.single() {
        // From the end of one request to the beginning of the next.
        Some(size) if point.backwards => format!(":-{}", u64::from(size) + point.alignment_bytes),
        _ => String::new(),
    };
    format!("{random}{what}{back}")
}

fn sizes(point: &Point, option: &mut impl FnMut(&str, String)) {
    let by_direction = point.sizes_by_direction();
    let [reads, writes] = &by_direction;
    match (reads.single(), writes.single(), point.own_writes) {
        (Some(bytes), _, None) => option("bs", bytes.to_string()),
        (Some(reads), Some(writes), Some(_)) => option("bs", format!("{reads},{writes}")),
        (_, _, None) => option("bssplit", split(reads)),
        (_, _, Some(_)) => option("bssplit", by_direction.each_ref().map(split).join(",")),
    }
}

/// Shares in whole per cents that add up to 100: the last one takes the rounding error.
fn split(mix: &SizeMix) -> String {
    let sizes = &mix.sizes;
    let total: u64 = sizes.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let mut left = 100;
    let mut parts = Vec::new();
    for (index, (bytes, weight)) in sizes.iter().enumerate() {
        let share = (u64::from(*weight) * 100 + total / 2) / total;
        let share = if index + 1 == sizes.len() { left } else { share.min(left) };
        left -= share;
        parts.push(format!("{bytes}/{share}"));
    }
    parts.join(":")
}

fn caching(point: &Point, option: &mut impl FnMut(&str, String)) {
    if !point.direct {
        let hint = match point.advice {
            CacheAdvice::None => "0",
            CacheAdvice::Sequential => "sequential",
            CacheAdvice::Random => "random",
        };
        option("fadvise_hint", hint.to_owned());
        option("invalidate", u8::from(point.drop_cache).to_string());
    }
    match point.io_flag {
        IoFlag::None => {}
        IoFlag::Dontcache => option("uncached", "1".to_owned()),
        IoFlag::Atomic => option("atomic", "1".to_owned()),
    }
}

fn syncs(point: &Point, option: &mut impl FnMut(&str, String)) {
    let sync = match point.durability {
        Durability::Sync => Some(("sync", "sync")),
        Durability::Dsync => Some(("sync", "dsync")),
        Durability::Fsync => Some(("fsync", "1")),
        Durability::Fdatasync => Some(("fdatasync", "1")),
        Durability::None => None,
    };
    if let Some((name, value)) = sync {
        option(name, value.to_owned());
    }
    if point.fsync.every_writes > 0 {
        let name = if point.fsync.data_only { "fdatasync" } else { "fsync" };
        option(name, point.fsync.every_writes.to_string());
    }
    if point.fsync.at_end {
        option("end_fsync", "1".to_owned());
    }
}

fn arrivals(point: &Point, option: &mut impl FnMut(&str, String)) {
    let (rate, process) = match point.arrivals {
        Arrivals::Closed => return,
        Arrivals::Recorded { speed } => {
            return option("; not included: recorded trace, speed", speed.to_string());
        }
        Arrivals::ThinkTime { time_ns, requests } => {
            option("thinktime", format!("{}us", time_ns.div_ceil(1000)));
            return option("thinktime_blocks", requests.to_string());
        }
        Arrivals::Fixed { rate } | Arrivals::Paced { rate } => (rate, "linear"),
        Arrivals::Poisson { rate } => (rate, "poisson"),
    };
    // In bytes, because fio's I/Os per second are whole numbers.
    let [reads, writes] = point.sizes_by_direction().map(|sizes| rate * sizes.mean());
    let (read, write) = (reads * point.read_share, writes * point.write_share());
    let trim = reads * point.trim_share;
    let figure = |rate: f64| if rate < 1.0 { String::new() } else { format!("{rate:.0}") };
    let trim = if point.trims() { format!(",{}", figure(trim)) } else { String::new() };
    option("rate", format!("{},{}{trim}", figure(read), figure(write)));
    option("rate_process", process.to_owned());
}

fn priorities(priorities: &Priorities, option: &mut impl FnMut(&str, String)) {
    if let Some(usual) = priorities.usual {
        option("prioclass", (usual.bits() >> 13).to_string());
        option("prio", usual.level.to_string());
    }
    if !priorities.others.is_empty() {
        option("; not included: shares with other priorities", priorities.others.len().to_string());
    }
}

/// fio couples the jobs of all steps, and counts each clone with the full weight.
fn flow(point: &Point, option: &mut impl FnMut(&str, String)) {
    let Some(flow) = point.flow else { return };
    if point.streams > 1 {
        return option("; not included: flow", flow.weight.to_string());
    }
    option("flow", flow.weight.to_string());
    option("flow_id", (point.group << 8 | flow.group & 0xff).to_string());
    if flow.pause_ns > 0 {
        option("flow_sleep", flow.pause_ns.div_ceil(1000).to_string());
    }
}

fn distribution(point: &Point, text: &mut String) {
    let line = match &point.distribution {
        _ if point.random_share <= 0.0 => return,
        Distribution::Uniform => "norandommap".to_owned(),
        Distribution::EachOnce => return,
        Distribution::Zipf { exponent } => {
            format!("norandommap\nrandom_distribution=zipf:{exponent}")
        }
        Distribution::Pareto { power } => {
            format!("norandommap\nrandom_distribution=pareto:{power}")
        }
        Distribution::Sequence { places, advances } => {
            let places: Vec<String> = places.iter().map(u64::to_string).collect();
            let stride = u8::from(*advances);
            let places = places.join(",");
            format!("random_distribution=sequence:{places}\nrandom_sequence_stride={stride}")
        }
        Distribution::Zones { zones } => {
            let zones = zones.iter().map(|zone| format!("{}/{}", zone.access, zone.area));
            let zones: Vec<String> = zones.collect();
            format!("norandommap\nrandom_distribution=zoned:{}", zones.join(":"))
        }
    };
    let _ = writeln!(text, "{line}");
}
