//! The first minute: `qdepth` without arguments in directories of every kind, tables in terminals
//! of every width, and a newcomer's typing errors.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;

use crate::common::{Ended, Workspace, has_tools, pause, points, sh};

#[cfg(test)]
fn run_in(folder: &Path, columns: Option<&str>, words: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qdepth"));
    command.args(words).current_dir(folder).env_remove("COLUMNS");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[cfg(test)]
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn interrupted_first_run_reports_that_nothing_is_kept() {
    let workspace = Workspace::new();
    let run = workspace.start("");
    pause(3000);
    run.signal("INT");
    let ended = run.wait().expect(130);
    assert!(ended.err.contains("interrupted: nothing is kept"), "{}", ended.err);
    assert!(names(workspace.path()).iter().all(|name| !name.contains("qdepth")));
}

#[test]
fn first_run_measures_four_points_without_leftovers() {
    let workspace = Workspace::new();
    for name in [b"plain".to_vec(), b"two\nlines \x1b[31m \xff".to_vec()] {
        let folder = workspace.path().join(std::ffi::OsString::from_vec(name));
        fs::create_dir(&folder).unwrap();
        let ended = run_in(&folder, None, &["--json"]).expect_finished();
        let document = ended.json();
        assert_eq!(document["run"]["plan"], "first");
        assert_eq!(document["run"]["state"], "complete");
        let loads: Vec<(String, u64)> = points(&document)
            .iter()
            .map(|p| {
                (p["profile"].as_str().unwrap().to_owned(), p["queue_depth"].as_u64().unwrap())
            })
            .collect();
        let is = |name: &str, queue_depth| (name.to_owned(), queue_depth);
        let (random, sequential) = ("random-4k-read", "sequential-1m-read");
        let wanted = [is(random, 1), is(random, 32), is(sequential, 1), is(sequential, 32)];
        assert_eq!(loads, wanted);
        assert_eq!(points(&document)[2]["block_size_bytes"], 1_048_576.0);
        assert!(points(&document).iter().all(|point| point["writes"] == 0));
        for point in points(&document) {
            // Four segments; a segment has no result if less than one I/O fits for each slot of the
            // queue.
            let fits = point["reads"].as_f64() >= point["mean_in_flight"].as_f64().map(|n| 4.0 * n);
            assert_eq!(point["confidence_interval"].is_array(), fits, "{point}");
        }
        assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    }
    let said = run_in(&workspace.path().join("plain"), None, &[]).expect_finished();
    for text in ["temporary file of", "qdepth run disk-mark", "qdepth plans", "IOPS"] {
        assert!(said.out.contains(text), "no `{text}`: {}", said.out);
    }
    assert!(said.out.lines().filter(|line| line.contains('─')).all(|l| l.chars().count() <= 80));
}

#[test]
fn first_answer_fits_a_small_terminal() {
    let workspace = Workspace::new();
    for name in ["n", "a-directory-of-a-name-that-is-longer-than-what-a-line-of-80-columns-has"] {
        let folder = workspace.path().join(name);
        fs::create_dir(&folder).unwrap();
        let said = run_in(&folder, Some("80"), &[]).expect_finished();
        let lines: Vec<&str> = said.err.lines().chain(said.out.lines()).collect();
        // The prompt takes the last of 24 lines.
        assert!(lines.len() <= 23, "{} lines: {}{}", lines.len(), said.err, said.out);
        let wide = |line: &&&str| unicode_width::UnicodeWidthStr::width(**line) > 80;
        assert_eq!(lines.iter().find(wide), None);
        for text in ["Random 4 KiB", "IOPS", "at QD 1", "\nNext, in this directory:\n"] {
            let found = said.out.to_lowercase().contains(&text.to_lowercase());
            assert!(found, "no `{text}`: {}", said.out);
        }
    }
}

#[test]
fn first_run_reads_existing_file_on_full_storage() {
    let test = "first_run_reads_existing_file_on_full_storage";
    if !has_tools(test, &["mount", "umount"]) {
        return;
    }
    let workspace = Workspace::new();
    let folder = workspace.join("small");
    fs::create_dir(&folder).unwrap();
    let at = folder.display();
    sh(&format!("mount -t tmpfs -o size=12m tmpfs {at}")).unwrap();
    workspace.later(format!("umount {at}"));
    let tiny = run_in(&folder, None, &["--json"]).expect_finished();
    assert_eq!(points(&tiny.json()).len(), 4);
    assert!(names(&folder).is_empty());
    // If there is no space or permission for a new file, an existing foreign file is read. The
    // kernel frees the space of an ended ring's file slightly later.
    let film = format!("head -c 9000000 /dev/urandom > {at}/film");
    sh(&format!("i=0; until {film}; do i=$((i+1)); [ $i -lt 100 ] && sleep 0.1 || exit 1; done"))
        .unwrap();
    for options in ["rw", "ro"] {
        sh(&format!("mount -o remount,{options} {at}")).unwrap();
        let before = sh(&format!("sha256sum {at}/film")).unwrap();
        let read = run_in(&folder, None, &["--json"]).expect_finished();
        assert_eq!(read.json()["targets"][0]["kind"], "file", "{options}");
        assert_eq!(sh(&format!("sha256sum {at}/film")).unwrap(), before);
        assert_eq!(names(&folder), ["film"]);
    }
    sh(&format!("mount -o remount,rw {at} && rm {at}/film")).unwrap();
    // The kernel releases the file of an ended ring slightly later.
    let again = format!("i=0; until mount -o remount,ro {at}; do");
    sh(&format!("{again} i=$((i + 1)); [ $i -lt 50 ] || exit 1; sleep 0.1; done")).unwrap();
    let refused = run_in(&folder, None, &["--json"]).expect(3);
    assert_eq!(refused.out, "");
    for text in ["nothing was changed", "qdepth run first DIR"] {
        assert!(refused.err.contains(text), "{}", refused.err);
    }
}

#[test]
fn first_run_reads_and_keeps_earlier_measurement_file() {
    let workspace = Workspace::new();
    let words = "run first . --file-size 8MiB --duration 100ms --keep --no-report";
    workspace.run(words).expect_finished();
    let said = run_in(workspace.path(), None, &[]).expect_finished();
    assert!(said.out.contains("8MiB, kept by an earlier run"), "{}", said.out);
    assert!(workspace.has("qdepth-measurement-file"));
}

/// In the C locale, tables and texts are ASCII; documents for programs stay unchanged.
#[test]
fn ascii_locale_gets_ascii_output() {
    let workspace = Workspace::new();
    workspace.run("run quick media:p3700-800gb --profile database --no-report").expect_finished();
    for words in
        [&["show"][..], &["show", "--findings"], &["show", "--timeline"], &["list"], &["plans"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qdepth"));
        command.args(words).current_dir(workspace.path()).env("LC_ALL", "C");
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.is_ascii() && text.contains("---"), "{words:?}: {text}");
    }
}

/// Standard output of the run is the answer alone: a grid like CrystalDiskMark's with the figures
/// of the logbook, and at most three lines of findings.
#[test]
fn disk_mark_output_is_grid_of_eight_figures() {
    let workspace = Workspace::new();
    let ran = workspace.run("run disk-mark media:p3700-800gb --no-report --quiet").expect(0);
    assert_eq!(ran.err, "");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.len() <= 12, "{}", ran.out);
    let document = workspace.run("export").expect(0).json();
    let points = points(&document);
    for (name, profile, depth) in [
        ("SEQ1M Q8T1", "sequential-1m", 8),
        ("SEQ1M Q1T1", "sequential-1m", 1),
        ("RND4K Q32T1", "random-4k", 32),
        ("RND4K Q1T1", "random-4k", 1),
    ] {
        let line = lines.iter().find(|line| line.starts_with(name)).expect(name);
        let cells: Vec<&str> = line[name.len()..].split_whitespace().collect();
        for (cell, direction) in cells.iter().zip(["read", "write"]) {
            let is_it = |point: &&serde_json::Value| {
                point["profile"] == format!("{profile}-{direction}")
                    && point["queue_depth"] == depth
            };
            let point = points.iter().find(is_it).unwrap();
            let megabytes = point["mib_per_s"].as_f64().unwrap() * 1.048_576;
            let shown: f64 = cell.replace(',', "").parse().unwrap();
            assert!((shown / megabytes - 1.0).abs() < 0.01, "{line}: {megabytes}");
        }
    }
    let details = workspace.run("show --findings").expect(0).out;
    assert!(details.contains("Sequential 1 MiB, 100 % read") && details.contains("MiB/s"));
    assert!(details.lines().count() > lines.len() + 10, "{details}");
}

