//! Composes the records of a run into a document.

use qdepth_document::table_csv;
use qdepth_record::{PointRecord, RunRecord, RunState, export_csv};
use sha2::{Digest, Sha256};

use crate::compared::Compared;
use crate::document::{Banner, Block, Cover, Document, Fact, Section, Table};
use crate::grouped::grouped;
use crate::number;
use crate::presentation::Presentation;
use crate::redact;
use crate::section::added_drives;
use crate::section::answer;
use crate::section::bandwidth;
use crate::section::bandwidth::Bandwidth;
use crate::section::comparison;
use crate::section::explain::{self, recommendation};
use crate::section::findings::findings;
use crate::section::machine;
use crate::section::monitors;
use crate::section::observed;
use crate::section::over_time;
use crate::section::paper::practice::practice;
use crate::section::paper::{self, conclusion};
use crate::section::pressure;
use crate::section::pts;
use crate::section::steps::Steps;
use crate::section::sum_box::of_chapter;
use crate::section::sweep::pictures;
use crate::section::sweep::series;
use crate::section::sweep::tables;
use crate::section::timeline;
use crate::section::{date, naming, summary};
use crate::view::{Load, View};
use crate::words::{counted, fill_in, with_subject};

/// Composes the report of a run from its points (in any order). Several targets are compared in the
/// same diagrams.
pub fn compose(
    run: &RunRecord,
    points: &[PointRecord],
    presentation: impl Into<Presentation>,
) -> Document {
    let presentation = presentation.into();
    // Hash of the original records, so that anybody with the logbook can recompute it.
    let results = results_hash(run, points);
    if presentation.redact {
        let (run, points) = redact::redacted(run, points);
        let compared = Compared::from_run(&run, &points, &presentation.columns);
        let view = View::new(&run, &points, compared.as_ref(), &presentation);
        return compose_view(&view, &presentation, &results);
    }
    let compared = Compared::from_run(run, points, &presentation.columns);
    compose_view(&View::new(run, points, compared.as_ref(), &presentation), &presentation, &results)
}

fn compose_view(view: &View<'_>, presentation: &Presentation, results: &str) -> Document {
    let (run, words) = (view.run, view.words);
    let targets = naming::in_title(view, naming::target_names(view));
    let own = presentation.paper.title.in_lang(presentation.lang);
    let title =
        if own.is_empty() { fill_in(words.title, &[("targets", targets)]) } else { own.to_owned() };
    let title = if own.is_empty() { view.marked(title) } else { title };
    let subtitle = fill_in(
        words.subtitle,
        &[
            ("date", date::date(&run.started_at, words)),
            ("plan", run.plan_name.clone()),
            ("version", run.qdepth_version.clone()),
        ],
    );
    let opening = presentation.paper.opening.in_lang(presentation.lang);
    let opening = (!opening.is_empty()).then(|| opening.to_owned());
    let day = run.ended_at.as_deref().unwrap_or(&run.started_at);
    let (paper, logo) = (&presentation.paper, presentation.logo.as_ref());
    let cover = paper::cover(paper, logo, day, presentation.lang, words);
    Document {
        lang: presentation.lang,
        cover: Cover { tested: pts::tested(view).unwrap_or_default(), ..cover },
        title,
        subtitle,
        mark: view.mark().to_owned(),
        banners: banners(view),
        summary: opening.into_iter().chain(summary::summary(view)).collect(),
        question: answer::question(view).to_owned(),
        answer: answer::blocks(view),
        facts: header_facts(view, results),
        sections: sections(view, results),
        footer: words.footer.to_owned(),
    }
}

