//! Machine output as a table: CSV, a row a point.

use std::collections::BTreeMap;

use crate::field::Value;
use crate::point::{PERCENTILES, PointRecord, point_fields};
use crate::record::RunRecord;

/// The points as CSV (RFC 4180, a header, a row a point, empty cells for what does not exist).
/// Texts that a spreadsheet would take for a formula get a `'` before them.
pub fn export_csv(run: &RunRecord, points: &[PointRecord]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = header();
    let rows = points.iter().map(|point| row(&names, run, point));
    for row in std::iter::once(names.clone()).chain(rows) {
        // Writing to memory, rows of equal length: neither can fail.
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// The columns that CSV began with, in their order.
const FIRST: &str = "run emulated index target profile random_share read_share request_size \
    request_size_bytes arrivals outstanding offered_io_per_s streams workers group variant step \
    direct started_at duration_ns ended_by tolerance interim_checks io_per_s io_per_s_low \
    io_per_s_high mib_per_s reads writes syncs read_bytes written_bytes failed short abandoned \
    mean_in_flight cpu_user_ns_per_io cpu_system_ns_per_io grade findings";
/// Those that came before every new field became a column.
const THEN: &str = "trim_share trims trimmed_bytes expected_medium expected_io_per_s \
    expected_mean_ns";
/// Older fields that CSV does not have, besides further figures of latencies.
const LEFT_OUT: &str = "target_kind area_bytes engine profile_title reported_as delay_ns \
    warm_up_ns longest_gap_ns expected_mib_per_s expected_share_reached expected_below_io_per_s";

/// The columns of CSV, which keep their places: those that came later stand at the end.
pub(crate) fn header() -> Vec<String> {
    let mut names: Vec<String> = FIRST.split(' ').map(str::to_owned).collect();
    for kind in ["service_time", "response_time"] {
        for direction in ["reads", "writes", "trims", "all"] {
            let column = |figure: &str| format!("{kind}_ns_{direction}_{figure}");
            names.extend(["min", "mean", "max"].map(column));
            names.extend(PERCENTILES.map(|name| column(&format!("p{name}"))));
        }
    }
    names.extend(THEN.split(' ').map(str::to_owned));
    for field in point_fields(&RunRecord::default(), &PointRecord::default()) {
        let known = names.contains(&field.name.to_string());
        let is_left_out = LEFT_OUT.split(' ').any(|name| name == field.name);
        if !known && !is_left_out && !field.name.contains("_time_ns_") {
            names.push(field.name.into_owned());
        }
    }
    names
}

fn row(names: &[String], run: &RunRecord, point: &PointRecord) -> Vec<String> {
    let fields = point_fields(run, point);
    let values: BTreeMap<&str, &Value<'_>> =
        fields.iter().map(|field| (&*field.name, &field.value)).collect();
    names.iter().map(|name| values.get(&**name).map_or_else(String::new, |v| cell(v))).collect()
}

fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.as_deref().map(harmless),
        Value::Whole(figure) => figure.map(|figure| figure.to_string()),
        Value::Real(figure) => figure.map(|figure| figure.to_string()),
        Value::Flag(is_so) => is_so.map(|is_so| is_so.to_string()),
        Value::Time(time) => time.map(harmless),
    }
    .unwrap_or_default()
}

/// Spreadsheets run what begins so (OWASP, *CSV Injection*).
fn harmless(cell: &str) -> String {
    match cell.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{cell}"),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TableOf;

    #[test]
    fn every_column_of_csv_is_one_of_the_points() {
        let columns = TableOf::Points.columns();
        let has = |name: &String| columns.iter().any(|column| column.name == **name);
        let names = header();
        let missing: Vec<&String> = names.iter().filter(|name| !has(name)).collect();
        assert!(names.len() > 120 && missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_name_is_one_columns_of_a_table_and_every_table_begins_with_its_run() {
        for table in TableOf::ALL {
            let columns = table.columns();
            let mut names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            assert!(names.contains(&"run") && names.contains(&"emulated"), "{}", table.name());
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), columns.len(), "{}", table.name());
        }
    }
}
