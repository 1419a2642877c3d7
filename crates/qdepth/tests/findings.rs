//! Findings that the program must raise about a point, each provoked by a test.

use crate::common::{Workspace, codes, exclusive_turn, figure, points};

const PLAN: &str = r#"
name = "doubtful"
queue_depth = [2]
warm_up = "50ms"
duration = "400ms"
file_size = "8MiB"

[[profile]]
name = "clean"
random = 100
read = 50
block_size = "4KiB"

[[profile]]
name = "zeros"
random = 100
read = 0
block_size = "4KiB"
compressible = 75

[[profile]]
name = "durable"
random = 100
read = 0
block_size = "4KiB"
fsync = { kind = "every", writes = 1 }

[[profile]]
name = "few"
random = 100
read = 100
block_size = "4KiB"
arrivals = { kind = "paced", rate = 200 }

[[profile]]
name = "reads-zeros"
random = 100
read = 100
block_size = "4KiB"
compressible = 75
"#;

#[test]
fn load_findings_appear_only_under_their_conditions() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    workspace.write("plan.toml", PLAN);
    let document = workspace.run("run plan.toml . --json --no-report").expect_finished().json();
    let point = |name: &str| points(&document).iter().find(|p| p["profile"] == name).unwrap();
    let has = |name: &str, code: &str| codes(point(name)).iter().any(|found| found == code);
    for name in ["clean", "zeros", "durable", "few", "reads-zeros"] {
        assert_eq!(has(name, "syncs-apart"), name == "durable", "{name}");
        assert_eq!(has(name, "compressible-payload"), name == "zeros", "{name}");
        let count =
            point(name)["reads"].as_u64().unwrap() + point(name)["writes"].as_u64().unwrap();
        assert_eq!(has(name, "too-few-samples"), count < 1000, "{name}: {count}");
        assert!(!has(name, "monitor-missing") && !has(name, "device-changed"), "{name}");
    }
    assert!(has("few", "too-few-samples"), "200 a second for 0.4 s");
    // A durable write takes as long as the write and its sync.
    let [write, sync, operation] = ["write_ns", "sync_ns", "operation_ns"]
        .map(|name| figure(point("durable"), "syncs-apart", name).unwrap());
    let syncs = point("durable")["syncs"].as_f64().unwrap();
    let writes = point("durable")["writes"].as_f64().unwrap();
    assert!((operation - write - sync * syncs / writes).abs() < 1.0, "{write} {sync} {operation}");
    assert!((syncs / writes - 1.0).abs() < 0.1 && operation > 1.1 * write);
    assert_eq!(figure(point("zeros"), "compressible-payload", "ratio"), Some(4.0));
}