#[test]
fn tables_fit_the_terminal_width() {
    let workspace = Workspace::new();
    let words = "run media:p3700-800gb raid0(media:p3700-800gb*2) --queue-depth 1,8 \
                 --duration 50ms --no-report --profile database,streaming";
    workspace.run(words).expect_finished();
    workspace.run(words).expect_finished();
    let lines: [&[&str]; 7] = [
        &["list"],
        &["show"],
        &["plans"],
        &["profiles"],
        &["host"],
        &["compare", "latest~1", "latest"],
        &["plan", "quick", "media:p3700-800gb"],
    ];
    for words in lines {
        for columns in ["40", "60", "80", "120", "200"] {
            let ended = run_in(workspace.path(), Some(columns), words);
            assert!(!ended.out.is_empty(), "{words:?}: {}", ended.err);
            let most: usize = columns.parse().unwrap();
            for line in ended.out.lines() {
                // A command is not wrapped, so that it can be copied.
                let copied = line.trim_start().starts_with("qdepth ");
                let wide = unicode_width::UnicodeWidthStr::width(line);
                assert!(copied || wide <= most, "{words:?} in {columns} columns, {wide}: `{line}`");
            }
        }
        // Without a terminal tables are laid out for 80 columns; sentences stay whole.
        let piped = run_in(workspace.path(), None, words);
        let rules = piped.out.lines().filter(|line| line.starts_with('─'));
        for line in rules {
            assert!(line.chars().count() <= 80, "{words:?}: `{line}`");
        }
    }
    let list = run_in(workspace.path(), Some("80"), &["list"]).out;
    let started = jiff::Timestamp::now().to_string();
    assert!(list.contains("started") && list.contains(&started[5..10]), "{list}");
    assert!(list.contains("complete") && !list.contains("omitted at"), "{list}");
    let show = run_in(workspace.path(), Some("80"), &["show"]).out;
    assert_eq!(show.matches("\nDatabase\n").count(), 1, "a block a profile: {show}");
    assert!(show.contains("EMULATED"), "{show}");
    // With a longer plan, the state goes, because it is the same for every run.
    let long = "run write-pressure media:p3700-800gb --step-to 100MiB --duration 20ms --no-report";
    workspace.run(long).expect_finished();
    let list = run_in(workspace.path(), Some("80"), &["list"]).out;
    assert!(list.contains("started") && !list.contains("complete"), "{list}");
}

