//! Runs the loads of a group on emulated devices. One worker runs all of them, because in virtual
//! time the order of events is total.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use anyhow::Result;
use qdepth_engine::{Interval, Outcome, RECORDED_MAX, Shard, StopGroup, Target, measure_recorded};
use qdepth_media::OpenMedia;
use qdepth_workload::Point;

use crate::events::observer::Observer;
use crate::failure::Usage;
use crate::monitor::monitors::Seen;
use crate::monitor::progress::ProgressEvent;
use crate::monitor::watch::{SCREEN_LAG, bug, watch};
use crate::outcome::measured::Measured;
use crate::ranks::all_ranks::AllRanks;
use crate::target::prepare::{Emulation, Prepared, PreparedStorage};

/// Service time, µs, up to which an emulated device does not represent storage: a point on it shows
/// the cost of the loop.
const NO_TIME_US: f64 = 0.1;
/// Largest number of requests of a point on such a device: its virtual time would last hours of
/// real time.
const REQUESTS_MAX: u64 = 1_000_000;

/// The group in a form that can be measured. On a device that takes no time, points end after a
/// million requests, without a warm-up.
pub(crate) fn bounded(targets: &[Prepared], group: &[Point]) -> Vec<Point> {
    let takes_no_time = |target: &Prepared| {
        let PreparedStorage::Emulated(emulation) = &target.storage else { return false };
        let facts = emulation.medium.facts();
        let mut times = facts.iter().filter(|(_, key, _)| key == "service_us");
        times.any(|(_, _, time)| {
            let us = time.split(' ').next().and_then(|us| us.parse::<f64>().ok());
            us.is_some_and(|us| us <= NO_TIME_US)
        })
    };
    let bounded = |point: &Point| {
        let mut point = point.clone();
        if takes_no_time(&targets[point.target as usize]) && point.offered_io_per_s().is_none() {
            let most = (REQUESTS_MAX as f64 * point.block_size.mean()) as u64;
            let asked = point.stop.bytes;
            point.stop.bytes = if asked == 0 { most } else { asked.min(most) };
            point.warm_up_ns = 0;
        }
        point
    };
    group.iter().map(bounded).collect()
}

/// Measures the loads. Loads of one device share its time, and so do devices of one emulated host.
/// All others are independent, and each runs through a virtual time of its own.
pub(crate) fn measure(
    targets: &[Prepared],
    group: &[Point],
    all_ranks: Option<&AllRanks>,
    observer: Option<&dyn Observer>,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<Measured>> {
    let mut measured: Vec<Option<Measured>> = group.iter().map(|_| None).collect();
    if group.iter().any(|point| point.priorities.is_some()) {
        let what = "an emulated device does not support priorities: it serves I/Os in their order";
        return Err(Usage(what.to_owned()).into());
    }
    if group.iter().any(|point| !point.operation.is_transfer()) {
        let what =
            "an emulated device only reads, writes and trims; it has no files or directories";
        return Err(Usage(what.to_owned()).into());
    }
    let hosts = on_one_host(targets, group);
    if hosts.len() > 1 && group.iter().any(|point| point.flow.is_some()) {
        let what = "loads with a `flow` must be on emulated devices of one host, because other \
                    devices have separate virtual times";
        return Err(Usage(what.to_owned()).into());
    }
    for loads in hosts {
        let indices: Vec<usize> = loads.iter().flat_map(|(_, indices)| indices.clone()).collect();
        let points: Vec<(&Emulation, Vec<&Point>)> = loads
            .iter()
            .map(|(emulation, indices)| {
                (*emulation, indices.iter().map(|index| &group[*index]).collect())
            })
            .collect();
        let outcomes =
            in_virtual_time(&points, all_ranks, observer, stop, &mut |event| match event {
                ProgressEvent::Slice(driver, slice) => {
                    seen(ProgressEvent::Slice(indices[driver], slice))
                }
                other => seen(other),
            })?;
        for (index, (outcome, seen)) in indices.into_iter().zip(outcomes) {
            let direct = group[index].direct;
            measured[index] = Some(Measured { seen, ..Measured::new(outcome, direct) });
        }
    }
    Ok(measured.into_iter().flatten().collect())
}

/// An emulated device, and the indices in the group of its loads.
type Loaded<'a> = (&'a Emulation, Vec<usize>);

