//! Tables of runs, as others read them: DuckDB, pandas and pyarrow, which `cargo xtask test`
//! fetches. The questions of docs/recipes/year-of-runs.md are asked of 1,000 runs whose answers are
//! known.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::time::Instant;

    use qdepth_logbook::Logbook;
    use qdepth_measure::{Code, Finding, LatencyHistogram, Nanos};
    use qdepth_parquet::Sheet;
    use qdepth_record::{
        DirectionRecord, ErrorCount, IntervalRecord, MonitorRecord, Observation, PointRecord,
        Reason, RunHeadline, RunRecord, RunState, TableOf, TabledRun, TargetKind, TargetRecord,
        Value,
    };
    use serde_json::{Value as Json, json};

    use crate::common::{Workspace, sh};

    const RUNS: u64 = 1000;
    const SLICES: u64 = 20;
    const SLICE_NS: u64 = 100_000_000;
    const DEPTHS: [u32; 4] = [1, 4, 16, 64];
    const DRIVES: [&str; 4] = ["a", "b", "c", "d"];
    /// Reads per second of one outstanding I/O, and the depth from which there are no more.
    const SPEEDS: [(f64, u32); 4] = [(10e3, 16), (12e3, 16), (15e3, 64), (9e3, 4)];
    const PLAN: &str = "[plan]\nname = \"standard\" # 標準\n";
    const MIB: u64 = 1 << 20;

    /// What a run of the year is made of.
    struct SyntheticRun {
        number: u64,
        drive: usize,
        celsius: u64,
    }

    impl SyntheticRun {
        fn new(number: u64) -> Self {
            let drive = (number % 4) as usize;
            Self { number, drive, celsius: 30 + number * 7 % 40 }
        }

        fn id(&self) -> String {
            format!("{:08x}-0000-7000-8000-{:012x}", self.number, self.number)
        }

        fn is_emulated(&self) -> bool {
            self.number % 10 == 9
        }

        fn is_retracted(&self) -> bool {
            self.number % 97 == 5
        }

        fn fails(&self) -> bool {
            self.number % 31 == 3
        }

        fn stands_still(&self) -> bool {
            self.number % 50 == 7
        }

        fn counts(&self) -> bool {
            !self.is_emulated() && !self.is_retracted()
        }

        fn year(&self) -> f64 {
            self.number as f64 / RUNS as f64
        }

        /// A percent up or down, by run and place.
        fn noise(&self, place: u64) -> f64 {
            let mixed = (self.number * 1_000_003 + place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            1.0 + ((mixed >> 40) as f64 / f64::from(1 << 24) - 0.5) / 50.0
        }

        fn moment(&self, seconds: u64) -> String {
            let begin: jiff::Timestamp = "2025-01-01T00:00:00Z".parse().unwrap();
            let second = begin.as_second() + (self.year() * 31_536_000.0) as i64;
            jiff::Timestamp::from_second(second + seconds as i64).unwrap().to_string()
        }

        fn run(&self) -> RunRecord {
            let fact = |subject: &str, key: &str, value: Result<&str, &str>| Observation {
                subject: subject.into(),
                key: key.into(),
                value: value.map(Into::into).map_err(Reason::read),
                source: "/proc".into(),
            };
            let release = if self.number < RUNS / 2 { "6.1.0" } else { "6.12.0" };
            let remark = Finding::remark(Code::EngineFallback).label("why", "it's 日本語");
            RunRecord {
                id: self.id(),
                started_at: self.moment(0),
                qdepth_version: "0.1.0".into(),
                measurement_version: 1,
                plan_name: "nightly".into(),
                plan_hash: "c28aa3c6d25cb4f0e735f8412d3ccd5ad2f73aa2d42d9c6f2181cdd887844035"
                    .into(),
                plan_text: PLAN.into(),
                seed: u64::MAX - self.number,
                emulated: self.is_emulated(),
                points_planned: 5,
                engine_choice: "auto".into(),
                environment: vec![
                    fact("host", "name", Ok(["one", "two", "three"][(self.number % 3) as usize])),
                    fact("kernel", "release", Ok(release)),
                    fact("cpu", "governor", Err("no such file")),
                ],
                targets: vec![TargetRecord {
                    expression: format!("/dev/disk/by-id/{}", DRIVES[self.drive]),
                    name: DRIVES[self.drive].into(),
                    kind: TargetKind::BlockDevice,
                    area_bytes: 1 << 40,
                    engine: "io_uring".into(),
                    ceiling: vec![(1, 2e6)],
                    facts: vec![fact("nvme0n1", "scheduler", Ok("none"))],
                    ..TargetRecord::default()
                }],
                findings: if self.number.is_multiple_of(13) { vec![remark] } else { Vec::new() },
                ..RunRecord::default()
            }
        }

        fn read(&self, index: u32) -> PointRecord {
            let depth = DEPTHS[index as usize];
            let (speed, most) = SPEEDS[self.drive];
            let faster = if self.is_emulated() { 10.0 } else { 1.0 };
            let rate = speed * f64::from(depth.min(most)) * faster;
            let slow = (index == 2 && self.stands_still()).then_some(self.number % SLICES);
            let slice = |place: u64| {
                let share = if slow == Some(place) { 0.01 } else { self.noise(place) };
                let reads = (rate * 0.1 * share * self.noise(u64::from(index) + 90)) as u64;
                IntervalRecord {
                    start_ns: place * SLICE_NS,
                    length_ns: SLICE_NS,
                    reads,
                    read_bytes: reads * 4096,
                    ..IntervalRecord::default()
                }
            };
            let intervals: Vec<IntervalRecord> = (0..SLICES).map(slice).collect();
            let completed = intervals.iter().map(|slice| slice.reads).sum();
            let typical = f64::from(depth) / rate * 1e9;
            let later = if self.drive == 1 { 1.0 + 0.6 * self.year() } else { 1.0 };
            let tail = typical * 3.0 * later * self.noise(77);
            let mut service_time = LatencyHistogram::new();
            for n in 0..1200 {
                service_time.record(Nanos(if n % 60 == 0 { tail } else { typical } as u64));
            }
            let fails = index == 1 && self.fails();
            let errors = if fails { vec![ErrorCount { errno: 5, count: 2 }] } else { Vec::new() };
            let failed = Finding::invalid(Code::IoErrors).value("errors", 2.0);
            let still = Finding::remark(Code::Stall).value("ratio", f64::INFINITY);
            let failed = fails.then_some(failed);
            let still = slow.map(|_| still);
            PointRecord {
                reads: DirectionRecord {
                    completed,
                    bytes: completed * 4096,
                    errors,
                    service_time,
                    ..DirectionRecord::default()
                },
                intervals,
                findings: failed.into_iter().chain(still).collect(),
                ..self.point(index, "random-read", depth, (1.0, 4096))
            }
        }

        fn write(&self) -> PointRecord {
            let rate = 2000.0 * (1.0 - 0.005 * (self.celsius - 30) as f64) * self.noise(5);
            let writes = (rate * 0.1) as u64;
            let slice = |place: u64| IntervalRecord {
                start_ns: place * SLICE_NS,
                length_ns: SLICE_NS,
                writes,
                written_bytes: writes * MIB,
                ..IntervalRecord::default()
            };
            let said = |second: u64| MonitorRecord {
                at_ns: second * 1_000_000_000,
                name: "nvme0n1 celsius".into(),
                value: (self.celsius - 2 + second) as f64,
            };
            PointRecord {
                writes: DirectionRecord {
                    completed: writes * SLICES,
                    bytes: writes * SLICES * MIB,
                    ..DirectionRecord::default()
                },
                intervals: (0..SLICES).map(slice).collect(),
                monitors: vec![said(1), said(2)],
                ..self.point(4, "sequential-write", 8, (0.0, MIB))
            }
        }

        fn point(
            &self,
            index: u32,
            profile: &str,
            outstanding: u32,
            (share, bytes): (f64, u64),
        ) -> PointRecord {
            PointRecord {
                index,
                group: index,
                profile: profile.into(),
                profile_title: profile.into(),
                random_share: share,
                read_share: share,
                request_size: format!("{bytes}B"),
                request_size_mean_bytes: bytes as f64,
                arrivals: "closed".into(),
                outstanding,
                streams: 1,
                workers: 1,
                direct: true,
                started_at: self.moment(u64::from(index) * 3),
                duration_ns: SLICES * SLICE_NS,
                in_flight_integral_ns: f64::from(outstanding) * (SLICES * SLICE_NS) as f64,
                ..PointRecord::default()
            }
        }

        fn points(&self) -> Vec<PointRecord> {
            (0..4).map(|index| self.read(index)).chain([self.write()]).collect()
        }
    }

    /// A logbook of a year, and what is true of it.
    fn year(workspace: &Workspace) -> Json {
        let mut logbook = Logbook::open(workspace.join("qdepth.db")).unwrap();
        let (mut points, mut runs) = (0_u32, 0_u32);
        let (mut invalid, mut still) = (Vec::new(), Vec::new());
        let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
        let mut written: BTreeMap<&str, f64> = BTreeMap::new();
        for number in 0..RUNS {
            let synthetic = SyntheticRun::new(number);
            let measured = synthetic.points();
            logbook.begin_run(&synthetic.run()).unwrap();
            for point in &measured {
                logbook.add_point(&synthetic.id(), point).unwrap();
            }
            logbook.end_run(&synthetic.id(), RunState::Sealed, &synthetic.moment(15), &[]).unwrap();
            if synthetic.is_retracted() {
                logbook
                    .retract(&synthetic.id(), "a backup was running", &synthetic.moment(60))
                    .unwrap();
            }
            if !synthetic.counts() {
                continue;
            }
            runs += 1;
            points += measured.len() as u32;
            if synthetic.fails() {
                invalid.push(synthetic.id());
                *failed.entry(DRIVES[synthetic.drive]).or_default() += 2;
            }
            if synthetic.stands_still() {
                still.push(json!([synthetic.id(), 2, number % SLICES]));
            }
            let bytes: u64 = measured.iter().map(|point| point.writes.bytes).sum();
            *written.entry(DRIVES[synthetic.drive]).or_default() += bytes as f64 / 1e9;
        }
        let share = |count: usize| count as f64 / f64::from(points);
        json!({
            "fastest": "c", "slowed": "b", "steady": ["a", "c", "d"],
            "knees": { "a": 16, "b": 16, "c": 64, "d": 4 },
            "valid_at_one": runs, "valid_at_16": runs,
            "shares": { "io-errors": share(invalid.len()), "stall": share(still.len()) },
            "invalid_runs": invalid, "still": still, "failed": failed, "written_gb": written,
        })
    }

    fn python() -> String {
        format!("{}/../readers/bin/python", env!("CARGO_TARGET_TMPDIR"))
    }

    fn can(test: &str) -> bool {
        let fetched = sh(&format!("{} -c 'import duckdb, pandas, pyarrow'", python())).is_ok();
        if !fetched {
            println!(
                "SKIPPED: {test}: DuckDB and pandas are not there; `cargo xtask test` fetches"
            );
        }
        fetched
    }

    /// Asks the script, in this place.
    #[track_caller]
    fn ask(workspace: &Workspace, words: &str) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parquet/check.py");
        let said =
            sh(&format!("cd {} && {} {script} {words}", workspace.path().display(), python()));
        let said = said.unwrap_or_else(|why| panic!("{why}"));
        println!("{said}");
        assert!(said.ends_with("OK"), "{said}");
    }

    fn columns() -> Json {
        let kind = |value: &Value<'_>| match value {
            Value::Text(_) => "text",
            Value::Whole(_) => "whole",
            Value::Real(_) => "real",
            Value::Flag(_) => "flag",
            Value::Time(_) => "time",
        };
        let named_kinds = |table: TableOf| {
            let columns = table.columns().into_iter();
            columns.map(|column| json!([column.name, kind(&column.value)])).collect::<Vec<_>>()
        };
        TableOf::ALL
            .into_iter()
            .map(|table| (table.name().to_owned(), json!(named_kinds(table))))
            .collect()
    }

    /// The tables once more, of many groups of rows.
    fn in_small_groups(workspace: &Workspace) {
        let logbook = Logbook::open_read_only(workspace.join("qdepth.db")).unwrap();
        let runs: Vec<_> = logbook.runs().unwrap();
        let measured = |run: &RunHeadline| logbook.measured(&run.id).unwrap();
        let all: Vec<_> = runs.iter().map(|headline| (headline, measured(headline))).collect();
        fs::create_dir(workspace.join("others")).unwrap();
        for table in TableOf::ALL {
            let mut sheet = Sheet::in_groups(table, 100_000);
            let mut bytes = Vec::new();
            for (headline, (run, points)) in &all {
                bytes.extend(sheet.add(TabledRun { headline, run, points }));
            }
            bytes.extend(sheet.end("0.0.0"));
            fs::write(workspace.join(&format!("others/{}.parquet", table.name())), bytes).unwrap();
        }
    }

    #[test]
    fn a_years_runs_answer_ten_questions_in_duckdb_and_pandas() {
        if !can("tables of 1,000 runs, as DuckDB and pandas read them") {
            return;
        }
        let workspace = Workspace::new();
        workspace.write("truth.json", &year(&workspace).to_string());
        let begin = Instant::now();
        let said = workspace.run("export --all --parquet tables").expect(0).err;
        println!("{:.1} s to export", begin.elapsed().as_secs_f64());
        assert!(said.contains("1000 runs, 5000 points: tables"), "{said}");
        workspace.write("columns.json", &columns().to_string());
        ask(&workspace, "schema tables columns.json");
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recipes/year-of-runs.md");
        ask(&workspace, &format!("page tables {page} truth.json"));
        workspace.write("list.json", &workspace.run("list --json").expect(0).out);
        ask(&workspace, "list tables list.json");
        without_room(&workspace);
        in_small_groups(&workspace);
        workspace.write("columns.json", &columns().to_string());
        ask(&workspace, "schema others columns.json");
        ask(&workspace, "groups tables others");
        for number in [3, 5, 7, 26] {
            let id = SyntheticRun::new(number).id();
            workspace.write("run.json", &workspace.run(&format!("export {id}")).expect(0).out);
            workspace.write("run.csv", &workspace.run(&format!("export {id} --csv")).expect(0).out);
            ask(&workspace, "same tables run.json run.csv");
        }
        let some = "export --plan nightly --host two --since 2025-03-01 --until 2025-03-31";
        let said = workspace.run(&format!("{some} --parquet tables")).expect(0).err;
        assert!(said.contains("28 runs, 140 points") && said.contains("replaced"), "{said}");
    }

    #[test]
    fn an_emulated_run_beside_what_was_expected_is_the_same_in_tables() {
        if !can("tables of emulated runs") {
            return;
        }
        let workspace = Workspace::new();
        let short = "--outstanding 1,4 --duration 50ms --no-report";
        let expect = "--expect media:p4800x-375gb";
        workspace.run(&format!("run quick media:p3700-800gb {short} {expect}")).expect_finished();
        workspace.write("run.json", &workspace.run("export").expect(0).out);
        workspace.write("run.csv", &workspace.run("export --csv").expect(0).out);
        workspace.run("export --parquet tables").expect(0);
        workspace.write("columns.json", &columns().to_string());
        ask(&workspace, "schema tables columns.json");
        ask(&workspace, "same tables run.json run.csv");
    }

    fn short_run(workspace: &Workspace) {
        let short = "--profile database --outstanding 1 --duration 10ms --no-report";
        workspace.run(&format!("run quick media:p3700-800gb {short}")).expect_finished();
    }

    #[test]
    fn tables_are_whole_or_not_there() {
        let workspace = Workspace::new();
        short_run(&workspace);
        workspace.run("export --parquet tables").expect(0);
        for table in TableOf::ALL {
            let bytes =
                fs::read(workspace.join(&format!("tables/{}.parquet", table.name()))).unwrap();
            assert!(bytes.starts_with(b"PAR1qdepth") && bytes.ends_with(b"PAR1"), "{table:?}");
        }
        workspace.run("export latest --parquet one.parquet").expect(0);
        let points = fs::read(workspace.join("tables/points.parquet")).unwrap();
        assert_eq!(fs::read(workspace.join("one.parquet")).unwrap(), points);
    }

    /// Where there is no room, what was there before stays, and nothing else is left.
    fn without_room(workspace: &Workspace) {
        let tables = || {
            let mut all: Vec<_> = fs::read_dir(workspace.join("tables")).unwrap().collect();
            all.sort_by_key(|entry| entry.as_ref().unwrap().path());
            let bytes = |entry: std::io::Result<fs::DirEntry>| {
                let path = entry.unwrap().path();
                (path.clone(), fs::read(path).unwrap())
            };
            all.into_iter().map(bytes).collect::<Vec<_>>()
        };
        let before = tables();
        let program = env!("CARGO_BIN_EXE_qdepth");
        // In blocks of 512 bytes or of 1024, by the shell: more than SQLite needs, less than the
        // points.
        let limited = format!("ulimit -f 160 && {program} export --all --parquet tables");
        let why = sh(&format!("cd {} && {limited}", workspace.path().display())).unwrap_err();
        assert!(why.contains("exit status: 4"), "{why}");
        assert!(why.contains("cannot write a file in tables: File too large"), "{why}");
        assert!(tables() == before);
    }

    #[test]
    fn what_is_damaged_is_left_out_and_said() {
        let workspace = Workspace::new();
        short_run(&workspace);
        short_run(&workspace);
        let list = workspace.run("list --json").expect(0).json();
        let [newest, oldest] = [0, 1].map(|at| &list["runs"][at]);
        // Another start of the first run, which only its own row says.
        let started = oldest["started_at"].as_str().unwrap().as_bytes();
        let mut bytes = fs::read(workspace.join("qdepth.db")).unwrap();
        let places: Vec<usize> =
            (0..bytes.len()).filter(|at| bytes[*at..].starts_with(started)).collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| bytes[at..at + 2].copy_from_slice(b"19"));
        fs::write(workspace.join("qdepth.db"), bytes).unwrap();
        let said = workspace.run("export --all --parquet tables").expect(1).err;
        let message = |run: &Json| format!("run {}: what is damaged", run["id"].as_str().unwrap());
        assert!(said.contains(&message(oldest)) && !said.contains(&message(newest)), "{said}");
        if can("a table of a damaged run") {
            workspace.write("list.json", &workspace.run("list --json").expect(0).out);
            ask(&workspace, "list tables list.json");
        }
        assert!(said.contains("2 runs, ") && said.contains("`qdepth logbook check"), "{said}");
        assert_eq!(fs::read_dir(workspace.join("tables")).unwrap().count(), TableOf::ALL.len());
    }

    #[test]
    fn what_cannot_be_exported_is_said_and_changes_nothing() {
        let workspace = Workspace::new();
        short_run(&workspace);
        workspace.write("file", "text");
        fs::create_dir_all(workspace.join("dear")).unwrap();
        fs::write(workspace.join("dear/runs.parquet"), b"PAR1\x15\x04 of somebody").unwrap();
        fs::create_dir(workspace.join("folder.parquet")).unwrap();
        let before = sh(&format!("cd {} && find . | sort", workspace.path().display())).unwrap();
        let before = before.lines().filter(|line| line.contains("dear")).count();
        for (words, status, says) in [
            ("export nobody --parquet t", 2, "no run `nobody`"),
            ("export latest latest --parquet t", 2, "named twice"),
            ("export latest latest", 2, "--parquet FOLDER"),
            ("export --plan nothing --parquet t", 2, "no run of qdepth.db is like that"),
            ("export latest --plan quick --parquet t", 2, "leave out one of the two"),
            ("export --plan quick", 2, "add `--parquet FOLDER`"),
            ("export --all", 2, "--parquet"),
            ("export --csv --parquet t", 2, "cannot be used with"),
            ("export --parquet -", 2, "none goes to the standard output"),
            ("export --parquet file", 2, "no directory"),
            ("export --parquet folder.parquet", 2, "is a directory"),
            ("export --parquet dear", 3, "dear/runs.parquet is a table of another program"),
            ("export --logbook other.db --parquet t", 2, "other.db"),
        ] {
            let ended = workspace.run(words);
            assert_eq!(ended.status, Some(status), "{words}: {}", ended.err);
            assert!(ended.err.contains(says), "{words}: {}", ended.err);
            assert!(!workspace.has("t"), "{words}");
        }
        assert_eq!(fs::read_dir(workspace.join("dear")).unwrap().count() + 1, before);
    }
}
