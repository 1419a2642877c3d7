//! Commands that run a plan for the one question that it answers.

use std::path::Path;

use qdepth_files::shell_word;
use qdepth_lab::failure::Usage;
use qdepth_media::is_emulated;
use qdepth_workload::{PlanFile, meant, shipped_plan_names, shipped_plan_text};

/// True for the name of a shipped plan, or a plan file.
pub(crate) fn is_plan(word: &str) -> bool {
    let is_toml = || Path::new(word).extension().is_some_and(|ending| ending == "toml");
    shipped_plan_text(word).is_some() || (!is_emulated(word) && is_toml())
}

/// The part of a plan that a command cannot do without.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Needed {
    /// Nothing: `qdepth run`.
    #[default]
    Points,
    /// Requirements: `qdepth fit-for`.
    Requirements,
    /// Limits for a search: `qdepth answer`.
    Limits,
}

impl Needed {
    /// Plan that runs if the words name none.
    pub(crate) fn default_plan(self) -> &'static str {
        match self {
            Self::Points | Self::Requirements => "quick",
            Self::Limits => "answer",
        }
    }

    fn is_met(self, file: &PlanFile) -> bool {
        match self {
            Self::Points => true,
            Self::Requirements => !file.requirements.is_empty(),
            Self::Limits => !file.answer.is_empty(),
        }
    }

    /// Shipped plans that answer the command's question.
    pub(crate) fn plans(self) -> Vec<&'static str> {
        let answers = |name: &&str| {
            let text = shipped_plan_text(name).unwrap_or_default();
            text.parse::<PlanFile>().is_ok_and(|file| self.is_met(&file))
        };
        shipped_plan_names().filter(answers).collect()
    }

    /// Refuses a plan that does not answer the command's question. `words` are those of the
    /// command line.
    pub(crate) fn check(self, file: &PlanFile, words: &[String]) -> Result<(), Usage> {
        if self.is_met(file) {
            return Ok(());
        }
        let (name, plans) = (&file.name, self.plans());
        let first = words.first().filter(|word| !word.contains(['/', ':', '(']));
        let is_name = |word: &&String| {
            shipped_plan_text(word).is_none() && std::fs::symlink_metadata(word).is_err()
        };
        if let (Self::Requirements, Some(word)) = (self, first.filter(is_name)) {
            let meant = meant(word, &plans, "");
            return Err(Usage(format!("there is no application `{word}`{meant}")));
        }
        let targets = &words[usize::from(words.first().is_some_and(|word| is_plan(word)))..];
        let targets: Vec<_> = targets.iter().map(|word| shell_word(word)).collect();
        let targets = if targets.is_empty() { ".".to_owned() } else { targets.join(" ") };
        Err(Usage(match self {
            Self::Limits => format!(
                "plan `{name}` does not search for the highest rate. Name only the target: \
                 `qdepth answer {targets} --at p99.9=1ms`, or a plan file with answer = \
                 [\"p99.9=1ms\"]"
            ),
            Self::Points | Self::Requirements => format!(
                "fit-for needs a plan with requirements, and `{name}` has none. Name an \
                 application first: {}, or a plan file with [[requirement]]. Try `qdepth fit-for \
                 etcd {targets}`",
                plans.join(", ")
            ),
        }))
    }
}
