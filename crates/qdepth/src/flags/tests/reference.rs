//! The pages of the reference that follow from the program itself: options, plan files, findings.
//! They stand in `docs/reference`; a page that is not what the program says fails here, and
//! `QDEPTH_WRITE_REFERENCE=1 cargo test -p qdepth reference` rewrites it.

#![expect(clippy::disallowed_methods, reason = "a test writes pages of the repository")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};
use qdepth_foreign::{Remark, Remarked};
use qdepth_measure::{Code, Finding, Grade, Severity, Subject};
use qdepth_record::{Reason, Value as Cell, csv_columns};
use qdepth_report::{Lang, finding_template};
use serde_json::{Map, Value};

use crate::flags::with_examples;

/// Compares a page with its expected text, or writes it.
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
    let (mut quoted, mut cell) = (false, String::new());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (at, letter) in text.char_indices() {
        quoted ^= letter == '`';
        // Within a word, an underscore means nothing.
        let is_inside = text[..at].ends_with(char::is_alphanumeric)
            && text[at + letter.len_utf8()..].starts_with(char::is_alphanumeric);
        let is_mark = matches!(letter, '<' | '*' | '[') || (letter == '_' && !is_inside);
        if letter == '|' || (!quoted && is_mark) {
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

/// Paragraphs of a help text as sentences, without the last full stop.
fn sentences(help: impl ToString) -> String {
    let help = help.to_string();
    let paragraphs: Vec<&str> =
        help.split("\n\n").map(|part| part.trim().trim_end_matches('.')).collect();
    cell(&paragraphs.join(". "))
}

/// Number of values above which their meanings are on another page.
const MOST_VALUES: usize = 8;

fn meaning(arg: &Arg) -> String {
    let mut text =
        arg.get_long_help().or_else(|| arg.get_help()).map(sentences).unwrap_or_default();
    let is_explained =
        arg.get_long_help().is_some() || arg.get_possible_values().len() > MOST_VALUES;
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) if !is_explained => {
                format!("`{}` ({})", value.get_name(), cell(&help.to_string()))
            }
            _ => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() {
        let _ = write!(text, ". One of {}", values.join(", "));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, ". Default: `{}`", defaults.join(","));
    }
    text
}

/// Options by spelling and meaning, with the command that lists them first.
type Listed = BTreeMap<(String, String), String>;

/// Number of options above which a command lists only those of another that it lacks.
const MOST: usize = 20;

/// The first line of a list of options, and their names.
fn names_of_options(note: &str) -> String {
    let (heading, rest) = note.split_once('\n').unwrap_or((note, ""));
    let names = rest.lines().map(str::trim).filter(|line| line.starts_with("--"));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!("{heading} {}.", names.join(", "))
}

/// Adds a command and its subcommands; an option is explained where it comes first.
fn command_page(command: &Command, name: &str, listed: &mut Listed, page: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about());
    let _ = write!(page, "\n## `{name}`\n{}.\n", about.map(sentences).unwrap_or_default());
    let mut groups: Vec<(&str, String)> = Vec::new();
    let mut shared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let is_root = command.get_name() == name;
    let known = ["help", "version"];
    for arg in command.get_arguments() {
        if arg.is_hide_set() || known.contains(&arg.get_id().as_str()) {
            continue;
        }
        let is_common = arg.is_global_set() || arg.get_id() == "logbook";
        if is_common && !is_root && name != "qdepth run" {
            continue;
        }
        let (spelled, meaning) = (spelled(arg), meaning(arg));
        let first = listed.entry((spelled.clone(), meaning.clone())).or_insert(name.to_owned());
        if first != name {
            shared.entry(first.clone()).or_default().push(format!("`{spelled}`"));
            continue;
        }
        let heading = arg.get_help_heading().unwrap_or_default();
        let row = format!("- `{spelled}`: {meaning}\n");
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, rows)) => rows.push_str(&row),
            None => groups.push((heading, row)),
        }
    }
    for (heading, rows) in groups {
        let heading = if heading.is_empty() { String::new() } else { format!("{heading}:\n\n") };
        let _ = write!(page, "\n{heading}{rows}");
    }
    for (first, names) in shared {
        let of_first = listed.iter().filter(|(_, command)| **command == first);
        let lacks: Vec<String> = of_first
            .map(|((spelled, _), _)| format!("`{spelled}`"))
            .filter(|spelled| !names.contains(spelled) && !spelled.starts_with("`--logbook "))
            .collect();
        let _ = match (names.len() > MOST, lacks.len()) {
            (false, _) => write!(page, "\nSee `{first}`: {}.\n", names.join(", ")),
            (true, 0) => write!(page, "\nAll arguments and options of `{first}`.\n"),
            (true, MOST..) => write!(
                page,
                "\nAlso the options of `{first}` that describe the load (`{name} --help`).\n"
            ),
            (true, _) => write!(
                page,
                "\nAll arguments and options of `{first}`, except {}.\n",
                lacks.join(", ")
            ),
        };
    }
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for note in notes.split("\n\n").filter(|note| !note.starts_with("Examples:")) {
        let is_prose = !note.contains('\n');
        let note = note.trim_end();
        let _ = match is_prose {
            true if note.is_empty() => Ok(()),
            true => write!(page, "\n{}\n", cell(note)),
            false => write!(page, "\n{}\n", names_of_options(note)),
        };
    }
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        command_page(sub, &format!("{name} {}", sub.get_name()), listed, page);
    }
}

