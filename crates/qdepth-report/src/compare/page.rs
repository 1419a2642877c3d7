//! Comparison of two groups of runs as a page: the verdict first, then the ratios, then all
//! details.

use crate::compare::tables::{
    answer, called, causes, decisive, farthest, figure, marked, short, table_of, unmatched,
};
use crate::compare::{Versus, VersusRow, VersusSide, VersusUnmatched};
use crate::document::{
    Banner, Block, Cell, Cover, Document, Origin, Picture, Section, Table, text,
};
use crate::figure::{Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke};
use crate::grouped::{grouped, unique};
use crate::number::percent;
use crate::rows::Rows;
use crate::words::{self, CompareWords, Lang, fact_value, fill_in, in_brackets, words};

/// Colour of lines that are not figures of a run.
const GREY: usize = 5;

/// Composes the page of a comparison, in this language.
pub fn compose_versus(versus: &Versus, lang: Lang) -> Document {
    Page { versus, lang, words: words(lang).compare }.document()
}

struct Page<'a> {
    versus: &'a Versus,
    lang: Lang,
    words: &'static CompareWords,
}

/// The rows of one load on one target.
type OfLoad<'a> = Vec<&'a VersusRow>;

impl Page<'_> {
    fn document(&self) -> Document {
        let (versus, words) = (self.versus, self.words);
        let [a, b] = &versus.sides;
        let [called_a, called_b] = called(versus, self.lang);
        let names = [("a", called_a), ("b", called_b)];
        let counts = [("na", a.runs.len().to_string()), ("nb", b.runs.len().to_string())];
        let spelled = [("a", short(&a.name)), ("b", short(&b.name))];
        let all: Vec<_> = spelled.into_iter().chain(counts).collect();
        let mut title = fill_in(words.question, &names);
        if versus.emulated {
            title += &in_brackets(self.lang, words::words(self.lang).emulated[0]);
        }
        let loads = self.loads();
        let mut pictures: Vec<Picture> =
            loads.iter().enumerate().map(|(index, rows)| self.picture(index, rows)).collect();
        let leading = decisive(versus).or_else(|| farthest(versus.rows.iter()));
        let has_leading = |rows: &OfLoad<'_>| {
            leading.is_some_and(|leading| rows.iter().any(|row| std::ptr::eq(*row, leading)))
        };
        let first =
            loads.iter().position(has_leading).and_then(|index| pictures.get(index)).cloned();
        pictures.retain(|picture| !picture.figure.is_empty());
        let answered = [Some(Block::Table(self.by_load(&loads)))];
        let drawn = first.map(|picture| Block::Pictures(vec![picture]));
        Document {
            title,
            subtitle: fill_in(words.subtitle, &all),
            summary: answer(versus, self.lang),
            answer: answered.into_iter().chain([drawn]).flatten().collect(),
            sections: self.sections(pictures),
            ..empty_page(self.lang, versus.emulated)
        }
    }

    fn loads(&self) -> Vec<OfLoad<'_>> {
        let rows = self.versus.rows.iter();
        let loads =
            rows.map(|row| ((&row.load.profile, &row.load.step, row.target, row.streams), row));
        grouped(loads).into_iter().map(|(_, rows)| rows).collect()
    }

    fn sections(&self, pictures: Vec<Picture>) -> Vec<Section> {
        let (versus, words) = (self.versus, self.words);
        let figures =
            Block::Table(table_of(versus, &versus.rows.iter().collect::<Vec<_>>(), self.lang));
        let drawn = if pictures.is_empty() { Vec::new() } else { vec![Block::Pictures(pictures)] };
        let all = [
            ("quotients", drawn),
            ("figures", if versus.rows.is_empty() { Vec::new() } else { vec![figures] }),
            ("differences", self.beside()),
            ("runs", self.runs()),
        ];
        titled(all, words.sections)
    }

    fn title_of(&self, rows: &OfLoad<'_>) -> String {
        let Some(first) = rows.first() else { return String::new() };
        if self.versus.rows.iter().all(|row| row.target == 0) {
            return first.load.in_words(self.lang);
        }
        let values =
            [("load", first.load.in_words(self.lang)), ("n", (first.target + 1).to_string())];
        fill_in(self.words.of_target, &values)
    }

    /// Number of verdicts of each kind, per load.
    fn by_load(&self, loads: &[OfLoad<'_>]) -> Table {
        let words = self.words;
        let [all, faster, slower, equal, open, most] = words.counted;
        let count = |rows: &OfLoad<'_>, verdict: &str| {
            rows.iter().filter(|row| row.verdict == verdict).count()
        };
        let number = |n: usize| Cell::plain(n.to_string());
        Rows::from_items(loads)
            .text(words.profile, |rows| Cell::head(self.title_of(rows)))
            .number(all, "", |rows| number(rows.len()))
            .number(faster, "", |rows| number(count(rows, "faster")))
            .number(slower, "", |rows| match count(rows, "slower") {
                0 => number(0),
                n => Cell::alarm(n.to_string()),
            })
            .number(equal, "", |rows| number(count(rows, "equal")))
            .number(open, "", |rows| number(count(rows, "inconclusive")))
            .text(most, |rows| {
                let most = farthest(rows.iter().copied());
                let most = most.and_then(|row| Some((row.ratio?, row.confidence_interval?)));
                let text = |(ratio, [low, high]): (f64, [f64; 2])| {
                    format!("{ratio:.3} ({low:.3} – {high:.3})")
                };
                Cell::or_dash(most.map(text))
            })
            .table(self.marked(words.by_load.to_owned()))
            .with_note(words.note.join(words::words(self.lang).gap))
    }

    fn marked(&self, text: String) -> String {
        marked(self.lang, self.versus.emulated, text)
    }

    /// Ratios of one load over queue depth, a line for each figure.
    fn picture(&self, index: usize, rows: &OfLoad<'_>) -> Picture {
        let words = self.words;
        let mut at: Vec<u32> = rows.iter().map(|row| row.load.queue_depth).collect();
        at.sort_unstable();
        at.dedup();
        let names = unique(rows.iter().map(|row| row.figure));
        let threshold = percent(self.versus.threshold);
        let line = |(colour, name): (usize, &&'static str)| {
            let marks = at.iter().map(|at| quotient(rows, name, *at));
            let name = figure(words, name).split(',').next().unwrap_or_default();
            Series::new(name, colour, marks).drawn(Stroke::Solid, Markers::HollowWithoutInterval)
        };
        let mut series: Vec<Series> = names.iter().enumerate().map(line).collect();
        // The lines of the threshold need at least one known value.
        if series.iter().flat_map(|line| &line.marks).any(|mark| mark.value != MarkValue::Missing) {
            let t = self.versus.threshold;
            let ends = [(1.0 - t, fill_in(words.band, &[("threshold", threshold.clone())]))];
            let ends = ends.into_iter().chain([(1.0 + t, String::new())]);
            series.extend(ends.map(|(value, name)| {
                let mark = |at: &u32| Mark::at(f64::from(*at), MarkValue::Known(value, None));
                let line = Series::new(name, GREY, at.iter().map(mark));
                line.drawn(Stroke::Dotted, Markers::None)
            }));
        }
        let figures: Vec<&str> = names.iter().map(|name| figure(words, name)).collect();
        let figures = figures.join(words::words(self.lang).list[0]);
        let title = fill_in(words.quotients_title, &[("load", self.title_of(rows))]);
        Picture {
            id: format!("quotients-{}", index + 1),
            title: self.marked(title),
            description: fill_in(
                words.quotients_told,
                &[("figures", figures), ("threshold", threshold)],
            ),
            figure: Figure::new(
                (words.queue_depth, Horizontal::Intensities(at)),
                (words.quotients, Scale::AroundOne),
                series,
            ),
            data: table_of(self.versus, rows, self.lang),
            origin: Origin { run: String::new(), emulated: self.versus.emulated },
        }
    }

    /// All other differences between the sides.
    fn beside(&self) -> Vec<Block> {
        let (versus, words) = (self.versus, self.words);
        let known = |value: &String| {
            Cell::or_dash((!value.is_empty()).then(|| fact_value(self.lang, value)))
        };
        let [what, a, b] = words.beside.map(text);
        let facts = Rows::from_items(causes(versus))
            .column(what, |each| Cell::head(format!("{} {}", each.subject, each.key)))
            .column(a.clone(), |each| known(&each.values[0]))
            .column(b.clone(), |each| known(&each.values[1]))
            .table(words.beside_caption);
        let side = |alone: &VersusUnmatched, name: &str| {
            Cell::or_dash((alone.side == name).then(|| unmatched(self.lang, alone)))
        };
        let loads = Rows::from_items(&versus.unmatched)
            .column(a, |alone| side(alone, "a"))
            .column(b, |alone| side(alone, "b"))
            .table(words.one_side);
        [facts, loads]
            .into_iter()
            .filter(|table| !table.rows.is_empty())
            .map(Block::Table)
            .collect()
    }

    /// The runs of each side, and how to repeat them.
    fn runs(&self) -> Vec<Block> {
        let facts = |(side, name): (&VersusSide, &str)| {
            let values = [("side", name.to_owned())];
            let runs = crate::compose::literal(
                &fill_in(self.words.runs_of, &values),
                side.runs.join(", "),
            );
            let again = side.rerun_command.as_ref();
            let again =
                again.map(|c| crate::compose::literal(&fill_in(self.words.again, &values), c));
            std::iter::once(runs).chain(again)
        };
        vec![Block::Facts(self.versus.sides.iter().zip(["A", "B"]).flat_map(facts).collect())]
    }
}