#[test]
fn beginner_typing_errors_get_helpful_answers() {
    let workspace = Workspace::new();
    workspace
        .write("own.toml", "name = \"x\"\nprofiles = [\"mail\", \"databse\"]\nqueue_depth = [1]\n");
    let cases: &[(&str, i32, &[&str])] = &[
        ("quick", 2, &["`quick` is a plan: qdepth run quick"]),
        ("standart /tmp", 2, &["`standard` is a plan: qdepth run standard /tmp"]),
        ("diskmark", 2, &["qdepth run disk-mark"]),
        (".", 2, &["`.` is a target: qdepth run first ."]),
        ("media:null", 2, &["qdepth run first media:null"]),
        ("rum", 2, &["did you mean `qdepth run`?"]),
        ("rnu", 2, &["did you mean `qdepth run`?"]),
        ("measure quick", 2, &["did you mean `qdepth run quick`?"]),
        ("rm last", 2, &["did you mean `qdepth logbook prune`?"]),
        (
            "run . quick",
            2,
            &["quick is a plan, and must come before the targets: qdepth run quick"],
        ),
        ("run standart", 2, &["Did you mean `standard`?", "`qdepth plans` lists"]),
        ("run nowhere/x", 2, &["there is no file, directory or device nowhere/x"]),
        ("run own.toml", 2, &["no profile `mail`"]),
        ("run databse", 2, &["Did you mean `--profile database`?"]),
        ("run randread", 2, &["Did you mean `--profile random-4k-read`?"]),
        ("run --profile databse media:null", 2, &["Did you mean `database`?"]),
        ("plan --show quik", 2, &["Did you mean `quick`?"]),
        ("run --queue-depth -1", 2, &["`-1` is not a number", "1-8"]),
        ("run --queue-depth 8-1", 2, &["Try 1-8"]),
        ("run --queue-depth 1-512", 2, &["example 1,2,4,8,16,32,64,128,256,512"]),
        ("run --queue-depth 1;8", 2, &["`1;8` is not a number"]),
        ("run --queue-depth", 2, &["--queue-depth"]),
        ("run --duration -5s", 2, &["'-5'"]),
        ("run --warm-up 9999h media:p3700-800gb", 2, &["a warm-up of", "at most 24h"]),
        ("run --file-size 10parsecs", 2, &["10parsecs"]),
        ("run --engine iouring", 2, &["io_uring"]),
        ("run --jsno", 2, &["--json"]),
        ("--jsno", 2, &["--json"]),
        ("list --logbook nowhere.db", 2, &["no logbook at nowhere.db"]),
        ("show 0", 2, &["qdepth.db"]),
        ("compare latest", 2, &["<B>"]),
        ("media p3700-800g", 2, &["p3700-800gb"]),
        ("run media:p3700", 2, &["no emulated device `p3700`. Did you mean `p3700-"]),
        ("man rum", 2, &["Did you mean `run`?"]),
        ("completions tcsh", 2, &["bash", "zsh", "fish"]),
        ("plan --resume", 2, &["qdepth export"]),
        ("run quick /etc/passwd", 3, &["/etc/passwd", "nothing was changed"]),
        ("plan quick /etc", 3, &[]),
        ("run quick /dev/null", 3, &["/dev/null"]),
    ];
    for (words, status, says) in cases {
        let ended = workspace.run(words);
        assert_eq!(ended.status, Some(*status), "{words}: {}{}", ended.out, ended.err);
        for text in *says {
            assert!(ended.err.contains(text), "`{words}` does not say `{text}`: {}", ended.err);
        }
        assert!(!ended.err.contains("similar subcommand exists: 'media'"), "{}", ended.err);
        for left in ["qdepth.db", "qdepth-report.html", "qdepth-measurement-file"] {
            assert!(!workspace.has(left), "`{words}` leaves {left}");
        }
    }
}

