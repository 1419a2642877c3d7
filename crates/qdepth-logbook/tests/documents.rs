//! The pages in `docs/` match the program, and the JSON matches its schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{point, run};
use qdepth_logbook::{Logbook, SCHEMA_VERSION};
use qdepth_record::{
    DirectionRecord, ExpectedRecord, IntervalRecord, MonitorRecord, PointRecord, Record, RunRecord,
    TargetRecord, csv_columns, export_json,
};
use serde_json::Value;

const ID: &str = "01890000-0000-7000-8000-000000000001";

type Listed = BTreeMap<String, BTreeSet<String>>;

/// Page about the tables of the logbook.
const PAGE: &str = "schema.md";
/// Prefix of the line that lists fields described on other pages.
const ELSEWHERE: &str = "As in [JSON](json.md) and [CSV](reference/csv.md): ";

/// Names in code spans of a line.
fn spans(line: &str) -> impl Iterator<Item = String> {
    line.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Names and meanings of the fields that the page need not describe.
fn described_elsewhere() -> BTreeSet<(String, String)> {
    let columns = csv_columns().into_iter();
    let columns = columns.map(|field| (field.name.into_owned(), format!("{}.", field.description)));
    let schema = schema();
    let objects = schema["$defs"].as_object().unwrap().values();
    let fields = objects.flat_map(|object| object["properties"].as_object().unwrap());
    let meaning = |(name, field): (&String, &Value)| {
        let words = field["description"].as_str().unwrap().split_whitespace();
        (name.clone(), words.collect::<Vec<_>>().join(" "))
    };
    columns.chain(fields.map(meaning)).collect()
}

/// Text of a page.
fn text_of(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    std::fs::read_to_string(path).unwrap()
}

/// Names of the rows that begin with a code span, by the code span in the heading above.
fn listed() -> Listed {
    let text = text_of(PAGE);
    let (mut found, mut heading) = (Listed::new(), String::new());
    let span = |line: &str| line.split('`').nth(1).map(str::to_owned);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ").and_then(span) {
            found.insert(name.clone(), BTreeSet::new());
            heading = name;
        } else if let Some(names) = line.strip_prefix(ELSEWHERE) {
            found.get_mut(&heading).unwrap().extend(spans(names));
        } else if line.starts_with("- `") && !heading.is_empty() {
            let (name, (_, sentence)) = (span(line).unwrap(), line.split_once("): ").unwrap());
            assert!(sentence.ends_with('.'), "{heading}.{name} has no sentence");
            assert!(found.get_mut(&heading).unwrap().insert(name.clone()), "{name} is there twice");
        }
    }
    found
}

/// Type and meaning of rows, by heading and name; no meaning if the page words it itself.
type Rows = BTreeMap<(String, String), (String, Option<String>)>;

/// Asserts that the page has these rows below their headings, in the page's order, new ones last.
/// `QDEPTH_WRITE_REFERENCE=1` rewrites them; a row without a meaning keeps the page's text.
fn assert_page(rows: &Rows) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(PAGE);
    let text = text_of(PAGE);
    let (mut written, mut heading, mut open) = (String::new(), String::new(), BTreeMap::new());
    let (described, mut shared) = (described_elsewhere(), BTreeMap::new());
    let sharing: BTreeSet<String> = text
        .split("\n## ")
        .filter(|section| section.contains(ELSEWHERE))
        .filter_map(|section| spans(section).next())
        .collect();
    let span = |line: &str| line.split('`').nth(1).map(str::to_owned);
    let line_of =
        |name: &str, kind: &str, meaning: &str| format!("- `{name}` ({kind}): {meaning}\n");
    let text_of_today = match text.split_once("schema version, now ") {
        Some((before, rest)) => {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}schema version, now {SCHEMA_VERSION}{behind}")
        }
        None => text.clone(),
    };
    for line in text_of_today.lines().chain([""]) {
        if let Some(name) = line.strip_prefix("## ").and_then(span) {
            let of_object = rows.iter().filter(|((object, _), _)| *object == name);
            open = of_object.map(|((_, name), row)| (name.clone(), row.clone())).collect();
            shared = BTreeMap::new();
            if sharing.contains(&name) {
                let is_same = |name: &String, (_, meaning): &mut (String, Option<String>)| {
                    let field = (name.clone(), meaning.clone().unwrap_or_default());
                    described.contains(&field)
                };
                shared = open.extract_if(.., is_same).collect();
            }
            heading = name;
        }
        if line.starts_with(ELSEWHERE) {
            let names: Vec<String> = shared.keys().map(|name| format!("`{name}`")).collect();
            written += &format!("{ELSEWHERE}{}.\n", names.join(", "));
            continue;
        }
        let name = line.strip_prefix("- `").and_then(|_| span(line));
        match name.as_ref().and_then(|name| open.remove(name)) {
            Some((kind, meaning)) => {
                let own = line.split_once("): ").unwrap().1.to_owned();
                written += &line_of(&name.unwrap(), &kind, &meaning.unwrap_or(own));
            }
            // A row that its heading no longer has is removed.
            None if name.is_some() && rows.keys().any(|(object, _)| *object == heading) => {}
            None => {
                // At the end of a list, its missing rows are added.
                if line.is_empty()
                    && written.lines().last().is_some_and(|last| last.starts_with("- `"))
                {
                    for (name, (kind, meaning)) in std::mem::take(&mut open) {
                        written += &line_of(&name, &kind, &meaning.unwrap_or_default());
                    }
                }
                written += line;
                written.push('\n');
            }
        }
    }
    let written = format!("{}\n", written.trim_end());
    if std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert_eq!(text, written, "QDEPTH_WRITE_REFERENCE=1 writes docs/{PAGE} anew");
    }
}

