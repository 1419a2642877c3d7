//! Commands that run a plan for the one question that it answers.

use qdepth_lab::failure::Usage;
use qdepth_workload::{PlanFile, shipped_plan_names, shipped_plan_text};

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
    /// The plan where the words name none.
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

    /// Refuses a plan that does not answer the command's question.
    pub(crate) fn check(self, file: &PlanFile) -> Result<(), Usage> {
        if self.is_met(file) {
            return Ok(());
        }
        let answers = |name: &&str| {
            let text = shipped_plan_text(name).unwrap_or_default();
            text.parse::<PlanFile>().is_ok_and(|file| self.is_met(&file))
        };
        let plans = shipped_plan_names().filter(answers).collect::<Vec<_>>().join(", ");
        let name = &file.name;
        Err(Usage(match self {
            Self::Limits => format!(
                "plan `{name}` does not search for the highest rate. Name only the target, for \
                 example qdepth answer . --at p99.9=1ms, or a plan file with answer = \
                 [\"p99.9=1ms\"]"
            ),
            Self::Points | Self::Requirements => format!(
                "fit-for needs a plan with requirements, and `{name}` has none. Name an \
                 application first: {plans}, or a plan file with [[requirement]]. Try `qdepth \
                 fit-for etcd .`"
            ),
        }))
    }
}
