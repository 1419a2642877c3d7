//! The pages of the reference that follow from the program itself: options, plan files, findings.
//! They stand in `docs/reference`; a page that is not what the program says fails here, and
//! `QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth reference` writes it anew.

#![expect(clippy::disallowed_methods, reason = "a test writes pages of the repository")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};
use qdepth_foreign::{Remark, Remarked};
use qdepth_measure::{Code, Finding, Grade, Severity, Subject};
use qdepth_record::{Reason, Value as Cell, csv_columns};
use qdepth_report::{Lang, finding_template, reason_text};
use qdepth_workload::plan_schema;
use serde_json::{Map, Value};

use crate::flags::with_examples;

/// Holds a page against what it must be, or writes it.
#[track_caller]
fn assert_page(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("QDEPTH_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, wanted).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "docs/reference/{name} is not what the program says, from here on: {differs:?}. \
         QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth reference writes it"
    );
}

/// A text in a cell of a table, with no letter that means something in Markdown.
fn cell(text: &str) -> String {
    let mut quoted = false;
    let mut cell = String::new();
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        quoted ^= letter == '`';
        if letter == '|' || (!quoted && matches!(letter, '<' | '*' | '_' | '[')) {
            cell.push('\\');
        }
        cell.push(letter);
    }
    cell
}

fn spelled(arg: &Arg) -> String {
    let names: Vec<&str> =
        arg.get_value_names().into_iter().flatten().map(clap::builder::Str::as_str).collect();
    let value = if arg.get_action().takes_values() {
        format!(" {}", names.join(" "))
    } else {
        String::new()
    };
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    arg.get_long().map_or_else(|| value.trim().to_owned(), |long| format!("{short}--{long}{value}"))
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = help.map(|help| cell(&help.to_string())).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), cell(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(text, ". One of {}", values.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, ". Left out: `{}`", defaults.join(","));
    }
    text
}

/// Adds a command and its subcommands; options that are those of `qdepth run` are named once.
fn command_page(command: &Command, name: &str, run: &Command, page: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(|about| cell(&about.to_string())).unwrap_or_default();
    let _ = write!(page, "\n## `{name}`\n{about}\n");
    let mut groups: Vec<(&str, Vec<&Arg>)> = Vec::new();
    let hidden = ["help", "version"];
    let is_of_run = |arg: &&Arg| {
        let same = |other: &Arg| other.get_id() == arg.get_id() && meaning(other) == meaning(arg);
        name != "qdepth run" && run.get_arguments().any(same)
    };
    let all = command.get_arguments();
    let all = all.filter(|arg| !arg.is_hide_set() && !hidden.contains(&arg.get_id().as_str()));
    let (of_run, own): (Vec<&Arg>, Vec<&Arg>) = all.partition(is_of_run);
    for arg in own {
        let usual = if arg.is_positional() { "Arguments" } else { "Options" };
        let heading = arg.get_help_heading().unwrap_or(usual);
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, args)) => args.push(arg),
            None => groups.push((heading, vec![arg])),
        }
    }
    for (heading, args) in groups {
        let _ = write!(page, "\n| {heading} | |\n|---|---|\n");
        for arg in args {
            let spelled = spelled(arg).replace('|', "\\|");
            let _ = writeln!(page, "| `{spelled}` | {} |", meaning(arg));
        }
    }
    if !of_run.is_empty() {
        let names: Vec<String> = of_run.iter().map(|arg| format!("`{}`", spelled(arg))).collect();
        let _ = write!(page, "\nAs for `qdepth run`: {}.\n", names.join(", "));
    }
    if let Some(examples) = command.get_after_help() {
        let _ = write!(page, "\n```text\n{}\n```\n", examples.to_string().trim_end());
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        command_page(sub, &format!("{name} {}", sub.get_name()), run, page);
    }
}

#[test]
fn the_reference_of_options_is_what_the_program_takes() {
    let mut root = with_examples();
    root.build();
    let mut page = "# Options\n\nAll commands with their options: the text of `qdepth COMMAND \
                    --help`.\n"
        .to_owned();
    let run = root.find_subcommand("run").expect("`run`").clone();
    command_page(&root, "qdepth", &run, &mut page);
    let options = page.matches("| `--").count();
    assert!(options >= 120, "{options}");
    assert_page("options.md", &page);
}