/// SHA-256 of the output of `qdepth export --csv` for the run, lower-case hexadecimal.
pub(crate) fn results_hash(run: &RunRecord, points: &[PointRecord]) -> String {
    let text = export_csv(run, points);
    let digest = Sha256::digest(format!("{}\n", text.trim_end()));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn banners(view: &View<'_>) -> Vec<Banner> {
    let banner = |[label, text]: [&str; 2]| {
        let missing = match missing(view) {
            0 => view.words.nothing_missing.to_owned(),
            n => counted(view.words.summary.missing, n),
        };
        let why = view.run.retracted().unwrap_or_default().trim_end_matches(['.', '。']).to_owned();
        let values = [("missing", missing), ("why", why)];
        Banner { label: label.to_owned(), text: fill_in(text, &values) }
    };
    let retracted = view.run.retracted().map(|_| banner(view.words.retracted));
    let emulated = view.run.emulated.then(|| banner(view.words.emulated));
    let unfinished = view.run.state != RunState::Complete;
    let unfinished = unfinished.then(|| banner(state_words(view)));
    emulated.into_iter().chain(retracted).chain(unfinished).collect()
}

fn missing(view: &View<'_>) -> usize {
    view.planned().saturating_sub(view.complete_points())
}

pub(crate) fn state_words(view: &View<'_>) -> [&'static str; 2] {
    let state = if view.killed { RunState::Killed } else { view.run.state };
    view.words.states[state as usize]
}

pub(crate) fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into(), literal: false }
}

pub(crate) fn literal(name: &str, value: impl Into<String>) -> Fact {
    Fact { literal: true, ..fact(name, value) }
}

/// Measured targets: one line each, and one for targets with the same description.
fn target_facts(view: &View<'_>) -> Vec<Fact> {
    let (run, words) = (view.run, view.words.facts);
    // If there are very many targets, they are described by kind, not individually.
    let crowd = run.targets.len() > TARGETS_LISTED_MAX;
    let described = run.targets.iter().map(|target| {
        let values = [
            ("kind", tables::kind_word(view, target.kind).to_owned()),
            ("area", number::binary_bytes(target.area_bytes as f64)),
            ("engine", target.engine.clone()),
        ];
        let name = if run.emulated || target.name == target.expression {
            target.expression.clone()
        } else {
            format!("{} ({})", target.name, target.expression)
        };
        let alone = if crowd { None } else { Some(name.clone()) };
        ((fill_in(words.area, &values), alone), name)
    });
    let line = |((details, _), names): ((String, _), Vec<String>)| {
        fact(words.target, with_subject(view.lang, &naming::counted_names(view, names), &details))
    };
    grouped(described).into_iter().map(line).collect()
}

fn header_facts(view: &View<'_>, results: &str) -> Vec<Fact> {
    let (run, words) = (view.run, view.words.facts);
    let mut facts = target_facts(view);
    facts.push(fact(words.started, date::moment(&run.started_at, view.words)));
    facts.extend(run.ended_at.as_ref().map(|at| fact(words.ended, date::moment(at, view.words))));
    let points = fill_in(
        words.points,
        &[
            ("measured", view.complete_points().to_string()),
            ("planned", view.planned().to_string()),
        ],
    );
    let state = [state_words(view)[0], points.as_str()].join(view.words.list[0]);
    facts.push(fact(words.state, state));
    let version = fill_in(
        words.version_value,
        &[("version", run.qdepth_version.clone()), ("method", run.measurement_version.to_string())],
    );
    facts.push(fact(words.version, version));
    facts.push(literal(words.run, &*run.id));
    facts.push(literal(words.plan_hash, &*run.plan_hash));
    facts.push(literal(view.words.paper.results_hash, results));
    facts
}

fn sections(view: &View<'_>, results: &str) -> Vec<Section> {
    let names = view.words.sections;
    let [first, others @ ..] = &mut *self::results(view) else { return Vec::new() };
    let mut all: Vec<Section> = paper::introduction(view);
    all.push(std::mem::take(first));
    all.extend(paper::media::section(&[view]));
    all.extend(others.iter_mut().map(std::mem::take));
    if !view.loads.is_empty() {
        all.push(Section::new("best-practice", view.words.paper.sections[1], practice(view)));
        all.push(Section::new("conclusion", view.words.paper.sections[2], conclusion(view)));
        let title = view.words.explain.recommendation;
        all.push(Section::new("recommendation", title, recommendation(view)));
    }
    all.push(Section::new("findings", names.findings, findings(view)));
    // After the results: readers want these first, and look up the method.
    all.push(Section::new("method", names.method, method(&[view])));
    all.push(Section::new("points", names.points, all_points(view)));
    // After the results, like in the ioDrive paper: it is long, and most readers only look things
    // up in it.
    all.push(Section::new("environment", names.environment, environment(view)));
    all.push(Section::new("reproduce", names.reproduce, reproduce(view, results)));
    all.extend(paper::closing(view));
    all.push(Section::new("parameters", names.parameters, parameters(view)));
    all.retain(|section| !section.blocks.is_empty());
    all
}