#[test]
fn options_reference_matches_the_program() {
    let mut root = with_examples();
    root.build();
    let mut page =
        "# Options\n\nThe first command that has an option describes it; later commands \
                    refer to that description. `qdepth COMMAND --help` also prints examples, and \
                    the [cookbook](../cookbook.md) has a command for each task. Every command \
                    accepts `--replace`, and every command that uses a logbook accepts \
                    `--logbook FILE`.\n"
            .to_owned();
    command_page(&root, "qdepth", &mut Listed::new(), &mut page);
    let options = page.matches("- `--").count();
    assert!(options >= 100, "{options}");
    assert_page("options.md", &page);
}

#[test]
fn findings_reference_matches_the_reports() {
    let mut page = "# Findings\n\nqdepth detects these problems. Each entry has a code, whose \
                    meaning never changes, the title that reports print, the condition, the names \
                    of its values in [JSON](../json.md), and a remedy. A finding is about a point \
                    unless its entry says *run*. `qdepth show --findings` explains those of a \
                    run.\n"
        .to_owned();
    let grades = |code: Code| -> Vec<String> {
        let grade = |severity: &Severity| {
            Grade::from_findings([&Finding::new(code, *severity)]).to_string()
        };
        code.meaning().severities.iter().map(grade).collect()
    };
    for (heading, group) in [
        ("Grade C: invalid", &["C"][..]),
        ("Grade B or C, by size", &["B", "C"]),
        ("Grade B: valid with a warning", &["B"]),
    ] {
        let _ = write!(page, "\n## {heading}\n");
        let mut codes: Vec<Code> =
            Code::ALL.iter().copied().filter(|code| grades(*code) == group).collect();
        codes.sort_by_key(|code| code.as_str());
        for code in codes {
            let meaning = code.meaning();
            let about = match meaning.subject {
                Subject::Point => "",
                Subject::Run => " *Run.*",
                Subject::Both => " *Point or run.*",
            };
            let names: Vec<&str> = meaning.values.iter().chain(meaning.labels).copied().collect();
            let text = finding_template(code, Lang::En);
            let mut law = meaning.law.to_owned();
            // Most conditions begin with a small letter, after a colon.
            if let Some(first) = law.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            let _ = write!(
                page,
                "\n### `{code}`\n**{}.**{about} {law}{}. *Remedy:* {}\n",
                cell(&text.title),
                of_values(&names),
                cell(&text.advice),
            );
        }
    }
    assert_eq!(page.matches("\n### ").count(), Code::ALL.len());
    assert_page("findings.md", &page);
}

