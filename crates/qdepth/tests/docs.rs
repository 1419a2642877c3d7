//! Runs every command of the README and of the pages below, with a workspace for each page. Names
//! of the reader's storage are replaced by an emulated drive or a folder, and long runs are
//! shortened, as the tables define. Fences marked `not run: WHY` are counted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::Workspace;

/// Pages, with their numbers of commands that run and of fences that do not.
const PAGES: [(&str, usize, usize); 16] = [
    ("README.md", 5, 1),
    ("docs/README.md", 0, 0),
    ("docs/quick-start.md", 6, 0),
    ("docs/cookbook.md", 80, 0),
    ("docs/troubleshooting.md", 3, 0),
    ("docs/installation.md", 3, 3),
    ("docs/recipes/ci-gate.md", 3, 0),
    ("docs/recipes/cluster.md", 2, 4),
    ("docs/recipes/cloud-volumes.md", 9, 0),
    ("docs/recipes/burn-in.md", 7, 0),
    ("docs/recipes/many-drives.md", 3, 0),
    ("docs/recipes/kubernetes.md", 1, 0),
    ("docs/recipes/sql.md", 1, 0),
    ("docs/fio.md", 11, 0),
    ("docs/migration/ior.md", 4, 0),
    ("docs/migration/iometer.md", 4, 0),
];

/// Placeholders for the reader's storage and files, with their replacements.
const STANDS_FOR: &[(&str, &str)] = &[
    ("--overwrite-signature ext4", ""),
    ("--destroy SERIAL2", ""),
    ("--destroy SERIAL", ""),
    ("--destroy S4EWNX0M123456", ""),
    ("--destroy …", ""),
    ("/dev/nvme{1,2,3,4}n1", "media:p3700-800gb media:p3700-800gb"),
    ("/dev/nvme*n1", "media:p3700-800gb media:p3700-800gb"),
    ("/dev/nvme1n1", "media:p3700-800gb"),
    ("/dev/nvme2n1", "media:p3700-800gb"),
    ("/dev/md0", "'raid0(media:p3700-800gb*2)'"),
    // PDF is set by a second program.
    ("html,pdf,md", "html,md"),
    ("--format pdf", "--format html"),
    ("--cpus 0-3,8", "--cpus 0"),
    ("mpirun -n 8 ", ""),
    ("/lustre/scratch", "/mnt/scratch"),
    ("RUN RUN", "latest"),
    ("RUN TEXT", "latest text"),
    ("RUN WHY", "latest why"),
    ("RUN", "latest"),
    ("PLAN TARGET", "quick /mnt/scratch"),
];

/// Long commands, with shorter replacements.
const SHORT: &[(&str, &str)] = &[
    // A point for each of 56 loads, in virtual time.
    ("pts-iops … --repeat until-steady", "pts-iops media:p3700-800gb --repeat 2"),
    ("--repeat until-steady", "--repeat 2"),
    // Up to a hundred runs on a noisy disk; tests/repeat.rs covers it.
    ("--repeat until=2%", "--repeat 2"),
    ("qdepth fit-for etcd /mnt", "qdepth fit-for etcd --duration 1s /mnt"),
    ("--repeat 10", "--repeat 2"),
    ("--repeat 6", "--repeat 2"),
    ("--repeat 5", "--repeat 2"),
    ("in 1 2 3 4 5 6", "in 1 2"),
    ("-b 1g -N 8", "-b 1m -N 2"),
    ("--step-from 100MiB --step-to 700MiB --step-by 100MiB", "--step-from 1MiB --step-to 2MiB"),
    // On a disk shared by tests, the steps may end after the first.
    ("write-pressure /mnt/scratch", "write-pressure media:p3700-800gb"),
    ("isolation /mnt/scratch", "isolation media:p3700-800gb"),
    ("plan standard /mnt/scratch", "plan standard /mnt/scratch --file-size 16MiB"),
    ("run standard --until", "run quick media:p3700-800gb --profile streaming --until"),
    (
        "qdepth run --resume",
        "timeout -s INT 2 \"$QDEPTH\" run --profile database --queue-depth 1 --duration 4s \
         --file-size 8MiB; qdepth run --resume",
    ),
    // One kind of drive instead of five.
    ("qdepth media fit latest", "qdepth media fit latest --kind flash"),
    (
        "qdepth answer /mnt/scratch",
        "qdepth answer /mnt/scratch --within 1s --duration 60ms --warm-up 10ms --file-size 16MiB",
    ),
    ("qdepth certify", "qdepth certify --duration 10ms"),
    ("qdepth host check", "qdepth host check --duration 100ms"),
    ("qdepth reproduce", "qdepth reproduce write-pressure"),
    // Tests change no setting of the machine that they run on.
    ("host tune --apply", "host tune"),
    ("qdepth host undo", "qdepth host undo --journal undo.jsonl"),
];

