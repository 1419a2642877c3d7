//! The only crate that chooses words and pictures: from the records of a run to a document, and
//! from a document to a page.
//!
//! [`compose`] turns a run and its points into a [`Document`]; [`html`] prints it as one
//! self-contained file. [`point_tables`] and [`summary_sentences`] serve the terminal.
//! [`finding_text`] words a doubt, [`host_tables`] a machine. [`compose_reproduction`] is the page of published figures beside
//! emulated ones.
//!
//! Nothing here measures, reads a file or a clock: the same records give the same bytes.

mod answer;
mod attached;
mod bandwidth;
mod campaign;
mod certificate;
mod claims;
mod comparison;
mod compose;
mod courses;
mod document;
mod doubts;
mod explain;
mod export;
mod figure;
mod first;
mod host;
mod html;
mod limit;
mod markdown;
mod names;
mod number;
mod paper;
mod pictures;
mod pressure;
mod pts;
mod redact;
mod references;
mod reproduction;
mod sentences;
mod steps;
mod tables;
mod timeline;
mod trace;
mod typst;
mod versus;
mod view;
mod witnesses;
mod words;

pub use campaign::compose_campaign;
pub use certificate::{
    certificate_head, certificate_sentence, certificate_table, compose_certificate,
};
pub use compose::{Measured, Telling, compose, doubts_in_words, point_tables, summary_sentences};
pub use document::{
    Align, Banner, Block, Cell, Column, Cover, Document, Drawing, Fact, FindingCase, FindingGroup,
    Logo, LogoKind, Mark, Origin, Picture, Revision, Row, Section, Table,
};
pub use export::{figures_csv, figures_json, figures_schema};
pub use figure::{
    Figure, GRID, Horizontal, INK, Mark as FigureMark, MarkValue, Markers, PALETTE, PAPER,
    RightAxis, Scale, Series, Stroke,
};
pub use first::{FirstWords, first_words};
pub use host::host_tables;
pub use html::{ReportError, aids_words, html, html_part, html_table, reading_aids, style_sheet};
pub use limit::{Limit, Statistic, UnknownLimit};
pub use markdown::{markdown, table_markdown};
pub use paper::{Configuration, DataSheet, Linked, Paper, PaperError, Product, Source, Text};
pub use reproduction::{compose_edition, compose_reproduction, reproduction_tables};
pub use typst::typst;
pub use versus::{
    EARLIER_MAX, Repeated, RepeatedRow, Rounds, RoundsOf, RunFigures, SniaWindow, SteadyPoint,
    SteadyTold, Trend, TrendAsked, TrendChange, TrendRow, TrendRun, Versus, VersusDifference,
    VersusRow, VersusSchema, VersusSide, VersusUnmatched, compose_trend, compose_versus, documents,
    repeated, repeated_json, repeated_schema, repeated_table, rounds_sentences, steady_json,
    steady_schema, steady_sentences, steady_table, steady_told, trend, trend_json, trend_of,
    trend_schema, trend_sentences, trend_table, versus, versus_json, versus_schema,
    versus_sentences, versus_table,
};
pub use words::{FindingText, Lang, finding_text};

#[cfg(test)]
mod checklist;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod refuter;
#[cfg(test)]
mod tests;
