//! Reports: the only crate that chooses words and pictures. Turns the records of a run into a
//! document, and a document into a page.
//!
//! [`compose`] turns a run and its points into a [`Document`]; [`html`] prints it as one
//! self-contained file. [`point_tables`] and [`summary_sentences`] serve the terminal.
//! [`finding_text`] words a finding, [`reason_text`] the reason why a fact is unknown, and
//! [`host_tables`] a machine. This crate contains no published figures: the caller passes each
//! [`PublishedDrive`].
//!
//! Nothing here measures, or reads a file or a clock: the same records give the same bytes.

mod campaign;
mod certificate;
mod compare;
mod compared;
mod compose;
mod first;
mod names;
mod number;
mod on_screen;
mod paper;
mod presentation;
mod published;
mod redact;
mod rows;
mod section;
mod trace;
mod view;
mod words;

pub use campaign::compose_campaign;
pub use certificate::{
    certificate_head, certificate_sentence, certificate_table, compose_certificate,
};
pub use compare::{
    EARLIER_MAX, Repeated, RepeatedRow, Rounds, RoundsOf, RowLoad, RunFigures, Side, SniaWindow,
    SteadyPoint, SteadyReport, Trend, TrendChange, TrendRequest, TrendRow, TrendRun, Versus,
    VersusDifference, VersusRow, VersusSchema, VersusSide, VersusUnmatched, by_variant,
    compose_trend, compose_versus, documents, repeated, repeated_json, repeated_table,
    rounds_sentences, steady_json, steady_report, steady_sentences, steady_table, trend,
    trend_json, trend_of, trend_on_screen, versus, versus_answer, versus_json, versus_notes,
    versus_on_screen, versus_sentences, versus_table,
};
pub use compose::compose;
pub use first::{FirstWords, first_words};
pub use on_screen::{
    OnScreen, finding_sentences, has_write_pressure, latency_over_time, on_screen, point_tables,
    summary_sentences,
};
pub use paper::{Configuration, DataSheet, Linked, Paper, PaperError, Product, Source, Text};
pub use presentation::{Measured, Presentation};
pub use published::{PublishedDrive, PublishedQuantity, PublishedValue};
pub use qdepth_document::document::{
    Align, Banner, Block, Cell, Column, Cover, Document, Drawing, Fact, FindingCase, FindingGroup,
    Logo, LogoKind, Mark, Origin, Picture, Revision, Row, Section, Table, number_in, text,
};
pub use qdepth_document::figure::{
    Figure, GRID, Horizontal, INK, Mark as FigureMark, MarkValue, Markers, PALETTE, PAPER,
    RightAxis, Scale, Series, Stroke,
};
pub use qdepth_document::grouped::unique;
pub use qdepth_document::number::{count, three_digits};
pub use qdepth_document::rows::Rows;
pub use qdepth_document::{
    ReportError, aids_words, figures_csv, figures_json, figures_schema, html, html_part,
    html_table, markdown, reading_aids, style_sheet, table_markdown, typst, without_hidden,
};
pub(crate) use qdepth_document::{document, figure, grouped};
pub use section::machine::host_tables;
pub use section::over_time::longest_tail;
pub use words::{
    FindingText, Lang, finding_template, finding_text, load_in_words, phase_text, reason_text,
    variant_in_words,
};

#[cfg(test)]
mod tests;
