//! Many runs for other programs: the logbook's views and a CSV of all points, read with SQLite,
//! DuckDB and pandas. `cargo xtask test` fetches these.

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::common::{Workspace, sh};

    /// Two drives, one with a read and a write profile; a point that is not valid; a retraction.
    fn runs(workspace: &Workspace) {
        for line in [
            "run quick media:p3700-800gb --queue-depth 1,16 --duration 1s",
            "run quick media:generic-7200rpm-hdd --queue-depth 1,16 --duration 1s",
            "run quick fault(media:p3700-800gb,errors=1000) --queue-depth 1 --duration 1s",
        ] {
            workspace.run(&format!("{line} --no-report"));
        }
        workspace.run("retract latest~2 busy").expect(0);
    }

    #[test]
    fn duckdb_and_pandas_read_same_values_as_json() {
        let python = format!("{}/../readers/bin/python", env!("CARGO_TARGET_TMPDIR"));
        let modules = "import duckdb, duckdb_extension_sqlite_scanner, pandas";
        if sh(&format!("'{python}' -c '{modules}'")).is_err() {
            println!("SKIPPED: DuckDB and pandas read a logbook: `cargo xtask test` fetches them");
            return;
        }
        let workspace = Workspace::new();
        runs(&workspace);
        workspace.write("points.csv", &workspace.run("export --all --csv").out);
        for at in 0..3 {
            let document = workspace.run(&format!("export latest~{at}")).out;
            workspace.write(&format!("{at}.json"), &document);
        }
        let manifest = env!("CARGO_MANIFEST_DIR");
        let page = format!("{manifest}/../../docs/recipes/sql.md");
        let said = sh(&format!(
            "cd {} && '{python}' '{manifest}'/tests/sql/check.py qdepth.db points.csv '{page}' \
             *.json",
            workspace.path().display()
        ));
        let said = said.unwrap_or_else(|why| panic!("{why}"));
        assert!(said.ends_with("OK"), "{said}");
    }

    #[test]
    fn csv_of_all_runs_reports_damaged_runs() {
        let workspace = Workspace::new();
        for _ in 0..2 {
            let line = "run quick media:p3700-800gb --queue-depth 1 --duration 1s --no-report";
            workspace.run(line).expect(0);
        }
        let ended = workspace.run("export --all --csv").expect(0);
        let points = workspace.run("export --csv").expect(0).out.lines().count() - 1;
        assert_eq!(ended.out.lines().count(), 1 + 2 * points);
        assert!(ended.err.contains(&format!("2 runs, {} points", 2 * points)), "{}", ended.err);
        let list = workspace.run("list --json").expect(0).json();
        let [newest, oldest] = [0, 1].map(|at| &list["runs"][at]);
        // A different start time of the first run, which only its own row contains.
        let started = oldest["started_at"].as_str().unwrap().as_bytes();
        let mut bytes = fs::read(workspace.join("qdepth.db")).unwrap();
        let places: Vec<usize> =
            (0..bytes.len()).filter(|at| bytes[*at..].starts_with(started)).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + 2].copy_from_slice(b"19"));
        fs::write(workspace.join("qdepth.db"), bytes).unwrap();
        let said = workspace.run("export --all --csv").expect(1).err;
        let damaged = |run: &serde_json::Value| said.contains(run["id"].as_str().unwrap());
        assert!(damaged(oldest) && !damaged(newest), "{said}");
        assert!(said.contains("`qdepth logbook check qdepth.db`"), "{said}");
    }

    #[test]
    fn invalid_exports_are_explained() {
        let workspace = Workspace::new();
        let line = "run quick media:p3700-800gb --queue-depth 1 --duration 1s --no-report";
        workspace.run(line).expect(0);
        for (words, says) in [
            ("export nobody --csv", "no run `nobody`"),
            ("export latest latest --csv", "named twice"),
            ("export latest latest", "`qdepth export latest latest --csv`"),
            ("export --plan nothing --csv", "no run of qdepth.db matches"),
            ("export latest --plan quick --csv", "not both"),
            ("export --plan quick", "need `--csv`"),
            ("export --all", "--csv"),
            ("export --csv --json", "cannot be used with"),
            ("export --logbook other.db --all --csv", "other.db"),
        ] {
            let ended = workspace.run(words).expect(2);
            assert!(ended.err.contains(says), "{words}: {}", ended.err);
            assert!(ended.out.is_empty(), "{words}: {}", ended.out);
        }
    }
}
