//! Findings for options of other programs' jobs that qdepth implements differently.

use qdepth_foreign::Remarked;
use qdepth_lab::outcome::findings::not_literal;
use qdepth_measure::Finding;
use qdepth_record::PointRecord;

/// Finding for one option, with the values that its sentence needs.
pub(crate) fn finding(option: &str, what: &Remarked) -> Finding {
    let finding = not_literal(option, what.remark.as_str());
    let finding = match &what.name {
        Some(name) => finding.label("name", name),
        None => finding,
    };
    match what.figure {
        Some((name, value)) => finding.value(name, value as f64),
        None => finding,
    }
}

/// True if at least one I/O of the point failed.
pub(crate) fn has_errors(point: &PointRecord) -> bool {
    point.transfers().iter().chain([&&point.syncs]).any(|side| !side.errors.is_empty())
}