#[test]
fn the_reference_of_findings_is_what_reports_say() {
    let mut page =
        "# Findings\n\nThis page lists all problems that qdepth detects, with the texts of \
                    reports. The meaning of a code never changes. Grade B: valid with warnings; \
                    C: invalid. Reports and [JSON](../json.md) contain the figures of each \
                    case.\n"
            .to_owned();
    for code in Code::ALL.iter().copied() {
        let text = finding_template(code, Lang::En);
        let meaning = code.meaning();
        let grade = |severity: &Severity| {
            Grade::from_findings([&Finding::new(code, *severity)]).to_string()
        };
        let grades: Vec<String> = meaning.severities.iter().map(grade).collect();
        let about = match meaning.subject {
            Subject::Point => "a point",
            Subject::Run => "a run",
            Subject::Both => "a point or a run",
        };
        let names = meaning.values.iter().chain(meaning.labels).map(|name| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        let has = if names.is_empty() { String::new() } else { format!("; {}", names.join(", ")) };
        let _ = write!(
            page,
            "\n## `{code}`\n**{}.** {}\n\n*Law*: {}. {} of {about}{has}.\n\n*What to do*: {}\n",
            cell(&text.title),
            cell(&text.explanation),
            meaning.law,
            grades.join(", "),
            cell(&text.advice),
        );
    }
    assert_page("findings.md", &page);
}

#[test]
fn the_reference_of_reasons_is_what_is_told() {
    let mut page =
        "# Reasons for unknown facts\n\n`unknown_because` in [JSON](../json.md), in the \
                    [logbook](../schema.md) and in [CSV](csv.md) is a code with values by name. \
                    The meaning of a code never changes; new codes may be added. All values are \
                    texts, and empty ones are omitted. Reports and the terminal show the \
                    sentence.\n\n| code | values | meaning | sentence |\n|---|---|---|---|\n"
            .to_owned();
    for (code, values, when) in Reason::ALL {
        let names: Vec<String> = values.iter().map(|name| format!("`{name}`")).collect();
        let own = values.iter().map(|name| ((*name).to_owned(), name.to_uppercase()));
        let reason = Reason::from_parts(code, own.collect()).expect("a code of the list");
        let (names, text) = (names.join(", "), reason_text(&reason, Lang::En));
        let _ = writeln!(page, "| `{code}` | {names} | {when} | {} |", cell(&text));
    }
    assert_page("reasons.md", &page);
}

#[test]
fn the_reference_of_remarks_is_what_is_told() {
    let mut page =
        "# Differences from other programs\n\nIf qdepth handles an option of fio or IOR \
                    differently, the run gets the finding [not-literal](findings.md#not-literal), \
                    with one of these codes in `what`. If an imported result leaves something \
                    open, the codes are in `remarks` of [imported](findings.md#imported), \
                    separated by `; `. The finding contains the values, and reports show the \
                    sentence. The meaning of a code never changes; new codes may be added. For \
                    Iometer's configurations, comments in the plan show the sentences.\n\n\
                    | code | values | sentence |\n|---|---|---|\n"
            .to_owned();
    for remark in Remark::ALL.iter().copied() {
        let names: Vec<String> = remark.values().iter().map(|name| format!("`{name}`")).collect();
        let (name, figures) = (Some("NAME".to_owned()), remark.values().iter());
        let figure = figures.copied().find(|value| *value != "name").map(|name| (name, 4096));
        let sentence = Remarked { remark, name, figure }.to_string();
        let (code, names) = (remark.as_str(), names.join(", "));
        let _ = writeln!(page, "| `{code}` | {names} | {} |", cell(&sentence));
    }
    assert_page("remarks.md", &page);
}

/// The columns of a point's latencies, of which there is one for each of these.
const LATENCIES: [&[&str]; 3] = [
    &["service_time", "response_time"],
    &["reads", "writes", "trims", "all", "syncs"],
    &["count", "min", "mean", "max", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"],
];

#[test]
fn the_reference_of_csv_is_what_is_exported() {
    let [time, direction, figure] = LATENCIES.map(|words| format!("{{{}}}", words.join(", ")));
    let mut page = format!(
        "# CSV columns\n\n`qdepth export --csv` prints one row for each point. A cell is empty \
         where a value does not exist.\n\nLatencies are nanoseconds, in columns \
         `TIME_ns_DIRECTION_FIGURE`, for example `service_time_ns_reads_p99.9`: TIME is one of \
         `{time}`, DIRECTION one of `{direction}`, FIGURE one of `{figure}`. A percentile with \
         fewer than ten samples beyond it is empty.\n\n| column | type | |\n|---|---|---|\n"
    );
    let mut latencies = 0;
    for column in csv_columns() {
        let kind = match column.value {
            Cell::Text(_) => "text",
            Cell::Whole(_) => "whole number",
            Cell::Real(_) => "number",
            Cell::Flag(_) => "true or false",
            Cell::Time(_) => "time, RFC 3339, UTC",
        };
        if column.description.is_empty() {
            latencies += 1;
            let mut words = column.name.split("_ns_");
            let time = words.next().unwrap();
            let (direction, figure) = words.next().unwrap().split_once('_').unwrap();
            for (word, known) in [time, direction, figure].iter().zip(LATENCIES) {
                assert!(known.contains(word), "{}", column.name);
            }
        } else {
            let _ = writeln!(page, "| `{}` | {kind} | {} |", column.name, cell(column.description));
        }
    }
    assert_eq!(latencies, LATENCIES.iter().map(|words| words.len()).product::<usize>());
    assert_page("csv.md", &page);
}

/// Types of a schema, in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or(name);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for any in ["anyOf", "oneOf"] {
        if let Some(all) = schema[any].as_array() {
            let kinds: Vec<String> =
                all.iter().filter(|choice| choice["type"] != "null").map(kind).collect();
            return kinds.join(" or ");
        }
    }
    let of_type = |name: &str| match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "object" => "table".to_owned(),
        other => other.to_owned(),
    };
    if let Some(constant) = schema["const"].as_str() {
        return format!("`\"{constant}\"`");
    }
    if let Some(all) = schema["enum"].as_array() {
        let all = all.iter().filter_map(Value::as_str).map(|value| format!("`\"{value}\"`"));
        return all.collect::<Vec<_>>().join(", ");
    }
    match &schema["type"] {
        Value::String(name) => of_type(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.map(of_type).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn keys(schema: &Value, page: &mut String) {
    let Some(keys) = schema["properties"].as_object() else { return };
    page.push_str("\n| key | value | meaning |\n|---|---|---|\n");
    let needed: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, value) in keys {
        let must = if needed.contains(&key.as_str()) { " (needed)" } else { "" };
        let description = value["description"].as_str().unwrap_or_default();
        let _ = writeln!(page, "| `{key}`{must} | {} | {} |", kind(value), cell(description));
    }
}

/// A type with its keys, or what it may be.
fn definition(name: &str, schema: &Value, page: &mut String) {
    let description = schema["description"].as_str().unwrap_or_default();
    let _ = write!(page, "\n## {name}\n{}\n", cell(description));
    keys(schema, page);
    let several = ["oneOf", "anyOf"].iter().find_map(|any| schema[any].as_array());
    let Some(several) = several else {
        if schema["properties"].is_null() {
            let _ = write!(page, "\nA {}.\n", kind(schema));
        }
        return;
    };
    for choice in several {
        let description = cell(choice["description"].as_str().unwrap_or_default());
        if choice["properties"].is_null() {
            let _ = write!(page, "\n- {}: {description}\n", kind(choice));
        } else {
            let _ = write!(page, "\n{description}\n");
            keys(choice, page);
        }
    }
}

#[test]
fn the_reference_of_plan_files_is_what_is_read() {
    let schema: Value = serde_json::from_str(&plan_schema()).expect("a JSON Schema");
    let mut page = "# Plan files\n\nA plan is a TOML file; `qdepth schema plan` prints a JSON \
                    Schema for editors, `qdepth plans standard` a plan to begin with. \
                    Unknown keys are errors. What is left out is decided when the plan is \
                    resolved, and the resolved plan (`qdepth plan --json`) omits nothing.\n\n\
                    Times are texts as `\"500ms\"`, sizes as `\"4KiB\"`.\n\n## Plan\n"
        .to_owned();
    let top = schema["description"].as_str().map(cell).unwrap_or_default();
    let _ = writeln!(page, "{top}");
    keys(&schema, &mut page);
    let none = Map::new();
    let parts: BTreeMap<&String, &Value> =
        schema["$defs"].as_object().unwrap_or(&none).iter().collect();
    for (name, part) in parts {
        definition(name, part, &mut page);
    }
    assert!(page.contains("`request_size` (needed)"), "{page}");
    assert_page("plan-files.md", &page);
}
