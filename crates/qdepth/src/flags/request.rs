//! Request of `qdepth run` to the lab.

use std::path::{Path, PathBuf};

use anyhow::Result;
use qdepth_linux::EngineChoice;
use qdepth_media::is_emulated;
use qdepth_workload::PlanFile;

use crate::flags::needed::Needed;
use crate::flags::read_plan::{self, plan_word};
use crate::flags::{ConsentOptions, RunOptions, must_have_no_limit};
use qdepth_lab::failure::Usage;
use qdepth_lab::request::{ConsentWords, Pinning, PlanRequest, RunRequest};

impl RunOptions {
    /// Request of these options.
    ///
    /// # Errors
    /// If the words name no valid plan and targets.
    pub(crate) fn request(&self) -> Result<RunRequest> {
        let plan = if self.resume { None } else { Some(read_plan::read(&self.load)?) };
        if let Some(PlanRequest { file, .. }) = &plan
            && file.staircase.is_none()
            && (file.steps.is_empty() || file.steps.iter().any(|step| step.loads.len() < 2))
        {
            let limits = &self.report.presentation.limit;
            must_have_no_limit(limits, &format!("plan `{}`", file.name))?;
        }
        if let Some(plan) = &plan {
            let (name, words) = plan_word(&self.load);
            self.consent.must_apply(plan, words.is_empty().then_some(name))?;
        }
        Ok(self.request_for(plan))
    }

    /// The same for a plan that answers the question of a command.
    pub(crate) fn with(mut self, needed: Needed) -> Self {
        self.load.needed = needed;
        self
    }

    /// The same plan on this target alone, which is no comparison.
    pub(crate) fn on_target(&self, target: &str) -> Self {
        let mut alone = self.clone();
        let (plan, _) = plan_word(&self.load);
        alone.load.words = vec![plan.to_owned(), target.to_owned()];
        alone.load.typed.retain(|option| option.name != "variants");
        alone
    }

    /// True if standard output receives only the lines of events.
    pub(crate) fn prints_events_alone(&self) -> bool {
        self.events.as_deref() == Some(Path::new("-"))
    }

