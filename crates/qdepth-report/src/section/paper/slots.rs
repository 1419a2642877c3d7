//! Parts of the publisher file: products, administration software, configuration of the tests,
//! footnotes.

use crate::document::{Block, Cell, Row, Section, Table, text};
use crate::grouped::unique;
use crate::paper::{Product, Text};
use crate::rows::Rows;
use crate::section::sum_box::paragraphs;
use crate::view::View;
use crate::words::Lang;

/// Chapter on the products, after the introduction.
pub(crate) fn products(view: &View<'_>) -> Option<Section> {
    let (lang, words, products) = (view.lang, view.words.paper.slots, &view.paper.products);
    let mut blocks = Vec::new();
    for product in products {
        blocks.push(Block::Heading(product.name.in_lang(lang).to_owned()));
        blocks.extend(texts(&product.introduction, lang));
    }
    let labels = unique(products.iter().flat_map(|p| &p.data).map(|[name, _]| name.in_lang(lang)));
    let row = |name: &str, cells: Vec<Option<String>>| {
        let known = cells.iter().any(Option::is_some);
        let head = std::iter::once(Cell::head(name));
        known.then(|| Row::new(head.chain(cells.into_iter().map(Cell::or_dash))))
    };
    let data = labels.into_iter().filter_map(|label| {
        let cell = |product: &Product| {
            let found = product.data.iter().find(|[name, _]| name.in_lang(lang) == label);
            found.map(|[_, value]| value.in_lang(lang).to_owned())
        };
        row(label, products.iter().map(cell).collect())
    });
    let code = |product: &Product| Some(product.order_code.clone()).filter(|c| !c.is_empty());
    let codes = row(words.order_code, products.iter().map(code).collect());
    let names = products.iter().map(|product| text(product.name.in_lang(lang)));
    let columns = std::iter::once(text("")).chain(names);
    let table = Table::new(words.data, columns, data.chain(codes));
    blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    Section::unless_empty(blocks, "products", words.products)
}

/// Paragraphs of a text of the publisher file.
pub(crate) fn texts(text: &Text, lang: Lang) -> impl Iterator<Item = Block> + use<> {
    paragraphs(text.in_lang(lang)).into_iter().map(Block::Paragraph)
}

/// The software that administers the storage.
pub(crate) fn administration(view: &View<'_>) -> Option<Section> {
    let blocks = texts(&view.paper.administration, view.lang).collect();
    Section::unless_empty(blocks, "administration", view.words.paper.slots.administration)
}

/// Settings of the tests: firmware, drivers, tuning.
pub(crate) fn configuration(view: &View<'_>) -> Option<Block> {
    let (lang, words) = (view.lang, view.words.paper.slots);
    let [subject, setting, value, tests] = words.configuration_columns.map(text);
    let table = Rows::from_items(&view.paper.configuration)
        .column(subject, |entry| Cell::head(entry.subject.in_lang(lang)))
        .column(setting, |entry| entry.setting.in_lang(lang))
        .column(value, |entry| entry.value.in_lang(lang))
        .column(tests, |entry| match entry.tests.in_lang(lang) {
            "" => Cell::plain(words.every_test),
            tests => Cell::plain(tests),
        })
        .table(words.configuration);
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// Numbered notes, which texts of the publisher refer to as *1, *2.
pub(crate) fn footnotes(view: &View<'_>) -> Option<Section> {
    let notes = view.paper.footnotes.iter().enumerate();
    let notes = notes.map(|(at, note)| format!("*{} {}", at + 1, note.in_lang(view.lang)));
    let blocks = notes.map(Block::Paragraph).collect();
    Section::unless_empty(blocks, "footnotes", view.words.paper.slots.footnotes)
}
