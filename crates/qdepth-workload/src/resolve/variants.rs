//! Variants: prepared forms of storage, each a column of a comparison. Each is prepared, measured
//! by its own plan and undone before the next; then the plans are combined.

use super::ways::{bad, comparison};
use super::{Choices, ResolveError, needs_writing, without_points};
use crate::comparison::{Compared, ComparisonSpec, Role, Variant, VariantSpec};
use crate::plan::Plan;
use crate::profile::PlanFile;

impl PlanFile {
    /// The plan of each variant on its own, with the choices that apply to it; empty if the file
    /// has no variants.
    ///
    /// # Errors
    /// If they cannot be compared.
    pub fn alone(&self, choices: &Choices) -> Result<Vec<(Self, Choices)>, ResolveError> {
        if self.variants.is_empty() {
            return Ok(Vec::new());
        }
        check(self, choices)?;
        let choices = Choices { base: None, published: Vec::new(), ..choices.clone() };
        let alone = |variant: &VariantSpec| {
            let file = Self {
                name: format!("{} ({})", self.name, variant.name),
                prepare: [self.prepare.as_slice(), &variant.prepare].concat(),
                variants: Vec::new(),
                comparison: None,
                ..self.clone()
            };
            (file, choices.clone())
        };
        let all: Vec<_> = self.variants.iter().map(alone).collect();
        // An error in the last variant is reported before the first is prepared.
        all.iter().try_for_each(|(file, choices)| needs_writing(file, choices).map(drop))?;
        Ok(all)
    }
}

fn check(file: &PlanFile, choices: &Choices) -> Result<(), ResolveError> {
    let named = |name: &str| file.variants.iter().filter(|other| other.name == name).count();
    let twice = file.variants.iter().find(|v| v.name.trim().is_empty() || named(&v.name) > 1);
    if let Some(variant) = twice {
        return Err(bad(format!("the name `{}` must not be empty or used twice", variant.name)));
    }
    let of_targets =
        |spec: &ComparisonSpec| matches!(spec.of, Compared::Targets | Compared::CpuSettings);
    let wrong = if file.variants.len() < 2 {
        "a comparison needs at least two variants"
    } else if !file.comparison.as_ref().is_none_or(of_targets) {
        "variants need a comparison with of = \"targets\""
    } else if !file.steps.is_empty() || file.staircase.is_some() || file.bandwidth.is_some() {
        "a comparison needs profiles at queue depths (`queue_depth`), without steps"
    } else if !file.own_targets.is_empty() {
        "each variant names its own target: remove the plan's targets"
    } else if choices.variants.is_some() {
        "the plan names its variants: remove --variants"
    } else if choices.processes.is_some() || choices.arrays > 0 {
        "--processes and --array apply to other comparisons: remove them"
    } else {
        return Ok(());
    };
    Err(bad(wrong))
}

/// Combines the plans of all variants, in their order, into one with a target for each variant.
///
/// # Errors
/// If the base does not exist.
pub fn side_by_side(
    file: &PlanFile,
    choices: &Choices,
    plans: Vec<Plan>,
) -> Result<Plan, ResolveError> {
    let (mut variants, mut points, mut precondition) = (Vec::new(), Vec::new(), Vec::new());
    let (mut groups, mut first_groups) = (0, 0);
    let seed = plans.first().map_or(1, |plan| plan.seed);
    for ((number, spec), plan) in (0..).zip(&file.variants).zip(plans) {
        for (all, of_plan, groups) in [
            (&mut points, plan.points, &mut groups),
            (&mut precondition, plan.precondition, &mut first_groups),
        ] {
            let next = of_plan.last().map_or(*groups, |point| *groups + point.group + 1);
            for mut point in of_plan {
                point.index = all.len() as u32;
                point.group += *groups;
                point.target = number;
                point.variant = Some(number);
                all.push(point);
            }
            *groups = next;
        }
        variants.push(Variant {
            name: spec.name.clone(),
            role: Role::Variant,
            parts: 1,
            times: 1,
            target: number,
            prepare: plan.prepare,
        });
    }
    Ok(Plan {
        comparison: Some(comparison(file, choices, variants)?),
        precondition,
        points,
        ..without_points(file, seed)?
    })
}
