//! Document model of a report, independent of its presentation. HTML, Markdown and Typst are
//! renderings of it.

use crate::figure::{Figure, Label};
use crate::number::TimeUnit;
use qdepth_words::{Lang, words};

/// A report, in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The language its words are in.
    pub lang: Lang,
    /// Publisher and version.
    pub cover: Cover,
    /// Title.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// Mark on every printed page, picture and row (EMULATED); empty for real storage.
    pub mark: String,
    /// Banners that must not be overlooked.
    pub banners: Vec<Banner>,
    /// The plan's question, or empty.
    pub question: String,
    /// Summary, one sentence each: the answer, then what was measured and how reliable it is.
    pub summary: Vec<String>,
    /// The answer as one diagram and one small table for the first page. Both repeat content of the
    /// body.
    pub answer: Vec<Block>,
    /// Details for the last page: author, subject, date, ids and hashes.
    pub facts: Vec<Fact>,
    /// The body.
    pub sections: Vec<Section>,
    /// Last line of the document.
    pub footer: String,
}

/// Cover without the title. Empty parts are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Kind of document; empty for a white paper.
    pub kind: String,
    /// Publisher.
    pub organisation: String,
    /// Logo of the publisher.
    pub logo: Option<Logo>,
    /// Version of the document.
    pub version: String,
    /// Date, formatted for the language.
    pub date: String,
    /// Date as YYYY-MM-DD.
    pub iso_date: String,
    /// All versions up to this one, oldest first.
    pub history: Vec<Revision>,
    /// Header of every printed page: the target and its state.
    pub tested: String,
}

impl Document {
    /// Kind of document.
    pub(crate) fn kind(&self) -> &str {
        let kind = &self.cover.kind;
        if kind.is_empty() { words(self.lang).paper.labels.kind } else { kind }
    }
}

/// Logo of an organisation.
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
    /// File name extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }
    /// Media type (RFC 6838).
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
    /// Version number, for example `1.0a`.
    pub version: String,
    /// Date of the version, as the author wrote it.
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
    /// True if the value must be copied exactly (a hash, a command).
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

impl Section {
    /// Section of these blocks.
    pub fn new(id: impl Into<String>, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { id: id.into(), title: title.into(), blocks }
    }

    /// Section of these blocks; `None` without any.
    pub fn unless_empty(blocks: Vec<Block>, id: &str, title: &str) -> Option<Self> {
        (!blocks.is_empty()).then(|| Self::new(id, title, blocks))
    }
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
    /// Pictures to be placed side by side.
    Pictures(Vec<Picture>),
    /// A picture without a data table.
    Drawing(Drawing),
    /// Summary box of a chapter.
    SumUp {
        /// Heading.
        title: String,
        /// Paragraphs of one or a few sentences.
        sentences: Vec<String>,
    },
    /// All findings with one code.
    Finding(FindingGroup),
    /// Data attached as a file, because it would fill pages.
    Attachment {
        /// Caption.
        caption: String,
        /// File name.
        name: String,
        /// Content, CSV.
        text: String,
    },
    /// Preformatted text, folded by default.
    Source {
        /// Caption.
        caption: String,
        /// File name for saving the text.
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

impl Table {
    /// Table without a remark.
    pub fn new(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.into_iter().collect(),
            rows: rows.into_iter().collect(),
            note: String::new(),
        }
    }

    /// The same table with this note, followed by those about its cells.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        let mut note = note.into();
        // Japanese sentences need no space between them.
        if note.ends_with(|c: char| c.is_ascii()) && !self.note.is_empty() {
            note.push(' ');
        }
        Self { note: note + &self.note, ..self }
    }

    /// Removes the columns that do not pass, given their index.
    pub fn retain_columns(&mut self, keep: impl Fn(usize, &Column) -> bool) {
        let columns = self.columns.iter().enumerate();
        let kept: Vec<bool> = columns.map(|(index, column)| keep(index, column)).collect();
        let mut each = kept.iter().copied();
        self.columns.retain(|_| each.next().unwrap_or(true));
        for row in &mut self.rows {
            let mut each = kept.iter().copied();
            row.cells.retain(|_| each.next().unwrap_or(true));
        }
    }
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
    /// Importance: columns of rank 0 are always shown. A narrow terminal omits the highest rank
    /// first; pages show all.
    pub rank: u8,
}

