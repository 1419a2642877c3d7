//! Start values of the search for each kind, estimated from single points.

use std::collections::BTreeMap;

use crate::fit::model::{Free, Kind, Model, START_CHUNK_KIB};
use crate::fit::observed::Observed;

/// Source of a parameter that the points cannot determine.
const PRIOR: &str = "prior: typical of its kind, not determined by what was measured";
/// Source of the clock frequency of the host computer.
const CLOCK: &str = "definition: costs apply at the clock frequency at which they were measured";

/// Initial write amplification if there is no purely random write load.
const MIXED_AMPLIFICATION: f64 = 2.0;

/// Parameters of a kind to fit, and their start values.
pub(crate) fn model_of(kind: Kind, observed: &[Observed]) -> Model {
    match kind {
        Kind::Flash => flash(observed),
        Kind::Disk => disk(observed),
        Kind::Volume => volume(observed),
        Kind::Network => network(observed),
        Kind::Memory => memory(observed),
    }
}

/// Points of one direction (read or write) and order (random or sequential).
struct Side<'a>(Vec<&'a Observed>);

impl<'a> Side<'a> {
    fn new(observed: &'a [Observed], random: bool, read: bool) -> Self {
        let fits = |load: &&Observed| {
            load.is_random() == random && if read { load.is_read() } else { load.is_write() }
        };
        Self(observed.iter().filter(fits).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn smallest(&self) -> u32 {
        self.0.iter().map(|load| load.bytes()).min().unwrap_or(4096)
    }

    /// Time per request of the smallest size at the lowest measured number in flight, µs.
    fn alone_us(&self) -> Option<f64> {
        self.alone_us_of(self.smallest())
    }

    fn alone_us_of(&self, bytes: u32) -> Option<f64> {
        let of_size = self.0.iter().filter(|load| load.bytes() == bytes);
        let fewest = of_size.min_by_key(|load| load.in_flight())?;
        Some(f64::from(fewest.in_flight()) * 1e6 / fewest.io_per_s)
    }

    /// Highest rate of the smallest size.
    fn best_rate(&self) -> Option<f64> {
        let bytes = self.smallest();
        let rates = self.0.iter().filter(|load| load.bytes() == bytes).map(|load| load.io_per_s);
        rates.max_by(f64::total_cmp)
    }

    fn best_kib_per_us(&self) -> Option<f64> {
        self.0.iter().map(|load| load.kib_per_us()).max_by(f64::total_cmp)
    }

    /// Additional time of a single request per KiB, µs.
    fn slope(&self) -> Option<f64> {
        let low = self.smallest();
        let high = self.0.iter().map(|load| load.bytes()).max().unwrap_or(4096);
        let more = self.alone_us_of(high)? - self.alone_us_of(low)?;
        (high > low).then(|| (more / f64::from(high - low) * 1024.0).max(1e-4))
    }
}

fn most(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    values.into_iter().flatten().max_by(f64::total_cmp)
}

/// Reads and writes of any order, without mixed loads.
fn directions(observed: &[Observed]) -> [Side<'_>; 2] {
    let side = |direction: fn(&Observed) -> bool| {
        Side(observed.iter().filter(|load| direction(load)).collect())
    };
    [side(Observed::is_read), side(Observed::is_write)]
}

/// Adds the time of writes relative to that of reads, which is `alone` for a single request.
fn write_factor(model: &mut Model, reads: &Side<'_>, writes: &Side<'_>, alone: f64) {
    if !reads.is_empty() && !writes.is_empty() {
        let ratio = writes.alone_us().unwrap_or(alone) / alone;
        model.free.push(Free::new("write_factor", ratio, 0.02, 50.0));
    }
}

/// Parameters of a flash drive that its reads and writes can determine.
fn flash(observed: &[Observed]) -> Model {
    let mut model = Model::default();
    let read = Side::new(observed, true, true);
    let ahead = Side::new(observed, false, true);
    let small = if read.is_empty() { &ahead } else { &read };
    let alone = small.alone_us().unwrap_or(80.0);
    let rate = small.best_rate().unwrap_or(2e5);
    let dies = (rate * alone / 1e6 * 2.0).clamp(4.0, 4096.0);
    let reads = most([read.best_kib_per_us(), ahead.best_kib_per_us()]).unwrap_or(3.0);
    let fixed = (alone * 0.1).min(5.0);
    model.fix("read_fixed_us", fixed, "prior: a tenth of the shortest read, 5 µs at most");
    model.free.extend([
        Free::new("die_read_us", alone - fixed - 1.0, alone * 0.05, alone * 1.05),
        Free::new("die_read_us_per_kib", small.slope().unwrap_or(0.5) * 0.6, 1e-3, 50.0),
        Free::new("dies", dies, 1.0, 16384.0),
        Free::new("command_us", 0.6e6 / rate, 0.01e6 / rate, 1.05e6 / rate),
        Free::new("path_read_us_per_kib", 0.85 / reads, 0.02 / reads, 1.1 / reads),
    ]);
    let writes = flash_writes(&mut model, observed, dies);
    let fastest = most([Some(reads), writes]).unwrap_or(reads) * 1e6 / 1024.0;
    let link = Free::new("link_mb_s", fastest * 1.15, fastest * 0.98, fastest * 6.0);
    model.free.push(link.width(0.4));
    match ahead.alone_us() {
        Some(us) => {
            let start =
                (us - f64::from(ahead.smallest()) / fastest / 1.048_576 / 1.15).max(us * 0.3);
            // The highest throughput gives the link's time per KiB.
            let of_link = 1024.0 / (fastest * 1.15 * 1.048_576);
            let beyond = ahead.slope().map_or(0.05 / reads, |us| us - of_link).max(0.01 / reads);
            model.free.extend([
                Free::new("prefetch_us", start, us * 0.05, us * 1.05),
                Free::new("prefetch_us_per_kib", beyond, 1e-4, 20.0).width(1.0),
            ]);
        }
        None => model.fix("prefetch_us", alone, PRIOR),
    }
    // Determined by writes only if the buffer holds fewer chunks than there are dies.
    model.free.push(Free::new("buffer_chunks", 64.0, 4.0, 1024.0).width(1.0));
    hosted(&mut model, observed);
    let eager: &[f64] = if ahead.is_empty() { &[0.0] } else { &[0.0, 1.0] };
    let alternative = |chunk: f64, eager: f64| {
        BTreeMap::from([("die_chunk_kib", chunk), ("ahead_when_busy", eager)])
    };
    let with_chunk = |chunk: f64| eager.iter().map(move |eager| alternative(chunk, *eager));
    model.alternatives = [16.0, 32.0, 64.0].into_iter().flat_map(with_chunk).collect();
    model.mechanism = batches(observed, alone);
    model
}

/// Cost of each batch of requests, independent of its size: interrupt coalescing, a driver's
/// wake-up, the slowest request of a mixed batch.
fn batches(observed: &[Observed], alone: f64) -> Vec<Free> {
    let free = |name, start: f64| Free::new(name, start, start * 0.01, start * 30.0);
    let mut all = vec![free("batch_read_us", alone * 0.3)];
    if observed.iter().any(Observed::is_write) {
        all.push(free("batch_write_us", alone * 0.1));
    }
    if observed.iter().any(Observed::is_mixed) {
        all.push(free("batch_mix_us", alone * 0.3));
    }
    all
}

/// Adds the parameters of writes. Returns the highest write throughput, KiB/µs; `None` without
/// writes.
fn flash_writes(model: &mut Model, observed: &[Observed], dies: f64) -> Option<f64> {
    let random = Side::new(observed, true, false);
    let sequential = Side::new(observed, false, false);
    let small = if random.is_empty() { &sequential } else { &random };
    let Some(alone) = small.alone_us() else {
        model.fix("write_fixed_us", 10.0, PRIOR);
        model.fix("write_accept_us_per_kib", 0.2, PRIOR);
        model.fix("die_program_us", 700.0, PRIOR);
        model.fix("path_write_us_per_kib", 0.5, PRIOR);
        return None;
    };
    let most_random = random.best_kib_per_us();
    let most_all = most([most_random, sequential.best_kib_per_us()]).unwrap_or(1.0);
    let slope = small.slope().or_else(|| sequential.slope()).unwrap_or(0.2);
    model.free.extend([
        Free::new("write_fixed_us", alone * 0.8, alone * 0.02, alone * 1.05),
        Free::new("write_accept_us_per_kib", slope, 1e-3, 50.0),
        Free::new("path_write_us_per_kib", 0.8 / most_all, 0.02 / most_all, 1.1 / most_all),
        Free::new("die_program_us", dies * START_CHUNK_KIB / most_all * 0.8, 10.0, 1e5),
    ]);
    // Mixed random loads show the write amplification, too.
    if observed.iter().any(|load| load.is_random() && !load.is_read()) && !sequential.is_empty() {
        let slower = most_random.map_or(MIXED_AMPLIFICATION, |random| (most_all / random).max(1.1));
        model.free.push(Free::new("amplification", slower, 1.0, 60.0).width(1.0));
    }
    if observed.iter().any(Observed::is_mixed) {
        model.free.push(Free::new("path_mix_loss", 0.1, 0.003, 2.0).width(1.0));
    }
    Some(most_all)
}

/// Adds the host computer's cost per request if the points show it: by CPU time, or by loads with
/// several processes. Otherwise all time counts as the drive's.
fn hosted(model: &mut Model, observed: &[Observed]) {
    let cpu = |read: bool| {
        let loads =
            observed.iter().filter(|load| if read { load.is_read() } else { load.is_write() });
        let smallest = loads.clone().map(Observed::bytes).min()?;
        let seen = loads.filter(|load| load.bytes() == smallest).filter_map(|load| load.cpu_ns);
        seen.min_by(f64::total_cmp).map(|ns| ns / 1e3)
    };
    let several = observed.iter().any(|load| load.point.streams > 1);
    let (read, write) = (cpu(true), cpu(false));
    if read.is_none() && write.is_none() && !several {
        return;
    }
    // Without CPU times, assume that a single process is limited by its own CPU time; loads with
    // several processes correct this.
    let alone = observed.iter().filter(|load| load.point.streams <= 1).map(|load| load.io_per_s);
    let rate = alone.fold(1.0, f64::max);
    let seen = |us: Option<f64>, other: Option<f64>| us.or(other).unwrap_or(0.7e6 / rate);
    for (name, us, other) in [("read_us", read, write), ("write_us", write, read)] {
        let start = seen(us, other);
        let width = if us.or(other).is_some() { 0.3 } else { 1.0 };
        model
            .free
            .push(Free::new(name, start, start * 0.05, start * 3.0).width(width).of_computer());
    }
    model.fix_of_computer("ghz", 1.0, CLOCK);
}

/// Parameters of a hard disk. The rotational speeds are alternatives.
fn disk(observed: &[Observed]) -> Model {
    let mut model = Model::default();
    let (read, write) = (Side::new(observed, true, true), Side::new(observed, true, false));
    let (on, put) = (Side::new(observed, false, true), Side::new(observed, false, false));
    let fastest = most([on.best_kib_per_us(), put.best_kib_per_us(), read.best_kib_per_us()]);
    let mb_s = fastest.unwrap_or(0.2) * 1e6 / 1024.0;
    let alone = read.alone_us().unwrap_or(8000.0);
    model.free.extend([
        Free::new("media_mb_s", mb_s * 1.02, mb_s * 0.8, mb_s * 4.0).width(0.7),
        Free::new("settle_us", (alone * 0.15).max(50.0), 5.0, alone.max(200.0)),
        Free::new("seek_us_per_sqrt_track", 10.0, 0.05, 300.0),
        Free::new("queue", 24.0, 1.0, 1024.0),
    ]);
    if write.is_empty() {
        model.fix("write_settle_us", 0.0, PRIOR);
    } else {
        model.free.push(Free::new("write_settle_us", alone * 0.04, 1.0, alone));
    }
    for (side, name) in [(on, "hit_read_us"), (put, "hit_write_us")] {
        match side.alone_us() {
            Some(us) => model.free.push(Free::new(name, us * 0.9, us * 0.02, us * 1.05)),
            None => model.fix(name, 100.0, PRIOR),
        }
    }
    model.alternatives =
        [5400.0, 7200.0, 10_000.0, 15_000.0].map(|rpm| BTreeMap::from([("rpm", rpm)])).to_vec();
    model
}

/// Parameters of a volume with provisioned rates.
fn volume(observed: &[Observed]) -> Model {
    let mut model = Model::default();
    let [side, put] = directions(observed);
    let any = if side.is_empty() { &put } else { &side };
    let alone = any.alone_us().unwrap_or(1000.0);
    let fastest = most([side.best_kib_per_us(), put.best_kib_per_us()]).unwrap_or(0.1);
    let mb_s = fastest * 1e6 / 1024.0;
    // Mixed loads are excluded: each direction may have its own limit.
    let pure = || observed.iter().filter(|load| load.is_read() || load.is_write());
    let best = pure().map(|load| load.io_per_s).fold(1.0, f64::max);
    let slope = any.slope().unwrap_or(0.5);
    model.free.extend([
        Free::new("latency_us", alone, alone * 0.2, alone * 1.1),
        Free::new("latency_us_per_kib", slope.min(alone / 4.0), 1e-3, 1e3),
        Free::new("mb_s", mb_s * 1.01, mb_s * 0.9, mb_s * 5.0).width(0.7),
    ]);
    write_factor(&mut model, &side, &put, alone);
    // Only mixed loads show if each direction has its own limit, as with Linux and hypervisors.
    if observed.iter().any(Observed::is_mixed) {
        model.alternatives = [0.0, 1.0].map(|a| BTreeMap::from([("limits_apart", a)])).to_vec();
    }
    // Credits are visible only if they run out within a window.
    let fallen = pure().filter_map(|load| {
        let (first, last) = load.thirds?;
        (last > 0.0 && first / last > 1.25).then_some((first, last, load))
    });
    match fallen.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1))) {
        Some((first, last, load)) => {
            let seconds = (load.point.warm_up_ns + load.point.stop.duration_ns) as f64 / 1e9;
            let spent = (first - last) * seconds * 0.5;
            model.free.extend([
                Free::new("io_per_s", last, last * 0.3, last * 1.2),
                Free::new("burst_io_per_s", first, first * 0.8, first * 4.0),
                Free::new("credits", spent, 1.0, 1e9),
            ]);
        }
        None => {
            // Provisioned and burst rate are the same plateau; without throttling it is only a
            // lower limit.
            model.free.push(Free::new("io_per_s", best * 1.02, best * 0.9, best * 4.0).width(0.5));
            model.fix("burst_io_per_s", best * 4.0, "no window was long enough to see credits end");
            model.fix("credits", 0.0, "no window was long enough to see credits end");
        }
    }
    model
}

