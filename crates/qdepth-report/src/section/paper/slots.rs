//! Parts of the publisher file: products, administration software, configuration of the tests,
//! footnotes.

use crate::document::{Block, Cell, Row, Section, Table, text};
use crate::paper::Text;
use crate::view::View;

/// Chapter on the products, after the introduction.
pub(crate) fn products(view: &View<'_>) -> Option<Section> {
    let (lang, words) = (view.lang, view.words.paper.slots);
    let mut blocks = Vec::new();
    for product in &view.paper.products {
        blocks.push(Block::Heading(product.name.in_lang(lang).to_owned()));
        blocks.extend(paragraphs(product.introduction.in_lang(lang)));
    }
    let mut labels: Vec<&str> = Vec::new();
    for [label, _] in view.paper.products.iter().flat_map(|product| &product.data) {
        if !labels.contains(&label.in_lang(lang)) {
            labels.push(label.in_lang(lang));
        }
    }
    let row = |name: &str, cells: Vec<Option<String>>| {
        let known = cells.iter().any(Option::is_some);
        let head = std::iter::once(Cell::head(name));
        let cells = head.chain(cells.into_iter().map(Cell::or_dash)).collect();
        known.then_some(Row { cells, opens_group: false })
    };
    let mut rows: Vec<Row> = Vec::new();
    for label in labels {
        let cell = |data: &[[Text; 2]]| {
            let found = data.iter().find(|[name, _]| name.in_lang(lang) == label);
            found.map(|[_, value]| value.in_lang(lang).to_owned())
        };
        rows.extend(row(label, view.paper.products.iter().map(|p| cell(&p.data)).collect()));
    }
    let code = |code: &String| Some(code.clone()).filter(|code| !code.is_empty());
    let codes = view.paper.products.iter().map(|product| code(&product.order_code)).collect();
    rows.extend(row(words.order_code, codes));
    let names = view.paper.products.iter().map(|product| text(product.name.in_lang(lang)));
    let columns = std::iter::once(text("")).chain(names).collect();
    let caption = words.data.to_owned();
    let table = Table { caption, columns, rows, note: String::new() };
    blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    section("products", words.products, blocks)
}

/// The software that administers the storage.
pub(crate) fn administration(view: &View<'_>) -> Option<Section> {
    let blocks = paragraphs(view.paper.administration.in_lang(view.lang)).collect();
    section("administration", view.words.paper.slots.administration, blocks)
}

/// Settings of the tests: firmware, drivers, tuning.
pub(crate) fn configuration(view: &View<'_>) -> Option<Block> {
    let (lang, words) = (view.lang, view.words.paper.slots);
    let rows = view.paper.configuration.iter().map(|entry| {
        let tests = entry.tests.in_lang(lang);
        let tests = if tests.is_empty() { words.every_test } else { tests };
        let cells = [
            entry.subject.in_lang(lang),
            entry.setting.in_lang(lang),
            entry.value.in_lang(lang),
            tests,
        ];
        let [subject, others @ ..] = cells;
        let cells = std::iter::once(Cell::head(subject)).chain(others.map(Cell::plain)).collect();
        Row { cells, opens_group: false }
    });
    let table = Table {
        caption: words.configuration.to_owned(),
        columns: words.configuration_columns.map(text).to_vec(),
        rows: rows.collect(),
        note: String::new(),
    };
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// Numbered notes, which texts of the publisher refer to as *1, *2.
pub(crate) fn footnotes(view: &View<'_>) -> Option<Section> {
    let notes = view.paper.footnotes.iter().enumerate();
    let notes = notes.map(|(at, note)| format!("*{} {}", at + 1, note.in_lang(view.lang)));
    let blocks = notes.map(Block::Paragraph).collect();
    section("footnotes", view.words.paper.slots.footnotes, blocks)
}

/// Splits a text into paragraphs at blank lines.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = Block> + '_ {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| Block::Paragraph(part.to_owned()))
}

fn section(id: &str, title: &str, blocks: Vec<Block>) -> Option<Section> {
    (!blocks.is_empty()).then(|| super::section::section(id, title, blocks))
}