/// Column of text without a unit.
pub fn text(heading: &str) -> Column {
    Column { heading: heading.to_owned(), unit: String::new(), align: Align::Text, rank: 0 }
}

/// Column of numbers with a unit, which may be empty.
pub fn number_in(heading: &str, unit: &str) -> Column {
    Column { heading: heading.to_owned(), unit: unit.to_owned(), align: Align::Number, rank: 0 }
}

/// Column of letters.
pub fn centred(heading: &str) -> Column {
    Column { align: Align::Centre, ..text(heading) }
}

/// Sources numbered `[1] …`, one line each.
pub fn numbered<'a>(sources: impl Iterator<Item = &'a str>) -> Vec<String> {
    sources.enumerate().map(|(index, source)| format!("[{}] {source}", index + 1)).collect()
}

impl Column {
    /// Column of this rank: narrow terminals omit the highest rank first.
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
    /// Point numbers of a row: right-aligned, may wrap; omitted on narrow screens and terminals.
    Places,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Cells, left to right.
    pub cells: Vec<Cell>,
    /// True if the row begins a new group.
    pub opens_group: bool,
}

impl Row {
    /// Row within a group.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self { cells: cells.into_iter().collect(), opens_group: false }
    }
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
    /// Invalid value, struck through.
    Struck,
    /// Unknown value: the text is the reason or a dash.
    Unknown,
    /// A row heading.
    Head,
    /// Value that misses a requirement, highlighted.
    Alarm,
    /// Grey background, from 1 (lightest) to 3.
    Shade(u8),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<Option<String>> for Cell {
    /// A dash if the text is unknown.
    fn from(text: Option<String>) -> Self {
        Self::or_dash(text)
    }
}

impl Cell {
    /// Cell without emphasis.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Plain }
    }
    /// A row heading.
    pub fn head(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Head }
    }
    /// Cell of an unknown value; `text` is the reason or a dash.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Unknown }
    }
    /// Cell of a value that misses a requirement.
    pub fn alarm(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Mark::Alarm }
    }
    /// Time in this unit, ns; a dash for `None`.
    pub fn time(unit: TimeUnit, ns: Option<f64>) -> Self {
        Self::or_dash(ns.map(|ns| unit.write(ns)))
    }
    /// Plain cell with the text, or an unknown cell with a dash for `None`.
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

/// Mark of emulated figures, the same in every language.
const EMULATED: &str = "EMULATED";

impl Picture {
    /// Renders the picture as SVG, with a title and description for screen readers, and with the
    /// mark of emulated figures.
    pub fn svg(&self) -> String {
        let mark = if self.origin.emulated { EMULATED } else { "" };
        let Self { id, title, description, .. } = self;
        self.figure.svg(&Label { id, title, description, mark })
    }
}

/// Picture without a data table, for example a topology, with its text alternative.
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
    /// Author's original file, if the picture is nothing else. Typst embeds it directly, because
    /// text of an SVG inside an SVG has no font in print.
    pub own: Option<Logo>,
}

/// Origin of a picture's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Id of the run; empty if the numbers come from several runs.
    pub run: String,
    /// True if the numbers were emulated in virtual time.
    pub emulated: bool,
}

/// All findings with one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingGroup {
    /// The stored code.
    pub code: String,
    /// Title.
    pub title: String,
    /// Severity in words.
    pub severity: String,
    /// True if the affected numbers are invalid.
    pub invalid: bool,
    /// Remedy.
    pub advice: String,
    /// Cases of the finding, with their points.
    pub cases: Vec<FindingCase>,
}

/// One wording of a finding, and the points with this wording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingCase {
    /// Explanation of the finding.
    pub explanation: String,
    /// Names of the affected points.
    pub location: String,
}
