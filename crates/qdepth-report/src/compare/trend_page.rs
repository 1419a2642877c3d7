//! Trend of one plan on one target as a page: the persistent changes first, then all figures from
//! run to run.

use crate::compare::geometric;
use crate::compare::page::{empty_page, titled};
use crate::compare::tables::{figure, marked, shown};
use crate::compare::trend::{Trend, TrendRow, minute, sentence, table_of_rows, trend_sentences};
use crate::document::{Block, Cell, Document, Origin, Picture, Section, Table, number_in};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::grouped::grouped;
use crate::rows::Rows;
use crate::words::{CompareWords, Lang, counted, fill_in, words};

/// A trend for the terminal: a table of the figures with a permanent change (of all with `all`),
/// and the answer in sentences.
pub fn trend_on_screen(trend: &Trend, lang: Lang, all: bool) -> (Table, Vec<String>) {
    let page = Page { trend, lang, words: words(lang).compare };
    let listed: Vec<&TrendRow> =
        trend.rows.iter().filter(|row| all || !row.changes.is_empty()).collect();
    let left = trend.rows.len() - listed.len();
    let left =
        (left > 0 && trend.has_enough_runs()).then(|| counted(page.words.left_out_unchanged, left));
    (table_of_rows(trend, &listed, lang), page.summary().into_iter().chain(left).collect())
}

/// Composes the page of a trend, in this language.
pub fn compose_trend(trend: &Trend, lang: Lang) -> Document {
    Page { trend, lang, words: words(lang).compare }.document()
}

struct Page<'a> {
    trend: &'a Trend,
    lang: Lang,
    words: &'static CompareWords,
}

/// The rows of one figure of one load, at every queue depth.
type OfLoad<'a> = Vec<&'a TrendRow>;

