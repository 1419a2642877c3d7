//! The only crate that draws and writes pages: a document of sections, tables and figures, and its
//! forms: HTML, Markdown, markup for Typst, CSV and JSON of the figures.
//!
//! Nothing here knows what a run is, reads a file or a clock: the same document gives the same
//! bytes.

mod attached;
pub mod document;
mod export;
pub mod figure;
mod html;
mod markdown;
pub mod number;
mod typst;

pub use export::{figures_csv, figures_json, figures_schema, pretty, table_csv};
pub use html::{
    ReportError, SCRIPT, aids_words, data_uri, html, html_part, html_table, reading_aids,
    style_sheet, without_hidden,
};
pub use markdown::{markdown, table_markdown};
pub use typst::typst;
