//! A proof of a certificate: what was found beside what was asked.

use std::collections::BTreeMap;

use qdepth_record::{ProofOutcome, ProofRecord, Reason};

/// A proof with this code, of this subject.
pub(crate) fn proof(code: &str, subject: &str, outcome: ProofOutcome) -> ProofRecord {
    ProofRecord {
        code: code.to_owned(),
        subject: subject.to_owned(),
        outcome,
        values: BTreeMap::new(),
        why: None,
    }
}

/// One that was tried: what was found, and under `bar` what was asked.
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

/// One that was not.
pub(crate) fn not_tried(code: &str, subject: &str, bar: f64, why: &Reason) -> ProofRecord {
    let values = [("bar".to_owned(), bar)].into();
    ProofRecord { values, why: Some(why.into()), ..proof(code, subject, ProofOutcome::NotTried) }
}
