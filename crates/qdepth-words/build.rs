//! Makes Rust of the catalogues in `text/`: a type whose fields are the keys of the English one,
//! and a value of it for each language. What a language lacks is said in English until it has it,
//! and stands in `MISSING`, which a test wants empty. A profile brings its own names along
//! (`profiles/`), a plan its question and the names of its steps (`plans/`); a catalogue may have
//! others.

#![expect(clippy::disallowed_methods, reason = "a build script reads the catalogues")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

/// The language whose keys are those of all.
const BASE: &str = "en";
/// Tables whose keys are names that are looked up, and no fields.
const MAPS: [&str; 17] = [
    "answer.questions",
    "applications",
    "certificate.proofs",
    "fact_codes",
    "fact_figures",
    "fact_names",
    "fact_sources",
    "fact_subjects",
    "fact_values",
    "finding",
    "finding_labels",
    "paper.media.facts",
    "phase_steps",
    "reason",
    "remarks",
    "steps",
    "titles",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=text");
    let mut languages = BTreeMap::new();
    for entry in std::fs::read_dir("text")? {
        let path = entry?.path();
        let tag = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let text = std::fs::read_to_string(&path)?;
        let table = text.parse::<Table>().map_err(|e| format!("{}: {e}", path.display()))?;
        languages.insert(tag, table);
    }
    names_of_profiles(&mut languages)?;
    titles_of_steps(&mut languages)?;
    questions_of_plans(&mut languages)?;
    let base = languages.get(BASE).ok_or("text/en.toml is missing")?;
    let mut out = String::new();
    types(&mut out, "", base)?;
    let mut lacking = String::new();
    // The base is first: it is what is spoken where nothing is chosen.
    let others = languages.keys().filter(|tag| *tag != BASE);
    let tags: Vec<&str> = std::iter::once(BASE).chain(others.map(String::as_str)).collect();
    for tag in &tags {
        let value = value(base, &languages[*tag], "", tag, &mut lacking)?;
        let name = tag.to_uppercase().replace('-', "_");
        writeln!(out, "static {name}: Words = {value};")?;
        surplus(base, &languages[*tag], "", tag, &mut lacking)?;
    }
    language(&mut out, &tags)?;
    writeln!(
        out,
        "/// Language and key of what a catalogue lacks, or has beyond the English one."
    )?;
    writeln!(out, "pub const MISSING: &[[&str; 2]] = &[{lacking}];")?;
    let folder = std::env::var("OUT_DIR")?;
    Ok(std::fs::write(Path::new(&folder).join("catalogues.rs"), out)?)
}

/// Adds what profiles are called to the catalogues, where those have no name of their own for them.
fn names_of_profiles(languages: &mut BTreeMap<String, Table>) -> Result<(), Box<dyn Error>> {
    for profile in tables("../../profiles")? {
        let name = profile.get("name").and_then(Value::as_str).ok_or("a profile without a name")?;
        let others = profile.get("translations").and_then(Value::as_table);
        for (tag, catalogue) in &mut *languages {
            let own = if tag == BASE {
                Some(&profile)
            } else {
                others.and_then(|all| all.get(tag)?.as_table())
            };
            for (key, map) in [("title", "titles"), ("application", "applications")] {
                let told = own.and_then(|own| own.get(key));
                let map = catalogue.get_mut(map).and_then(Value::as_table_mut);
                if let (Some(told), Some(map)) = (told, map) {
                    map.entry(name).or_insert_with(|| told.clone());
                }
            }
        }
    }
    Ok(())
}

/// Adds what the steps of plans are called to the catalogues, by their titles. A title that has
/// letters and no translation stands in `MISSING`, as any other key.
fn titles_of_steps(languages: &mut BTreeMap<String, Table>) -> Result<(), Box<dyn Error>> {
    let mut steps: BTreeMap<String, Table> = BTreeMap::new();
    for plan in tables("../../plans")? {
        for step in plan.get("step").and_then(Value::as_array).into_iter().flatten() {
            let title =
                step.get("title").and_then(Value::as_str).ok_or("a step without a title")?;
            let others = step.get("translations").and_then(Value::as_table);
            let own = [(BASE.to_owned(), Value::from(title))].into_iter();
            let all: Table = own.chain(others.cloned().into_iter().flatten()).collect();
            if steps.insert(title.to_owned(), all.clone()).is_some_and(|former| former != all) {
                return Err(format!("the step {title:?} has several translations").into());
            }
        }
    }
    languages.iter_mut().try_for_each(|(tag, catalogue)| add(catalogue, "steps", tag, &steps))
}

