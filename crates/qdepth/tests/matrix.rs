//! Targets in use or with data, under every name and by every command: `run`, `fio`, `ior`, a
//! preparation, every option for a file, and a resumed run. Each is refused, and the SHA-256 of the
//! whole target does not change. Needs root; cases that cannot run here print `SKIPPED`.

/// Test bench shared with the guards' matrix.
#[cfg(test)]
#[allow(dead_code, clippy::allow_attributes, reason = "no test file uses all of it")]
#[path = "../../qdepth-host/tests/common/mod.rs"]
mod common;
#[cfg(test)]
#[allow(dead_code, clippy::allow_attributes, reason = "which guard refuses is their own matrix's")]
#[path = "../../qdepth-host/tests/matrix_cases/mod.rs"]
mod matrix_cases;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Ended, Workspace, has_tools, pause};
use common::{Bench, has};
use matrix_cases::{CASES, Case, Prepared};
use qdepth_host::consent;
use qdepth_host::target::inspect;

/// Ways to access a target, with their command lines. `TARGET`, `CONSENT` (arguments) and `PLACE`
/// (a directory of the test) are placeholders.
#[cfg(test)]
const WAYS: &[(&str, &[&str])] = &[
    ("run", &["run PLACE/plan.toml TARGET CONSENT --json --no-report --logbook PLACE/q.db"]),
    (
        "fio",
        &["fio --no-report --logbook PLACE/q.db CONSENT --name=j --filename=TARGET \
           --rw=randwrite --bs=4k --size=1m"],
    ),
    ("ior", &["ior --no-report --logbook PLACE/q.db CONSENT -- -w -k -t 4k -b 64k -o TARGET"]),
    ("prepare", &["host prepare PLACE/prepare.toml --apply CONSENT --journal PLACE/undo.jsonl"]),
    (
        "outputs",
        &[
            "host --record TARGET",
            "run quick media:p3700-800gb --logbook TARGET --no-report",
            "run PLACE/plan.toml media:p3700-800gb --logbook PLACE/q.db --report TARGET",
            "serve-medium media:p3700-800gb --socket TARGET",
            "fio --no-report --logbook PLACE/q.db --output-format=json --output=TARGET --name=j \
             --filename=media\\:p3700-800gb --rw=randread --size=1m",
            "ior --report TARGET --logbook PLACE/q.db -- -t 4k -b 64k -o PLACE/f \
             -O summaryFile=TARGET",
            "host prepare PLACE/prepare.toml --apply CONSENT --journal TARGET",
        ],
    ),
    ("resume", &["run --resume CONSENT --no-report --logbook PLACE/q.db"]),
];

/// Cases that do not apply here, with the reasons.
#[cfg(test)]
const NOT_HERE: &[(&str, &str)] = &[
    ("root disk", "a hole would cost the machine; the guards' own matrix asks without consent"),
    ("directory", "is a right target of a run: the measurement file is made in it"),
];

#[cfg(test)]
const PLAN: &str = "name = \"matrix\"\nqueue_depth = [1, 2]\nwarm_up = \"0s\"\nduration = \"1s\"\n\
                    [[profile]]\nname = \"load\"\nrandom = 100\nread = 0\n\
                    block_size = \"4KiB\"\n";

/// Directory of an interrupted run whose target is a link, which the cases redirect.
#[cfg(test)]
fn interrupted(workspace: &Workspace) -> PathBuf {
    let link = workspace.join("target");
    let device = workspace.device("free", 64 << 20);
    symlink(&device, &link).unwrap();
    workspace.write("plan.toml", PLAN);
    let words = consent_words(workspace, &device);
    let mut run = workspace.start(&format!(
        "run plan.toml {} {words} --json --no-report --logbook base.db",
        link.display()
    ));
    run.wait_for_err("IOPS");
    pause(200);
    run.signal("INT");
    run.wait().expect(130);
    link
}

/// Arguments that consent to the loss of a device's data; empty for a file.
#[cfg(test)]
fn consent_words(workspace: &Workspace, target: &Path) -> String {
    let system = qdepth_host::system::System::real();
    let Ok(inspected) = inspect(&system, target) else { return String::new() };
    let Some(device) = inspected.block_device() else { return String::new() };
    let now = jiff::Timestamp::now();
    fs::write(workspace.join("consent"), consent::template(&system, device, now)).unwrap();
    let token = consent::tokens(&system, device).remove(0);
    format!("--destroy {token} --consent {}", workspace.join("consent").display())
}

