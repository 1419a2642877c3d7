//! Device models of a user's own drive: `run fit`, `media fit`, `predict`, `--expect`. In virtual
//! time, because the drive is itself emulated.

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::Value;

    use crate::common::Workspace;

    /// A drive that no description of the catalogue knows: seven servers.
    const DRIVE: &str = "\
title = \"a drive\"
kind = \"servers\"
[parameters]
capacity_gb = { value = 64, from = \"test\" }
service_us = { value = 140, from = \"test\" }
service_us_per_kib = { value = 1.5, from = \"test\" }
servers = { value = 7, from = \"test\" }
write_factor = { value = 1.4, from = \"test\" }
";

    fn measured(plan: &str) -> Workspace {
        let workspace = Workspace::new();
        workspace.write("drive.toml", DRIVE);
        workspace
            .run(&format!("run {plan} media:./drive.toml --duration 400ms --no-report"))
            .expect(0);
        workspace
    }

    /// Volume throttled by a hypervisor: limits of I/Os and bytes per second, for any kind of I/O.
    const THROTTLED: &str = "\
title = \"a throttled drive\"
kind = \"volume\"
[parameters]
capacity_gb = { value = 64, from = \"test\" }
latency_us = { value = 500, from = \"test\" }
latency_us_per_kib = { value = 1, from = \"test\" }
io_per_s = { value = 3000, from = \"test\" }
burst_io_per_s = { value = 3000, from = \"test\" }
mb_s = { value = 125, from = \"test\" }
";

    /// An emulated drive does not report its kind, so the kind must follow from its points.
    #[test]
    fn kind_of_fitted_model_is_inferred_from_points() {
        let workspace = Workspace::new();
        workspace.write("drive.toml", THROTTLED);
        workspace.run("run fit-read media:./drive.toml --duration 400ms --no-report").expect(0);
        let told = workspace.run("media fit latest -o my.toml").expect(0).out;
        assert!(told.contains("kind: volume"), "{told}");
    }

    fn points(document: &Value) -> &Vec<Value> {
        document["points"].as_array().unwrap()
    }

    fn findings(document: &Value) -> usize {
        let is = |f: &&Value| f["code"] == "below-expected";
        let count = |p: &Value| p["findings"].as_array().unwrap().iter().filter(is).count();
        points(document).iter().map(count).sum()
    }

    #[test]
    fn fitted_model_predicts_and_detects_slow_drive() {
        let workspace = measured("fit");
        let told = workspace.run("media fit latest --kind network -o my.toml").expect(0).out;
        for says in ["EMULATED", "service_us", "95 % CI", "held-out", "kind: network"] {
            assert!(told.contains(says), "{says}: {told}");
        }
        let text = std::fs::read_to_string(workspace.join("my.toml")).unwrap();
        assert!(text.contains("EMULATED") && text.contains("[fit]"), "{text}");
        // Seven servers of 140 µs + 1.5 µs/KiB: 8 KiB reads at 7 · 10^6 / 152 a second.
        let line = "predict quick my.toml --profile random-8k-read --queue-depth 64 --json";
        let document = workspace.run(line).expect(0).json();
        let point = &points(&document)[0];
        let truth = 7e6 / 152.0;
        let figure = |key: &str| point[key].as_f64().unwrap();
        assert!((figure("io_per_s") / truth - 1.0).abs() < 0.03, "{point}");
        assert!(figure("io_per_s_low") < truth && truth < figure("io_per_s_high"), "{point}");
        assert_eq!((&point["standing"], &document["emulated"]), (&"inside".into(), &true.into()));
        // Two of them as RAID 0 are twice as fast.
        let line =
            "predict quick my.toml*2 as raid0 --profile random-8k-read --queue-depth 64 --json";
        let of_two = workspace.run(line).expect(0).json();
        let two = points(&of_two)[0]["io_per_s"].as_f64().unwrap();
        assert!((two / truth / 2.0 - 1.0).abs() < 0.1, "{two}");
        // The unchanged drive raises no finding; a drive with one server less does.
        let watch = "--expect media:./my.toml --duration 2s --no-report --json";
        let load = "--profile database,streaming --queue-depth 8,64";
        let night =
            workspace.run(&format!("run quick media:./drive.toml {load} {watch}")).expect(0);
        assert_eq!(findings(&night.json()), 0);
        let slow = format!("run quick media:./drive.toml@servers=5 {load} {watch}");
        let slow = workspace.run(&slow).expect(0).json();
        assert!(findings(&slow) >= 2, "{slow}");
        let below = points(&slow)[0]["expected"]["below_io_per_s"].as_f64().unwrap();
        assert!(below > 0.0);
    }

    #[test]
    fn unmeasured_loads_are_unknown_or_extrapolated() {
        let workspace = measured("fit-read");
        workspace.run("media fit --kind network -o my.toml").expect(0);
        let told = workspace
            .run("predict quick my.toml --profile database,random-64k-read --queue-depth 8,512")
            .expect(0)
            .out;
        assert!(told.contains("not known: no write was measured"), "{told}");
        assert!(told.contains("EXTRAPOLATED") && told.contains("measured range"), "{told}");
    }

    /// Number behind `key=` or `key: ` in exported settings.
    fn setting(text: &str, key: &str) -> f64 {
        let found = [format!("{key}="), format!("{key}: ")].iter().find_map(|key| {
            let rest = &text[text.find(key.as_str())? + key.len()..];
            rest.split([' ', '\'', '\n']).next()?.parse().ok()
        });
        found.unwrap_or_else(|| panic!("no {key}: {text}"))
    }

    #[test]
    fn exported_settings_contain_rates_of_the_drive() {
        let workspace = measured("fit");
        let export = |settings: &str| {
            let line = format!("media fit --kind network -o my.toml --export {settings}");
            let text = workspace.run(&line).expect(0).out;
            assert!(text.starts_with("# EMULATED: ") && text.lines().count() < 8, "{text}");
            text
        };
        // Seven servers; the largest requests of the plan have 64 KiB.
        let rate = |kib: f64, factor: f64| 7e6 / (140.0 + 1.5 * kib) / factor;
        let is = |text: &str, key: &str, truth: f64| {
            let value = setting(text, key);
            assert!((value / truth - 1.0).abs() < 0.05, "{key} {truth}: {text}");
        };
        let cost = export("io.cost");
        for (way, factor) in [("r", 1.0), ("w", 1.4)] {
            // Cost of 64 KiB in the kernel's model: that of a page, and the bytes beyond it.
            let page = 1.0 / setting(&cost, &format!("{way}seqiops"));
            let large = page + 61_440.0 / setting(&cost, &format!("{way}bps"));
            assert!((large * rate(64.0, factor) - 1.0).abs() < 0.06, "{way}: {cost}");
            is(&cost, &format!("{way}seqiops"), rate(4.0, factor));
            is(&cost, &format!("{way}randiops"), rate(4.0, factor));
        }
        assert!(cost.contains("> /sys/fs/cgroup/io.cost.model\n"), "{cost}");
        assert!(cost.lines().next().unwrap().contains("error on held-out points "), "{cost}");
        assert!(cost.contains("enable=1") && cost.contains("'MAJ:MIN"), "no real disk: {cost}");
        let narrow = Command::new(env!("CARGO_BIN_EXE_qdepth"))
            .args(["media", "fit", "--kind", "network", "-o", "my.toml", "--export", "io.cost"])
            .current_dir(workspace.path())
            .env("COLUMNS", "40")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(narrow.stdout).unwrap(), cost, "a command is never broken");
        let limits = export("io.max=50%");
        is(&limits, "wbps", rate(64.0, 1.4) * 65536.0 / 2.0);
        is(&limits, "riops", rate(4.0, 1.0) / 2.0);
        let seastar = export("seastar");
        is(&seastar, "read_bandwidth", rate(64.0, 1.0) * 65536.0);
        is(&seastar, "write_iops", rate(4.0, 1.4));
        assert!(seastar.contains("\ndisks:\n  - mountpoint: 'media:./drive.toml'\n"), "{seastar}");
        for wrong in ["io.max=150%", "io.latency"] {
            let line = format!("media fit --export {wrong}");
            assert!(workspace.run(&line).expect(2).err.contains("io.max=50%"));
        }
    }

    #[test]
    fn write_settings_need_measured_writes() {
        let workspace = measured("fit-read");
        let fit = "media fit --kind network -o my.toml --export";
        let refused = workspace.run(&format!("{fit} io.cost")).expect(3).err;
        assert!(refused.contains("no writes were measured"), "{refused}");
        assert!(refused.contains("`qdepth run fit media:./drive.toml`"), "{refused}");
        assert!(!workspace.has("my.toml"), "a refusal changes nothing");
        let limits = workspace.run(&format!("{fit} io.max")).expect(0).out;
        assert!(limits.contains(" riops=") && !limits.contains("wiops"), "{limits}");
    }

    /// A prediction from a data sheet or a class has a wide interval marked as assumed. A data
    /// sheet combined with a fitted device is refused.
    #[test]
    fn data_sheet_prediction_has_assumed_wide_interval() {
        let workspace = Workspace::new();
        let load = "--profile database,streaming --queue-depth 1,64";
        for target in
            ["media:crucial-t700-2tb", "raid0(media:aws-gp2-100gib*2)", "media:generic-qlc-ssd"]
        {
            let line = format!("predict quick {target} {load} --json");
            let document = workspace.run(&line).expect(0).json();
            for point in points(&document) {
                let figure = |key: &str| point[key].as_f64().unwrap();
                let (low, high) = (figure("io_per_s_low"), figure("io_per_s_high"));
                assert!(low > 0.0 && high / low > 12.0, "{target}: {point}");
                assert_eq!(point["standing"], "assumed", "{point}");
                let why = point["why"].as_array().unwrap();
                let is_code =
                    |why: &Value| why["code"] == "data-sheet-only" || why["code"] == "class";
                assert!(!why.is_empty() && why.iter().all(is_code), "{point}");
            }
        }
        let told = workspace.run(&format!("predict quick media:azure-p10 {load}")).expect(0).out;
        for word in ["ASSUMED", "data sheet only", "never measured", "EMULATED"] {
            assert!(told.contains(word), "{word}: {told}");
        }
        let text = workspace.run("predict quick media:generic-pcie4-ssd").expect(0).out;
        let row = text.lines().rfind(|line| line.starts_with("streaming")).unwrap();
        assert!(row.contains(" 6,7") && row.contains("… 6,800"), "as much as the link: {row}");
        let mixed = "predict quick raid0(media:crucial-t700-2tb,media:p3700-800gb)";
        let told = workspace.run(mixed).expect(2).err;
        assert!(told.contains("crucial-t700-2tb (data sheet only)"), "{told}");
    }

    #[test]
    fn impossible_fit_is_refused_with_next_command() {
        let workspace = measured("latency");
        let told = workspace.run("media fit -o my.toml").expect(3).err;
        assert!(told.contains("qdepth run fit TARGET"), "{told}");
        assert!(!workspace.has("my.toml"));
        let told = workspace.run("predict quick media:p3700-800gb").expect(2).err;
        assert!(told.contains("qdepth media fit") && told.contains("published figures"), "{told}");
        let told = workspace.run("media fit --kind tape -o my.toml").expect(2).err;
        assert!(told.contains("flash"), "{told}");
        workspace
            .run(
                "run quick media:./drive.toml media:null --profile database --queue-depth 1 \
                   --duration 100ms --no-report",
            )
            .expect_finished();
        let told = workspace.run("media fit -o my.toml").expect(2).err;
        assert!(told.contains("a device model describes"), "{told}");
    }
}
