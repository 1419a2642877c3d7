//! Proofs of a certificate: measured values next to their thresholds.

use std::collections::BTreeMap;

use qdepth_record::{ProofOutcome, ProofRecord, Reason};

/// A proof with this code, about this subject.
pub(crate) fn proof(code: &str, subject: &str, outcome: ProofOutcome) -> ProofRecord {
    ProofRecord {
        code: code.to_owned(),
        subject: subject.to_owned(),
        outcome,
        values: BTreeMap::new(),
        why: None,
    }
}

/// A proof with a result: measured values, and the threshold under `bar`.
pub(crate) fn judged<const N: usize>(
    code: &str,
    subject: &str,
    passed: bool,
    values: [(&str, f64); N],
) -> ProofRecord {
    let outcome = if passed { ProofOutcome::Passed } else { ProofOutcome::Failed };
    let values = values.map(|(name, value)| (name.to_owned(), value)).into();
    ProofRecord { values, ..proof(code, subject, outcome) }
}

/// A proof that could not be tried, with the reason.
pub(crate) fn not_tried(code: &str, subject: &str, bar: f64, why: &Reason) -> ProofRecord {
    let values = [("bar".to_owned(), bar)].into();
    ProofRecord { values, why: Some(why.into()), ..proof(code, subject, ProofOutcome::NotTried) }
}
