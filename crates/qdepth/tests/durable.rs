//! Durable writes: an operation ends with the sync that belongs to it, on every engine.

use crate::common::{Workspace, codes, points};

const PLAN: &str = r#"
name = "log"
queue_depth = [1]
warm_up = "100ms"
duration = "700ms"
file_size = "8MiB"

[[profile]]
name = "alone"
random = 0
read = 0
block_size = "4KiB"
durability = "fdatasync"

[[profile]]
name = "plain"
random = 0
read = 0
block_size = "4KiB"
"#;

const GROUP: &str = r#"

[[profile]]
name = "shared"
random = 0
read = 0
block_size = "4KiB"
durability = "fsync"
writers = 8
"#;

#[test]
fn durable_write_latency_includes_the_sync() {
    let workspace = Workspace::new();
    workspace.write("alone.toml", PLAN);
    workspace.write("all.toml", &format!("{PLAN}{GROUP}"));
    for (engine, plan) in
        [("sync", "alone"), ("threads", "all"), ("linux-aio", "all"), ("io_uring", "all")]
    {
        let line = format!("run {plan}.toml . --engine {engine} --json --no-report");
        let document = workspace.run(&line).expect_finished().json();
        for point in points(&document) {
            let figure = |name: &str| point.pointer(name).and_then(serde_json::Value::as_f64);
            let name = point["profile"].as_str().unwrap();
            if name == "plain" {
                assert!(point["durability"].is_null() && point["write_part_ns"].is_null());
                continue;
            }
            let [operation, write, sync] = ["latency_ns/writes", "write_part_ns", "sync_part_ns"]
                .map(|part| figure(&format!("/{part}/mean")).unwrap());
            let writes = figure("/writes").unwrap();
            let syncs = figure("/sync_part_ns/count").unwrap();
            assert!(writes > 10.0, "{engine}, {name}: {writes} writes");
            // Part of the loop's work lies between the two timestamps. With shared syncs, the
            // longest sync may have the fewest writes.
            let part = if name == "alone" { 0.99 } else { 0.5 };
            // The window may begin between a write and its sync, which is then counted alone.
            let lone_sync = figure("/sync_part_ns/max").unwrap() / syncs;
            let within = operation >= 0.99 * write + part * (sync - lone_sync);
            assert!(within, "{engine}, {name}: {operation} of {write} and {sync}");
            match name {
                "alone" => {
                    // The end of the window may separate a write from its sync.
                    assert!((syncs - writes).abs() <= 2.0, "{engine}: {syncs} of {writes}");
                }
                _ => {
                    assert_eq!(point["queue_depth"], 8, "{engine}");
                    assert!(syncs < 0.9 * writes, "{engine}: {syncs} syncs of {writes} writes");
                }
            }
            assert!(!codes(point).iter().any(|code| code == "syncs-apart"), "{engine}");
        }
    }
    let text = workspace.run("show").expect(0).out;
    let document = workspace.run("export latest").expect(0).json();
    for (name, sync) in [("alone", "fdatasync"), ("shared", "fsync")] {
        let point = points(&document).iter().find(|point| point["profile"] == name).unwrap();
        // On a busy machine a point may be invalid.
        let is_told =
            text.contains(&format!("Under {name}, the latency of a write includes its {sync}:"));
        assert_eq!(is_told, point["grade"] != "C", "{name}: {text}");
    }
    workspace.run("report latest --format md -o report.md").expect(0);
    let report = std::fs::read_to_string(workspace.join("report.md")).unwrap();
    assert!(report.contains("shared: parts of durable writes"), "{report}");
}
