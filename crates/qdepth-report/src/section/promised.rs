//! Limits of a target: its connection, capacity, redundancy and data sheet.

use qdepth_record::TargetRecord;

use crate::number::MIB;
use crate::paper::{DataSheet, Text};
use crate::view::View;

/// Practical throughput of a target's connection, MiB/s (2^20 bytes); `None` if unknown. An
/// emulated device has it in its device model, with a unit.
pub(crate) fn link_limit(target: &TargetRecord) -> Option<f64> {
    let fact = |key: &str| {
        let mut all = target.facts.iter().filter(|seen| seen.key == key);
        // How several devices share the load is unknown.
        let (Some(seen), None) = (all.next(), all.next()) else { return None };
        seen.value.as_ref().ok()?.split(' ').next()?.parse::<f64>().ok()
    };
    if target.expression.contains(['(', '*', ',']) {
        return None;
    }
    let limit =
        fact("link_limit_bytes_per_s").map(|rate| rate / MIB).or_else(|| fact("link_mb_s"))?;
    (limit.is_finite() && limit > 0.0).then_some(limit)
}

/// Capacity of a single drive, bytes; `None` if unknown, and for arrays.
pub(crate) fn capacity(target: &TargetRecord) -> Option<f64> {
    if target.expression.contains(['(', '*', ',']) {
        return None;
    }
    let fact = |key: &str| {
        let seen = target.facts.iter().find(|seen| seen.key == key)?;
        seen.value.as_ref().ok()?.split(' ').next()?.parse::<f64>().ok()
    };
    fact("size_bytes").or_else(|| Some(fact("capacity_gb")? * 1e9))
}

/// True if the target is a stripe, which loses all data if one drive fails.
pub(crate) fn is_striped(target: &TargetRecord) -> bool {
    let mut facts = target.facts.iter().filter(|seen| seen.key == "level");
    target.expression.starts_with("raid0(")
        || facts.any(|seen| seen.value.as_deref() == Ok("raid0"))
}

/// Data sheet of the drive that is the target alone; empty if its device model has none.
pub(crate) fn data_sheet(view: &View<'_>, target: &TargetRecord) -> DataSheet {
    let name = Text::Same(view.shown(&target.name));
    let mut sheet = DataSheet { name, ..DataSheet::default() };
    if target.expression.contains(['(', '*', ',']) {
        return sheet;
    }
    for seen in &target.facts {
        let Some(key) = seen.key.strip_prefix("data_sheet_") else { continue };
        let value =
            seen.value.as_ref().ok().and_then(|value| value.split(' ').next()?.parse().ok());
        if let Some(value) = value.filter(|value: &f64| value.is_finite() && *value > 0.0) {
            sheet.promise(key, value);
        }
    }
    sheet
}