#[test]
fn plans_fit_small_areas_and_profiles_have_names() {
    let workspace = Workspace::new();
    for (words, says) in [
        ("plan area . --file-size 64MiB", "32MiB"),
        ("plan processes . --file-size 64MiB", "64MiB"),
        ("plan quick . --read-only", "Random 4 KiB, 100 % read"),
        (
            "plan quick . --warm-up 2s --engine sync --keep --logbook x.db --report y.html",
            "30 points",
        ),
        ("plan disk-mark .", "8 points"),
        ("plan quick media:p3700-800gb", "virtual time"),
    ] {
        let ended = workspace.run(words).expect(0);
        assert!(ended.out.contains(says), "{words}: no `{says}` in {}", ended.out);
    }
    let own = "name = \"own\"\nprofiles = [\"mail\", \"streaming\"]\nqueue_depth = [1]\n\
               duration = \"50ms\"\n[[profile]]\nname = \"mail\"\nrandom = 100\nread = 100\n\
               block_size = \"4KiB\"\n";
    workspace.write("own.toml", own);
    let words = "run own.toml media:p3700-800gb --json --no-report --warm-up 20ms";
    let document = workspace.run(words).expect_finished().json();
    let names: Vec<&str> =
        points(&document).iter().map(|point| point["profile"].as_str().unwrap()).collect();
    assert_eq!(names, ["mail", "streaming"]);
    assert!(points(&document).iter().all(|point| point["warm_up_ns"] == 20_000_000));
    let ranged = workspace.run(
        "run quick media:p3700-800gb --profile streaming --queue-depth 1-3,8 \
                            --duration 20ms --json --no-report",
    );
    assert_eq!(points(&ranged.expect_finished().json()).len(), 4);
}

