//! The load generator on devices whose truth is known in closed form, within 0.1 %.

use crate::common::{measured, point, rate};
use qdepth_engine::Outcome;

const READS_8K: &str = "random = 100\nread = 100\nblock_size = \"8KiB\"\n";

#[cfg(test)]
fn within(what: &str, found: f64, truth: f64, share: f64) {
    let error = found / truth - 1.0;
    assert!(
        error.abs() <= share,
        "{what}: {found} instead of {truth}, off by {:.3} %",
        error * 100.0
    );
}

#[cfg(test)]
fn mean_response(outcome: &Outcome) -> f64 {
    let all = outcome.directions[0].response_time.as_ref().unwrap();
    all.sum() as f64 / all.count() as f64
}

#[cfg(test)]
fn open_loop(expression: &str, rate: f64, seconds: u64) -> Outcome {
    let profile = format!("{READS_8K}arrivals = {{ kind = \"poisson\", rate = {rate} }}\n");
    measured(expression, &point(expression, 4096, seconds * 1000, &profile))
}

/// M/D/1, Pollaczek and Khinchine: W = s + ρ s / (2 (1 − ρ)).
#[test]
fn md1_response_time_matches_theory() {
    for rho in [0.2, 0.5] {
        let outcome = open_loop("media:fixed @host=none", rho * 10_000.0, 2000);
        let truth = 100_000.0 + rho * 100_000.0 / (2.0 * (1.0 - rho));
        within(&format!("M/D/1 at {rho}"), mean_response(&outcome), truth, 0.001);
    }
}

/// M/M/c, Erlang's C: W = s + C / (c μ − λ).
#[test]
fn mmc_response_time_matches_theory() {
    let expression = "media:fixed @exponential=1 @servers=4 @host=none";
    let (servers, rho): (f64, f64) = (4.0, 0.5);
    let outcome = open_loop(expression, servers * rho * 10_000.0, 2000);
    let offered = servers * rho;
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 0..4 {
        sum += term;
        term *= offered / f64::from(k + 1);
    }
    let waits = term / (1.0 - rho) / (sum + term / (1.0 - rho));
    let truth = 100_000.0 * (1.0 + waits / (servers * (1.0 - rho)));
    within("M/M/4", mean_response(&outcome), truth, 0.001);
}

/// A closed network of n requests before k equal servers with a fixed service time: min(n, k) / s.
#[test]
fn closed_network_rate_matches_theory() {
    for (queue_depth, servers) in [(1, 1), (1, 8), (4, 8), (8, 8), (64, 8), (512, 3)] {
        let expression = format!("media:fixed @servers={servers} @host=none");
        let found = rate(&expression, queue_depth, 4000, READS_8K);
        let truth = f64::from(queue_depth.min(servers)) * 10_000.0;
        within(&format!("{queue_depth} before {servers}"), found, truth, 0.001);
    }
}

/// One random request at a time on a disk: settling, seek by the square root of the distance
/// between two places drawn evenly (mean 8/15 of the root of all tracks), half a revolution,
/// transfer.
#[test]
fn mean_disk_access_time_matches_theory() {
    let found = rate(
        "media:sas-2-hdd-600gb @host=none @area=full @write_settle_us=0",
        1,
        4_000_000,
        "random = 100\nread = 100\nblock_size = \"4KiB\"\n",
    );
    let get = |name: &str| {
        let text = qdepth_media::Description::shipped("sas-2-hdd-600gb").unwrap();
        text.parameters[name].value
    };
    let revolution = 60e6 / get("rpm");
    let track = revolution * get("media_mb_s") * 1.048_576;
    let tracks = get("capacity_gb") * 1e9 / track;
    // The command overhead precedes the seek, so that the rotation starts uniformly random.
    let seek = get("settle_us") + get("seek_us_per_sqrt_track") * tracks.sqrt() * 8.0 / 15.0;
    let transfer = 4096.0 / (get("media_mb_s") * 1.048_576);
    let truth = get("command_us") + seek + revolution / 2.0 + transfer;
    within("a disk's access", 1e6 / found, truth, 0.001);
}

/// Random writes over the whole capacity reach the data sheet's value. Garbage collection
/// determines it, not the limit of the amplification.
#[test]
fn writes_over_full_capacity_match_data_sheet() {
    let sheet = qdepth_media::Description::shipped("p3700-800gb").unwrap().data_sheet;
    let mut promises = sheet.promises();
    let promised = promises.find(|(key, ..)| *key == "random_write_4k_io_s").unwrap().1.value;
    let writes = "random = 100\nread = 0\nblock_size = \"4KiB\"\narea = { size = \"full\" }\n";
    let full = |limit: &str| rate(&format!("media:p3700-800gb {limit}"), 128, 2000, writes);
    let found = full("");
    within("4 kB writes over all", found, promised, 0.1);
    within("without the limit", full("@amplification_max=100"), found, 0.001);
}

/// Little's law on every kind of device: the I/Os in flight are the rate times the mean latency.
#[test]
fn littles_law_holds_for_every_device() {
    for expression in [
        "media:p3700-800gb",
        "media:iodrive-320gb/improved-write",
        "media:sas-12g-hdd-450gb",
        "raid5(media:p3700-800gb*3)",
        "raid1(media:sas-12g-hdd-450gb*2)",
        "media:generic-cloud-volume",
        "pressure(media:p3700-1600gb, 300MB/s)",
    ] {
        for queue_depth in [1, 32] {
            let profile = "random = 100\nread = 67\nblock_size = \"8KiB\"\n";
            let outcome = measured(expression, &point(expression, queue_depth, 1000, profile));
            let duration = outcome.duration.0 as f64;
            let counted = outcome.in_flight_integral / duration;
            let stamped = outcome.latency_in_window / duration;
            within(expression, counted, f64::from(queue_depth), 0.001);
            within(expression, stamped, f64::from(queue_depth), 0.001);
        }
    }
}

/// A result cannot express more than 2 GiB, so the loop submits the rest.
#[test]
fn large_blocks_are_served_once() {
    let mib_per_s = |size: &str| {
        let profile = format!("random = 0\nread = 100\nblock_size = \"{size}\"");
        let point = point("media:p3700-800gb", 2, 120_000, &profile);
        let outcome = measured("media:p3700-800gb", &point);
        outcome.bytes() as f64 / outcome.duration.as_secs_f64() / f64::from(1 << 20)
    };
    let (small, large) = (mib_per_s("1GiB"), mib_per_s("3GiB"));
    assert!((large / small - 1.0).abs() < 0.1, "{large} and {small} MiB/s");
}
