//! `cargo xtask trust`: runs the campaigns that the project's trust rests on, and writes what came
//! of them to docs/method/trust.md. Each is a test that prints a line `TRIES NAME COUNT KEY=VALUE
//! …`.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

/// A test that tries something many times.
struct Campaign {
    /// As in its line.
    name: &'static str,
    /// What is tried, and what must come of it.
    what: &'static str,
    crate_name: &'static str,
    /// The file of tests; empty: the unit tests of the crate.
    file: &'static str,
    test: &'static str,
    /// How often, where there is time.
    tries: u64,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "flipped-bits",
        what: "one bit of a logbook flipped; `silent`: a figure changed without a word",
        crate_name: "qdepth-logbook",
        file: "altered",
        test: "a_flipped_bit_changes_nothing_unnoticed",
        tries: 10_000,
    },
    Campaign {
        name: "logbook-faults",
        what: "the n-th call that changes the logbook fails, fails for good, finds no room, writes \
               half, is cut off by a kill or by a loss of power; every call in every way",
        crate_name: "qdepth-logbook",
        file: "faults",
        test: "no_fault_of_a_call_loses_a_point",
        tries: 1_000_000,
    },
    Campaign {
        name: "kills-of-the-logbook",
        what: "a process that stores points killed at any moment; `lost`: points that were said to \
               be stored",
        crate_name: "qdepth-logbook",
        file: "crash",
        test: "killed_at_any_moment_no_stored_point_is_lost",
        tries: 10_000,
    },
    Campaign {
        name: "kills-in-virtual-time",
        what: "a run on an EMULATED medium killed at any moment and taken up again; `lost`: \
               finished points, or figures other than those of a whole run",
        crate_name: "qdepth",
        file: "faults",
        test: "killed_in_virtual_time_it_resumes_to_the_same_figures",
        tries: 5_000,
    },
    Campaign {
        name: "kills-on-files",
        what: "a run on a measurement file killed at any moment and taken up again; `lost`: \
               finished points",
        crate_name: "qdepth",
        file: "faults",
        test: "killed_at_any_moment_it_keeps_what_was_finished_and_resumes",
        tries: 500,
    },
    Campaign {
        name: "fuzz",
        what: "inputs that are right, altered blindly (without looking at what code they reach) \
               and given to every parser; `wrong`: panics, and more than a second of CPU time",
        crate_name: "qdepth-fuzz",
        file: "round",
        test: "no_parser_panics_or_hangs",
        tries: 10_000_000,
    },
    Campaign {
        name: "groups",
        what: "two groups of runs of the same load compared, 10 runs a side and 12 figures: runs \
               that differ by 3 %, by two modes, with outliers, skewed; `alarms`: tables in which \
               a difference was called that is none",
        crate_name: "qdepth-measure",
        file: "",
        test: "verdicts_over_a_table_are_wrong_in_no_more_than_their_share",
        tries: 2000,
    },
    Campaign {
        name: "groups-in-blocks",
        what: "the same, with runs that hang on those before them, interleaved in blocks of random \
               order; `in-turn`: false alarms where all runs of A come before those of B",
        crate_name: "qdepth-measure",
        file: "",
        test: "interleaved_runs_that_hang_on_one_another_raise_no_more_false_alarms",
        tries: 2000,
    },
    Campaign {
        name: "groups-until",
        what: "blocks of runs added until every figure of a table is decided, where nothing \
               differs",
        crate_name: "qdepth-measure",
        file: "",
        test: "looking_until_it_is_decided_keeps_the_share_of_false_alarms",
        tries: 2000,
    },
    Campaign {
        name: "changes",
        what: "30 runs without a change; `found`: a step of 5 % after 20 of them, where runs \
               differ by 3 %",
        crate_name: "qdepth-measure",
        file: "",
        test: "without_a_change_none_is_told_but_in_its_share",
        tries: 2000,
    },
    Campaign {
        name: "steady-cliffs",
        what: "rates that fall from 2 to 10 times to their level over 3 to 300 rounds; `biased`: \
               called steady more than 5 % off",
        crate_name: "qdepth-measure",
        file: "",
        test: "a_slow_cliff_is_not_called_steady_before_its_end",
        tries: 2000,
    },
    Campaign {
        name: "never-steady",
        what: "series that are steady, and series that never are; `claimed`: called steady or \
               cyclic all the same",
        crate_name: "qdepth-measure",
        file: "",
        test: "what_never_becomes_steady_is_not_called_so_and_what_is_steady_is",
        tries: 500,
    },
    Campaign {
        name: "verify-corruptions",
        what: "data damaged between write and read, in memory, in eleven ways, lost overwrites \
               among them",
        crate_name: "qdepth-linux",
        file: "verify",
        test: "no_corruption_is_missed_in_memory",
        tries: 1_000_000,
    },
    Campaign {
        name: "verify-corruptions-in-a-file",
        what: "the same in a file, through the kernel",
        crate_name: "qdepth-linux",
        file: "verify",
        test: "no_corruption_is_missed_in_a_file",
        tries: 1_000_000,
    },
    Campaign {
        name: "fit-flash",
        what: "flash drives whose numbers are drawn, measured by the plan `fit` in virtual time \
               with 1.5 % of noise, fitted, and predicted under other profiles and intensities, \
               and as RAID 0 and 1 of two; `coverage`: share of measured rates within the printed \
               95 % interval",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "a_flash_drive_is_predicted_elsewhere",
        tries: 200,
    },
    Campaign {
        name: "fit-disk",
        what: "disks whose numbers are drawn, measured by the plan `fit` in virtual time with 1.5 \
               % of noise, fitted, and predicted under other profiles and intensities, and as RAID \
               0 and 1 of two; `coverage`: share of measured rates within the printed 95 % \
               interval",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "a_disk_is_predicted_elsewhere",
        tries: 200,
    },
    Campaign {
        name: "fit-volume",
        what: "volumes with provisioned rates and credits whose numbers are drawn, measured by the \
               plan `fit` in virtual time with 1.5 % of noise, fitted, and predicted under other \
               profiles and intensities, and as RAID 0 and 1 of two; `coverage`: share of measured \
               rates within the printed 95 % interval",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "a_volume_is_predicted_elsewhere",
        tries: 200,
    },
    Campaign {
        name: "fit-network",
        what: "network volumes whose numbers are drawn, measured by the plan `fit` in virtual time \
               with 1.5 % of noise, fitted, and predicted under other profiles and intensities, \
               and as RAID 0 and 1 of two; `coverage`: share of measured rates within the printed \
               95 % interval",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "a_network_volume_is_predicted_elsewhere",
        tries: 200,
    },
    Campaign {
        name: "fit-memory",
        what: "memory whose numbers are drawn, measured by the plan `fit` in virtual time with 1.5 \
               % of noise, fitted, and predicted under other profiles and intensities, and as RAID \
               0 and 1 of two; `coverage`: share of measured rates within the printed 95 % \
               interval",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "memory_is_predicted_elsewhere",
        tries: 200,
    },
    Campaign {
        name: "fit-nights",
        what: "nights of drives that stay as they were, held against their own media; `alarms`: \
               nights with a point called below expected; beside it nights in which the drive is \
               slower by 30 % and is called",
        crate_name: "qdepth-fit",
        file: "own_media",
        test: "a_drive_as_it_was_is_called_slow_in_one_night_of_a_hundred_at_most",
        tries: 900,
    },
    Campaign {
        name: "fit-published-p3700",
        what: "two and four P3700 as published, predicted from nothing but the figures of one by \
               the general program",
        crate_name: "qdepth-fit",
        file: "published",
        test: "published::arrays_of_the_p3700_are_predicted_from_one",
        tries: 28,
    },
    Campaign {
        name: "fit-published-iodrive",
        what: "two ioDrives in each format as published, predicted from nothing but the 15 figures \
               of one by the general program",
        crate_name: "qdepth-fit",
        file: "published",
        test: "published::arrays_of_the_iodrive_are_predicted_from_one",
        tries: 90,
    },
    Campaign {
        name: "matrix-of-commands",
        what: "what is in use or holds data, under nine names, by `run`, `fio`, `ior`, a \
               preparation, each option that names a file, and a run taken up again; `changed`: \
               whole devices whose SHA-256 is another, or that were not refused",
        crate_name: "qdepth",
        file: "matrix",
        test: "whatever_is_in_use_or_holds_data_is_changed_by_no_command_under_no_name",
        tries: 2_600,
    },
    Campaign {
        name: "worlds-on-loop-devices",
        what: "contents, users and names of loop devices, drawn; `judged-wrong`: the guards say \
               other than the model",
        crate_name: "qdepth-host",
        file: "worlds",
        test: "every_world_of_loop_devices_is_judged_as_the_model_judges_it",
        tries: 2_000,
    },
    Campaign {
        name: "worlds-of-the-guards",
        what: "the same on a scripted machine, with what happens between look and act",
        crate_name: "qdepth-host",
        file: "",
        test: "every_world_is_judged_as_the_model_judges_it",
        tries: 120_000,
    },
];

