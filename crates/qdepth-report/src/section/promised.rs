//! Limits of a target: its connection and its data sheet.

use qdepth_record::TargetRecord;

use crate::number::MIB;
use crate::paper::{DataSheet, Text};
use crate::view::View;

/// Practical throughput of a target's connection, MiB/s (2^20 bytes), if known. That of an emulated
/// device is in its description, with its unit.
pub(crate) fn link_limit(target: &TargetRecord) -> Option<f64> {
    let fact = |key: &str| {
        let mut all = target.facts.iter().filter(|seen| seen.key == key);
        // Several media share the load in a way that is not known here.
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

/// The data sheet of the medium that a target is, alone; empty where its description has none.
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