/// Number of names under which each pair of target and way is tested.
#[cfg(test)]
fn names_each() -> usize {
    let tries: Option<usize> =
        std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok());
    tries.map_or(1, |tries| tries.div_ceil(CASES.len() * WAYS.len()))
}

/// Counts of tested cases.
#[cfg(test)]
#[derive(Default)]
struct Tried {
    targets: usize,
    refused: usize,
    wrong: Vec<String>,
}

#[test]
fn no_command_changes_used_or_nonempty_storage() {
    if !has_tools("matrix of commands", &["losetup", "mkfs.ext4"]) {
        return;
    }
    let workspace = Workspace::new();
    let link = interrupted(&workspace);
    let mut tried = Tried::default();
    for (at, case) in CASES.iter().enumerate() {
        if let Some((_, why)) = NOT_HERE.iter().find(|(name, _)| *name == case.name) {
            println!("SKIPPED: {}: {why}", case.name);
            continue;
        }
        if let Some(lacks) = case.tools.iter().find(|tool| !has(tool)) {
            println!("SKIPPED: {}: {lacks} is not installed", case.name);
            continue;
        }
        let bench = Bench::new();
        match (case.prepare)(&bench) {
            Ok(prepared) => {
                tried.targets += 1;
                try_target(&workspace, &link, &bench, (at, case), &prepared, &mut tried);
            }
            Err(why) => println!("SKIPPED: {}: {why}", case.name),
        }
    }
    let Tried { targets, refused, wrong } = tried;
    println!("TRIES matrix-of-commands {refused} changed={} targets={targets}", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > targets * 4, "{refused} refusals of {targets} targets");
}

#[cfg(test)]
fn try_target(
    workspace: &Workspace,
    link: &Path,
    bench: &Bench,
    (at, case): (usize, &Case),
    prepared: &Prepared,
    tried: &mut Tried,
) {
    let Some(before) = prepared.checksum() else { return };
    let consent =
        if prepared.consent { consent_words(workspace, &prepared.target) } else { String::new() };
    let names = bench.spellings(&prepared.target);
    let is_device = inspect(&bench.system, &prepared.target)
        .is_ok_and(|inspected| inspected.block_device().is_some());
    for (number, (way, lines)) in WAYS.iter().enumerate() {
        // A result replaces a regular file of its name, and reports that.
        if *way == "outputs" && !is_device {
            continue;
        }
        for round in 0..names_each() {
            let (expression, path, _fd) = &names[(at + number + round) % names.len()];
            let line = lines[(at + round) % lines.len()];
            let path = std::path::absolute(path).unwrap();
            let ended = asked(workspace, link, line, &path, &consent);
            let told = format!("{}, {expression}, {way} `{line}`: {ended:?}", case.name);
            let refused = matches!(ended.status, Some(2 | 3)) && !ended.err.is_empty();
            if prepared.checksum().as_ref() != Some(&before) {
                tried.wrong.push(format!("CHANGED: {told}"));
                return;
            }
            if refused {
                tried.refused += 1;
            } else {
                tried.wrong.push(format!("not refused: {told}"));
            }
        }
    }
}

/// Runs one command line on a target.
#[cfg(test)]
fn asked(workspace: &Workspace, link: &Path, line: &str, target: &Path, consent: &str) -> Ended {
    let at = workspace.path().display().to_string();
    fs::remove_file(link).unwrap();
    symlink(target, link).unwrap();
    let _ = fs::remove_file(workspace.join("q.db"));
    if line.contains("--resume") {
        fs::copy(workspace.join("base.db"), workspace.join("q.db")).unwrap();
    }
    let step = format!(
        "[[prepare]]\nstep = \"file-system\"\nkind = \"ext4\"\ndevice = \"{}\"\n",
        target.display()
    );
    fs::write(workspace.join("prepare.toml"), step).unwrap();
    let words = line
        .replace("TARGET", &target.display().to_string())
        .replace("CONSENT", consent)
        .replace("PLACE", &at);
    let output = Command::new(env!("CARGO_BIN_EXE_qdepth"))
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