/// Adds the questions of plans to the catalogues: in English what a plan's file begins with.
fn questions_of_plans(languages: &mut BTreeMap<String, Table>) -> Result<(), Box<dyn Error>> {
    let mut questions: BTreeMap<String, Table> = BTreeMap::new();
    for (file, text) in texts("../../plans")? {
        let first = text.strip_prefix("# ").and_then(|rest| rest.lines().next()?.split_once('?'));
        let (question, _) = first.ok_or(format!("{file}: its first line is not a question"))?;
        let plan: Table = text.parse()?;
        let name = plan.get("name").and_then(Value::as_str).ok_or("a plan without a name")?;
        let mut all = Table::from_iter([(BASE.to_owned(), Value::from(format!("{question}?")))]);
        for (tag, other) in plan.get("translations").and_then(Value::as_table).into_iter().flatten()
        {
            all.extend(other.get("question").map(|question| (tag.clone(), question.clone())));
        }
        questions.insert(name.to_owned(), all);
    }
    languages.iter_mut().try_for_each(|(tag, catalogue)| {
        add(table_of(catalogue, "answer")?, "questions", tag, &questions)
    })
}

/// Adds to a map of a catalogue, in its language, what it has not itself.
fn add(
    catalogue: &mut Table,
    map: &str,
    tag: &str,
    texts: &BTreeMap<String, Table>,
) -> Result<(), Box<dyn Error>> {
    let map = table_of(catalogue, map)?;
    for (key, all) in texts {
        if let Some(text) = all.get(tag) {
            map.entry(key).or_insert_with(|| text.clone());
        }
    }
    Ok(())
}

/// A table of a catalogue; an empty one where it has none.
fn table_of<'a>(catalogue: &'a mut Table, name: &str) -> Result<&'a mut Table, Box<dyn Error>> {
    let table = catalogue.entry(name).or_insert_with(|| Value::Table(Table::new()));
    Ok(table.as_table_mut().ok_or_else(|| format!("`{name}` is not a table"))?)
}

/// The TOML files of a folder, in the order of their names.
fn tables(folder: &str) -> Result<Vec<Table>, Box<dyn Error>> {
    let parse =
        |(file, text): (String, String)| Ok(text.parse().map_err(|e| format!("{file}: {e}"))?);
    texts(folder)?.into_iter().map(parse).collect()
}

/// The files of a folder with their texts, in the order of their names.
fn texts(folder: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    let mut files = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(std::fs::DirEntry::path);
    let read = |file: std::fs::DirEntry| -> Result<(String, String), Box<dyn Error>> {
        Ok((file.path().display().to_string(), std::fs::read_to_string(file.path())?))
    };
    files.into_iter().map(read).collect()
}

/// The enum of languages, and the way from each to its words.
fn language(out: &mut String, tags: &[&str]) -> std::fmt::Result {
    let names: Vec<String> = tags.iter().map(|tag| camel(tag)).collect();
    writeln!(out, "/// A language of reports.")?;
    writeln!(out, "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]")?;
    writeln!(out, "pub enum Lang {{ #[default]")?;
    for (name, tag) in names.iter().zip(tags) {
        writeln!(out, "/// `{tag}`.\n{name},")?;
    }
    writeln!(out, "}}\nimpl Lang {{\n/// Every language there is.")?;
    let all: Vec<String> = names.iter().map(|name| format!("Self::{name}")).collect();
    writeln!(out, "pub const ALL: [Self; {}] = [{}];", all.len(), all.join(", "))?;
    writeln!(out, "/// Its BCP 47 tag.\npub fn tag(self) -> &'static str {{ match self {{")?;
    for (name, tag) in names.iter().zip(tags) {
        writeln!(out, "Self::{name} => {tag:?},")?;
    }
    writeln!(out, "}} }} }}\n/// The words of a language.")?;
    writeln!(out, "pub fn words(lang: Lang) -> &'static Words {{ match lang {{")?;
    for (name, tag) in names.iter().zip(tags) {
        writeln!(out, "Lang::{name} => &{},", tag.to_uppercase().replace('-', "_"))?;
    }
    writeln!(out, "}} }}")
}