/// The devices with a load, grouped by emulated host.
fn on_one_host<'a>(targets: &'a [Prepared], group: &[Point]) -> Vec<Vec<Loaded<'a>>> {
    let mut hosts: Vec<Vec<Loaded<'a>>> = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let PreparedStorage::Emulated(emulation) = &target.storage else { continue };
        let is_on = |position: &usize| group[*position].target as usize == index;
        let positions: Vec<usize> = (0..group.len()).filter(is_on).collect();
        if positions.is_empty() {
            continue;
        }
        let shared = |host: &&mut Vec<Loaded<'a>>| {
            host.first().is_some_and(|(first, _)| first.medium.shares_host(&emulation.medium))
        };
        match hosts.iter_mut().find(shared) {
            Some(host) => host.push((emulation, positions)),
            None => hosts.push(vec![(emulation, positions)]),
        }
    }
    hosts
}

/// Thermal throttling of emulated drives, counted like that of real ones. It is reported for the
/// first load of a device.
fn heat(media: &[(&Emulation, Vec<&Point>)], throttles: &[u32]) -> Vec<Seen> {
    let of_medium = |((emulation, points), times): (&(&Emulation, Vec<&Point>), &u32)| {
        let mut seen = vec![Seen::default(); points.len()];
        if let Some(first) = seen.first_mut().filter(|_| *times > 0) {
            let name = emulation.medium.text().to_owned();
            first.troubles.push((name, "thermal_transitions", f64::from(*times)));
        }
        seen
    };
    media.iter().zip(throttles).flat_map(of_medium).collect()
}

/// Runs on a separate thread, so that the screen is updated meanwhile.
fn in_virtual_time(
    media: &[(&Emulation, Vec<&Point>)],
    all_ranks: Option<&AllRanks>,
    observer: Option<&dyn Observer>,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(ProgressEvent<'_>),
) -> Result<Vec<(Outcome, Seen)>> {
    let options: Vec<OpenMedia> = media
        .iter()
        .map(|(emulation, points)| OpenMedia {
            wear: emulation.wear.borrow_mut().take(),
            ..OpenMedia::for_points(points)
        })
        .collect();
    let mut all = media.iter().map(|(emulation, _)| &emulation.medium).zip(&options);
    let (first, options) = all.next().ok_or_else(bug)?;
    let mut target = first.open_together(options, &all.collect::<Vec<_>>())?;
    let points: Vec<&Point> = media.iter().flat_map(|(_, points)| points.clone()).collect();
    let loads = points.clone();
    let records = observer.is_some_and(|observer| observer.wants_ios());
    let (show, shown) = sync_channel(SCREEN_LAG);
    let (outcomes, wear, throttles) = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let whole: Vec<Shard<'_>> = points.iter().map(|point| Shard::whole(point)).collect();
            let stop_group = StopGroup::from_shards(whole.iter());
            let shards: Vec<Shard<'_>> = whole
                .into_iter()
                .map(|shard| Shard { stop_group: stop_group.as_ref(), ..shard })
                .collect();
            let start = target.now();
            let mut see = |driver: usize, interval: &Interval| {
                // Blocks until the observer has taken the sample: in virtual time no sample is
                // dropped.
                let _ = show.send((driver, *interval));
            };
            let outcomes = match records {
                true => measure_recorded(&mut target, &shards, RECORDED_MAX, start, stop, &mut see),
                false => {
                    let outcomes = target.measure_together(&shards, start, stop, &mut see);
                    outcomes.into_iter().map(|outcome| (outcome, Vec::new())).collect()
                }
            };
            (outcomes, target.wear(), target.throttles())
        });
        watch(&shown, seen, &|| all_ranks.iter().for_each(|all_ranks| all_ranks.heartbeat(stop)));
        worker.join().map_err(|_| bug())
    })?;
    for ((emulation, _), wear) in media.iter().zip(wear) {
        *emulation.wear.borrow_mut() = Some(wear);
    }
    let received = outcomes.into_iter().zip(loads).map(|((outcome, ios), point)| {
        if let Some(observer) = observer {
            observer.ios(point, ios);
        }
        outcome
    });
    Ok(received.zip(heat(media, &throttles)).collect())
}
