//! The pages in `docs/` say what the program does, and the JSON is what its schema says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{point, run};
use qdepth_logbook::Logbook;
use qdepth_record::{PointRecord, export_json, json_schema};
use serde_json::Value;

const ID: &str = "01890000-0000-7000-8000-000000000001";

type Listed = BTreeMap<String, BTreeSet<String>>;

/// Rows that begin with a code span, by the code span of the heading above.
fn listed(page: &str) -> Listed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut found, mut heading) = (Listed::new(), String::new());
    let span = |line: &str| line.split('`').nth(1).map(str::to_owned);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ").and_then(span) {
            found.insert(name.clone(), BTreeSet::new());
            heading = name;
        } else if line.starts_with("| `") {
            let (name, sentence) = (span(line).unwrap(), line.rsplit('|').nth(1).unwrap().trim());
            assert!(sentence.ends_with('.'), "{page}: {heading}.{name} has no sentence");
            assert!(found.get_mut(&heading).unwrap().insert(name.clone()), "{name} is there twice");
        }
    }
    found
}

#[test]
fn the_page_on_the_tables_names_every_column() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    drop(Logbook::open(&file).unwrap());
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut query = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let mut columns = Listed::new();
    for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap() {
        let (table, column): (String, String) = row.unwrap();
        columns.entry(table).or_default().insert(column);
    }
    assert_eq!(listed("schema.md"), columns);
    let version: i64 = connection
        .query_row("SELECT user_version FROM pragma_user_version", [], |r| r.get(0))
        .unwrap();
    let page = include_str!("../../../docs/schema.md");
    let said = page.split("schema version, now ").nth(1).and_then(|rest| rest.split(')').next());
    assert_eq!(said, Some(version.to_string().as_str()));
}

fn schema() -> Value {
    serde_json::from_str(&json_schema()).unwrap()
}

fn names(object: &Value) -> BTreeSet<String> {
    object["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_page_on_json_names_every_field() {
    let schema = schema();
    let mut fields = Listed::new();
    fields.insert("Document".into(), names(&schema));
    for (name, object) in schema["$defs"].as_object().unwrap() {
        fields.insert(name.clone(), names(object));
    }
    assert_eq!(listed("json.md"), fields);
}

#[test]
fn the_page_on_events_names_every_field() {
    let schema: Value = serde_json::from_str(&qdepth_record::events_json_schema()).unwrap();
    let mut fields = Listed::new();
    for event in schema["oneOf"].as_array().unwrap() {
        let name = event["properties"]["event"]["const"].as_str().unwrap();
        let all = names(event).into_iter().filter(|field| field != "event");
        fields.insert(name.to_owned(), all.collect());
    }
    assert_eq!(listed("events.md"), fields);
}

/// The part of JSON Schema that ours uses.
fn validate(root: &Value, schema: &Value, value: &Value, path: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).expect(reference);
        return validate(root, target, value, path);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let other = choices.iter().find(|choice| choice["type"] != "null").unwrap();
        if !value.is_null() {
            validate(root, other, value, path);
        }
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        one => vec![one.clone()],
    };
    let fits = allowed.iter().any(|each| each == kind || (each == "number" && kind == "integer"));
    assert!(fits, "{path} is {kind}, the schema says {allowed:?}");
    for (position, item) in value.as_array().into_iter().flatten().enumerate() {
        validate(root, &schema["items"], item, &format!("{path}[{position}]"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{path} lacks {name}");
    }
    for (name, item) in value.as_object().into_iter().flatten() {
        let field = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
        assert!(field.is_object(), "{path}.{name} is not in the schema");
        validate(root, field, item, &format!("{path}.{name}"));
    }
}

#[test]
fn an_exported_document_keeps_to_its_schema() {
    let empty = PointRecord::default();
    let text = export_json(&run(ID), &[point(0), point(1), empty]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let schema = schema();
    validate(&schema, &schema, &value, "$");
    assert_eq!(value["schema"]["name"], "qdepth-run");
    assert_eq!(value["run"]["seed"], "18446744073709551614");
    assert_eq!(value["points"][0]["findings"][0]["values"]["ratio"], Value::Null);
    assert!(value["points"][0]["service_time_ns"]["all"]["percentiles"]["50"].is_u64());
}
