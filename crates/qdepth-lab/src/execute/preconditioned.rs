//! Result of a preconditioning for the targets.

use anyhow::{Result, bail};
use qdepth_measure::Finding;
use qdepth_record::Observation;

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

/// Results of the preconditioning.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Facts of a target, by its index.
    pub(crate) facts: Vec<(usize, Observation)>,
    /// Findings about the state of the targets.
    pub(crate) findings: Vec<Finding>,
}

/// Checks that the target still exists and is the same.
pub(crate) fn is_there(measured: &Measured) -> Result<()> {
    let Measured { outcome, changed, .. } = measured;
    if let Some(changed) = changed {
        bail!(changed.clone());
    }
    if let Some(failure) = &outcome.failure {
        bail!("{failure}");
    }
    Ok(())
}

pub(crate) fn fact(target: &Prepared, value: String, source: &str) -> Observation {
    let subject = target.expression.display().to_string();
    Observation::new((&subject, "preconditioned"), Ok(value), source)
}