impl Page<'_> {
    fn document(&self) -> Document {
        let (trend, words) = (self.trend, self.words);
        let named = [("plan", trend.plan.clone()), ("target", trend.target.clone())];
        let count = [("n", trend.runs.len().to_string())];
        let subtitle: Vec<_> = named.iter().cloned().chain(count).collect();
        Document {
            title: self.marked(fill_in(words.trend_question, &named)),
            subtitle: fill_in(words.trend, &subtitle),
            summary: self.summary(),
            answer: self.answer(),
            sections: self.sections(),
            ..empty_page(self.lang, trend.emulated)
        }
    }

    fn marked(&self, text: String) -> String {
        marked(self.lang, self.trend.emulated, text)
    }

    /// Figures with a persistent change: those whose last change was for the worse, and all others.
    fn summary(&self) -> Vec<String> {
        let (trend, words) = (self.trend, self.words);
        let last = |verdict: &str| {
            let is = |row: &&TrendRow| row.changes.last().is_some_and(|c| c.verdict == verdict);
            trend.rows.iter().filter(is).count()
        };
        let (slower, faster) = (last("slower"), last("faster"));
        let values = [("slower", slower.to_string()), ("of", trend.rows.len().to_string())];
        let also = (faster > 0).then(|| ("faster", faster.to_string()));
        let values: Vec<_> = values.into_iter().chain(also).collect();
        let lead = match (trend.has_enough_runs(), slower, faster) {
            (false, ..) => None,
            (true, 0, 0) => Some(fill_in(words.trend_lead[2], &values)),
            (true, 0, _) => Some(fill_in(words.trend_lead[1], &values)),
            _ => Some(fill_in(words.trend_lead[0], &values)),
        };
        let most = self.decisive().map(|row| {
            let values = [
                ("load", row.load.in_words(self.lang)),
                ("queue_depth", row.load.queue_depth.to_string()),
                ("figure", figure(words, row.figure).to_owned()),
                ("told", sentence(words, trend, row)),
            ];
            fill_in(words.trend_farthest, &values)
        });
        lead.into_iter().chain(most).chain(trend_sentences(trend, self.lang)).collect()
    }

    /// The figure with the largest last change; among slower ones, if there are any.
    fn decisive(&self) -> Option<&TrendRow> {
        let far = |row: &TrendRow| {
            row.changes.last().map_or((false, 0.0), |change| {
                (change.verdict == "slower", (change.after / change.before).ln().abs())
            })
        };
        let changed = self.trend.rows.iter().filter(|row| !row.changes.is_empty());
        changed.max_by(|a, b| far(a).0.cmp(&far(b).0).then(far(a).1.total_cmp(&far(b).1)))
    }

    fn answer(&self) -> Vec<Block> {
        let Some(row) = self.decisive() else { return Vec::new() };
        let changed: Vec<&TrendRow> =
            self.trend.rows.iter().filter(|row| !row.changes.is_empty()).collect();
        vec![
            Block::Pictures(vec![self.changed(row)]),
            Block::Table(table_of_rows(self.trend, &changed, self.lang)),
        ]
    }

    fn sections(&self) -> Vec<Section> {
        let pictures: Vec<Picture> = self
            .loads()
            .iter()
            .enumerate()
            .map(|(index, rows)| self.relative(index, rows))
            .collect();
        let drawn = if pictures.is_empty() { Vec::new() } else { vec![Block::Pictures(pictures)] };
        let every: Vec<&TrendRow> = self.trend.rows.iter().collect();
        let blocks = [
            ("over-time", drawn),
            ("figures", vec![Block::Table(table_of_rows(self.trend, &every, self.lang))]),
            ("runs", vec![Block::Table(self.runs())]),
        ];
        titled(blocks, self.words.trend_sections)
    }

    fn loads(&self) -> Vec<OfLoad<'_>> {
        let key = |row: &TrendRow| (row.load.in_words(self.lang), row.target, row.figure);
        let loads = grouped(self.trend.rows.iter().map(|row| (key(row), row))).into_iter();
        let mut all: Vec<OfLoad<'_>> = loads.map(|(_, rows)| rows).collect();
        all.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.load.queue_depth));
        all
    }

    /// Picture of a figure's values, with its levels between changes.
    fn changed(&self, row: &TrendRow) -> Picture {
        let words = self.words;
        let level = |run: u32| {
            let since = row.changes.iter().rev().find(|change| change.run <= run);
            since.map(|change| change.after).or(row.changes.first().map(|change| change.before))
        };
        let runs = 0..self.trend.runs.len() as u32;
        let levels = runs.map(|run| Mark::at(f64::from(run) + 1.0, known(row.figure, level(run))));
        let name = format!("{}: {}", words.queue_depth, row.load.queue_depth);
        let values = marks(&row.values, |value| known(row.figure, value));
        let series = vec![
            Series::new(name, 0, values).drawn(Stroke::None, Markers::Plain),
            Series::new(words.trend_level, 1, levels).drawn(Stroke::Dashed, Markers::None),
        ];
        self.picture("change".to_owned(), &[row], series, Scale::FromZero)
    }

    /// Picture of all lines, each relative to its own mean, so that small and large rates show
    /// their changes equally.
    fn relative(&self, index: usize, rows: &OfLoad<'_>) -> Picture {
        let line = |(colour, row): (usize, &&TrendRow)| {
            let there: Vec<f64> = row.values.iter().flatten().copied().collect();
            let mean = geometric(&there);
            let value = |value: Option<f64>| {
                MarkValue::from(value.filter(|_| mean > 0.0).map(|value| value / mean))
            };
            let name = format!("{}: {}", self.words.queue_depth, row.load.queue_depth);
            Series::new(name, colour, marks(&row.values, value))
        };
        let series = rows.iter().enumerate().map(line).collect();
        self.picture(format!("trend-{}", index + 1), rows, series, Scale::AroundOne)
    }

    fn picture(
        &self,
        id: String,
        rows: &[&TrendRow],
        series: Vec<Series>,
        y_scale: Scale,
    ) -> Picture {
        let (trend, words) = (self.trend, self.words);
        let first = rows.first();
        let name = first.map_or("", |row| figure(words, row.figure));
        let (load, target) =
            first.map_or_else(Default::default, |row| (row.load.in_words(self.lang), row.target));
        let load = if trend.rows.iter().all(|row| row.target == 0) {
            load
        } else {
            fill_in(words.of_target, &[("load", load), ("n", (target + 1).to_string())])
        };
        let is_relative = y_scale == Scale::AroundOne;
        let panels = if series.len() > crate::figure::PALETTE.len() {
            series.iter().map(|line| line.name.clone()).collect()
        } else {
            Vec::new()
        };
        let values = [("load", load), ("figure", name.to_owned())];
        Picture {
            id,
            title: self.marked(fill_in(words.trend_title, &values)),
            description: fill_in(words.trend_told[usize::from(is_relative)], &values),
            figure: Figure {
                panels,
                ..Figure::new(
                    // Extends beyond the last run, so that its marker is completely visible.
                    (words.trend_run, Horizontal::UpTo(trend.runs.len() as f64 + 1.0)),
                    (if is_relative { words.trend_relative } else { name }, y_scale),
                    series,
                )
            },
            data: self.data(rows),
            origin: Origin { run: String::new(), emulated: trend.emulated },
        }
    }

    /// Table with one row per run and one column per line.
    fn data(&self, rows: &[&TrendRow]) -> Table {
        let words = self.words;
        let name = rows.first().map_or("", |row| figure(words, row.figure));
        let values = [("figure", name.to_owned()), ("queue_depth", words.queue_depth.to_owned())];
        self.run_rows()
            .each(
                rows,
                |row| number_in(&row.load.queue_depth.to_string(), ""),
                |(index, _), row| {
                    let value = row.values.get(*index).copied().flatten();
                    Cell::or_dash(value.map(|value| shown(row.figure, value)))
                },
            )
            .table(self.marked(fill_in(words.trend_data, &values)))
    }

    /// Rows with number and begin of each run.
    fn run_rows(&self) -> Rows<(usize, &super::TrendRun)> {
        Rows::from_items(self.trend.runs.iter().enumerate())
            .text(self.words.trend_run, |(index, _)| Cell::head((index + 1).to_string()))
            .text(self.words.trend_began, |(_, run)| minute(&run.started_at))
    }

    /// Table of the runs, with their numbers.
    fn runs(&self) -> Table {
        self.run_rows()
            .text(self.words.trend_id, |(_, run)| run.id.clone())
            .table(self.marked(self.words.trend_sections[2].to_owned()))
    }
}

fn marks(values: &[Option<f64>], value: impl Fn(Option<f64>) -> MarkValue) -> Vec<Mark> {
    let mark =
        |(index, of_run): (usize, &Option<f64>)| Mark::at(index as f64 + 1.0, value(*of_run));
    values.iter().enumerate().map(mark).collect()
}

/// A value in the unit of its figure.
fn known(figure: &str, value: Option<f64>) -> MarkValue {
    let scale = if super::is_rate(figure) { 1.0 } else { 1e-3 };
    value.map(|value| value * scale).into()
}
