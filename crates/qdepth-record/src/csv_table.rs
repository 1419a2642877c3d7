//! Machine output as a table: CSV with one row per point.

use qdepth_files::harmless_cell;

use crate::field::{Field, Value, owned, text, time, whole};
use crate::point::{PointRecord, point_fields};
use crate::record::RunRecord;

/// The columns of CSV in order, each with its description and, as the variant of its value, its
/// type. Latency columns have no description of their own.
pub fn csv_columns() -> Vec<Field<'static>> {
    let (run, point) = (RunRecord::default(), PointRecord::default());
    fields(&run, &point).into_iter().map(Field::without_value).collect()
}

/// The header of CSV (RFC 4180).
pub fn csv_header() -> String {
    lines([csv_columns().into_iter().map(|column| column.name.into_owned())])
}

/// Rows of CSV below [`csv_header`], one per point; a value that does not exist is an empty cell. A
/// text that a spreadsheet would take for a formula is prefixed with `'`.
pub fn csv_rows(run: &RunRecord, points: &[PointRecord]) -> String {
    let row = |point| fields(run, point).into_iter().map(|field| cell(&field.value));
    lines(points.iter().map(row))
}

/// The points of one run as CSV, with header.
pub fn export_csv(run: &RunRecord, points: &[PointRecord]) -> String {
    csv_header() + &csv_rows(run, points)
}

fn lines<Row: IntoIterator<Item = String>>(rows: impl IntoIterator<Item = Row>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Cannot fail: it writes to memory, and all rows have the same length.
        let _ = writer.write_record(row.into_iter().map(String::into_bytes));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Fields of a point and of its run, so that rows of many runs fit into one table.
fn fields<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let retracted = "Reason for the retraction (`qdepth retract`)";
    let version = "Version of the figures' meaning; increases if the same plan gives other figures";
    let mut fields = vec![
        Field::new("plan", "Name of the plan", text(&run.plan_name)),
        Field::new("plan_hash", "SHA-256 of the plan text, hexadecimal", text(&run.plan_hash)),
        Field::new("host", "Name of the machine", text(run.host().unwrap_or_default())),
        Field::new("run_started_at", "Start of the run, RFC 3339, UTC", time(&run.started_at)),
        Field::new("retracted", retracted, text(run.retracted().unwrap_or_default())),
        Field::new("version", "Version of the program", owned(run.qdepth_version.clone())),
        Field::new("measurement_version", version, whole(run.measurement_version)),
    ];
    fields.extend(point_fields(run, point));
    fields
}

fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.as_deref().map(harmless_cell),
        Value::Whole(figure) => figure.map(|figure| figure.to_string()),
        Value::Real(figure) => figure.map(|figure| figure.to_string()),
        Value::Flag(is_so) => is_so.map(|is_so| is_so.to_string()),
        Value::Time(time) => time.map(harmless_cell),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_column_names_are_unique() {
        let columns = csv_columns();
        let mut names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() > 120 && names.len() == columns.len());
    }
}
