//! What a preconditioning tells of the targets that it wrote.

use anyhow::{Result, bail};
use qdepth_measure::Finding;
use qdepth_record::Observation;

use crate::outcome::measured::Measured;
use crate::target::prepare::Prepared;

/// What was done to the targets.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Of a target, by its index.
    pub(crate) facts: Vec<(usize, Observation)>,
    /// What is doubted of the state that they are in.
    pub(crate) findings: Vec<Finding>,
}

/// Whether the target is still there, and is the same.
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
    Observation {
        subject: target.expression.display().to_string(),
        key: "preconditioned".to_owned(),
        value: Ok(value),
        source: source.to_owned(),
    }
}