fn camel(name: &str) -> String {
    let parts = name.split(['.', '_', '-']);
    parts
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().collect::<String>() + letters.as_str()
            })
        })
        .collect()
}

fn type_name(path: &str) -> String {
    camel(path) + "Words"
}

fn is_map(path: &str) -> bool {
    MAPS.contains(&path)
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The type of a table, and before it those of the tables in it.
fn types(out: &mut String, path: &str, table: &Table) -> Result<(), Box<dyn Error>> {
    let mut fields = String::new();
    for (key, value) in table {
        let path = below(path, key);
        let kind = match value {
            Value::Table(map) if is_map(&path) => {
                let first = map.values().next().ok_or("an empty table")?;
                format!("Map<{}>", shape(first)?)
            }
            Value::Table(inner) => {
                types(out, &path, inner)?;
                format!("&'static {}", type_name(&path))
            }
            other => shape(other)?,
        };
        writeln!(fields, "/// `{path}`\npub {key}: {kind},")?;
    }
    let about = if path.is_empty() { "all".to_owned() } else { format!("`{path}`") };
    writeln!(out, "/// Words: {about}.\n#[derive(Debug)]\npub struct {} {{", type_name(path))?;
    writeln!(out, "{fields}}}")?;
    Ok(())
}

/// The type of a text or a list.
fn shape(value: &Value) -> Result<String, Box<dyn Error>> {
    match value {
        Value::String(_) => Ok("&'static str".to_owned()),
        Value::Array(all) => {
            let first = all.first().ok_or("an empty list")?;
            Ok(format!("[{}; {}]", shape(first)?, all.len()))
        }
        other => Err(format!("neither text nor list: {other}").into()),
    }
}

/// The value of a table in a language; what it lacks comes from the base.
fn value(
    base: &Table,
    own: &Table,
    path: &str,
    tag: &str,
    lacking: &mut String,
) -> Result<String, Box<dyn Error>> {
    let nothing = Table::new();
    let map = is_map(path);
    let mut fields = String::new();
    for (key, model) in base {
        let path = below(path, key);
        let text = match model {
            Value::Table(inner) => {
                let own = own.get(key).and_then(Value::as_table).unwrap_or(&nothing);
                let nested = value(inner, own, &path, tag, lacking)?;
                if is_map(&path) { nested } else { format!("&{nested}") }
            }
            model => match own.get(key) {
                Some(own) if shape(own).ok() == shape(model).ok() => literal(own)?,
                _ => {
                    write!(lacking, "[{tag:?}, {path:?}], ")?;
                    literal(model)?
                }
            },
        };
        match map {
            true => write!(fields, "({key:?}, {text}), ")?,
            false => write!(fields, "{key}: {text}, ")?,
        }
    }
    Ok(if map { format!("&[{fields}]") } else { format!("{} {{ {fields} }}", type_name(path)) })
}

/// Keys of a language that the base does not have.
fn surplus(
    base: &Table,
    own: &Table,
    path: &str,
    tag: &str,
    lacking: &mut String,
) -> Result<(), std::fmt::Error> {
    for (key, value) in own {
        let path = below(path, key);
        match (base.get(key), value) {
            (Some(Value::Table(base)), Value::Table(own)) => {
                surplus(base, own, &path, tag, lacking)?;
            }
            (Some(_), _) => {}
            (None, _) => write!(lacking, "[{tag:?}, {path:?}], ")?,
        }
    }
    Ok(())
}

fn literal(value: &Value) -> Result<String, Box<dyn Error>> {
    match value {
        Value::String(text) => Ok(format!("{text:?}")),
        Value::Array(all) => {
            let parts: Result<Vec<String>, _> = all.iter().map(literal).collect();
            Ok(format!("[{}]", parts?.join(", ")))
        }
        other => Err(format!("neither text nor list: {other}").into()),
    }
}