/// Words of commands that would change a machine: no line contains them after its replacement.
const CHANGES: [&str; 4] = ["--apply", "sudo ", "--destroy", "/dev/"];

/// Options that shorten a run, unless they do not apply to its plan.
const SHORT_RUN: [(&str, &str); 3] =
    [("--duration", "60ms"), ("--warm-up", "10ms"), ("--file-size", "16MiB")];

/// Options that shorten a run of a bandwidth plan.
const SHORT_BANDWIDTH: [(&str, &str); 3] =
    [("--threads", "1,2"), ("--transfer", "64KiB"), ("--bytes-per-thread", "256KiB")];
/// Plans with fixed queue depths, or without any.
const OWN_INTENSITIES: [&str; 8] = [
    ".toml",
    "disk-mark",
    "fit",
    "latency",
    "pts-",
    "write-pressure",
    "isolation",
    "--queue-depth",
];
/// Commands that run only at their first occurrence.
const ONCE: [&str; 6] =
    ["qdepth", "qdepth host", "qdepth run", "qdepth run disk-mark", "qdepth media", "qdepth serve"];

/// Pages tested at the same time: most commands wait for storage or for time to pass.
const AT_ONCE: usize = 3;

/// Exit statuses of successful commands: valid, invalid points (short runs), inconclusive (few
/// runs), and 124 of a stopped server.
const GOOD: [&str; 4] = ["0", "1", "5", "124"];

/// Wrapper script that runs the program and records its exit status.
const WRAPPER: &str = r#"#!/bin/sh
case "$1" in
serve) timeout -s INT 1 "$QDEPTH" "$@" --port 0 ;;
serve-medium) timeout -s INT 1 "$QDEPTH" "$@" ;;
*) "$QDEPTH" "$@" ;;
esac
status=$?
echo "$status qdepth $*" >>"$CALLS"
exit $status
"#;

/// Smallest result file of Iometer.
const IOMETER: &str = "'Results\n'Target Type,Target Name,Access Specification Name,# Managers,\
# Workers,# Disks,IOps,Read IOps,Write IOps,MBps (Binary),Average Response Time,Errors\n\
ALL,All,8 KiB 67% read,1,1,1,1000,670,330,7.8,1.5,0\n";

/// Part of a page for the shell.
#[derive(Debug)]
#[cfg(test)]
enum Piece {
    /// Plan on the page, stored under its name.
    Plan(String),
    Run(String),
    NotRun(String),
}

/// Fences and inline commands, in the order of the page.
#[cfg(test)]
fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            let spans = line.split('`').skip(1).step_by(2).map(str::trim);
            let own = spans.filter(|span| *span == "qdepth" || span.starts_with("qdepth "));
            pieces.extend(own.map(|span| Piece::Run(span.replace('\u{a0}', " "))));
            continue;
        };
        let fence: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
        let text = match language {
            "sh" => fence.join("\n"),
            "console" => {
                let typed: Vec<&str> =
                    fence.iter().filter_map(|line| line.strip_prefix("$ ")).collect();
                typed.join("\n")
            }
            "toml" if fence.iter().any(|line| line.starts_with("name = ")) => {
                pieces.push(Piece::Plan(fence.join("\n")));
                continue;
            }
            _ => continue,
        };
        pieces.push(match rest.strip_prefix("not run: ") {
            Some(why) => Piece::NotRun(why.to_owned()),
            None => Piece::Run(text),
        });
    }
    pieces
}