const PAGE: &str = "docs/method/trust.md";
const HEAD: &str = "# Trust, tried

What each campaign tried and what came of it, written by `cargo xtask trust`; a row is that of the \
campaign's last run.
`cargo xtask trust --short` tries each a few times, `cargo xtask trust NAME` one of them, and \
`--read=FILE` takes what
tests printed that were run with `--nocapture` and `QDEPTH_TRIES`.

| campaign | what was tried | tries | result | test | row written |
|---|---|---|---|---|---|
";

/// Runs the campaigns with these names, all where there are none, and writes their rows.
pub fn trust(words: &[&str]) -> Result<()> {
    let (flags, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|w| w.starts_with("--"));
    let short = match flags.as_slice() {
        [] => false,
        ["--short"] => true,
        [flag] if flag.starts_with("--read=") => return read(&flag["--read=".len()..]),
        _ => bail!("usage: cargo xtask trust [--short | --read=FILE] [NAME…]"),
    };
    if let Some(other) = names.iter().find(|name| !CAMPAIGNS.iter().any(|c| c.name == **name)) {
        let known: Vec<&str> = CAMPAIGNS.iter().map(|campaign| campaign.name).collect();
        bail!("there is no campaign {other}: {}", known.join(", "));
    }
    let chosen = |campaign: &&Campaign| names.is_empty() || names.contains(&campaign.name);
    let (mut rows, mut failed) = (rows()?, Vec::new());
    for campaign in CAMPAIGNS.iter().filter(chosen) {
        println!("{} …", campaign.name);
        match run(campaign, short) {
            Ok(row) => {
                println!("{row}");
                rows.insert(campaign.name.to_owned(), row);
                write(&rows)?;
            }
            Err(why) => failed.push(format!("{}: {why:#}", campaign.name)),
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Writes the rows of campaigns that ran elsewhere, from what they printed.
fn read(file: &str) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let mut rows = rows()?;
    for campaign in CAMPAIGNS {
        if let Some((tries, result)) = campaign_result(campaign, &text) {
            rows.insert(campaign.name.to_owned(), row(campaign, tries, result, &when()?));
        }
    }
    write(&rows)
}

/// The last line of a campaign: how many tries, and what came of them.
fn campaign_result<'t>(campaign: &Campaign, text: &'t str) -> Option<(&'t str, &'t str)> {
    let begins = format!("TRIES {} ", campaign.name);
    let line =
        text.lines().rev().find_map(|line| line.split_once(&begins).map(|(_, rest)| rest))?;
    Some(line.split_once(' ').unwrap_or((line, "")))
}

/// The rows that are there, by campaign; those of campaigns that are no more are left out.
fn rows() -> Result<BTreeMap<String, String>> {
    let text = match std::fs::read_to_string(root().join(PAGE)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.context(PAGE)?,
    };
    let name = |line: &str| line.split('`').nth(1).map(str::to_owned);
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let named = rows.filter_map(|row| Some((name(row)?, row.to_owned())));
    Ok(named.filter(|(name, _)| CAMPAIGNS.iter().any(|c| c.name == name)).collect())
}

fn write(rows: &BTreeMap<String, String>) -> Result<()> {
    let ordered = CAMPAIGNS.iter().filter_map(|campaign| rows.get(campaign.name));
    let lines: Vec<&str> = ordered.map(String::as_str).collect();
    std::fs::write(root().join(PAGE), format!("{HEAD}{}\n", lines.join("\n"))).context(PAGE)
}

/// Runs a campaign; its row.
fn run(campaign: &Campaign, short: bool) -> Result<String> {
    let Campaign { name, crate_name, file, test, .. } = campaign;
    // Where all files of tests are one binary, a test has its file's name before its own.
    let joined = root().join("crates").join(crate_name).join("tests/all.rs").is_file();
    let (target, test) = match (*file, joined) {
        ("", _) => (vec!["--lib"], (*test).to_owned()),
        (file, true) => (vec!["--test", "all"], format!("{file}::{test}")),
        (file, false) => (vec!["--test", file], (*test).to_owned()),
    };
    let mut command = Command::new("cargo");
    // Fits are hours of arithmetic: as it is shipped, a third of the time.
    let build: &[&str] = if *crate_name == "qdepth-fit" { &["--release"] } else { &[] };
    command
        .args(["test", "-q", "-p", crate_name])
        .args(build)
        .args(target)
        .args(["--", "--exact", &test, "--nocapture"])
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    if !short {
        command.env("QDEPTH_TRIES", campaign.tries.to_string());
    }
    let out = command.output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&out.stdout);
    if !out.status.success() {
        bail!("failed: {}", text.trim());
    }
    let outcome = campaign_result(campaign, &text);
    let (tries, result) =
        outcome.with_context(|| format!("it printed no line `TRIES {name} …`"))?;
    Ok(row(campaign, tries, result, &when()?))
}

