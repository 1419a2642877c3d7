//! Tests of drives with various capabilities, and of slow sanitizes, on a simulated machine.

use std::cell::RefCell;

use super::*;
use crate::prepare::journal::Journal;
use crate::prepare::{Action, apply};
use crate::tests::machine::FakeMachine;

const DEVICE: &str = "/dev/nvme0n1";
const LOG: &str = "nvme sanitize-log /dev/nvme0n1 -o json";
const NEVER: &str = "(0) NVM subsystem has never been sanitized.";
const WORKING: &str = "(2) A sanitize operation is currently in progress.";
const DONE: &str = "(1) Most Recent Sanitize Command Completed Successfully.";
const FAILED: &str = "(3) Most Recent Sanitize Command Failed.";

/// JSON document of nvme-cli.
fn log(status: &str, progress: u32) -> String {
    format!(
        "{{\"nvme0n1\":{{\"sprog\":{progress},\"sstat\":{{\"global_erased\":0,\
         \"no_cmplted_passes\":0,\"status\":\"{status}\"}},\"cdw10_info\":2,\
         \"time_over_write\":4294967295,\"time_block_erase\":90}}}}"
    )
}

/// A drive with one namespace and these capabilities.
fn drive(oacs: u32, fna: u32, sanicap: u32) -> FakeMachine {
    FakeMachine::new().disk("nvme0n1", "259:0").nvme("nvme0n1", "nvme0", 1).with_output(
        "nvme id-ctrl /dev/nvme0n1 -o json",
        0,
        &format!("{{\"oacs\":{oacs},\"fna\":{fna},\"sanicap\":{sanicap}}}"),
    )
}

fn namespaces(machine: FakeMachine, all: bool, list: &str) -> FakeMachine {
    let line = format!("nvme list-ns {DEVICE} -o json{}", if all { " --all" } else { "" });
    machine.with_output(&line, 0, &format!("{{\"nsid_list\":[{list}]}}"))
}

fn purge(device: &str, method: PurgeMethod) -> Step {
    Step::Purge { device: device.to_owned().try_into().unwrap(), method }
}

fn asked(machine: &FakeMachine, method: PurgeMethod) -> Result<(), String> {
    can_purge(&machine.system, &[purge(DEVICE, method)]).map_err(|no| {
        assert_eq!(no.guard, Guard::G16Purge);
        no.to_string()
    })
}

fn assert_refused(answer: Result<(), String>, parts: &[&str]) {
    let no = answer.unwrap_err();
    assert!(no.contains("nothing was changed"), "{no}");
    for part in parts {
        assert!(no.contains(part), "nothing says `{part}`: {no}");
    }
}

#[test]
fn format_needs_support_of_the_drive() {
    // Values of an Intel P4610: it supports format, but not sanitize.
    let machine = drive(0x6, 0x4, 0);
    assert_eq!(asked(&machine, PurgeMethod::Format), Ok(()));
    assert_refused(
        asked(&machine, PurgeMethod::Sanitize),
        &[DEVICE, "SANICAP 0x0", "no other method", "`method = \"format\"`, which it supports"],
    );
    assert_refused(
        asked(&drive(0x4, 0, 0), PurgeMethod::Format),
        &[DEVICE, "OACS 0x4", "`method = \"discard\"`"],
    );
}

#[test]
fn discard_and_overwrite_need_no_drive_support() {
    let machine = FakeMachine::new();
    for method in [PurgeMethod::Discard, PurgeMethod::Overwrite] {
        assert_eq!(asked(&machine, method), Ok(()));
    }
}

