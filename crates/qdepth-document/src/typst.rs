//! Rendering as Typst markup: `document.typ` has the content, `house.typ` the layout, and pictures
//! are separate files. `qdepth-pdf`, or any Typst 0.15, turns them into a PDF.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::Date;

use crate::attached::is_long;
use crate::document::{Align, Block, Cell, Document, Fact, FindingGroup, Mark, Picture, Table};
use crate::number::unbroken;
use qdepth_words::words;

/// Layout of the document.
const HOUSE: &str = include_str!("../templates/house.typ");
/// Length above which a word may be broken, letters.
const LONG: usize = 24;

/// Files for Typst, by name.
pub fn typst(document: &Document) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::from([("house.typ".to_owned(), HOUSE.as_bytes().to_vec())]);
    let mut out = String::from("#import \"house.typ\": *\n");
    head(document, &mut out, &mut files);
    for section in &document.sections {
        call(&mut out, "chapter", &[text(&section.id), text(&section.title)]);
        for block in &section.blocks {
            write_block(block, &mut out, &mut files);
        }
    }
    let about = words(document.lang).paper.labels.about;
    call(&mut out, "chapter", &[text("about"), text(about)]);
    call(&mut out, "fact-list", &[facts(&document.facts)]);
    call(&mut out, "closing", &[text(&document.footer)]);
    files.insert("document.typ".to_owned(), out.into_bytes());
    files
}

/// Running text as a Typst string.
fn text(text: &str) -> String {
    literal(&unbroken(text))
}

/// Exact text as a Typst string.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' | '\t' => out.push(' '),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Typst array; the trailing comma distinguishes a single item from parentheses.
fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items.into_iter().map(|item| item + ", ").collect();
    format!("({items})")
}

fn texts<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    array(items.into_iter().map(text))
}

fn call(out: &mut String, function: &str, arguments: &[String]) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "#{function}({})", arguments.join(", "));
}

fn named(name: &str, value: String) -> String {
    format!("{name}: {value}")
}

fn head(document: &Document, out: &mut String, files: &mut BTreeMap<String, Vec<u8>>) {
    let (cover, labels) = (&document.cover, &words(document.lang).paper.labels);
    let logo = cover.logo.as_ref().map(|logo| {
        let name = format!("logo.{}", logo.kind.extension());
        files.insert(name.clone(), logo.bytes.clone());
        text(&name)
    });
    let history = cover.history.iter().map(|r| texts([&*r.version, &*r.date, &*r.changes]));
    let banners = document.banners.iter().map(|b| texts([&*b.label, &*b.text]));
    let [table, figure, contents, summary, versions, page] = labels.document;
    let mut answer = String::new();
    for block in &document.answer {
        write_block(block, &mut answer, files);
    }
    let arguments = [
        named("lang", text(document.lang.tag())),
        named("title", text(&document.title)),
        named("subtitle", text(&document.subtitle)),
        named("mark", text(&document.mark)),
        named("kind", text(document.kind())),
        named("organisation", text(&cover.organisation)),
        named("tested", text(&cover.tested)),
        named("logo", logo.unwrap_or_else(|| "none".to_owned())),
        named("version", text(&cover.version)),
        named("date", text(&cover.date)),
        named("day", day(&cover.iso_date)),
        named("banners", array(banners)),
        named("summary", texts(document.summary.iter().map(String::as_str))),
        named("question", text(&document.question)),
        named("answer", format!("[\n{answer}]")),
        named("history", array(history)),
        named("history-columns", texts(labels.history)),
        named(
            "labels",
            format!(
                "(table: {}, figure: {}, contents: {}, summary: {}, history: {}, page: {})",
                text(table),
                text(figure),
                text(contents),
                text(summary),
                text(versions),
                text(page),
            ),
        ),
    ];
    let _ = writeln!(out, "#show: paper.with(\n  {},\n)", arguments.join(",\n  "));
}

/// Typst date for the PDF's metadata; `none` if the day does not exist.
fn day(iso: &str) -> String {
    match iso.parse::<Date>() {
        Ok(day) => {
            format!("datetime(year: {}, month: {}, day: {})", day.year(), day.month(), day.day())
        }
        Err(_) => "none".to_owned(),
    }
}

fn facts(facts: &[Fact]) -> String {
    array(facts.iter().map(|fact| {
        let value = if fact.literal { literal(&fact.value) } else { text(&fact.value) };
        array([text(&fact.name), value, fact.literal.to_string()])
    }))
}

/// Allows a line break after slashes, commas and similar characters in long words (command lines,
/// paths).
fn breakable(text: &str) -> String {
    let mut out = String::new();
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        let long = word.chars().count() > LONG;
        for letter in word.chars() {
            out.push(letter);
            if long && matches!(letter, ',' | '/' | '=' | '_' | ';' | ':' | '&') {
                out.push('\u{200b}');
            }
        }
    }
    out
}

