//! Rendering as a single HTML file without external resources or fonts. Its only script adds
//! reading aids. The page's policy allows no other script: it names this one by its hash.

use std::cell::Cell;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::attached::{excerpt, gzip, is_large};
use crate::document::{Align, Block, Column, Document, Fact, Logo, Mark, Table};
use crate::figure::{GRID, INK, PALETTE, PAPER};
use crate::number::unbroken;
use qdepth_words::{Lang, PaperLabelsWords, words};

/// Script that sorts and filters tables, hides lines and shows values. The page is complete without
/// it.
pub const SCRIPT: &str = include_str!("../templates/page.js");

/// Space as wide as a digit; the next one is as wide as a full stop.
const FIGURE_SPACE: char = '\u{2007}';
const PUNCTUATION_SPACE: char = '\u{2008}';

/// Error of rendering a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The template could not be filled.
    #[error("the report could not be rendered as HTML: {0}")]
    Template(#[from] askama::Error),
}

/// A document as a self-contained HTML page.
///
/// # Errors
/// If the template cannot be filled, which needs memory to run out.
pub fn html(document: &Document) -> Result<String, ReportError> {
    page(document, false)
}

/// Renders the content of the `main` element, for a page that includes [`style_sheet`] and may
/// include [`reading_aids`]. It contains no style and no script.
///
/// # Errors
/// Like [`html`].
pub fn html_part(document: &Document) -> Result<String, ReportError> {
    page(document, true)
}

/// Renders a single table, for a page that includes [`style_sheet`].
///
/// # Errors
/// Like [`html`].
pub fn html_table(table: &Table) -> Result<String, ReportError> {
    Ok(finished(table_html(table, String::new(), false)?))
}

/// Style sheet of a report: light and dark, for screens of any width and for print.
pub fn style_sheet() -> String {
    format!("{}{}", include_str!("../templates/style.css"), restyle())
}

/// Script that sorts and filters tables, hides lines and shows values, for a page with such a part.
/// The page's `main` element needs the result of [`aids_words`] as `data-aids`.
pub const fn reading_aids() -> &'static str {
    SCRIPT
}

/// Texts for the controls of [`reading_aids`].
pub fn aids_words(lang: Lang) -> String {
    let labels = &words(lang).paper.labels;
    format!("{}|{}", labels.aids.join("|"), labels.document[2])
}

fn page(document: &Document, part: bool) -> Result<String, ReportError> {
    let labels = &words(document.lang).paper.labels;
    let (numbers, restyle) = (Default::default(), restyle() + &sheet_head(&document.cover.tested));
    let page = Page { document, labels, part, numbers, restyle, script: SCRIPT }.render()?;
    Ok(finished(page))
}

/// Elements whose text must not change, because it is copied or executed.
const LITERAL: [&str; 4] = ["code", "pre", "script", "style"];

/// Final page: values stay on the line of their unit, and hidden characters are replaced.
fn finished(page: String) -> String {
    let (mut out, mut literal) = (String::with_capacity(page.len()), None);
    for piece in page.split_inclusive('>') {
        let (text, tag) = piece.split_at(piece.rfind('<').unwrap_or(piece.len()));
        let name = |prefix: &str| {
            let element = tag.strip_prefix(prefix)?.split(['>', ' ']).next();
            LITERAL.into_iter().find(|name| element == Some(*name))
        };
        match literal {
            Some(_) => out.push_str(text),
            None => out.push_str(&unbroken(text)),
        }
        out.push_str(tag);
        literal = if literal.is_some() && literal == name("</") {
            None
        } else {
            literal.or_else(|| name("<"))
        };
    }
    without_hidden(out)
}

/// Replaces every invisible control character of a page by U+FFFD: control characters, and marks
/// that change the direction of writing or have no width (Unicode TR 36 and TR 9). They may come
/// with foreign names and notes.
pub fn without_hidden(page: String) -> String {
    let is_hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}')
    };
    if page.contains(is_hidden) { page.replace(is_hidden, "\u{fffd}") } else { page }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    labels: &'static PaperLabelsWords,
    /// True if only the content of the `main` element is rendered.
    part: bool,
    /// Numbers of tables and figures.
    numbers: [Cell<u32>; 2],
    restyle: String,
    script: &'static str,
}

impl Page<'_> {
    /// Next label of its kind: `Table 3: `, then `Table 4: `; figures are numbered separately.
    fn label(&self, kind: usize) -> String {
        let number = self.numbers[kind].get() + 1;
        self.numbers[kind].set(number);
        format!("{} {number}: ", self.labels.document[kind])
    }

    fn aids(&self) -> String {
        aids_words(self.document.lang)
    }

    /// Hash of the script for the Content-Security-Policy (CSP 3, 2.3.1), base64.
    fn script_hash(&self) -> String {
        STANDARD.encode(Sha256::digest(self.script))
    }

    /// Text as a `data:` URL, compressed if it is large.
    fn address(&self, text: &str, kind: &str) -> String {
        match is_large(text) {
            true => format!("data:application/gzip;base64,{}", STANDARD.encode(gzip(text))),
            false => format!("data:{kind};base64,{}", STANDARD.encode(text)),
        }
    }

    /// File name for the text of [`Self::address`], with `.gz` if it is compressed.
    fn file_name(&self, name: &str, text: &str) -> String {
        if is_large(text) { format!("{name}.gz") } else { name.to_owned() }
    }

    /// Text as printed: complete, or the beginning of a long one.
    fn shown(&self, text: &str) -> String {
        if is_large(text) { excerpt(text, self.document.lang) } else { text.to_owned() }
    }

    fn blocks(&self, blocks: &[Block]) -> askama::Result<String> {
        BlocksHtml { page: self, blocks }.render()
    }

    fn fact_list(&self, facts: &[Fact]) -> askama::Result<String> {
        FactsHtml { facts }.render()
    }

    fn table(&self, table: &Table) -> askama::Result<String> {
        let label = if table.caption.is_empty() { String::new() } else { self.label(0) };
        table_html(table, label, false)
    }

    fn data(&self, table: &Table) -> askama::Result<String> {
        table_html(table, String::new(), true)
    }
}