/// Results: key figures, or a note that there are none; then comparison, diagrams, bandwidth or
/// steps.
pub(crate) fn results(view: &View<'_>) -> Vec<Section> {
    let names = view.words.sections;
    if view.loads.is_empty() {
        let nothing = vec![Block::Paragraph(view.words.nothing_measured.to_owned())];
        return vec![Section::new("key-figures", names.key_figures, nothing)];
    }
    let mut all = match added_drives::section(view) {
        Some(section) => vec![section],
        None => measured(view),
    };
    for section in &mut all {
        section.blocks = marked(view, std::mem::take(&mut section.blocks));
    }
    all
}

fn measured(view: &View<'_>) -> Vec<Section> {
    let names = view.words.sections;
    let swept = view.swept().next().is_some();
    let quotients = || tables::quotients(view).filter(|_| view.compared.is_none());
    let key = swept.then(|| std::iter::once(tables::key_figures(view)).chain(quotients()));
    let key = key.into_iter().flatten().map(Block::Table).collect();
    let mut all = vec![Section::new("key-figures", names.key_figures, key)];
    // Page one has the answer; a chapter repeats only what the publisher wrote about it.
    let summed = |mut chapter: Section| {
        chapter.blocks.extend(of_chapter(view, &chapter.id, Vec::new()));
        chapter
    };
    all.extend(comparison::section(view).map(summed));
    all.extend(swept.then(|| Section::new("diagrams", names.diagrams, diagrams(view))));
    all.extend(pts::section(view));
    let of_bandwidth = bandwidth::section(view).or_else(|| pressure::section(view));
    all.extend(of_bandwidth.map(summed));
    all.extend(timeline::section(view));
    all.extend(over_time::section(view));
    all
}

/// Adds the EMULATED mark to every caption, because a table may be taken out of its page.
fn marked(view: &View<'_>, mut blocks: Vec<Block>) -> Vec<Block> {
    for block in &mut blocks {
        if let Block::Table(table) = block
            && !table.caption.contains(view.mark())
        {
            table.caption = view.marked(std::mem::take(&mut table.caption));
        }
    }
    blocks
}

fn diagrams(view: &View<'_>) -> Vec<Block> {
    let words = view.words.pictures;
    // A single value needs no curve: the key figures state it, and the answer has its bar.
    let has_curves = view.compares() || view.intensities.len() > 1;
    if !has_curves {
        return explain::of_diagrams(view).into_iter().collect();
    }
    let of_load = |load: &Load<'_>| {
        let drawn = pictures::of_load(view, load);
        let mut blocks = vec![Block::Heading(load.title.clone())];
        if drawn.is_empty() {
            let profile = [("profile", load.title.clone())];
            blocks.push(Block::Paragraph(fill_in(words.not_drawn, &profile)));
        } else {
            blocks.extend(series::of_load(view, load).into_iter().map(Block::Paragraph));
            blocks.push(Block::Pictures(drawn));
            blocks.extend(explain::paragraph(view, &explain::of_load(view, load)));
        }
        blocks
    };
    let intro = std::iter::once(Block::Paragraph(words.intro.to_owned()));
    let blocks = intro.chain(view.swept().flat_map(of_load));
    blocks.chain(explain::of_diagrams(view)).collect()
}

/// Largest number of targets with a line of their own among the facts.
const TARGETS_LISTED_MAX: usize = 12;

/// Largest number of points with tables in the report; more are attached as a file.
const TABLED: usize = 400;

/// The same for points that combine several measurements.
const COMBINED_TABLED: usize = 100;