/// Names of values after a code.
fn of_values(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

#[test]
fn reasons_reference_matches_the_codes() {
    let mut page =
        "# Reasons for unknown facts\n\n`unknown_because` in [JSON](../json.md) and in the \
                    [logbook](../schema.md) is one of these codes, with values by name. The \
                    meaning of a code never changes. All values are texts; empty ones are \
                    omitted.\n\n"
            .to_owned();
    for (code, values, when) in Reason::ALL {
        let _ = writeln!(page, "- `{code}`{}: {when}", of_values(values));
    }
    assert_page("reasons.md", &page);
}

#[test]
fn remarks_reference_matches_the_codes() {
    let mut page =
        "# Differences from other programs\n\nIf qdepth handles an option of fio or IOR \
                    differently, the run gets the finding `not-literal`, with one of these codes \
                    in `what`. If an imported result leaves something open, the codes are in \
                    `remarks` of the finding `imported`, separated by `; `. The \
                    [finding](findings.md) contains the values, and reports show the sentence. \
                    For Iometer's configurations, comments in the plan show the sentences. The \
                    meaning of a code never changes.\n\n"
            .to_owned();
    for remark in Remark::ALL.iter().copied() {
        let values = remark.values();
        let (name, figures) = (Some("NAME".to_owned()), values.iter());
        let figure = figures.copied().find(|value| *value != "name").map(|name| (name, 4096));
        let sentence = Remarked { remark, name, figure }.to_string();
        let _ = writeln!(page, "- `{}`{}: {}", remark.as_str(), of_values(values), cell(&sentence));
    }
    assert_page("remarks.md", &page);
}

/// The columns of a point's latencies, of which there is one for each of these.
const LATENCIES: [&[&str]; 3] = [
    &["latency", "response_time"],
    &["reads", "writes", "trims", "all", "syncs"],
    &["count", "min", "mean", "max", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"],
];

#[test]
fn csv_reference_matches_the_export() {
    let [time, direction, figure] = LATENCIES.map(|words| format!("{{{}}}", words.join(", ")));
    let mut page = format!(
        "# CSV columns\n\n`qdepth export --csv` prints one row for each point. A cell is empty \
         where a value does not exist.\n\nLatencies are nanoseconds, in columns \
         `TIME_ns_DIRECTION_FIGURE`, for example `latency_ns_reads_p99.9`: TIME is one of \
         `{time}`, DIRECTION one of `{direction}`, FIGURE one of `{figure}`. A percentile with \
         fewer than ten samples beyond it is empty. Times are RFC 3339, UTC.\n\n"
    );
    let mut latencies = 0;
    for column in csv_columns() {
        let kind = match column.value {
            Cell::Text(_) => "text",
            Cell::Whole(_) => "integer",
            Cell::Real(_) => "number",
            Cell::Flag(_) => "boolean",
            Cell::Time(_) => "time",
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
            let _ = writeln!(page, "- `{}` ({kind}): {}", column.name, cell(column.description));
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
        "array" => format!("array of {}", kind(&schema["items"])),
        "string" => "text".to_owned(),
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

/// The keys of a table, each with `before` in front; `kind` is part of its choice.
fn keys(schema: &Value, before: &str, page: &mut String) {
    let Some(keys) = schema["properties"].as_object() else { return };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_shown = |(key, value): &(&String, &Value)| {
        value["const"].is_null() && key.as_str() != "translations"
    };
    for (key, value) in keys.iter().filter(is_shown) {
        let must = if required.contains(&key.as_str()) { ", required" } else { "" };
        let description = cell(value["description"].as_str().unwrap_or_default());
        let _ = writeln!(page, "{before}- `{key}` ({}{must}): {description}", kind(value));
    }
}

/// A type with its keys or choices.
fn definition(name: &str, schema: &Value, page: &mut String) {
    let description = schema["description"].as_str().unwrap_or_default();
    let _ = write!(page, "\n## {name}\n{}\n\n", cell(description));
    keys(schema, "", page);
    let several = ["oneOf", "anyOf"].iter().find_map(|any| schema[any].as_array());
    let Some(several) = several else {
        if schema["properties"].is_null() {
            let _ = writeln!(page, "A {}.", kind(schema));
        }
        return;
    };
    for choice in several {
        let description = cell(choice["description"].as_str().unwrap_or_default());
        let is_kind = choice["properties"]["kind"]["const"].as_str();
        let value = is_kind.map_or_else(|| kind(choice), |value| format!("`kind = \"{value}\"`"));
        let _ = writeln!(page, "- {value}: {description}");
        keys(choice, "  ", page);
    }
}

#[test]
fn plan_file_reference_matches_the_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../schemas/plan.json")).expect("a JSON Schema");
    let mut page = "# Plan files\n\nA plan is a TOML file; `qdepth schema plan` prints a JSON \
                    Schema for editors, `qdepth plans standard` a plan to start from. \
                    Unknown keys are errors. qdepth fills in missing values when it resolves \
                    the plan; the resolved plan (`qdepth plan --json`) contains all of them.\n\n\
                    Times are texts, for example `\"500ms\"`, and so are sizes, for \
                    example `\"4KiB\"`.\n\n## Plan\n"
        .to_owned();
    let top = schema["description"].as_str().map(cell).unwrap_or_default();
    let _ = writeln!(page, "{top}\n");
    keys(&schema, "", &mut page);
    let none = Map::new();
    let parts: BTreeMap<&String, &Value> =
        schema["$defs"].as_object().unwrap_or(&none).iter().collect();
    // Translations are for shipped plans only.
    for (name, part) in parts.into_iter().filter(|(name, _)| !name.ends_with("Translation")) {
        definition(name, part, &mut page);
    }
    assert!(page.contains("`block_size` ([SizeSpec](#sizespec), required)"), "{page}");
    assert_page("plan-files.md", &page);
}
