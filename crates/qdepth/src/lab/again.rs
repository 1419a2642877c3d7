//! The command that asks for a run's plan again. What devices lose is never part of it: that is
//! consented to anew.

use qdepth_logbook::record::{Observation, RunRecord};
use qdepth_reference::shell_word;
use qdepth_workload::PlanFile;

use crate::flags::{EngineFlag, RunOptions};
use crate::lab::read_plan::plan_word;

/// What is kept of the command beside the run; nothing where no words asked for it.
pub(crate) fn command(options: &RunOptions, file: &PlanFile, seed: u64) -> Option<Observation> {
    let (plan, _) = plan_word(&options.load);
    let threads = file.bandwidth.as_ref().map_or(&[][..], |bandwidth| &bandwidth.threads);
    let mut words = options.load.words_again(plan, seed, threads)?;
    if options.engine != EngineFlag::Auto {
        words.extend(["--engine".to_owned(), options.engine.name()]);
    }
    words.splice(..0, ["qdepth".to_owned(), "run".to_owned()]);
    let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    Some(Observation {
        subject: RunRecord::COMMAND.0.to_owned(),
        key: RunRecord::COMMAND.1.to_owned(),
        value: Ok(quoted.join(" ")),
        source: "command line of qdepth".to_owned(),
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;
    use qdepth_host::system::System;
    use qdepth_workload::shipped_plan_names;

    use super::*;
    use crate::flags::{Command, Flags};
    use crate::lab::foresee::foresee;
    use crate::lab::read_plan;

    fn options(words: &[String]) -> RunOptions {
        match Flags::try_parse_from(words).unwrap_or_else(|why| panic!("{words:?}: {why}")).command
        {
            Command::Run(options) => *options,
            _ => panic!("{words:?} is no run"),
        }
    }

    /// The hash of what the words ask for, and the command that is told.
    fn asked(words: &[String]) -> (String, String) {
        let options = options(words);
        let asked = read_plan::read(&options.load).unwrap_or_else(|why| panic!("{words:?}: {why}"));
        let (plan, _) =
            foresee(&System::real(), &asked).unwrap_or_else(|why| panic!("{words:?}: {why:#}"));
        let told = command(&options, &asked.file, plan.seed).unwrap();
        (plan.hash(), told.value.unwrap())
    }

    fn comes_again(line: &str) -> String {
        let words = shlex::split(line).unwrap();
        let (hash, told) = asked(&words);
        let (again, told_again) = asked(&shlex::split(&told).unwrap());
        assert_eq!(hash, again, "{line}\n{told}");
        assert_eq!(told, told_again, "{line}");
        hash
    }

    #[test]
    fn the_command_that_is_told_asks_for_the_same_plan() {
        let drive = "media:p3700-800gb";
        let files = tempfile::tempdir().unwrap();
        let folder = files.path().join("with space").display().to_string();
        std::fs::create_dir(&folder).unwrap();
        for plan in shipped_plan_names() {
            let targets = match plan {
                "bandwidth" => format!("'{folder}'"),
                "options" => continue,
                "devices" | "arrays" => "media:p3700-800gb*2".to_owned(),
                _ => drive.to_owned(),
            };
            comes_again(&format!("qdepth run {plan} {targets}"));
        }
        let mut hashes = BTreeSet::new();
        let lines = [
            format!("qdepth run {drive}"),
            format!("qdepth run {drive} --seed 7"),
            format!("qdepth run standard {drive} --outstanding 1,3,9 --profile database"),
            format!("qdepth run standard {drive} --duration 1500ms --request-size 16KiB"),
            format!("qdepth run standard {drive} --until ±2.5% --area 3GiB --seed 9"),
            format!("qdepth run latency {drive} --until-credible 99.99 --read-only"),
            format!("qdepth run write-pressure {drive} --step-from 50MiB --step-to 300MiB"),
            format!("qdepth run write-pressure {drive} --step-by 70MiB --reader-rate 123.5"),
            format!("qdepth run quick {drive} --precondition steady --engine sync"),
            format!("qdepth run processes {drive} --processes 1,3 --base 2"),
            format!("qdepth run devices {drive} {drive} --array 'raid0(media:p3700-800gb*2)'"),
            format!("qdepth run media-comparison {drive} media:p4800x-375gb --variants a,'b c'"),
            format!("qdepth run bandwidth '{folder}' --threads 3,5 --transfer 2MiB --passes 2"),
            format!("qdepth run bandwidth '{folder}' --bytes-per-thread 64MiB --shared-file"),
        ];
        for line in &lines {
            hashes.insert(comes_again(line));
        }
        assert_eq!(hashes.len(), lines.len(), "each option has its plan");
    }

    #[test]
    fn what_no_words_asked_for_has_no_command() {
        let words = ["qdepth", "run", "media:p3700-800gb"].map(str::to_owned);
        let mut options = options(&words);
        let given = read_plan::read(&options.load).unwrap();
        let file = given.file.clone();
        options.load.given = Some(given);
        assert!(command(&options, &file, 1).is_none());
    }
}
