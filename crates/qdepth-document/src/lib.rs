//! Documents of sections, tables and figures, and their renderings: HTML, Markdown, Typst markup,
//! and CSV and JSON of the figures. No other crate draws or writes pages.
//!
//! The crate does not know runs and reads neither files nor clocks: equal documents give equal
//! bytes.

mod attached;
pub mod document;
mod export;
pub mod figure;
pub mod grouped;
mod html;
mod markdown;
pub mod number;
pub mod rows;
mod typst;

pub use export::{figures_csv, figures_json, figures_schema, pretty, table_csv};
pub use html::{
    ReportError, SCRIPT, aids_words, data_uri, html, html_part, html_table, reading_aids,
    style_sheet, without_hidden,
};
pub use markdown::{markdown, table_markdown};
pub use typst::typst;
