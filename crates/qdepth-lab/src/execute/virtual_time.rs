//! Runs the loads of a group on emulated media: one worker holds all, since there the order of
//! events is total.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use anyhow::Result;
use qdepth_engine::{Interval, Outcome, Shard, StopGroup, Target};
use qdepth_media::OpenMedia;
use qdepth_workload::Point;

use crate::failure::Usage;
use crate::monitor::monitors::Seen;
use crate::monitor::sight::Sight;
use crate::monitor::watch::{SCREEN_LAG, bug, watch};
use crate::outcome::measured::Measured;
use crate::ranks::all_ranks::AllRanks;
use crate::ranks::other_ranks::OtherRanks;
use crate::target::prepare::{Emulation, Prepared, PreparedStorage};

/// A medium that answers within this time is no storage: it shows what the loop costs.
const NO_TIME_US: f64 = 0.1;
/// Requests of a point on such a medium: its virtual time would last hours of ours.
const REQUESTS_MAX: u64 = 1_000_000;

/// A group as it can be measured: on a medium that takes no time, points end after a million
/// requests, without a lead-in.
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
            let most = (REQUESTS_MAX as f64 * point.request_size.mean()) as u64;
            let asked = point.stop.bytes;
            point.stop.bytes = if asked == 0 { most } else { asked.min(most) };
            point.warm_up_ns = 0;
        }
        point
    };
    group.iter().map(bounded).collect()
}

/// The loads of one medium share its time, and media that are on one host share that; others share
/// nothing, so each goes through a time of its own.
pub(crate) fn measure(
    targets: &[Prepared],
    group: &[Point],
    all_ranks: Option<&AllRanks>,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(Sight<'_>),
) -> Result<Vec<Measured>> {
    let mut measured: Vec<Option<Measured>> = group.iter().map(|_| None).collect();
    if group.iter().any(|point| point.priorities.is_some()) {
        let what = "an emulated medium takes requests in their order, and knows no priorities";
        return Err(Usage(what.to_owned()).into());
    }
    if group.iter().any(|point| !point.operation.is_transfer()) {
        let what = "an emulated medium moves data, and has neither files nor directories";
        return Err(Usage(what.to_owned()).into());
    }
    let hosts = on_one_host(targets, group);
    if hosts.len() > 1 && group.iter().any(|point| point.flow.is_some()) {
        let what = "loads that are tied to each other are on media of one host: each other medium \
                    goes through a time of its own";
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
        let outcomes = in_virtual_time(&points, all_ranks, stop, &mut |sight| match sight {
            Sight::Slice(driver, slice) => seen(Sight::Slice(indices[driver], slice)),
            other => seen(other),
        })?;
        for (index, (outcome, seen)) in indices.into_iter().zip(outcomes) {
            measured[index] = Some(Measured {
                outcome,
                ranks: Vec::new(),
                engine: None,
                direct: group[index].direct,
                seen,
                others: OtherRanks::default(),
                changed: None,
            });
        }
    }
    Ok(measured.into_iter().flatten().collect())
}

/// A medium with the places of its loads in the group.
type Loaded<'a> = (&'a Emulation, Vec<usize>);

/// The loaded media, host by host.
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

/// Thermal throttling of emulated drives, counted as for real ones. The first load of a device is
/// reported.
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

/// On a thread of its own as well, so that the screen lives while virtual time flies.
fn in_virtual_time(
    media: &[(&Emulation, Vec<&Point>)],
    all_ranks: Option<&AllRanks>,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(Sight<'_>),
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
    let mut target = first.open_beside(options, &all.collect::<Vec<_>>())?;
    let points: Vec<&Point> = media.iter().flat_map(|(_, points)| points.clone()).collect();
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
                // Virtual time waits for whoever looks on: every slice is told.
                let _ = show.send((driver, *interval));
            };
            let outcomes = target.measure_together(&shards, start, stop, &mut see);
            (outcomes, target.wear(), target.throttles())
        });
        watch(&shown, seen, &|| all_ranks.iter().for_each(|all_ranks| all_ranks.heartbeat(stop)));
        worker.join().map_err(|_| bug())
    })?;
    for ((emulation, _), wear) in media.iter().zip(wear) {
        *emulation.wear.borrow_mut() = Some(wear);
    }
    Ok(outcomes.into_iter().zip(heat(media, &throttles)).collect())
}