/// Page without contents, marked if its runs are emulated.
pub(super) fn empty_page(lang: Lang, emulated: bool) -> Document {
    let (all, words) = (words::words(lang), words(lang).compare);
    let mark = if emulated { all.emulated[0] } else { "" };
    let banner = || Banner { label: mark.to_owned(), text: words.emulated.to_owned() };
    Document {
        lang,
        cover: Cover { kind: words.kind.to_owned(), ..Cover::default() },
        mark: mark.to_owned(),
        banners: emulated.then(banner).into_iter().collect(),
        footer: all.footer.to_owned(),
        ..Document::default()
    }
}

/// Sections with ids and titles; empty ones are left out.
pub(super) fn titled<const N: usize>(
    all: [(&str, Vec<Block>); N],
    titles: [&str; N],
) -> Vec<Section> {
    let full = all.into_iter().zip(titles).filter(|((_, blocks), _)| !blocks.is_empty());
    full.map(|((id, blocks), title)| Section { id: id.to_owned(), title: title.to_owned(), blocks })
        .collect()
}

/// Ratio of a figure at one queue depth.
fn quotient(rows: &OfLoad<'_>, name: &str, at: u32) -> Mark {
    let row = rows.iter().find(|row| row.figure == name && row.load.queue_depth == at);
    let value = row.and_then(|row| {
        let interval = row.confidence_interval.map(|[low, high]| (low, high));
        row.ratio.map(|ratio| MarkValue::Known(ratio, interval))
    });
    Mark::at(f64::from(at), value.unwrap_or(MarkValue::Missing))
}
