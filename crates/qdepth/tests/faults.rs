//! The program under faults: failed and hung I/Os, a full results disk, signals, sudden death. The
//! faulty storage itself reports the truth. Tests that cannot run here print `SKIPPED`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{
    Ended, Workspace, codes, consent_lines, exclusive_turn, figure, has_tools, pause, points, sh,
    token,
};
use serde_json::Value;

/// Plan of random 4 KiB I/Os over the whole target.
#[cfg(test)]
fn plan(read: u32, queue_depth: &str, warm_up: &str, duration: &str) -> String {
    format!(
        "name = \"faults\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"{warm_up}\"\n\
         duration = \"{duration}\"\n[[profile]]\nname = \"load\"\nrandom = 100\nread = {read}\n\
         block_size = \"4KiB\"\n"
    )
}

/// Failed I/Os that the document reports: within the windows, and in total.
#[cfg(test)]
fn reported(document: &Value, direction: &str) -> (u64, u64) {
    let mut inside = 0;
    let mut all = 0.0;
    for point in points(document) {
        for error in point["errors"].as_array().unwrap() {
            assert_eq!(
                (&error["errno"], error["direction"].as_str()),
                (&5.into(), Some(direction))
            );
            inside += error["count"].as_u64().unwrap();
        }
        all += figure(point, "io-errors", "failed").unwrap_or(0.0);
    }
    (inside, all as u64)
}

/// Total requests of a device that the kernel merged (Documentation/block/stat.rst, fields 2 and
/// 6).
#[cfg(test)]
fn merges(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers[1] + numbers[5]
}

/// Asserts that all errors are reported. A merged pair fails together, so the reported number may
/// exceed the injected one by the merges. [`Workspace::attach`] disables merging if possible.
#[cfg(test)]
fn all_are_reported(truth: u64, reported: u64, joined: u64, said: &str) {
    assert!(truth > 10, "too few injected: {truth}");
    let exactly = truth..=truth + joined;
    assert!(exactly.contains(&reported), "{truth} and {joined} joined, but {reported}: {said}");
}

#[cfg(test)]
fn failed_are_in_no_figure(document: &Value) {
    for point in points(document) {
        let done = point["reads"].as_u64().unwrap() + point["writes"].as_u64().unwrap();
        assert_eq!(point["latency_ns"]["all"]["count"], done);
        let rate = done as f64 * 1e9 / point["duration_ns"].as_f64().unwrap();
        let said = point["io_per_s"].as_f64().unwrap();
        assert!((rate - said).abs() < 0.01 * rate.max(1.0), "{rate} {said}");
        for law in ["littles-law", "conservation", "bytes-law"] {
            assert!(!codes(point).iter().any(|code| code == law), "{law}: {point:#}");
        }
    }
}

/// Runs a plan on a served device whose reads fail from the first point on, by these filters.
/// Asserts that the errors are reported and in no figure. Returns the document, and the errors
/// within windows and in total.
#[cfg(test)]
fn with_read_errors(filters: &str, text: &str) -> (Value, (u64, u64)) {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let trigger = workspace.join("trigger");
    let served = workspace
        .served(&format!("--filter=error {filters} error=EIO error-file={}", trigger.display()));
    let device = workspace.attach(&served.file);
    let before = merges(&device);
    let toml = workspace.write("plan.toml", text);
    let mut run = workspace.start(&format!("run {toml} {} --json", device.display()));
    run.wait_for_err("plan faults");
    // Errors start only now, so that the inspection of the device succeeds.
    fs::write(&trigger, "").unwrap();
    let document = run.wait().expect(1).json();
    fs::remove_file(&trigger).unwrap();
    let (truth, (inside, all)) = (served.injected("pread"), reported(&document, "read"));
    println!("read errors: injected {truth}, reported {all}, of these in windows {inside}");
    all_are_reported(truth, all, merges(&device) - before, &served.unexpected_errors());
    failed_are_in_no_figure(&document);
    (document, (inside, all))
}

#[test]
fn injected_read_errors_are_reported_exactly() {
    let test = "injected_read_errors_are_reported_exactly";
    if !has_tools(test, &["nbdkit", "nbdfuse", "losetup"]) {
        return;
    }
    let text = plan(100, "1, 8", "100ms", "1s");
    let (document, (inside, all)) = with_read_errors("memory 64M error-pread-rate=10%", &text);
    assert!(inside > 0 && inside <= all);
    assert_eq!(points(&document).len(), 2, "the other points go on");
    assert!(points(&document).iter().all(|point| point["grade"] == "C"));
}

