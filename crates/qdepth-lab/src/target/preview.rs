//! Preview of a run, without touching anything.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::guard::{Verdict, Writing, review};
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind};
use qdepth_media::TargetExpression;
use qdepth_workload::{Plan, TargetShape, needs_writing, resolve};

use crate::request::PlanRequest;
use crate::request::provision::Provision;
use crate::target::prepare::{ResolvedTarget, all_different, find, of_one_kind, previewed};

/// Preview of a run.
pub struct Preview {
    /// The plan, resolved for the current targets.
    pub plan: Plan,
    /// The targets as found.
    pub found: Vec<ResolvedTarget>,
    /// Files to create in a directory.
    pub provision: Provision,
    shapes: Vec<TargetShape>,
}

impl Preview {
    /// The plan for the targets that were made ready: the same, unless the size or shape of one has
    /// changed.
    ///
    /// # Errors
    /// If the plan is impossible on the current targets.
    pub(crate) fn into_plan(self, asked: &PlanRequest, shapes: &[TargetShape]) -> Result<Plan> {
        if self.shapes == shapes {
            return Ok(self.plan);
        }
        Ok(resolve(&asked.file, &asked.choices, shapes)?)
    }
}

/// Resolves the plan for the targets as they are, without changing anything.
pub fn preview(system: &System, asked: &PlanRequest) -> Result<Preview> {
    let provision = asked.provision();
    let previews = each(&asked.targets, |target| target_preview(system, target, &provision))?;
    let (found, shapes): (Vec<ResolvedTarget>, Vec<Option<TargetShape>>) =
        previews.into_iter().unzip();
    of_one_kind(&found)?;
    let real: Vec<&Inspected> = found.iter().filter_map(ResolvedTarget::real).collect();
    all_different(&real)?;
    // A real target is inspected after it is known not to be an emulated one.
    let shapes = found.iter().zip(shapes);
    let shapes =
        shapes.map(|(target, shape)| shape.map_or_else(|| previewed(target, &provision), Ok));
    let shapes: Vec<TargetShape> = shapes.collect::<Result<_>>()?;
    match resolve(&asked.file, &asked.choices, &shapes) {
        Ok(plan) => Ok(Preview { plan, found, provision, shapes }),
        Err(error) => {
            files_may_be_used(system, asked, &real)?;
            Err(error.into())
        }
    }
}

/// Refuses a file that may not be used at all, before any problem of the plan with it.
fn files_may_be_used(system: &System, asked: &PlanRequest, all: &[&Inspected]) -> Result<()> {
    let writes = needs_writing(&asked.file, &asked.choices)?;
    let now = Timestamp::now();
    let writing = Writing { run_id: "", now, results_dir: Path::new("."), direct: true };
    let with_contents = |target: &Inspected| match target.kind {
        Kind::RegularFile { size_bytes, .. } => size_bytes > 0,
        _ => false,
    };
    for (number, target) in all.iter().enumerate().filter(|(_, target)| with_contents(target)) {
        let writing = writes.on(number).then_some(&writing);
        for (_, verdict) in review(system, target, None, writing) {
            // A consent would not solve the problem of the plan.
            if let Verdict::Refuses(refusal) = verdict
                && refusal.lacks.is_empty()
            {
                return Err(refusal.into());
            }
        }
    }
    Ok(())
}

type TargetPreview = (ResolvedTarget, Option<TargetShape>);

/// A target, with its shape if it is emulated.
fn target_preview(system: &System, target: &Path, provision: &Provision) -> Result<TargetPreview> {
    let found = find(system, target)?;
    let shape = found.real().is_none().then(|| previewed(&found, provision)).transpose()?;
    Ok((found, shape))
}

/// Finds each target; an emulated device that several words name, only once.
fn each<P: AsRef<Path>>(
    targets: &[P],
    mut preview_target: impl FnMut(&Path) -> Result<TargetPreview>,
) -> Result<Vec<TargetPreview>> {
    let mut known: BTreeMap<&Path, (TargetExpression, Option<TargetShape>)> = BTreeMap::new();
    let mut all = Vec::with_capacity(targets.len());
    for target in targets.iter().map(AsRef::as_ref) {
        all.push(match known.get(target) {
            Some((medium, shape)) => (ResolvedTarget::Emulated(medium.clone()), *shape),
            None => {
                let (found, shape) = preview_target(target)?;
                if let ResolvedTarget::Emulated(medium) = &found {
                    known.insert(target, (medium.clone(), shape));
                }
                (found, shape)
            }
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use qdepth_measure::Bytes;
    use qdepth_record::RunEvent;
    use qdepth_workload::{Choices, Point, shipped_plan_text};

    use super::*;
    use crate::Lab;
    use crate::events::observer::{Observer, RecordedIo};
    use crate::events::signals::Signals;
    use crate::request::RunRequest;
    use crate::target::prepare::{PrepareOptions, prepare};

    #[test]
    fn repeated_device_model_is_read_once() {
        let system = System::real();
        let names = ["media:p3700-800gb", "media:null"];
        let targets: Vec<&str> = names.into_iter().cycle().take(1000).collect();
        let mut looks = 0;
        let provision = Provision::MeasurementFile(1 << 30);
        let all = each(&targets, |target| {
            looks += 1;
            target_preview(&system, target, &provision)
        });
        assert_eq!((looks, all.unwrap().len()), (2, 1000));
    }

    struct Nobody;

    impl Observer for Nobody {
        fn event(&self, _: &RunEvent) {}
        fn ask(&self, _: &str) -> Option<String> {
            None
        }
        fn wants_ios(&self) -> bool {
            false
        }
        fn ios(&self, _: &Point, _: Vec<RecordedIo>) {}
    }

    /// The previewed plan is the measured plan: it is resolved once.
    #[test]
    fn prepared_targets_have_the_previewed_shapes() {
        let system = System::real();
        let folder = tempfile::tempdir().unwrap();
        for (plan, target) in [
            ("first", PathBuf::from("media:p3700-800gb")),
            ("first", folder.path().to_owned()),
            ("bandwidth", folder.path().to_owned()),
        ] {
            let text = shipped_plan_text(plan).unwrap();
            let text = text.replace("[bandwidth]", "[bandwidth]\nthreads = [1]");
            let text = text.replace("256MiB", "32MiB");
            let file = text.parse().unwrap();
            let file_size = Some(Bytes(8 << 20)).filter(|_| plan != "bandwidth");
            let choices = Choices { file_size, ..Choices::default() };
            let asked = PlanRequest { file, choices, targets: vec![target] };
            let seen = preview(&system, &asked).unwrap();
            let request = &RunRequest::new(asked.clone(), PathBuf::new());
            let signals = &Signals::default();
            let (system, observer, all_ranks) = (&system, &Nobody, None);
            let options = PrepareOptions {
                lab: Lab { request, system, observer, signals, all_ranks },
                run_id: "a",
                results_dir: Path::new("."),
                writes: &needs_writing(&asked.file, &asked.choices).unwrap(),
                provision: &seen.provision,
                keep: false,
            };
            let ready = prepare(&asked.targets, options).unwrap();
            let shapes: Vec<TargetShape> = ready.iter().map(|target| target.shape).collect();
            assert_eq!(shapes, seen.shapes, "{plan}");
        }
    }
}
