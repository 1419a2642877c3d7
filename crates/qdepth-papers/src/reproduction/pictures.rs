//! Redrawn diagrams of the documents: published points over emulated curves.

use crate::{Diagram, Line, PointName, Quantity};
use qdepth_document::document::{Block, Cell, Origin, Picture, Row, Table, number_in};
use qdepth_document::figure::{
    Figure, Horizontal, Mark, MarkValue, Markers, Scale, Series, Stroke,
};
use qdepth_document::number;
use qdepth_document::number::MIB_PER_S;
use qdepth_document::rows::Rows;
use qdepth_words::{fill_in, in_brackets, words};

use crate::phrases::translated;

use super::tables::{maxima, value};
use super::view::{View, titled};

/// The diagrams of each section, under its heading.
pub(super) fn diagrams(view: &View<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> = vec![Block::Paragraph(view.words.diagrams_intro.to_owned())];
    let mut last = String::new();
    for (section, pictures) in by_section(view) {
        blocks.push(Block::Heading(titled(view.lang, &section)));
        blocks.push(Block::Pictures(pictures));
        last = section;
    }
    for (section, bars) in bars(view) {
        if section != last {
            blocks.push(Block::Heading(titled(view.lang, &section)));
            last = section;
        }
        blocks.push(Block::Pictures(vec![bars]));
    }
    // Without diagrams, the introduction is omitted too.
    if blocks.len() > 1 { blocks } else { Vec::new() }
}

/// Redrawn bar diagrams of the documents, with the largest emulated rates.
pub(super) fn bars(view: &View<'_>) -> Vec<(String, Picture)> {
    let picture = |(index, (section, table)): (usize, (String, Table))| {
        let cell = |row: &Row, column: usize| {
            let digits = row.cells[column].text.replace(',', "");
            digits.parse().map_or(MarkValue::Missing, |value| MarkValue::Known(value, None))
        };
        let series = (1..table.columns.len()).map(|column| Series {
            name: table.columns[column].heading.clone(),
            colour: column - 1,
            stroke: Stroke::None,
            markers: Markers::Plain,
            marks: (table.rows.iter().enumerate())
                .map(|(at, row)| Mark::at(at as f64, cell(row, column)))
                .collect(),
        });
        let groups: Vec<String> = table.rows.iter().map(|row| row.cells[0].text.clone()).collect();
        let names: Vec<&str> = table.columns.iter().skip(1).map(|c| &*c.heading).collect();
        let words = words(view.lang);
        let list = words.list[0];
        let values = [("groups", groups.join(list)), ("columns", names.join(list))];
        let picture = Picture {
            id: format!("bars-{}", index + 1),
            title: table.caption.clone(),
            description: fill_in(words.comparison.bars_description, &values),
            figure: Figure::new(
                ("", Horizontal::Groups(groups)),
                (words.pictures.rate_y, Scale::FromZero),
                series,
            ),
            data: table,
            origin: Origin { emulated: true, ..Origin::default() },
        };
        (section, picture)
    };
    maxima(view).into_iter().enumerate().map(picture).collect()
}

/// Diagrams that are not empty, by document and section.
pub(super) fn by_section(view: &View<'_>) -> Vec<(String, Vec<Picture>)> {
    let mut all: Vec<(String, Vec<Picture>)> = Vec::new();
    for (index, diagram) in view.comparison.diagrams.iter().enumerate() {
        let picture = picture(view, diagram, index);
        if picture.figure.is_empty() {
            continue;
        }
        let section = format!("{}: {}", diagram.document, diagram.section);
        match all.last_mut() {
            Some((last, pictures)) if *last == section => pictures.push(picture),
            _ => all.push((section, vec![picture])),
        }
    }
    all
}

/// Published value of a point, if the document prints it.
fn published(view: &View<'_>, diagram: &Diagram, point: &PointName) -> Option<f64> {
    let wanted = (diagram.quantity, point.clone());
    let of_point = view.comparison.figures.iter().filter(|figure| {
        let expression = figure.published.emulated.as_ref();
        figure.published.document == diagram.document
            && expression.is_some_and(|e| e.single_point().as_ref() == Some(&wanted))
    });
    // Values of the same section come first, then values that count.
    let best = of_point.min_by_key(|figure| {
        (figure.published.section != diagram.section, !figure.published.used.counts())
    });
    best.map(|figure| figure.published.value())
}

/// Published maximum of a line, if the document prints it.
fn maximum(view: &View<'_>, diagram: &Diagram, line: &Line) -> Option<f64> {
    let sweep = diagram.intensities.iter().map(|at| diagram.point(line, *at)).collect();
    let of_line = view.comparison.figures.iter().find(|figure| {
        let expression = figure.published.emulated.as_ref();
        figure.published.document == diagram.document
            && figure.published.used.counts()
            && expression
                .is_some_and(|e| e.maximum_of() == Some(diagram.quantity) && e.points() == sweep)
    });
    of_line.map(|figure| figure.published.value())
}