#[test]
fn sanitize_needs_block_erase_and_a_log() {
    assert_refused(
        asked(&drive(0, 0, 0b101), PurgeMethod::Sanitize),
        &["SANICAP 0x5", "it supports crypto erase and overwrite. Use `method = \"discard\"`"],
    );
    let able = || namespaces(drive(0, 0, 0b010), false, "{\"nsid\":1}");
    assert_eq!(
        asked(&able().with_output(LOG, 0, &log(NEVER, 65535)), PurgeMethod::Sanitize),
        Ok(())
    );
    assert_eq!(
        asked(&able().with_output(LOG, 0, &log(FAILED, 65535)), PurgeMethod::Sanitize),
        Ok(())
    );
    assert_refused(
        asked(&able().with_output(LOG, 0, &log(WORKING, 1)), PurgeMethod::Sanitize),
        &["is being sanitized already", LOG.trim_end_matches(" -o json")],
    );
    assert_refused(asked(&able(), PurgeMethod::Sanitize), &["could not wait for it"]);
    assert_refused(
        asked(&able().with_output(LOG, 1, "NVMe status: Invalid Log Page"), PurgeMethod::Sanitize),
        &["could not wait for it", "Invalid Log Page"],
    );
}

#[test]
fn purge_that_erases_other_namespaces_is_refused() {
    let two = "{\"nsid\":1},{\"nsid\":2},{\"nsid\":7}";
    for fna in [0b01, 0b10, 0b11] {
        let alone = namespaces(drive(2, fna, 0), false, "{\"nsid\":1}");
        assert_eq!(asked(&alone, PurgeMethod::Format), Ok(()), "{fna:#b}");
        let shared = namespaces(drive(2, fna, 0), false, two);
        assert_refused(
            asked(&shared, PurgeMethod::Format),
            &["namespace 2, 7", "nvme delete-ns", "discard"],
        );
    }
    // A drive that formats each namespace separately may have others.
    assert_eq!(asked(&namespaces(drive(2, 0, 0), false, two), PurgeMethod::Format), Ok(()));
    assert_refused(
        asked(&namespaces(drive(0, 0, 2), false, two), PurgeMethod::Sanitize),
        &["a sanitize erases the whole drive", "namespace 2, 7"],
    );
    // If the drive manages namespaces, unattached ones count, too.
    let hidden = namespaces(drive(8, 0, 2), false, "{\"nsid\":1}");
    assert_refused(
        asked(&hidden, PurgeMethod::Sanitize),
        &["the namespaces of /dev/nvme0n1 are unknown"],
    );
    let seen = namespaces(hidden, true, "{\"nsid\":1},{\"nsid\":2}");
    assert_refused(asked(&seen, PurgeMethod::Sanitize), &["namespace 2"]);
    let nonsense = namespaces(drive(0, 0, 2), false, "{\"nsid\":3}");
    assert_refused(asked(&nonsense, PurgeMethod::Sanitize), &["does not list its own, 1"]);
}

#[test]
fn drive_purge_needs_a_whole_nvme_namespace() {
    let machine = drive(2, 0, 2)
        .partition("nvme0n1", "nvme0n1p1", "259:1")
        .disk("sda", "8:0")
        .disk("md0", "9:0");
    let ask = |device: &str| {
        can_purge(&machine.system, &[purge(device, PurgeMethod::Format)])
            .map_err(|no| no.to_string())
    };
    assert_refused(ask("/dev/nvme0n1p1"), &["is a partition", "erases all of /dev/nvme0n1"]);
    assert_refused(ask("/dev/sda"), &["/dev/sda is not an NVMe namespace", "discard"]);
    assert_refused(ask("/dev/md0"), &["/dev/md0 is not an NVMe namespace"]);
    assert_refused(ask("/dev/nvme0"), &["/dev/nvme0 is not a block device"]);
}

#[test]
fn unanswered_identify_command_refuses_the_purge() {
    let silent = FakeMachine::new().disk("nvme0n1", "259:0").nvme("nvme0n1", "nvme0", 1);
    assert_refused(
        asked(&silent, PurgeMethod::Format),
        &["did not report which erase commands", "Install nvme-cli"],
    );
    let denied = silent.with_output("nvme", 1, "Permission denied");
    assert_refused(asked(&denied, PurgeMethod::Format), &["Permission denied", "as root"]);
    let short = denied.with_output("nvme", 0, "{\"oacs\":2}");
    assert_refused(asked(&short, PurgeMethod::Format), &["has no `fna`"]);
}

const QUICK: Patience = Patience { pause: Duration::ZERO, polls: 5, polls_per_line: 2 };