/// Picture as a `data:` URL.
pub fn data_uri(logo: &Logo) -> String {
    format!("data:{};base64,{}", logo.kind.media_type(), STANDARD.encode(&logo.bytes))
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct BlocksHtml<'p> {
    page: &'p Page<'p>,
    blocks: &'p [Block],
}

#[derive(Template)]
#[template(path = "facts.html")]
struct FactsHtml<'p> {
    facts: &'p [Fact],
}

#[derive(Template)]
#[template(path = "table.html")]
struct TableHtml<'a> {
    table: &'a Table,
    label: String,
    rows: Vec<RowHtml<'a>>,
    folded: bool,
}

struct RowHtml<'a> {
    opens_group: bool,
    cells: Vec<CellHtml<'a>>,
}

struct CellHtml<'a> {
    class: String,
    text: &'a str,
    /// Padding after a number that aligns decimal points: spaces as wide as digits. It is an
    /// attribute for the style sheet, not text, so that copied numbers stay unchanged.
    pad: String,
    head: bool,
    struck: bool,
}

impl Column {
    fn class(&self) -> &'static str {
        match self.align {
            Align::Text => "text",
            Align::Number => "num",
            Align::Centre => "mid",
            Align::Places => "points",
        }
    }
}

/// Renders a table; `folded` inside a picture's details, where it needs no second caption.
fn table_html(table: &Table, label: String, folded: bool) -> askama::Result<String> {
    let longest: Vec<&str> = (0..table.columns.len())
        .map(|column| {
            let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
            let fractions = cells.map(|cell| fraction(&cell.text));
            fractions.max_by_key(|fraction| fraction.chars().count()).unwrap_or("")
        })
        .collect();
    let rows = table.rows.iter().map(|row| RowHtml {
        opens_group: row.opens_group,
        cells: (table.columns.iter().zip(&row.cells).zip(&longest))
            .map(|((column, cell), longest)| {
                let number = column.align == Align::Number && cell.mark != Mark::Unknown;
                CellHtml {
                    class: format!("{}{}", column.class(), mark_class(cell.mark)),
                    text: &cell.text,
                    pad: if number { pad(&cell.text, longest) } else { String::new() },
                    head: cell.mark == Mark::Head,
                    struck: cell.mark == Mark::Struck,
                }
            })
            .collect(),
    });
    TableHtml { table, label, rows: rows.collect(), folded }.render()
}

fn mark_class(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain | Mark::Struck | Mark::Head => "",
        Mark::Unknown => " unknown",
        Mark::Alarm => " alarm",
        Mark::Shade(0 | 1) => " shade-1",
        Mark::Shade(2) => " shade-2",
        Mark::Shade(_) => " shade-3",
    }
}

/// Text after the decimal point, including the half-width of an interval.
fn fraction(number: &str) -> &str {
    number.split_once('.').map_or("", |(_, fraction)| fraction)
}

/// Spaces that pad a number to the longest fraction of its column.
fn pad(number: &str, longest: &str) -> String {
    let end = match fraction(number).chars().count() {
        0 if !longest.is_empty() => format!(".{longest}"),
        own => longest.chars().skip(own).collect(),
    };
    let space = |letter: char| match letter {
        '0'..='9' => FIGURE_SPACE,
        '.' => PUNCTUATION_SPACE,
        other => other,
    };
    end.chars().map(space).collect()
}

/// CSS rule for a header on every printed page; empty for an empty text.
fn sheet_head(tested: &str) -> String {
    if tested.is_empty() {
        return String::new();
    }
    // The text is a CSS string inside an HTML element. Every character that could end either is
    // escaped by its code point and a blank; without the blank, a following blank of the text would
    // be taken for the end of the escape (CSS Syntax 3, 4.3.7).
    let plain = |c: char| c.is_alphanumeric() || " .,:;()/+-|×…".contains(c);
    let letter =
        |c: char| if plain(c) { c.to_string() } else { format!("\\{:06x} ", u32::from(c)) };
    let text: String = tested.chars().map(letter).collect();
    let style = "font: 8pt sans-serif; color: #555; white-space: nowrap;";
    format!("@media print {{ @page {{ @top-left {{ content: \"{text}\"; {style} }} }} }}\n")
}

/// CSS rules that replace a picture's fixed colours by the page's variables (dark mode).
fn restyle() -> String {
    let fixed = [(INK, "ink-2"), (GRID, "grid"), (PAPER, "paper")];
    let series: Vec<String> = (1..=PALETTE.len()).map(|n| format!("s{n}")).collect();
    let all = fixed.into_iter().chain(PALETTE.into_iter().zip(series.iter().map(String::as_str)));
    all.map(|(colour, variable)| {
        format!(
            ".figure[fill=\"{colour}\"],.figure [fill=\"{colour}\"]{{fill:var(--{variable})}}\
             .figure [stroke=\"{colour}\"]{{stroke:var(--{variable})}}\n"
        )
    })
    .collect()
}
