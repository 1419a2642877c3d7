//! Latency of a point over time, on the command line.

use crate::common::Workspace;

#[cfg(test)]
mod tests {
    use super::Workspace;

    fn measured() -> Workspace {
        let workspace = Workspace::new();
        let load = "--profile database --queue-depth 1,64 --duration 6s --no-report";
        workspace.run(&format!("run media:p3700-800gb {load}"));
        workspace
    }

    #[test]
    fn timeline_shows_every_time_slice_and_percentile() {
        let workspace = measured();
        let shown = |words: &str| workspace.run(&format!("show --timeline {words}")).expect(0).out;
        let (longest, first) = (shown(""), shown("--point 0"));
        assert!(longest.starts_with("Database, QD 64 (EMULATED)\n"), "{longest}");
        assert_eq!(longest, shown("--point 1"), "the longest p99.9 is that of the deepest queue");
        assert!(first.starts_with("Database, QD 1 (EMULATED)\n"), "{first}");
        let rows: Vec<&str> =
            longest.lines().filter_map(|line| Some(line.split_once('│')?.1)).collect();
        assert!((2..=14).contains(&rows.len()), "{longest}");
        for slice in 0..60 {
            let is_shown = |row: &&str| row.chars().nth(slice).is_some_and(|sign| sign != ' ');
            assert!(rows.iter().any(is_shown), "no I/O in slice {slice}:\n{longest}");
        }
        assert!(longest.contains("p99.9: "), "{longest}");
        assert!(!longest.contains(" time slices;"), "every slice has enough: {longest}");
        assert!(!first.contains("p99.9: "), "too few I/Os in a slice: {first}");
        // The last slice is half as long, and too short for p99.9.
        let load = "media:p3700-800gb --profile database --queue-depth 8 --duration 6100ms";
        workspace.run(&format!("run {load} --no-report"));
        assert!(shown("").contains("(in 30 of 31 time slices; "), "{}", shown(""));
        assert!(longest.lines().take(18).all(|line| line.chars().count() <= 80), "{longest}");
    }

    #[test]
    fn report_has_heat_map_of_each_requested_point() {
        let workspace = measured();
        let report = |words: &str, name: &str| {
            workspace.run(&format!("report {words} -o {name}")).expect(0);
            std::fs::read_to_string(workspace.join(name)).unwrap()
        };
        let asked = report("--point 1", "asked.html");
        assert!(asked.contains("latency-over-time-1-t"));
        assert!(!asked.contains("latency-over-time-0-t"), "not asked for");
        assert!(!report("", "plain.html").contains("latency-over-time"));
        assert!(report("--point 0,1 --lang ja", "both.html").contains("latency-over-time-0-t"));
    }

    #[test]
    fn timeline_of_other_points_suggests_available_points() {
        let workspace = measured();
        let says = |words: &str| workspace.run(words).expect(2).err;
        for words in ["show --timeline --point 7", "report --point 0,7"] {
            assert!(says(words).contains("only for points 0, 1"), "{words}: {}", says(words));
        }
        assert!(!workspace.has("qdepth-report.html"));
        workspace.run(
            "run media:p3700-800gb --profile database --queue-depth 1 --duration 60ms --no-report",
        );
        assert!(says("report latest latest~1 --point 0").contains("name one"));
        let job = "--name=a --filename=media:p3700-800gb --rw=randread --size=1m";
        workspace.run(&format!("fio {job} --output-format=json --output=a.json"));
        workspace.run("import a.json --logbook other.db").expect(0);
        let refused = says("show --timeline --logbook other.db");
        assert!(refused.contains("imported"), "{refused}");
    }
}