/// Lines printed during the wait, and its result.
fn waited(answers: &[String], patience: Patience) -> (Vec<String>, io::Result<()>) {
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let machine = FakeMachine::new().with_outputs(LOG, &answers);
    let lines = RefCell::new(Vec::new());
    let watch =
        Watch { print_line: &|line| lines.borrow_mut().push(line.to_owned()), stop: &|| false };
    let end = wait_for_sanitize(&machine.system, DEVICE, patience, watch);
    (lines.into_inner(), end)
}

#[test]
fn sanitize_wait_reports_its_progress() {
    let answers = [log(WORKING, 0), log(WORKING, 16384), log(WORKING, 49152), log(DONE, 65535)];
    let (lines, end) = waited(&answers, QUICK);
    end.unwrap();
    assert_eq!(
        lines,
        [
            "sanitize   /dev/nvme0n1: 0 %, 90 s in total by its own estimate",
            "sanitize   /dev/nvme0n1: 75 %, 90 s in total by its own estimate",
        ]
    );
    // It completed before the first poll, or with blocks that stay allocated.
    for status in [DONE, "(4) Completed successfully with deallocation"] {
        let (lines, end) = waited(&[log(status, 65535)], QUICK);
        end.unwrap();
        assert!(lines.is_empty(), "{lines:?}");
    }
}

#[test]
fn incomplete_sanitize_is_a_failure() {
    let end = |answers: &[String]| waited(answers, QUICK).1.unwrap_err();
    let failed = end(&[log(WORKING, 9), log(FAILED, 65535)]).to_string();
    assert!(failed.contains("SSTAT 3") && failed.contains("sanitize it again"), "{failed}");
    let never = end(&[log(NEVER, 65535)]).to_string();
    assert!(never.contains("SSTAT 0"), "{never}");
    let slow = end(&vec![log(WORKING, 9); 6]);
    assert_eq!(slow.kind(), io::ErrorKind::TimedOut);
    assert!(slow.to_string().contains("continues it"), "{slow}");
    let unknown = end(&[log("(6) ?", 0)]).to_string();
    assert!(unknown.contains("unknown status"), "{unknown}");
    // After the first answer the drive, or nvme-cli, is gone.
    let gone = end(&[log(WORKING, 9)]).to_string();
    assert!(gone.contains("whether the sanitize continues"), "{gone}");
    let other = end(&["{\"nvme0n1\":{}}".to_owned()]).to_string();
    assert!(other.contains("reports no `sstat`"), "{other}");
}

#[test]
fn signal_ends_sanitize_wait_with_a_message() {
    let working = log(WORKING, 9);
    let machine = FakeMachine::new().with_outputs(LOG, &[&working, &working]);
    let watch = Watch { print_line: &|_| {}, stop: &|| true };
    let end = wait_for_sanitize(&machine.system, DEVICE, QUICK, watch).unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::Interrupted);
    assert!(end.to_string().contains("continues the sanitize"), "{end}");
}

#[test]
fn sanitize_step_sanitizes_then_waits() {
    let step = purge(DEVICE, PurgeMethod::Sanitize);
    let lines: Vec<String> = step.actions().iter().map(Action::text).collect();
    assert_eq!(
        lines,
        [
            "nvme sanitize /dev/nvme0n1 --sanact=2",
            "nvme sanitize-log /dev/nvme0n1 -o json (until it reports completion)",
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let machine = |status: &str| {
        FakeMachine::new()
            .disk("nvme0n1", "259:0")
            .with_output("nvme sanitize /dev/nvme0n1 --sanact=2", 0, "")
            .with_outputs(LOG, &[&log(status, 65535)])
    };
    let mut applied = |machine: &FakeMachine| {
        let mut devices = crate::prepare::tests::given(machine, &step);
        apply(&machine.system, &step, &mut devices, &mut journal, Watch::SILENT)
    };
    applied(&machine(DONE)).unwrap();
    let failed = applied(&machine(FAILED)).unwrap_err();
    let failed = failed.to_string();
    assert!(failed.contains("purge /dev/nvme0n1") && failed.contains("SSTAT 3"), "{failed}");
}