    /// The same for a plan that was read before; `None` to resume the last run.
    pub(crate) fn request_for(&self, plan: Option<PlanRequest>) -> RunRequest {
        RunRequest {
            command: plan.as_ref().map(|plan| self.words_again(&plan.file)),
            plan,
            logbook: self.logbook.logbook.clone(),
            events: self.events.clone().filter(|_| !self.prints_events_alone()),
            is_kept: true,
            keep: self.keep,
            stop_on_throttle: self.stop_on_throttle,
            expect: self.expect.clone(),
            consent: self.consent.words(),
            engine: self.engine,
            pinning: match &self.cpus {
                Some(cpus) => Pinning::InTurn(cpus.0.clone()),
                None if self.no_pin => Pinning::Scheduler,
                None => Pinning::Near,
            },
            remarks: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Words that request the same plan, without its seed. Consent to destroy data is never part of
    /// them: it must be given again.
    pub(crate) fn words_again(&self, file: &PlanFile) -> Vec<String> {
        let (plan, _) = plan_word(&self.load);
        let threads = file.bandwidth.as_ref().map_or(&[][..], |bandwidth| &bandwidth.threads);
        let mut words = vec!["qdepth".to_owned(), "run".to_owned()];
        words.extend(self.load.words_again(plan, threads));
        if self.engine != EngineChoice::Auto {
            words.extend(["--engine", self.engine.name()].map(str::to_owned));
        }
        words
    }
}

impl ConsentOptions {
    /// Refuses consent if no target needs it: all are emulated, or all are directories. `alone` is
    /// the name of the plan if the command line has no target: its only target is then the current
    /// directory, which needs no consent.
    fn must_apply(&self, plan: &PlanRequest, alone: Option<&str>) -> Result<(), Usage> {
        let emulated = |target: &PathBuf| target.to_str().is_some_and(is_emulated);
        let file = self.consent.iter().map(|file| format!("--consent {}", file.display()));
        let serials = self.destroy.iter().map(|serial| format!("--destroy {serial}"));
        let names = self.overwrite_signature.iter();
        let names = names.map(|name| format!("--overwrite-signature {name}"));
        let Some(given) = file.chain(serials).chain(names).next() else { return Ok(()) };
        let targets = &plan.targets;
        if !targets.is_empty() && targets.iter().all(emulated) {
            return Err(Usage(format!(
                "{given}: an emulated device holds no data to destroy. Remove this option"
            )));
        }
        if let Some(name) = alone
            && targets[..] == [PathBuf::from(".")]
            && plan.file.host_steps().is_empty()
        {
            return Err(Usage(format!(
                "{given} needs the device or file that it is for, and none is named; the current \
                 directory would be measured, which needs no consent. Name the target, for \
                 example `qdepth run {name} /dev/nvme0n1 {given}`"
            )));
        }
        if let Some(first) = targets.first()
            && targets.iter().all(|target| target.is_dir())
            && plan.file.host_steps().is_empty()
        {
            return Err(Usage(format!(
                "{given}: {} is a directory, where qdepth overwrites only files that it created. \
                 Remove this option, or name a file or device",
                first.display()
            )));
        }
        Ok(())
    }

    /// Words for the lab.
    pub(crate) fn words(&self) -> ConsentWords {
        ConsentWords {
            destroy: self.destroy.clone(),
            file: self.consent.clone(),
            overwrite_signature: self.overwrite_signature.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

    use std::collections::BTreeSet;

    use qdepth_host::system::System;
    use qdepth_workload::shipped_plan_names;

    use super::*;
    use crate::flags::{Command, Flags};
    use qdepth_lab::run::record::command;
    use qdepth_lab::target::preview::{Preview, preview};

    fn options(words: &[String]) -> RunOptions {
        match Flags::read_from(words).unwrap_or_else(|why| panic!("{words:?}: {why}")).command {
            Some(Command::Run(options)) => *options,
            Some(Command::Answer(options)) => options.with(Needed::Limits),
            _ => panic!("{words:?} is not a run"),
        }
    }

    /// Hash of the plan that the words request, and the command that qdepth shows for it.
    fn asked(words: &[String]) -> (String, String) {
        let request = options(words).request().unwrap_or_else(|why| panic!("{words:?}: {why}"));
        let Preview { plan, .. } = preview(&System::real(), request.plan.as_ref().unwrap())
            .unwrap_or_else(|why| panic!("{words:?}: {why:#}"));
        let shown = command(&request, plan.seed).unwrap();
        (plan.hash(), shown.value.unwrap())
    }

    fn comes_again(line: &str) -> String {
        let words = shlex::split(line).unwrap();
        let (hash, shown) = asked(&words);
        let (again, shown_again) = asked(&shlex::split(&shown).unwrap());
        assert_eq!(hash, again, "{line}\n{shown}");
        assert_eq!(shown, shown_again, "{line}");
        hash
    }

    #[test]
    fn suggested_command_requests_the_same_plan() {
        let drive = "media:p3700-800gb";
        let files = tempfile::tempdir().unwrap();
        let folder = files.path().join("with space").display().to_string();
        std::fs::create_dir(&folder).unwrap();
        for plan in shipped_plan_names() {
            let targets = match plan {
                "bandwidth" | "metadata" => format!("'{folder}'"),
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
            format!("qdepth answer {drive} --at p99=3ms"),
            format!("qdepth answer {drive} --at p99=3ms --within 5min"),
            format!("qdepth run standard {drive} --queue-depth 1,3,9 --profile database"),
            format!("qdepth run standard {drive} --duration 1500ms --block-size 16KiB"),
            format!("qdepth run standard {drive} --until ±2.5% --area 3GiB --seed 9"),
            format!("qdepth run latency {drive} --until-credible 99.99 --read-only"),
            format!("qdepth run write-pressure {drive} --step-from 50MiB --step-to 300MiB"),
            format!("qdepth run write-pressure {drive} --step-by 70MiB --reader-rate 123.5"),
            format!("qdepth run quick {drive} --precondition steady --engine sync"),
            format!("qdepth run quick {drive} --precondition until-steady"),
            format!("qdepth run quick {drive} --precondition until-steady-snia --round 2s"),
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
    fn request_without_command_words_has_no_command() {
        let words = ["qdepth", "run", "media:p3700-800gb"].map(str::to_owned);
        let plan = options(&words).request().unwrap().plan.unwrap();
        assert!(command(&RunRequest::new(plan, "qdepth.db".into()), 1).is_none());
    }
}