#[test]
fn small_area_finding_needs_smaller_file_than_plan() {
    let workspace = Workspace::new();
    for (size, remarked) in [("", false), ("--file-size 64MiB", true)] {
        let words =
            format!("run disk-mark . --duration 20ms --warm-up 0 --no-report --json {size}");
        let ended = workspace.run(&words);
        let document = ended.json();
        let small: Vec<f64> = document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["code"] == "small-area")
            .map(|finding| finding["values"]["standard_bytes"].as_f64().unwrap())
            .collect();
        let wanted = if remarked { vec![f64::from(1 << 30)] } else { Vec::new() };
        assert_eq!(small, wanted, "{size}: {}", ended.err);
    }
}

#[test]
fn null_device_run_finishes_quickly() {
    let workspace = Workspace::new();
    let words = "run quick media:null --json --no-report --profile database --queue-depth 1,512";
    let ended = workspace.start(words).wait_at_most(std::time::Duration::from_secs(120));
    let document = ended.expect_finished().json();
    for point in points(&document) {
        assert_eq!(point["warm_up_ns"], 0);
        assert!(point["reads"].as_u64().unwrap() > 100_000, "{point}");
    }
}

#[test]
fn version_and_manual_pages_describe_the_program() {
    let workspace = Workspace::new();
    let version = workspace.run("--version").expect(0).out;
    for text in [env!("CARGO_PKG_VERSION"), "commit", "built", "engines", "io_uring", "schema"] {
        assert!(version.contains(text), "{version}");
    }
    assert_eq!(workspace.run("-V").expect(0).out.lines().count(), 1);
    let pages = workspace.run("man --names").expect(0).out;
    assert!(pages.lines().count() > 25, "{pages}");
    for page in pages.lines() {
        let words = page.trim_start_matches("qdepth");
        let troff = workspace.run(&format!("man{words}")).expect(0).out;
        assert!(troff.contains(".TH ") && troff.contains(".SH NAME"), "{page}: {troff}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let text = workspace.run(&format!("completions {shell}")).expect(0).out;
        assert!(text.contains("QDEPTH_COMPLETE"), "{shell}");
    }
    workspace.run("run latency media:null -q --no-report").expect_finished();
    // A shell would run what the name of this file says.
    workspace.write("qd;touch pwned", "");
    let run = workspace.run("list --json").json()["runs"][0]["id"].as_str().unwrap().to_owned();
    for (line, offered) in [
        ("run sta", "standard"),
        ("run standard media:p3700-8", "media:p3700-800gb"),
        ("run standard qdep", "qdepth.db"),
        ("fit-for etc", "etcd"),
        ("export --logbook qd", "qdepth.db"),
        ("run --profile data", "database"),
        ("media p3700-8", "p3700-800gb"),
        ("show 0", &run[..13]),
        ("report --lang j", "ja"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let asked = Command::new(env!("CARGO_BIN_EXE_qdepth"))
            .args(["--", "qdepth"])
            .args(&words)
            .current_dir(workspace.path())
            .env("QDEPTH_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
            .output()
            .unwrap();
        let answer = String::from_utf8(asked.stdout).unwrap();
        assert!(!answer.contains("touch"), "{line}: {answer}");
        assert!(answer.split_whitespace().any(|word| word == offered), "{line}: {answer}");
    }
    let plans = workspace.run("plans").expect(0).out;
    for text in ["disk-mark", "write-pressure", "A first number in five seconds"] {
        assert!(plans.contains(text), "{plans}");
    }
}