fn row(campaign: &Campaign, tries: &str, result: &str, when: &str) -> String {
    let Campaign { name, what, crate_name, file, test, .. } = campaign;
    let location =
        if file.is_empty() { (*crate_name).to_owned() } else { format!("{crate_name}, {file}") };
    let result = result.split(' ').map(|pair| pair.replacen('=', " ", 1)).collect::<Vec<_>>();
    format!(
        "| `{name}` | {what} | {tries} | {} | {location}: `{test}` | {when} |",
        result.join(", ")
    )
}

/// The day and the commit.
fn when() -> Result<String> {
    let line = output("git", &["log", "-1", "--format=%cs, %h"], &[0])?;
    Ok(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_again_by_its_name() {
        let row = row(&CAMPAIGNS[0], "10000", "silent=0 said=3", "today");
        assert_eq!(row.split('`').nth(1), Some(CAMPAIGNS[0].name));
        assert!(row.contains("| 10000 | silent 0, said 3 |"), "{row}");
        assert_eq!(row.lines().count(), 1);
        let text =
            "TRIES flipped-bits 3 silent=1\ntest x ... TRIES flipped-bits 4 silent=0 said=1\n";
        assert_eq!(campaign_result(&CAMPAIGNS[0], text), Some(("4", "silent=0 said=1")));
        assert_eq!(campaign_result(&CAMPAIGNS[1], text), None);
    }
}
