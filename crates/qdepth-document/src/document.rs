//! The document model: what a report says, before anything decides how it looks. HTML is one
//! rendering of it; a printed one is meant to be another.

use crate::figure::{Figure, Label};
use qdepth_words::{Lang, words};

/// A report, in reading order.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The language its words are in.
    pub lang: Lang,
    /// Publisher and version.
    pub cover: Cover,
    /// Title.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// A word that every printed page, picture and row carries, or empty: EMULATED.
    pub mark: String,
    /// Banners that must not be overlooked.
    pub banners: Vec<Banner>,
    /// The plan's question, or empty.
    pub question: String,
    /// The answer, then what was measured and how far it can be trusted: a sentence each.
    pub summary: Vec<String>,
    /// The answer again: one diagram and one small table, for the first page. Both repeat what the
    /// body has.
    pub answer: Vec<Block>,
    /// Author, subject and date, with ids and hashes: for the last page.
    pub facts: Vec<Fact>,
    /// The body.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
}

/// The cover apart from its title. Empty parts are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Kind of document; empty for a white paper.
    pub kind: String,
    /// Publisher.
    pub organisation: String,
    /// Their mark.
    pub logo: Option<Logo>,
    /// Version of the document.
    pub version: String,
    /// Its date, as its language writes it.
    pub date: String,
    /// Its date as YYYY-MM-DD.
    pub iso_date: String,
    /// Former versions and this one, the oldest first.
    pub history: Vec<Revision>,
    /// Heading of every printed sheet: target and its state.
    pub tested: String,
}

impl Document {
    /// Kind of document.
    pub(crate) fn kind(&self) -> &str {
        let kind = &self.cover.kind;
        if kind.is_empty() { words(self.lang).paper.labels.kind } else { kind }
    }
}

/// A picture that stands for an organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    /// Image format.
    pub kind: LogoKind,
    /// The file, byte for byte.
    pub bytes: Vec<u8>,
}

/// Image format of a logo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogoKind {
    /// SVG.
    Svg,
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

impl LogoKind {
    /// The end of its file name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }
    /// Its media type (RFC 6838).
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Svg => "image/svg+xml",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

/// A version of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Its number, as `1.0a`.
    pub version: String,
    /// Its date, as written.
    pub date: String,
    /// Changes of this version.
    pub changes: String,
}

/// A notice above everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// One or two words.
    pub label: String,
    /// Meaning.
    pub text: String,
}

/// A name with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// True if the value is to be taken over letter by letter (a hash, a command).
    pub literal: bool,
}

/// A headed part of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Stable name for links, ASCII.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Content.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Running text.
    Paragraph(String),
    /// A cited source with its address.
    Reference {
        /// Text.
        text: String,
        /// The address.
        link: String,
    },
    /// A minor heading.
    Heading(String),
    /// Names and values.
    Facts(Vec<Fact>),
    /// A table.
    Table(Table),
    /// Pictures that belong side by side.
    Pictures(Vec<Picture>),
    /// A picture that is no diagram.
    Drawing(Drawing),
    /// Summary box of a chapter.
    SumUp {
        /// Heading.
        title: String,
        /// A sentence, or a few, each.
        sentences: Vec<String>,
    },
    /// Doubts of one kind.
    Finding(FindingGroup),
    /// A file that goes with the document: what would fill its pages.
    Attachment {
        /// Caption.
        caption: String,
        /// Its name.
        name: String,
        /// Its text, CSV.
        text: String,
    },
    /// A text to be shown as it is, folded away.
    Source {
        /// Caption.
        caption: String,
        /// The name of the file that it can be taken out as.
        name: String,
        /// The text, JSON.
        text: String,
    },
}

/// A table: headings, rows, and a remark below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Caption of the table.
    pub caption: String,
    /// Columns, left to right.
    pub columns: Vec<Column>,
    /// Rows, top to bottom; each has as many cells as there are columns.
    pub rows: Vec<Row>,
    /// Remark below the table, or empty.
    pub note: String,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Unit of every number in the column, or empty.
    pub unit: String,
    /// Alignment of its cells.
    pub align: Align,
    /// 0 for what a row is nothing without; of the others a narrow terminal leaves out the highest
    /// first. Pages have all.
    pub rank: u8,
}

