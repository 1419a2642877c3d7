//! Known truth: storage that answers every request after a fixed delay has the rate outstanding ÷
//! delay at every number of outstanding I/Os. What cannot run here says `SKIPPED`.

use crate::common::{Workspace, codes, exclusive_turn, has_tools, points, sh};

/// Delay, s: long enough that the overhead of FUSE, the socket and a busy machine (0.2 ms; 1.5 ms
/// on 2 cores with three compilers) stays below the tolerance.
const DELAY_S: f64 = 0.25;
const TOLERANCE: f64 = 0.01;

const PLAN: &str = r#"
name = "truth"
queue_depth = [1, 2, 4, 8]
warm_up = "500ms"
duration = "5s"

[[profile]]
name = "delayed"
random = 100
read = 100
block_size = "4KiB"
"#;

#[test]
fn fixed_delays_give_the_calculated_rate() {
    let test = "fixed_delays_give_the_calculated_rate";
    if !has_tools(test, &["nbdkit", "nbdfuse", "losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let served = workspace.served("--filter=delay memory 64M rdelay=250ms");
    // Read-ahead is disabled: the kernel would add its own requests, each with the delay.
    let device = workspace.attach(&served.file);
    let name = device.display().to_string();
    let _ = sh(&format!(
        "echo 0 > /sys/block/{}/queue/read_ahead_kb",
        name.trim_start_matches("/dev/")
    ));
    workspace.write("truth.toml", PLAN);
    let document =
        workspace.run(&format!("run truth.toml {name} --json --no-report")).expect_finished();
    let document = document.json();
    for point in points(&document) {
        let queue_depth = point["queue_depth"].as_f64().unwrap();
        let said = point["io_per_s"].as_f64().unwrap();
        let mean = point["latency_ns"]["all"]["mean"].as_f64().unwrap() / 1e9;
        let truth = queue_depth / DELAY_S;
        println!(
            "queue_depth {queue_depth}: {said:.3} IOPS, closed form {truth} ({:+.2} %), mean {:.3} \
             ms, {:?}",
            100.0 * (said / truth - 1.0),
            mean * 1e3,
            codes(point),
        );
        assert!(mean >= DELAY_S, "no request can come back before its delay: {mean} s");
        // Delays on a machine with such a finding are no error of the load generator, which
        // reported them. If one I/O of twenty waits 0.1 s for a CPU, the mean grows by 2 %; on two
        // CPUs kept busy by other load, all 40 I/Os of a point came back 9 ms late.
        let interference = ["steal", "pressure", "stall"];
        let busy = codes(point).iter().any(|code| interference.contains(&code.as_str()));
        let tolerance = if busy { 10.0 * TOLERANCE } else { TOLERANCE };
        assert!(mean < DELAY_S * (1.0 + tolerance), "{mean} s");
        let least = point["latency_ns"]["all"]["min"].as_f64().unwrap() / 1e9;
        assert!((DELAY_S..DELAY_S * (1.0 + tolerance)).contains(&least), "{least} s");
        // A window contains a whole number of completions of each slot, plus or minus one.
        assert!(
            (said / truth - 1.0).abs() < TOLERANCE + 1.0 / (5.0 / DELAY_S),
            "{said} of {truth}"
        );
        // Exactly: the rate is the number of I/Os in flight over the mean latency.
        let in_flight = point["mean_in_flight"].as_f64().unwrap();
        assert!((in_flight / queue_depth - 1.0).abs() < TOLERANCE, "{in_flight} in flight");
        let exact = in_flight / mean;
        assert!((exact / truth - 1.0).abs() < tolerance, "{exact} of {truth}");
        assert!(!codes(point).contains(&"littles-law".to_owned()), "{point:#}");
    }
    assert_eq!(points(&document).len(), 4);
}

/// Queue depth 32 before ten servers with a delay of 250 ms: a segment of 0.8 s after a warm-up of
/// 0.2 s would begin while the queue still fills, and see only I/Os with short waits.
#[test]
fn segments_are_long_enough_for_deep_queues() {
    let test = "segments_are_long_enough_for_deep_queues";
    if !has_tools(test, &["nbdkit", "nbdfuse"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let served = workspace.served("--filter=delay memory 64M rdelay=250ms");
    let plan =
        PLAN.replace("[1, 2, 4, 8]", "[32]").replace("\"5s\"", "\"4s\"\ninterleaved_segments = 5");
    workspace.write("segments.toml", &plan);
    let words =
        format!("run segments.toml {} --read-only --json --no-report", served.file.display());
    let document = workspace.run(&words).json();
    let [point] = points(&document).as_slice() else { panic!("{document:#}") };
    let mean = point["latency_ns"]["all"]["mean"].as_f64().unwrap() / 1e9;
    let rate = point["io_per_s"].as_f64().unwrap();
    let settled = point["mean_in_flight"].as_f64().unwrap() / rate;
    println!("mean {mean:.3} s, {settled:.3} s by Little's law, {:?}", codes(point));
    // The edges of five windows of some forty I/Os each move it by 5 % (one standard deviation);
    // segments of the usual length say 0.65.
    assert!((0.85..1.15).contains(&(mean / settled)), "{mean} of {settled}");
    assert!(!codes(point).contains(&"queue-unsettled".to_owned()), "{point:#}");
}