fn write_block(block: &Block, out: &mut String, files: &mut BTreeMap<String, Vec<u8>>) {
    match block {
        Block::Paragraph(words) => call(out, "para", &[text(words)]),
        Block::Reference { text: words, link } => {
            call(out, "reference", &[text(words), text(link)])
        }
        Block::Drawing(drawing) => {
            let (ending, bytes) = match &drawing.own {
                Some(own) => (own.kind.extension(), own.bytes.clone()),
                None => ("svg", drawing.svg.clone().into_bytes()),
            };
            let name = format!("{}.{ending}", drawing.id);
            let words = [text(&name), text(&drawing.title), text(&drawing.description)];
            call(out, "picture", &words);
            files.insert(name, bytes);
        }
        Block::Heading(words) => call(out, "minor", &[text(words)]),
        Block::Facts(list) => call(out, "fact-list", &[facts(list)]),
        Block::Table(table) => write_table(table, out),
        Block::Pictures(pictures) => {
            for picture in pictures {
                write_picture(picture, out, files);
            }
        }
        Block::SumUp { title, sentences } => {
            call(out, "sum-up", &[text(title), texts(sentences.iter().map(String::as_str))]);
        }
        Block::Finding(group) => write_finding(group, out),
        Block::Attachment { caption, name, text: attached } => {
            files.insert(name.clone(), attached.clone().into_bytes());
            call(out, "attachment", &[text(caption), text(name)]);
        }
        Block::Source { caption, name, text: source } => {
            files.insert(name.clone(), source.clone().into_bytes());
            // The first lines of a long plan would only take room on paper.
            if is_long(source) {
                call(out, "attachment", &[text(caption), text(name)]);
            } else {
                call(out, "source", &[text(caption), literal(source), text(name)]);
            }
        }
    }
}

fn write_table(table: &Table, out: &mut String) {
    let columns = table.columns.iter().map(|column| {
        let align = match column.align {
            Align::Text => "left",
            Align::Number | Align::Places => "right",
            Align::Centre => "center",
        };
        array([text(&column.heading), text(&column.unit), align.to_owned()])
    });
    let rows = table
        .rows
        .iter()
        .map(|row| format!("\n  ({}, {})", row.opens_group, array(row.cells.iter().map(cell))));
    let mut arguments = vec![
        named("caption", text(&table.caption)),
        named("note", text(&table.note)),
        named("columns", array(columns)),
        named("rows", array(rows)),
    ];
    arguments.extend(widths(table).map(|widths| named("widths", widths)));
    call(out, "figures", &arguments);
}

/// Column widths for a table with a long list of points: the list wraps instead of the other
/// columns.
fn widths(table: &Table) -> Option<String> {
    let index = table.columns.iter().position(|column| column.align == Align::Places)?;
    let cells = table.rows.iter().filter_map(|row| row.cells.get(index));
    let longest = cells.map(|cell| cell.text.chars().count()).max()?;
    let width = |at: usize| if at == index { "30mm" } else { "auto" }.to_owned();
    (longest > LONG).then(|| array((0..table.columns.len()).map(width)))
}

fn cell(cell: &Cell) -> String {
    let mark = match cell.mark {
        Mark::Plain => return text(&breakable(&cell.text)),
        Mark::Struck => "struck",
        Mark::Unknown => "unknown",
        Mark::Head => "head",
        Mark::Alarm => "alarm",
        Mark::Shade(0 | 1) => "shade-1",
        Mark::Shade(2) => "shade-2",
        Mark::Shade(_) => "shade-3",
    };
    texts([breakable(&cell.text).as_str(), mark])
}

fn write_picture(picture: &Picture, out: &mut String, files: &mut BTreeMap<String, Vec<u8>>) {
    let name = format!("{}.svg", picture.id);
    let svg = picture.svg();
    call(out, "picture", &[text(&name), text(&picture.title), text(&picture.description)]);
    files.insert(name, svg.into_bytes());
}

fn write_finding(group: &FindingGroup, out: &mut String) {
    let cases = group.cases.iter().map(|case| texts([&*case.explanation, &*case.location]));
    let arguments = [
        text(&group.title),
        text(&group.severity),
        group.invalid.to_string(),
        array(cases),
        text(&group.advice),
    ];
    call(out, "finding", &arguments);
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn only_valid_dates_become_typst_dates() {
        let days = |year: &str| {
            let all = (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day)));
            all.filter(|(m, d)| day(&format!("{year}-{m:02}-{d:02}")) != "none").count()
        };
        assert_eq!((days("2024"), days("2026")), (366, 365));
        assert_eq!(day("2026-01-31"), "datetime(year: 2026, month: 1, day: 31)");
        for none in ["2026-02-30", "2026-13-01", "2026-1", "", "yesterday"] {
            assert_eq!(day(none), "none", "{none}");
        }
    }
}