/// Replaces the value of an option, or adds the option after `qdepth run`.
#[cfg(test)]
fn with_option(line: &str, name: &str, value: &str) -> String {
    let words = line.find(&format!("{name} ")).map(|at| line.split_at(at + name.len() + 1));
    let Some((before, behind)) = words else {
        return line.replace("qdepth run", &format!("qdepth run {name} {value}"));
    };
    let rest = behind.find(char::is_whitespace).map_or("", |end| &behind[end..]);
    format!("{before}{value}{rest}")
}

/// Adapts a line of a page for the test.
#[cfg(test)]
fn here(line: &str, place: &Path) -> String {
    let mut line = line.to_owned();
    for (from, to) in STANDS_FOR.iter().chain(SHORT) {
        line = line.replace(from, to);
    }
    let lasts = line.contains("qdepth run") && !line.contains("--resume");
    let options = match () {
        () if !lasts || line.contains("--until ") => &[][..],
        () if line.contains("run bandwidth") => &SHORT_BANDWIDTH,
        () => &SHORT_RUN,
    };
    for (name, value) in options {
        line = with_option(&line, name, value);
    }
    let own = OWN_INTENSITIES.iter().any(|plan| line.contains(plan));
    if options == SHORT_RUN && !own {
        line = with_option(&line, "--queue-depth", "1,4");
    }
    line.replace(" …", "").replace("/mnt/", &format!("{}/", place.display()))
}

/// Creates what the pages assume: folders, logbooks of earlier runs, files of other programs.
#[cfg(test)]
fn furnish(workspace: &Workspace) -> PathBuf {
    for folder in ["bin", "scratch", "a", "b"] {
        fs::create_dir(workspace.join(folder)).unwrap();
    }
    let wrapper = workspace.join("bin/qdepth");
    fs::write(&wrapper, WRAPPER).unwrap();
    crate::common::sh(&format!("chmod +x {}", wrapper.display())).unwrap();
    let short = "--queue-depth 1 --profile database --duration 50ms --no-report";
    for logbook in ["qdepth.db", "before.db", "after.db", "other.db"] {
        for _ in 0..2 {
            workspace
                .run(&format!("run quick media:p3700-800gb {short} --logbook {logbook}"))
                .expect_finished();
        }
    }
    workspace
        .write("jobs.fio", "[j]\nfilename=probe\nsize=1m\nrw=randread\nruntime=1\ntime_based\n");
    let fio = workspace.run("fio --output-format=json --output=fio.json jobs.fio");
    fio.expect_finished();
    workspace.write("results.csv", IOMETER);
    workspace.write("paper.toml", "title = \"A paper\"\n");
    workspace.join("bin")
}

/// Workspace with a copy of the furnished folder.
#[cfg(test)]
fn furnished_like(other: &Path) -> Workspace {
    let workspace = Workspace::new();
    let (from, to) = (other.display(), workspace.path().display());
    crate::common::sh(&format!("cp -a '{from}/.' '{to}'")).unwrap();
    workspace
}

/// Command of a line, without the comment after it.
#[cfg(test)]
fn typed(line: &str) -> &str {
    line.split(" # ").next().unwrap_or(line).trim()
}

#[cfg(test)]
fn changes_this_machine(script: &str) -> bool {
    let script = script.replace("/dev/null", "");
    CHANGES.iter().any(|word| script.contains(word))
}