/// Every column of every point, as `qdepth export` prints them.
fn attached_points(view: &View<'_>) -> Block {
    let id: String = view.run.id.chars().take(13).collect();
    Block::Attachment {
        caption: counted(view.words.paper.attached, view.records.len()),
        name: format!("points-{id}.csv"),
        text: format!("{}\n", export_csv(view.run, view.records).trim_end()),
    }
}

pub(crate) fn all_points(view: &View<'_>) -> Vec<Block> {
    if view.loads.is_empty() {
        return Vec::new();
    }
    // The file has each drive or process of a combined point, which a row would not show.
    let is_combined = view.records.len() > view.points().count();
    if view.records.len() > if is_combined { COMBINED_TABLED } else { TABLED } {
        return vec![attached_points(view)];
    }
    let swept = tables::by_table(view).into_iter().flat_map(|loads| {
        std::iter::once(tables::points(view, &loads)).chain(tables::directions(view, &loads))
    });
    let steps = Steps::new(view);
    let detailed = steps.are_write_pressure() || Bandwidth::new(view).is_some();
    let stepped = detailed.then(|| pressure::tables::loads(view, &steps));
    let tables = swept.chain(stepped).chain(monitors::table(view)).map(Block::Table);
    marked(view, tables.collect())
}

/// Describes the method, and the load profiles of all runs, each once.
pub(crate) fn method(views: &[&View<'_>]) -> Vec<Block> {
    let Some(first) = views.first() else { return Vec::new() };
    let terms = first.words.method.iter().map(|[name, text]| fact(name, *text)).collect();
    let mut blocks = vec![Block::Facts(terms)];
    let mut profiles = tables::profiles(first);
    for row in views.iter().skip(1).flat_map(|view| tables::profiles(view).rows) {
        if !profiles.rows.contains(&row) {
            profiles.rows.push(row);
        }
    }
    blocks.extend((!profiles.rows.is_empty()).then_some(Block::Table(profiles)));
    blocks.push(Block::Paragraph(first.words.not_checked.to_owned()));
    blocks
}

fn environment(view: &View<'_>) -> Vec<Block> {
    let caption = view.words.tables.environment_caption;
    let known = observed::observations(view, caption, view.observations());
    let tables = [known, machine::unknown(view.observations(), view.lang)];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty()).map(Block::Table);
    let drawn = paper::topology::drawing(view).into_iter();
    drawn.chain(paper::slots::configuration(view)).chain(tables).collect()
}

/// Parameters of the emulated devices, as an attachment: they would fill pages.
fn parameters(view: &View<'_>) -> Vec<Block> {
    let table =
        observed::observations(view, view.words.tables.parameters_caption, view.parameters());
    attached_tables(view, vec![table])
}

/// Tables as attached files; empty tables are left out.
pub(crate) fn attached_tables(view: &View<'_>, mut tables: Vec<Table>) -> Vec<Block> {
    tables.retain(|table| !table.rows.is_empty());
    let attached = |(index, table): (usize, Table)| {
        let values =
            [("caption", table.caption.clone()), ("n", number::count(table.rows.len() as u64))];
        Block::Attachment {
            caption: fill_in(view.words.paper.attached_table, &values),
            name: format!("media-{}.csv", index + 1),
            text: table_csv(&table),
        }
    };
    tables.into_iter().enumerate().map(attached).collect()
}

pub(crate) fn reproduce(view: &View<'_>, results: &str) -> Vec<Block> {
    let (run, words) = (view.run, view.words.facts);
    let command = run.rerun_command().map(|command| literal(words.reproduce, command));
    let rest = [
        literal(words.seed, run.seed.to_string()),
        literal(words.plan_hash, &*run.plan_hash),
        literal(view.words.paper.results_hash, results),
        literal(words.run, &*run.id),
    ];
    let facts = command.into_iter().chain(rest).collect();
    let short: String = run.plan_hash.chars().take(12).collect();
    let plan = Block::Source {
        caption: words.plan.to_owned(),
        name: format!("plan-{short}.json"),
        text: run.plan_text.clone(),
    };
    vec![Block::Facts(facts), plan]
}
