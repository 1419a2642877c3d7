//! A medium of one's own drive, as a user makes, asks and watches it: `run fit`, `media fit`,
//! `predict`, `--expect`. In virtual time: the drive is itself emulated.

#[cfg(test)]
mod tests {
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

    /// What a hypervisor throttles: so many requests and bytes a second, whatever their kind.
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

    /// Nothing says of an emulated drive what it is: its points alone do.
    #[test]
    fn the_kind_is_chosen_by_the_points_where_nobody_says_it() {
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
    fn a_drive_becomes_a_medium_that_predicts_and_watches() {
        let workspace = measured("fit");
        let told = workspace.run("media fit latest --kind network -o my.toml").expect(0).out;
        for says in ["EMULATED", "service_us", "95 % CI", "kept back", "kind: network"] {
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
        // The drive as it is raises no finding, one of seven servers less does.
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
    fn what_was_not_measured_is_not_known() {
        let workspace = measured("fit-read");
        workspace.run("media fit --kind network -o my.toml").expect(0);
        let told = workspace
            .run("predict quick my.toml --profile database,random-64k-read --queue-depth 8,512")
            .expect(0)
            .out;
        assert!(told.contains("not known: no write was measured"), "{told}");
        assert!(told.contains("EXTRAPOLATED") && told.contains("measured range"), "{told}");
    }

    /// A medium that rests on a data sheet is predicted with an interval that says so, alone and
    /// beside a class; one among fitted ones, or none of either, is not.
    #[test]
    fn a_data_sheet_gives_a_wide_interval_that_is_assumed() {
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
        let mixed = "predict quick raid0(media:crucial-t700-2tb,media:p3700-800gb)";
        let told = workspace.run(mixed).expect(2).err;
        assert!(told.contains("crucial-t700-2tb (data sheet only)"), "{told}");
    }

    #[test]
    fn what_cannot_be_fitted_is_refused_with_the_next_command() {
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
        assert!(told.contains("a medium is of"), "{told}");
    }
}