/// Meanings of a record's columns, by table and name.
fn meanings<R: Record>() -> Vec<((String, String), String)> {
    let name = |column: &str| (R::TABLE.to_owned(), column.to_owned());
    R::columns().map(|column| (name(column.name), column.meaning.to_owned())).collect()
}

#[test]
fn schema_page_names_every_column() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    drop(Logbook::open(&file).unwrap());
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut query = connection
        .prepare(
            "SELECT t.name, c.name, c.type || iif(c.\"notnull\" OR c.pk OR t.type = 'view', '',
                '?')
             FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
             WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let described: BTreeMap<(String, String), String> = [
        meanings::<RunRecord>(),
        meanings::<TargetRecord>(),
        meanings::<ExpectedRecord>(),
        meanings::<PointRecord>(),
        meanings::<DirectionRecord>(),
        meanings::<IntervalRecord>(),
        meanings::<MonitorRecord>(),
    ]
    .concat()
    .into_iter()
    .collect();
    let of_csv = |column: qdepth_record::Field<'static>| {
        let kind = match column.value {
            qdepth_record::Value::Text(_) | qdepth_record::Value::Time(_) => "TEXT",
            qdepth_record::Value::Whole(_) | qdepth_record::Value::Flag(_) => "INTEGER",
            qdepth_record::Value::Real(_) => "REAL",
        };
        (column.name.into_owned(), (kind, format!("{}.", column.description)))
    };
    let csv: BTreeMap<String, (&str, String)> = csv_columns().into_iter().map(of_csv).collect();
    let (mut columns, mut rows) = (Listed::new(), Rows::new());
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for row in found {
        let (table, column, kind): (String, String, String) = row.unwrap();
        let key = |table: &str| (table.to_owned(), column.clone());
        let of_view = match &*table {
            "runs" => described.get(&key("run")).or(csv.get(&column).map(|(_, meaning)| meaning)),
            "points" => csv.get(&column).map(|(_, meaning)| meaning),
            "samples" => described.get(&key("sample")),
            table => described.get(&key(table)),
        };
        let meaning = of_view.cloned();
        // SQLite has no type for computed columns of a view.
        let kind = if kind.is_empty() { csv[&column].0.to_owned() } else { kind };
        rows.insert((table.clone(), column.clone()), (kind, meaning));
        columns.entry(table).or_default().insert(column);
    }
    assert_page(&rows);
    assert_eq!(listed(), columns);
    // Stored columns are in the tables of fields, except those that only SQL needs.
    let own = [
        ("run", ["sequence"].as_slice()),
        ("target", &["run"]),
        ("expected", &["run"]),
        ("point", &["id", "run", "attempt"]),
        ("direction", &["point", "direction"]),
        ("sample", &["point", "place"]),
        ("monitor", &["point", "place"]),
    ];
    for (table, own) in own {
        let kept =
            described.keys().filter(|(of_table, _)| of_table == table).map(|(_, name)| &**name);
        let all: BTreeSet<&str> = kept.chain(own.iter().copied()).collect();
        assert_eq!(columns[table].iter().map(|name| &**name).collect::<BTreeSet<_>>(), all);
    }
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../qdepth/schemas/run.json")).unwrap()
}

fn names(object: &Value) -> BTreeSet<String> {
    object["properties"].as_object().unwrap().keys().cloned().collect()
}

/// Names in the first column of a page's table, from its second row on.
fn first_column(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| spans(line).next())
        .collect()
}

#[test]
fn json_page_outlines_the_document() {
    assert_eq!(first_column(&text_of("json.md")), names(&schema()));
}

#[test]
fn events_page_names_every_event_and_step() {
    let schema: Value =
        serde_json::from_str(include_str!("../../qdepth/schemas/events.json")).unwrap();
    let name = |event: &Value| event["properties"]["event"]["const"].as_str().unwrap().to_owned();
    let text = text_of("events.md");
    let events = schema["oneOf"].as_array().unwrap().iter();
    assert_eq!(first_column(&text), events.map(name).collect());
    let page = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (code, labels, values) in qdepth_record::phase_step::ALL {
        let names = [labels, values].concat().join("`, `");
        assert!(page.contains(&format!("`{code}` (`{names}`)")), "`{code}` (`{names}`)");
    }
}

/// Validates a value with the subset of JSON Schema that ours uses.
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
        kind => vec![kind.clone()],
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
fn exported_document_matches_its_schema() {
    let empty = PointRecord::default();
    let text = export_json(&run(ID), &[point(0), point(1), empty]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let schema = schema();
    validate(&schema, &schema, &value, "$");
    assert_eq!(value["schema"]["name"], "qdepth-run");
    assert_eq!(value["run"]["seed"], "18446744073709551614");
    assert_eq!(value["points"][0]["findings"][0]["values"]["ratio"], Value::Null);
    assert!(value["points"][0]["latency_ns"]["all"]["percentiles"]["50"].is_u64());
}