/// A column of words.
pub fn text(heading: &str) -> Column {
    Column { heading: heading.to_owned(), unit: String::new(), align: Align::Text, rank: 0 }
}

/// A column of numbers of one unit, which may be empty.
pub fn number_in(heading: &str, unit: &str) -> Column {
    Column { heading: heading.to_owned(), unit: unit.to_owned(), align: Align::Number, rank: 0 }
}

/// Sources as `[1] …`, one line each.
pub fn numbered<'a>(sources: impl Iterator<Item = &'a str>) -> Vec<String> {
    sources.enumerate().map(|(index, source)| format!("[{}] {source}", index + 1)).collect()
}

impl Column {
    /// One that a narrow terminal may leave out; the highest first.
    pub fn ranked(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// Alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text, left.
    Text,
    /// Numbers, decimal points below one another.
    Number,
    /// One letter, centred.
    Centre,
    /// Points that a row is of: right, may be broken; what a narrow screen or a terminal leaves
    /// out.
    Places,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Cells, left to right.
    pub cells: Vec<Cell>,
    /// True if a group of rows begins here.
    pub opens_group: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Printed text.
    pub text: String,
    /// Emphasis.
    pub mark: Mark,
}

/// Emphasis of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Plain.
    #[default]
    Plain,
    /// Not valid: struck through.
    Struck,
    /// Not known: the text is the reason or a dash.
    Unknown,
    /// A row heading.
    Head,
    /// Misses what was required: set off.
    Alarm,
    /// In a class of grey, from 1, the lightest, to 3.
    Shade(u8),
}

impl Cell {
    /// A cell as it stands.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Plain }
    }
    /// A row heading.
    pub fn head(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Head }
    }
    /// A value that is not known, with the reason or a dash.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Unknown }
    }
    /// A value that misses what was required.
    pub fn alarm(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Alarm }
    }
    /// The text, or a dash where there is none.
    pub fn or_dash(text: Option<String>) -> Self {
        text.map_or_else(|| Self::unknown("–"), Self::plain)
    }
    /// The same cell, struck through if `invalid` and if it holds a value.
    #[must_use]
    pub fn struck_if(self, invalid: bool) -> Self {
        if invalid && self.mark == Mark::Plain { Self { mark: Mark::Struck, ..self } } else { self }
    }
}

/// A diagram with its text alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Stable name for links, ASCII, unique in the document.
    pub id: String,
    /// Title, printed above.
    pub title: String,
    /// Text alternative of the picture.
    pub description: String,
    /// The diagram.
    pub figure: Figure,
    /// The numbers behind it.
    pub data: Table,
    /// Origin of the numbers.
    pub origin: Origin,
}

/// The mark of figures that were not measured on a device, in every language.
const EMULATED: &str = "EMULATED";

impl Picture {
    /// The picture as SVG, with a title and a description for those who cannot see it, and with the
    /// mark of emulated figures.
    pub fn svg(&self) -> String {
        let mark = if self.origin.emulated { EMULATED } else { "" };
        let Self { id, title, description, .. } = self;
        self.figure.svg(&Label { id, title, description, mark })
    }
}

/// A picture that is no diagram, with its text alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// Stable name for links, ASCII, unique in the document.
    pub id: String,
    /// Title.
    pub title: String,
    /// Text alternative of the picture.
    pub description: String,
    /// The picture as SVG, with title and description.
    pub svg: String,
    /// The author's file, where that is all that the picture holds: letters of a picture within a
    /// picture have no font in print.
    pub own: Option<Logo>,
}

/// Origin of a picture's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Id of the run; empty where it is not one run.
    pub run: String,
    /// True if time was invented there.
    pub emulated: bool,
}

/// Every doubt of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingGroup {
    /// The stored code.
    pub code: String,
    /// Title.
    pub title: String,
    /// Its weight in words.
    pub severity: String,
    /// True if the numbers concerned must not be used.
    pub invalid: bool,
    /// Remedy.
    pub advice: String,
    /// Cases of the finding, with their points.
    pub cases: Vec<FindingCase>,
}

/// One doubt, and the points that it concerns in the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingCase {
    /// Explanation of the finding.
    pub explanation: String,
    /// Where.
    pub location: String,
}