/// Parameters of equal servers with a fixed delay.
fn network(observed: &[Observed]) -> Model {
    let mut model = Model::default();
    let [side, put] = directions(observed);
    let any = if side.is_empty() { &put } else { &side };
    let alone = any.alone_us().unwrap_or(1000.0);
    let best = any.best_rate().unwrap_or(1e4);
    model.free.extend([
        Free::new("service_us", alone * 0.5, alone * 0.005, alone * 1.05),
        Free::new("delay_us", alone * 0.4, alone * 0.002, alone * 1.05),
        Free::new("service_us_per_kib", any.slope().unwrap_or(0.1), 1e-4, 1e4),
        Free::new("servers", best * alone / 1e6 * 0.7, 1.0, 4095.0),
    ]);
    write_factor(&mut model, &side, &put, alone);
    model.alternatives = [0.0, 1.0].map(|drawn| BTreeMap::from([("exponential", drawn)])).to_vec();
    model
}

/// Parameters of a device that is limited by the host computer. The device itself serves any number
/// of requests at once, so an array of two is not faster.
fn memory(observed: &[Observed]) -> Model {
    let mut model = Model::default();
    let [side, put] = directions(observed);
    let (reads, writes) = (side.alone_us().unwrap_or(5.0), put.alone_us());
    let computer =
        |name, start: f64| Free::new(name, start, start * 0.01, start * 20.0).of_computer();
    model.free.extend([
        computer("read_us", reads * 0.7),
        computer("us_per_kib", side.slope().unwrap_or(0.05)),
        Free::new("delay_us", reads * 0.2, reads * 1e-3, reads * 1.05),
    ]);
    match writes {
        Some(us) => {
            model.free.push(computer("write_us", us * 0.7));
            let more = put.slope().unwrap_or(0.05) - side.slope().unwrap_or(0.05);
            model.free.push(computer("write_us_per_kib", more.max(0.01)));
        }
        None => model.fix_of_computer("write_us", reads, PRIOR),
    }
    model.fix_of_computer("ghz", 1.0, CLOCK);
    model.fix("service_us", 0.001, "definition: all times belong to the computer");
    model.fix("servers", 4096.0, "definition: nothing waits");
    model
}