/// A segment shorter than a turnover of its queue contributes no result, but its errors are
/// reported.
#[test]
fn errors_in_warm_up_segments_are_reported() {
    let test = "errors_in_warm_up_segments_are_reported";
    if !has_tools(test, &["nbdkit", "nbdfuse", "losetup"]) {
        return;
    }
    let text = plan(100, "32", "100ms", "4s").replace("[[", "interleaved_segments = 5\n[[");
    with_read_errors("--filter=delay memory 64M rdelay=250ms error-pread-rate=30%", &text);
}

/// A loop device cannot be pulled while it is open, but it can lose its last byte.
#[test]
fn failed_drive_does_not_end_other_drives_points() {
    let test = "failed_drive_does_not_end_other_drives_points";
    if !has_tools(test, &["losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let (stays, goes) = (workspace.device("stays", 64 << 20), workspace.device("goes", 64 << 20));
    let text = plan(100, "1, 2, 3", "50ms", "1s");
    let toml = workspace.write("plan.toml", &text.replace("[[", "targets = \"together\"\n[["));
    let words = format!("run {toml} {} {} --json", goes.display(), stays.display());
    let mut run = workspace.start(&words);
    run.wait_for_err("load         QD 1");
    fs::File::options().write(true).open(workspace.join("goes")).unwrap().set_len(0).unwrap();
    sh(&format!("losetup -c {}", goes.display())).unwrap();
    let document = run.wait().expect(1).json();
    let device_points = |device: &std::path::Path| {
        let name = device.display().to_string();
        points(&document).iter().filter(move |p| p["target"].as_str().unwrap().starts_with(&name))
    };
    let lost: Vec<bool> = device_points(&goes)
        .map(|point| codes(point).contains(&"device-gone".to_owned()))
        .collect();
    assert_eq!(lost, [false, true, true], "{document:#}");
    let reads: Vec<u64> =
        device_points(&stays).map(|point| point["reads"].as_u64().unwrap()).collect();
    assert!(reads.len() == 3 && reads.iter().all(|reads| *reads > 0), "{reads:?}");
    assert_eq!(
        device_points(&goes).next_back().unwrap()["reads"],
        0,
        "a point after the loss measures nothing"
    );
    assert_eq!(document["run"]["state"], "failed", "it may be resumed");
    assert_eq!(document, workspace.run("export").expect(0).json(), "the logbook is whole");
}

#[test]
fn injected_write_errors_are_reported_exactly() {
    let test = "injected_write_errors_are_reported_exactly";
    if !has_tools(test, &["nbdkit", "nbdfuse", "losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let trigger = workspace.join("trigger");
    let served = workspace.served(&format!(
        "--filter=error memory 64M error=EIO error-pwrite-rate=10% error-file={}",
        trigger.display()
    ));
    let device = workspace.attach(&served.file);
    let before = merges(&device);
    let toml = workspace.write("plan.toml", &plan(0, "1, 8", "100ms", "1s"));
    // The refusal prints the content of the consent file for the user to copy.
    let refused = workspace.run(&format!("run {toml} {} --json", device.display())).expect(3);
    assert_eq!(refused.out, "");
    let consent = workspace.write("consent", &consent_lines(&refused.err));
    let name = token(&device);
    let mut run = workspace.start(&format!(
        "run {toml} {} --json --destroy {name} --consent {consent}",
        device.display()
    ));
    run.wait_for_err("plan faults");
    fs::write(&trigger, "").unwrap();
    let ended = run.wait().expect(1);
    fs::remove_file(&trigger).unwrap();
    let document = ended.json();
    let (truth, (inside, all)) = (served.injected("pwrite"), reported(&document, "write"));
    println!("write errors: injected {truth}, reported {all}, in windows {inside}");
    all_are_reported(truth, all, merges(&device) - before, &served.unexpected_errors());
    assert!(inside > 0 && inside <= all);
    failed_are_in_no_figure(&document);
}

#[cfg(test)]
#[test]
fn hung_device_does_not_hang_the_program() {
    let test = "hung_device_does_not_hang_the_program";
    if !has_tools(test, &["nbdkit", "nbdfuse", "losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let served = workspace.served("memory 64M");
    let device = workspace.attach(&served.file);
    let toml = workspace.write("plan.toml", &plan(100, "8", "100ms", "2s"));
    let mut run = workspace.start(&format!("run {toml} {} --json", device.display()));
    run.wait_for_err("plan faults");
    pause(700);
    served.signal("STOP");
    let began = Instant::now();
    let ended = run.wait_at_most(Duration::from_secs(30));
    let beyond = began.elapsed().saturating_sub(Duration::from_millis(1400));
    println!("hang: ended {:.1} s beyond the planned time", beyond.as_secs_f64());
    let stored = workspace.run("export --json").expect(0).json();
    served.signal("CONT");
    let document = ended.expect(1).json();
    assert!(beyond < Duration::from_secs(12), "{beyond:?}");
    assert_eq!(stored, document);
    assert!(codes(&points(&document)[0]).contains(&"hung".to_owned()), "{document:#}");
    assert_eq!(points(&document)[0]["abandoned"], 8);
    failed_are_in_no_figure(&document);
}

/// Lines of finished points on standard error.
#[cfg(test)]
fn finished_lines(ended: &Ended) -> usize {
    let whole = ended.err.rfind('\n').map_or("", |end| &ended.err[..end]);
    whole.lines().filter(|line| line.contains("IOPS")).count()
}

#[cfg(test)]
fn all_points(document: &Value, count: u64) {
    let indices: Vec<u64> =
        points(document).iter().map(|point| point["index"].as_u64().unwrap()).collect();
    assert_eq!(indices, (0..count).collect::<Vec<_>>());
    assert_eq!(document["run"]["state"], "complete");
}

/// Runs the program after the kernel has released the dead process's file. A ring with registered
/// files is torn down some time after its process, and holds the lock until then.
#[cfg(test)]
fn after_death(workspace: &Workspace, words: &str) -> Ended {
    let began = Instant::now();
    loop {
        let ended = workspace.run(words);
        let held = ended.status == Some(3) && ended.err.contains("is locked (flock)");
        if !held || began.elapsed() > Duration::from_secs(3) {
            return ended;
        }
        println!("killed: its lock outlives it ({} ms)", began.elapsed().as_millis());
        pause(20);
    }
}

/// Asserts that after sudden death the logbook opens, finished points are stored, and the run can
/// be resumed to its end.
#[cfg(test)]
fn recovers(workspace: &Workspace, killed: &Ended, words: &str) -> &'static str {
    let Ok(mut stored) = serde_json::from_str::<Value>(&workspace.run("export --json").out) else {
        // Killed before the run was stored, so no point may have been reported as finished.
        assert_eq!(finished_lines(killed), 0);
        let nothing = workspace.run("run --resume").expect(2);
        assert!(nothing.err.contains("nothing to resume"), "{}", nothing.err);
        all_points(&after_death(workspace, words).expect_finished().json(), 6);
        return "before it began";
    };
    let listed = workspace.run("list").expect(0).out;
    assert!(listed.contains(&stored["run"]["id"].as_str().unwrap()[..13]), "{listed}");
    let kept = points(&stored).len();
    assert!(kept >= finished_lines(killed), "{kept} points kept: {}", killed.err);
    if stored["run"]["state"] == "complete" {
        all_points(&stored, 6);
        // The measurement file is removed last; the next run takes over a leftover file and removes
        // it.
        if workspace.has("qdepth-measurement-file") {
            after_death(workspace, words).expect_finished();
        }
        return "after its end";
    }
    assert_eq!(stored["run"]["state"], "running");
    let mut whole = after_death(workspace, "run --resume --json").expect_finished().json();
    all_points(&whole, 6);
    assert_eq!(whole["run"]["plan_hash"], stored["run"]["plan_hash"]);
    let old = stored["points"].as_array_mut().unwrap().split_off(0);
    let new = whole["points"].as_array_mut().unwrap();
    assert_eq!(old[..], new[..kept], "finished points are not touched");
    "during the run"
}

/// Moments of sudden death, spread over a whole run: `QDEPTH_TRIES`, or `few` by default.
#[cfg(test)]
fn moments(few: u64) -> u64 {
    std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Figures of a point, without times and circumstances.
#[cfg(test)]
fn figures(document: &Value) -> Vec<Value> {
    let mut all = points(document).clone();
    for point in all.iter_mut().filter_map(Value::as_object_mut) {
        for how in ["started_at", "findings", "grade"] {
            point.remove(how);
        }
    }
    all
}

/// Kills a run of six points at each of these moments, and resumes it. `same` is true if every run
/// of the plan has equal results.
#[cfg(test)]
fn killed(name: &str, (toml, words): (&str, &str), moments: u64, same: bool) {
    let workspace = Workspace::new();
    workspace.write("plan.toml", toml);
    let timed = || {
        let began = Instant::now();
        let document = workspace.run(words).expect_finished().json();
        all_points(&document, 6);
        (began.elapsed().as_millis() as u64, document)
    };
    // The first run may load the program from disk, so its length would be too long for choosing
    // moments.
    let (first, document) = timed();
    let whole = timed().0.min(first);
    let mut seed = 0x9e37_79b9_u64;
    let mut seen = std::collections::BTreeMap::<_, u32>::new();
    for moment in 0..moments {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let workspace = Workspace::new();
        workspace.write("plan.toml", toml);
        let keep = if moment % 2 == 0 { " --keep" } else { "" };
        let run = workspace.start(&format!("{words}{keep}"));
        pause((whole * moment + (seed >> 33) % whole) / moments);
        let killed = run.kill();
        *seen.entry(recovers(&workspace, &killed, words)).or_default() += 1;
        assert!(!workspace.has("qdepth-measurement-file") || !keep.is_empty());
        if same {
            let resumed = workspace.run("export --json").json();
            assert_eq!(figures(&resumed), figures(&document), "{}", killed.err);
        }
    }
    println!("killed: {seen:?} (a whole run: {whole} ms)");
    let count = |when: &str| seen.get(when).copied().unwrap_or(0);
    println!(
        "TRIES {name} {moments} lost=0 during={} before={} after={}",
        count("during the run"),
        count("before it began"),
        count("after its end")
    );
    assert!(seen.contains_key("during the run"));
}

#[test]
fn killed_file_run_keeps_finished_points_and_resumes() {
    let toml =
        plan(67, "1, 2, 3, 4, 5, 6", "20ms", "80ms").replace("[[", "file_size = \"8MiB\"\n[[");
    killed("kills-on-files", (&toml, "run plan.toml . --json"), moments(50), false);
}

#[test]
fn killed_virtual_run_resumes_with_identical_figures() {
    let toml = plan(67, "1, 2, 3, 4, 5, 6", "20ms", "80ms");
    let words = "run plan.toml media:p3700-800gb --json --no-report";
    killed("kills-in-virtual-time", (&toml, words), moments(20), true);
}

#[cfg(test)]
fn interrupted_by(signal: &str, status: i32) {
    let _alone = exclusive_turn();
    let workspace = Workspace::new();
    let toml = plan(67, "1, 2, 4", "100ms", "1s").replace("[[", "file_size = \"8MiB\"\n[[");
    workspace.write("plan.toml", &toml);
    let mut run = workspace.start("run plan.toml . --json");
    run.wait_for_err("MiB/s");
    pause(300);
    let began = Instant::now();
    run.signal(signal);
    let document = run.wait().expect(status).json();
    println!("{signal}: ended {} ms after it", began.elapsed().as_millis());
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(document["run"]["state"], "interrupted");
    assert!(!workspace.has("qdepth-measurement-file"), "it is removed");
    let report = fs::read_to_string(workspace.join("qdepth-report.html")).unwrap();
    assert!(report.contains("</html>"));
    assert_eq!(document, workspace.run("export").expect(0).json());
    let kept = points(&document);
    assert!((1..3).contains(&kept.len()), "{}", kept.len());
    let whole = workspace.run("run --resume --json").expect_finished().json();
    all_points(&whole, 3);
    assert_eq!(kept[0], points(&whole)[0]);
    for point in points(&whole) {
        assert!(!codes(point).contains(&"interrupted".to_owned()), "{point:#}");
    }
    assert!(!workspace.has("qdepth-measurement-file"));
}

#[test]
fn sigint_keeps_finished_points_and_resumes() {
    interrupted_by("INT", 130);
}

#[test]
fn sigterm_keeps_finished_points_and_resumes() {
    interrupted_by("TERM", 143);
}

#[test]
fn full_results_disk_ends_run_without_losing_points() {
    let test = "full_results_disk_ends_run_without_losing_points";
    if !has_tools(test, &["mount", "fallocate"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let results = workspace.join("results");
    fs::create_dir(&results).unwrap();
    let at = results.display();
    sh(&format!("mount -t tmpfs -o size=6M qdepth-test {at}")).unwrap();
    workspace.later(format!("umount {at}"));
    let depths: Vec<String> = (1..=200).map(|depth| depth.to_string()).collect();
    let toml = plan(67, &depths.join(", "), "10ms", "100ms");
    workspace.write("plan.toml", &toml.replace("[[", "file_size = \"8MiB\"\n[["));
    let mut run = workspace.start("run plan.toml . --logbook results/q.db --no-report --json");
    run.wait_for_err("MiB/s");
    sh(&format!("fallocate -l $(($(df --output=avail -B1 {at} | tail -1) - 262144)) {at}/filler"))
        .unwrap();
    let ended = run.wait_at_most(Duration::from_secs(60)).expect(4);
    assert!(ended.err.contains("full") || ended.err.contains("room"), "{}", ended.err);
    assert_eq!(ended.out, "");
    let stored = workspace.run("export --logbook results/q.db").expect(0).json();
    let kept = points(&stored).len();
    println!(
        "full disk: {kept} points kept, {} said finished: {}",
        finished_lines(&ended),
        stored["run"]["state"]
    );
    assert!(kept >= finished_lines(&ended) && kept > 1 && kept < 200, "{kept}");
    assert!(!workspace.has("qdepth-measurement-file"));
    workspace.run("show --logbook results/q.db").expect(0);
}
