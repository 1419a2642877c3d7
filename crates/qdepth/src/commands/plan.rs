//! `qdepth plan`: what would run. Touches nothing.

use anyhow::Result;
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind, inspect};
use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{
    Plan, TargetShape, needs_writing, resolve, shipped_plan_names, shipped_plan_text,
    shipped_profile_names, shipped_profile_text,
};

use crate::commands::read::print;
use crate::ended::{Status, Usage};
use crate::flags::PlanOptions;
use crate::lab::prepare::{all_different, foreseen};
use crate::lab::read_plan::{self, Asked};

pub(crate) fn plan(options: &PlanOptions) -> Result<Status> {
    if let Some(name) = &options.show {
        let text = shipped_plan_text(name).or_else(|| shipped_profile_text(name));
        let names: Vec<&str> = shipped_plan_names().chain(shipped_profile_names()).collect();
        let text = text.ok_or_else(|| {
            Usage(format!("there is no plan or profile `{name}`; there are: {}", names.join(", ")))
        })?;
        print(text.trim_end())?;
        return Ok(Status::Valid);
    }
    let asked = read_plan::read(&options.load)?;
    let default = asked.file.file_size.map_or(32 << 30, |b| b.0);
    let file_bytes = options.load.area_bytes().unwrap_or(default);
    let (plan, inspected) = foresee(&System::real(), &asked, file_bytes)?;
    if options.json {
        print(&plan.text())?;
        return Ok(Status::Valid);
    }
    let writes = needs_writing(&asked.file, &asked.choices)?;
    print(&describe(&plan, &inspected, writes, file_bytes))?;
    Ok(Status::Valid)
}

/// The plan as it would be, from a look at the targets that touches nothing.
pub(crate) fn foresee(
    system: &System,
    asked: &Asked,
    file_bytes: u64,
) -> Result<(Plan, Vec<Inspected>)> {
    let mut inspected = Vec::new();
    for target in &asked.targets {
        inspected.push(inspect(system, target)?);
    }
    all_different(&inspected)?;
    let shapes: Vec<TargetShape> = inspected.iter().map(|t| foreseen(t, file_bytes)).collect();
    Ok((resolve(&asked.file, &asked.choices, &shapes)?, inspected))
}

fn describe(plan: &Plan, targets: &[Inspected], writes: bool, file_bytes: u64) -> String {
    let mut lines = vec![format!(
        "plan {} ({}), seed {}: {} points, {} s without preparation",
        plan.name,
        &plan.hash()[..12],
        plan.seed,
        plan.points.len(),
        Nanos(plan.duration_ns()).as_secs_f64().ceil()
    )];
    for target in targets {
        let what = match &target.kind {
            Kind::Directory(fs) => format!(
                "directory on {}: a measurement file of {} is made there and removed afterwards",
                fs.kind,
                Bytes(file_bytes)
            ),
            Kind::RegularFile { size_bytes, .. } => format!("file of {}", Bytes(*size_bytes)),
            Kind::BlockDevice(device) => format!(
                "block device {} of {} bytes{}",
                device.model.as_deref().unwrap_or("of unknown model"),
                device.identity.size_bytes,
                if writes {
                    "; WRITTEN TO: needs --destroy, and every guard must pass"
                } else {
                    ""
                }
            ),
        };
        lines.push(format!("target {}: {what}", target.spelling.display()));
    }
    for point in &plan.points {
        lines.push(format!(
            "{:>4}  {:<14} × {:<4} {:>3.0} % random, {:>3.0} % read, {}, {} of {} at {}",
            point.index + 1,
            point.profile_title,
            point.outstanding,
            point.random_share * 100.0,
            point.read_share * 100.0,
            point.request_size.text(),
            Nanos(point.stop.duration_ns),
            Bytes(point.area.length_bytes),
            Bytes(point.area.offset_bytes),
        ));
    }
    lines.join("\n")
}
