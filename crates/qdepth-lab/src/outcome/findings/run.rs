//! Findings about a run as a whole, and about the state of its targets.

use qdepth_measure::{Code, Finding, SteadyRounds, SteadyRule, SteadyState, label};
use qdepth_workload::{
    Choices, Durability, Extent, Plan, PlanFile, Point, STANDARD_AREA, TargetShape, resolve,
    shipped_plan_text,
};

use crate::target::identity::Changed;
use crate::target::prepare::Prepared;

/// Findings of a run before its first point.
pub(crate) fn of_run(plan: &Plan, prepared: &[Prepared]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let real = prepared.iter().any(|target| target.real().is_some());
    if real && plan.precondition.is_empty() {
        findings.push(Finding::remark(Code::MediumStateUnknown));
    }
    let emulated = |point: &Point| prepared[point.target as usize].real().is_none();
    if plan.points.iter().any(|point| point.verify && emulated(point)) {
        findings.push(not_literal("verify", label::NOTHING_TO_VERIFY));
    }
    let durable = |point: &Point| point.durability != Durability::None;
    if plan.points.iter().any(|point| durable(point) && emulated(point)) {
        findings.push(not_literal("sync", label::NOTHING_TO_FORCE));
    }
    let smallest = plan.points.iter().map(|p| p.area.length_bytes).min().unwrap_or(0);
    let asked = asked_area(&plan.name);
    if smallest < asked {
        findings.push(
            Finding::remark(Code::SmallArea)
                .value("bytes", smallest as f64)
                .value("standard_bytes", asked as f64),
        );
    }
    findings
}

/// Finding about an option that was not followed literally; `what` is the code of what was done
/// instead.
pub fn not_literal(option: &str, what: &str) -> Finding {
    Finding::remark(Code::NotLiteral).label("option", option).label("what", what)
}

/// Finding about a drive on another NUMA node than these CPUs of its workers.
pub(crate) fn far_drive(drive: &str, node: u32, cpus: &[u32]) -> Finding {
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    Finding::remark(Code::FarDrive)
        .label("device", drive)
        .label("node", node.to_string())
        .label("cpus", cpus.join(","))
}

/// Finding about a target that is not the claimed one.
pub(crate) fn device_changed(changed: &Changed) -> Finding {
    Finding::invalid(Code::DeviceChanged).label("was", &changed.was).label("is", &changed.is)
}

/// Findings about a target that did not become steady; `point` is one round of it.
pub(crate) fn not_steady(
    target: &Prepared,
    point: &Point,
    rounds: &SteadyRounds,
    rule: SteadyRule,
) -> Option<Finding> {
    let verdict = rounds.verdict();
    if verdict.state == SteadyState::Steady {
        return None;
    }
    let finding = Finding::remark(Code::NotSteady)
        .label("target", target.expression.display().to_string())
        .label("state", verdict.state.as_str())
        .label("rule", rule.as_str())
        .value("rounds", rounds.count() as f64)
        .value("io_per_s", verdict.level);
    let finding = if point.read_share < 1.0 {
        finding.value("times_written", rounds.written())
    } else {
        finding
    };
    if verdict.state == SteadyState::TooShort {
        return Some(finding);
    }
    let period_ns = verdict.period_rounds.map(|rounds| rounds * point.stop.duration_ns as f64);
    let finding =
        finding.value("range_share", verdict.range_share).value("slope_share", verdict.slope_share);
    Some(match period_ns {
        Some(period_ns) => finding.value("period_ns", period_ns),
        None => finding,
    })
}

/// The smallest area that the shipped plan of this name uses, in bytes; for any other plan the
/// standard area. Areas that a plan uses by design are no reason for a finding.
fn asked_area(plan: &str) -> u64 {
    let standard = STANDARD_AREA.0;
    let Some(file) = shipped_plan_text(plan).and_then(|text| text.parse::<PlanFile>().ok()) else {
        return standard;
    };
    let whole = file.file_size.map_or(standard, |size| size.0);
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: whole }, 512);
    let resolved = resolve(&file, &Choices::default(), &[shape]);
    let areas = resolved.map_or_else(|_| Vec::new(), |plan| plan.points);
    let least = areas.iter().map(|point| point.area.length_bytes).min();
    least.unwrap_or(whole).min(standard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_plan_is_compared_with_its_own_area() {
        const GIB: u64 = 1 << 30;
        for (plan, bytes) in [
            ("first", GIB / 4),
            ("disk-mark", GIB),
            ("quick", GIB),
            ("latency", GIB),
            ("fit", 4 * GIB),
            ("standard", 32 * GIB),
            ("processes", 32 * GIB),
            ("a plan of one's own", 32 * GIB),
        ] {
            assert_eq!(asked_area(plan), bytes, "{plan}");
        }
    }

    #[test]
    fn no_shipped_plan_exceeds_the_standard_area() {
        for plan in qdepth_workload::shipped_plan_names() {
            let asked = asked_area(plan);
            assert!((1 << 20..=STANDARD_AREA.0).contains(&asked), "{plan}: {asked}");
        }
    }
}