#[cfg(test)]
fn run_page(
    (page, folder): (&str, &Workspace),
    bin: &Path,
    before: &Mutex<BTreeSet<String>>,
) -> (usize, usize, Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(page)).unwrap();
    let calls = folder.join("calls");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let (mut run, mut not_run, mut wrong) = (0, 0, Vec::new());
    for piece in pieces(&text) {
        let script = match piece {
            Piece::Run(script) => script,
            Piece::Plan(text) => {
                let name = text.lines().find_map(|line| line.strip_prefix("name = \""));
                let name = name.unwrap().trim_end_matches('"');
                folder.write(&format!("{name}.toml"), &text);
                continue;
            }
            Piece::NotRun(_) => {
                not_run += 1;
                continue;
            }
        };
        if !script.contains("qdepth") {
            continue;
        }
        let lines = script.lines().filter(|line| {
            let again = !before.lock().unwrap().insert(typed(line).to_owned())
                && ONCE.contains(&typed(line));
            run += usize::from(again);
            !again
        });
        let lines: Vec<&str> = lines.collect();
        // Determined before paths are inserted, because the checkout's folder may be named
        // `qdepth`.
        let calls_us = lines.iter().any(|line| line.contains("qdepth"));
        let script: Vec<String> = lines.iter().map(|line| here(line, folder.path())).collect();
        let script = script.join("\n");
        if changes_this_machine(&script) {
            wrong.push(format!("{page}: this would change the machine: {script}"));
            continue;
        }
        fs::write(&calls, "").unwrap();
        let began = std::time::Instant::now();
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("QDEPTH", env!("CARGO_BIN_EXE_qdepth"))
            .env("CALLS", &calls)
            .output()
            .unwrap();
        println!("{:5.1} s  {page}: {script}", began.elapsed().as_secs_f64());
        let called = fs::read_to_string(&calls).unwrap();
        run += called.lines().count();
        let bad = |line: &&str| !GOOD.contains(&line.split(' ').next().unwrap_or_default());
        let said = String::from_utf8_lossy(&output.stderr);
        let all_called = !calls_us || !called.is_empty();
        if !all_called || called.lines().any(|line| bad(&line)) {
            wrong.push(format!("{page}: {script}\n{called}{said}"));
        }
    }
    (run, not_run, wrong)
}

#[test]
fn every_command_in_docs_works() {
    let (wrong, before) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    let template = Workspace::new();
    let (bin, like) = (furnish(&template), template.path());
    // Starts with the page with the most commands, and runs the others in parallel.
    let mut pages = PAGES.to_vec();
    pages.sort_by_key(|(_, commands, _)| *commands);
    let pages = Mutex::new(pages);
    let next = || pages.lock().unwrap().pop();
    let worker = || {
        while let Some((page, commands, fences)) = next() {
            let workspace = furnished_like(like);
            let (run, not_run, mut of_page) = run_page((page, &workspace), &bin, &before);
            println!("{page}: {run} commands were run, {not_run} fences were not");
            for line in &of_page {
                println!("WRONG: {line}");
            }
            if run < commands {
                of_page.push(format!("{page}: {run} commands were run, and there were {commands}"));
            }
            if not_run != fences {
                of_page.push(format!("{page}: {not_run} fences are not run, {fences} are known"));
            }
            wrong.lock().unwrap().append(&mut of_page);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(worker);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn fences_and_code_spans_are_extracted_and_shortened() {
    let page = "Type `qdepth list`, not `ls`.\n```sh\ncd /mnt/a\nqdepth run\n```\n```console\n\
                $ qdepth run x --duration 5min y\noutput\n```\n```sh not run: far away\nqdepth\n\
                ```\n";
    let found = pieces(page);
    let text = |piece: &Piece| match piece {
        Piece::Plan(text) | Piece::Run(text) | Piece::NotRun(text) => text.clone(),
    };
    let texts: Vec<String> = found.iter().map(text).collect();
    let wanted =
        ["qdepth list", "cd /mnt/a\nqdepth run", "qdepth run x --duration 5min y", "far away"];
    assert_eq!(texts, wanted);
    assert!(matches!(found[3], Piece::NotRun(_)));
    let short = here(&texts[2], Path::new("/p"));
    assert_eq!(
        short,
        "qdepth run --queue-depth 1,4 --file-size 16MiB --warm-up 10ms x --duration 60ms y"
    );
    assert_eq!(here("cd /mnt/a", Path::new("/p")), "cd /p/a");
    for line in ["qdepth run /dev/sdz", "qdepth host tune --apply x", "qdepth run x --destroy Y"] {
        assert!(changes_this_machine(line), "{line}");
    }
    assert!(!changes_this_machine(&here("qdepth host tune --apply 2>/dev/null", Path::new("/p"))));
}