fn marks(diagram: &Diagram, figure: impl Fn(u32) -> Option<f64>) -> Vec<Mark> {
    let mark = |intensity: &u32| {
        let value = figure(*intensity).map(|value| MarkValue::Known(value, None));
        Mark::at(f64::from(*intensity), value.unwrap_or(MarkValue::Missing))
    };
    diagram.intensities.iter().map(mark).collect()
}

/// Series of a diagram, each with its name in the data table. The legend names each curve, and the
/// first series of published points and of maxima, which share its colour.
fn drawn(view: &View<'_>, diagram: &Diagram) -> Vec<(String, Series)> {
    let mut all: Vec<(String, Series)> = Vec::new();
    let [published_words, emulated_words, maximum_words] = view.words.series;
    for (colour, line) in diagram.lines.iter().enumerate() {
        let mut add = |words: [&str; 2], stroke: Stroke, markers: Markers, marks: Vec<Mark>| {
            if marks.iter().all(|mark| mark.value == MarkValue::Missing) {
                return;
            }
            let [long, short] =
                words.map(|w| fill_in(w, &[("name", translated(view.lang, &line.name))]));
            let first = all.iter().all(|(_, series)| series.name != short);
            let name = if first { short } else { String::new() };
            all.push((long, Series { name, colour, stroke, markers, marks }));
        };
        let curve = marks(diagram, |at| {
            view.comparison.emulated(diagram.quantity, &diagram.point(line, at))
        });
        add(emulated_words, Stroke::Dashed, Markers::None, curve);
        let points = marks(diagram, |at| published(view, diagram, &diagram.point(line, at)));
        add(published_words, Stroke::None, Markers::Plain, points);
        let level = maximum(view, diagram, line);
        add(maximum_words, Stroke::Dotted, Markers::None, marks(diagram, |_| level));
    }
    all
}

fn picture(view: &View<'_>, diagram: &Diagram, index: usize) -> Picture {
    let words = &words(view.lang).pictures;
    let unit = diagram.quantity.unit();
    let axis = match diagram.quantity {
        Quantity::Rate => words.rate_y.to_owned(),
        // Published figures keep their printed unit.
        Quantity::Throughput | Quantity::ThroughputGb => {
            words.throughput_y.replace(MIB_PER_S, unit)
        }
        Quantity::Latency => format!("{} [{unit}]", words.latency_y),
    };
    let threads = diagram.quantity == Quantity::ThroughputGb;
    let (names, series): (Vec<String>, Vec<Series>) = drawn(view, diagram).into_iter().unzip();
    let x_label = if threads { view.words.threads } else { words.x };
    let figure = Figure::new(
        (x_label, Horizontal::Intensities(diagram.intensities.clone())),
        (axis, Scale::FromZero),
        series,
    );
    let lines = diagram.lines.iter().map(|line| translated(view.lang, &line.name));
    let lines = lines.collect::<Vec<_>>().join(self::words(view.lang).list[0]);
    Picture {
        id: format!("diagram-{}", index + 1),
        title: translated(view.lang, &diagram.title)
            + &in_brackets(view.lang, view.words.emulated[0]),
        description: fill_in(
            view.words.description,
            &[("lines", lines), ("largest", value(largest(&figure))), ("unit", unit.to_owned())],
        ),
        data: data(view, diagram, &names, &figure),
        origin: Origin { emulated: true, ..Origin::default() },
        figure,
    }
}

fn largest(figure: &Figure) -> f64 {
    let emulated = figure.series.iter().filter(|s| s.stroke == Stroke::Dashed);
    let values = emulated.flat_map(|s| &s.marks).filter_map(|mark| match mark.value {
        MarkValue::Known(value, _) => Some(value),
        _ => None,
    });
    values.fold(0.0, f64::max)
}

fn data(view: &View<'_>, diagram: &Diagram, names: &[String], figure: &Figure) -> Table {
    let unit = diagram.quantity.unit();
    let caption = words(view.lang).tables.data_caption;
    Rows::from_items(diagram.intensities.iter().enumerate())
        .number(&figure.x_label, "", |(_, intensity)| {
            Cell::head(number::count(u64::from(**intensity)))
        })
        .each(
            names.iter().zip(&figure.series),
            |(name, _)| number_in(name, unit),
            |(index, _), (_, series)| {
                Cell::or_dash(match series.marks.get(*index).map(|mark| mark.value) {
                    Some(MarkValue::Known(known, _)) => Some(value(known)),
                    _ => None,
                })
            },
        )
        .table(format!("{caption}{}", in_brackets(view.lang, view.words.emulated[0])))
}
