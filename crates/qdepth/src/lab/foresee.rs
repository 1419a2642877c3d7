//! What a run would find and do, without touching anything.

use anyhow::Result;
use qdepth_host::system::System;
use qdepth_host::target::Inspected;
use qdepth_workload::{Plan, TargetShape, resolve};

use crate::lab::prepare::{Found, all_different, find, foreseen, of_one_kind};
use crate::lab::read_plan::Asked;

/// The plan as it would be, from a look at the targets that touches nothing.
pub(crate) fn foresee(system: &System, asked: &Asked) -> Result<(Plan, Vec<Found>)> {
    let mut found = Vec::new();
    for target in &asked.targets {
        found.push(find(system, target)?);
    }
    of_one_kind(&found)?;
    let real: Vec<&Inspected> = found.iter().filter_map(Found::real).collect();
    all_different(&real)?;
    let shapes: Vec<TargetShape> =
        found.iter().map(|t| foreseen(t, &asked.made())).collect::<Result<_>>()?;
    Ok((resolve(&asked.file, &asked.choices, &shapes)?, found))
}
