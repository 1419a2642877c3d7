//! Report of several runs: what they share, the loads that several of them measured in common
//! diagrams, then the results of each.

mod bandwidths;
mod environment;
mod runs;
mod side_by_side;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::compared::Compared;
use crate::compose::{
    self, all_points, banners, compose, fact, literal, method, results, results_hash,
};
use crate::document::{Banner, Block, Cell, Document, Fact, Section, Table};
use crate::grouped::{grouped, unique};
use crate::number;
use crate::presentation::{Measured, Presentation};
use crate::redact;
use crate::rows::Rows;
use crate::section::answer;
use crate::section::explain::recommendation;
use crate::section::findings::findings;
use crate::section::paper::practice::practice;
use crate::section::paper::{self, conclusion};
use crate::section::sweep::tables::grades;
use crate::section::{date, naming, summary};
use crate::view::View;
use crate::words::{counted, fill_in, in_brackets, words};
use bandwidths::Bandwidths;
use runs::Campaign;

/// Number of characters of a run's id that `qdepth list` shows.
const ID: usize = 13;

/// Composes one report of several runs, in the given order. For a single run, it is that run's own
/// report.
pub fn compose_campaign(runs: &[Measured], presentation: impl Into<Presentation>) -> Document {
    let presentation = presentation.into();
    if let [(run, points)] = runs {
        return compose(run, points, presentation);
    }
    // Hashes of the original records, so that anybody with the logbook can recompute them.
    let hashes: Vec<String> = runs.iter().map(|(run, points)| results_hash(run, points)).collect();
    let hidden: Vec<Measured>;
    let runs = if presentation.redact {
        hidden = redact::all_redacted(runs);
        &hidden
    } else {
        runs
    };
    let compared: Vec<_> = runs
        .iter()
        .map(|(run, points)| Compared::from_run(run, points, &presentation.columns))
        .collect();
    let views = runs
        .iter()
        .zip(&compared)
        .map(|((run, points), compared)| View::new(run, points, compared.as_ref(), &presentation));
    let views: Vec<View<'_>> = views.collect();
    let campaign = Campaign {
        words: words(presentation.lang).campaign,
        views: views.iter().collect(),
        hashes,
        presentation: &presentation,
    };
    campaign.document()
}

impl<'a> Campaign<'_, 'a> {
    fn document(&self) -> Document {
        let (lang, words) = (self.presentation.lang, words(self.presentation.lang));
        let own = self.presentation.paper.title.in_lang(lang);
        let targets = match self.views.first() {
            Some(first) => naming::in_title(first, self.target_names()),
            None => String::new(),
        };
        let title = match (own, self.mark()) {
            ("", "") => fill_in(words.title, &[("targets", targets)]),
            ("", mark) => fill_in(words.title, &[("targets", targets)]) + &in_brackets(lang, mark),
            (own, _) => own.to_owned(),
        };
        let opening = self.presentation.paper.opening.in_lang(lang);
        let opening = (!opening.is_empty()).then(|| opening.to_owned());
        let days = self.runs().map(|run| run.ended_at.as_ref().unwrap_or(&run.started_at));
        let day = days.max().map_or("", String::as_str);
        let (paper, logo) = (&self.presentation.paper, self.presentation.logo.as_ref());
        let mut side_by_side = side_by_side::diagrams(self);
        let mut answer = side_by_side::answer(self, &side_by_side);
        if let Some((pictures, table)) = Bandwidths::new(self).map(|all| all.figures(self)) {
            if answer.is_empty() {
                answer.extend(pictures.first().map(|first| Block::Pictures(vec![first.clone()])));
                answer.push(table.clone());
            }
            side_by_side.extend([Block::Pictures(pictures), table]);
        }
        Document {
            lang,
            cover: paper::cover(paper, logo, day, lang, words),
            title,
            question: String::new(),
            answer,
            subtitle: self.fill(self.words.subtitle),
            mark: self.mark().to_owned(),
            banners: self.banners(),
            summary: opening.into_iter().chain(self.summary()).collect(),
            facts: self.facts(),
            sections: self.sections(side_by_side),
            footer: words.footer.to_owned(),
        }
    }

    /// Names of the targets, each once, in the order of the runs; several drives of one kind count
    /// as one.
    fn target_names(&self) -> Vec<String> {
        let targets =
            self.views.iter().flat_map(|view| view.run.targets.iter().map(move |t| (view, t)));
        unique(targets.map(|(view, target)| {
            let name = view.shown(&target.name);
            name.rsplit_once(" #").map_or(name.clone(), |(kind, _)| kind.to_owned())
        }))
    }

    /// Label of a run, for example `Run 2: plan “devices”, nvme0n1`.
    fn label(&self, index: usize) -> String {
        let Some(view) = self.views.get(index) else { return String::new() };
        let values = [
            ("run", self.number(index)),
            ("plan", view.run.plan_name.clone()),
            ("targets", naming::targets(view)),
        ];
        view.marked(fill_in(self.words.label, &values))
    }

    /// Banners of all runs, once each; banners of some runs with the numbers of these runs.
    fn banners(&self) -> Vec<Banner> {
        let views = self.views.iter().enumerate();
        let all =
            views.flat_map(|(index, view)| banners(view).into_iter().map(move |b| (b, index)));
        let placed = |(banner, indices): (Banner, Vec<usize>)| {
            if indices.len() == self.views.len() {
                return banner;
            }
            let numbers = indices.into_iter().map(|index| self.number(index)).collect::<Vec<_>>();
            let values = [("text", banner.text), ("runs", self.list(numbers))];
            // The usual text about an emulated report does not apply if only some runs are
            // emulated.
            let emulated = self.views.iter().any(|view| banner.label == view.words.emulated[0]);
            let [label, text] = match emulated {
                true => self.words.partly.map(str::to_owned),
                false => [banner.label, self.words.banner.to_owned()],
            };
            Banner { label, text: fill_in(&text, &values) }
        };
        grouped(all).into_iter().map(placed).collect()
    }

    fn list(&self, items: Vec<String>) -> String {
        self.views.first().map_or_else(String::new, |first| naming::list(first, items))
    }

    /// Fills in the number of runs and points, the days, and the versions of the program.
    fn fill(&self, template: &str) -> String {
        let words = words(self.presentation.lang);
        let days: BTreeSet<&str> = self.runs().map(|run| &*run.started_at).collect();
        let day = |at: Option<&&str>| at.map_or_else(String::new, |at| date::date(at, words));
        let (first, last) = (day(days.first()), day(days.last()));
        let versions: BTreeSet<String> = self.runs().map(|r| r.qdepth_version.clone()).collect();
        let points: usize = self.views.iter().map(|view| view.points().count()).sum();
        let mut values = vec![
            ("runs", counted(self.words.runs, self.views.len())),
            ("points", counted(words.summary.points, points)),
            ("first", first.clone()),
            ("version", versions.into_iter().collect::<Vec<_>>().join(words.list[0])),
        ];
        if first != last {
            values.push(("last", last));
        }
        fill_in(template, &values)
    }

    /// Subject of the report, then the results of each run.
    fn summary(&self) -> Vec<String> {
        let result = |(index, view): (usize, &&View<'_>)| {
            let values = [("label", self.label(index)), ("results", answer::sentence(view))];
            fill_in(self.words.result, &values)
        };
        let results = self.views.iter().enumerate().map(result);
        let scaling = Bandwidths::new(self).map(|all| all.scaling(self));
        std::iter::once(self.fill(self.words.summary)).chain(scaling).chain(results).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let words = words(self.presentation.lang);
        let runs = self.runs().enumerate();
        let ids = runs.map(|(index, run)| literal(&self.number(index), &*run.id));
        let version = fact(words.facts.version, self.fill("qdepth {version}"));
        std::iter::once(version).chain(ids).collect()
    }

    fn sections(&self, diagrams: Vec<Block>) -> Vec<Section> {
        let Some(first) = self.views.first() else { return Vec::new() };
        let (names, of_paper) = (first.words.sections, first.words.paper.sections);
        let mut all: Vec<Section> = paper::introduction(first);
        all.push(Section::new("runs", self.words.section, vec![Block::Table(self.overview())]));
        all.extend(paper::media::section(&self.views));
        all.push(Section::new("method", names.method, method(&self.views)));
        let [side_by_side, _] = self.words.side_by_side;
        all.push(Section::new("side-by-side", side_by_side, diagrams));
        all.extend(self.chapters());
        let measured = |content: fn(&View<'_>) -> Vec<Block>| {
            self.by_run(|_, view| if view.loads.is_empty() { Vec::new() } else { content(view) })
        };
        all.push(Section::new("best-practice", of_paper[1], measured(practice)));
        all.push(Section::new("conclusion", of_paper[2], measured(conclusion)));
        all.push(Section::new(
            "recommendation",
            first.words.explain.recommendation,
            self.recommended(),
        ));
        all.push(Section::new("findings", names.findings, self.by_run(|_, view| findings(view))));
        all.push(Section::new("points", names.points, self.by_run(|_, view| all_points(view))));
        all.push(Section::new("environment", names.environment, environment::machines(self)));
        let again = |index: usize, view: &View<'_>| compose::reproduce(view, &self.hashes[index]);
        all.push(Section::new("reproduce", self.words.reproduce, self.by_run(again)));
        all.extend(paper::closing(first));
        all.push(Section::new("parameters", names.parameters, environment::parameters(self)));
        all.retain(|section| !section.blocks.is_empty());
        all
    }

    /// Recommendation of the publisher file, once; else the recommendation of each run.
    fn recommended(&self) -> Vec<Block> {
        match self.views.first() {
            Some(first) if !first.paper.recommendation.in_lang(first.lang).is_empty() => {
                recommendation(first)
            }
            _ => self.by_run(|_, view| recommendation(view)),
        }
    }

    /// Table of the runs, one row each.
    fn overview(&self) -> Table {
        let Some(first) = self.views.first() else { return Table::default() };
        let (facts, words) = (first.words.facts, self.words);
        Rows::from_items(self.views.iter().enumerate())
            .text(facts.run, |(index, _)| Cell::head(number::count(*index as u64 + 1)))
            .text(facts.plan, |(_, view)| Cell::plain(&*view.run.plan_name))
            .text(facts.target, |(_, view)| naming::targets(view))
            .text(facts.started, |(_, view)| date::moment(&view.run.started_at, view.words))
            .number(first.words.sections.points, "", |(_, view)| {
                number::count(view.points().count() as u64)
            })
            .text(words.grades, |(_, view)| grades(view).map(|n| n.to_string()).join(" / "))
            .text(words.id, |(_, view)| view.run.id.chars().take(ID).collect::<String>())
            .text("", |(_, view)| Cell::unknown(view.mark()))
            .table(words.caption)
            .with_note(words.note)
    }

    /// The results of each run under its own heading. The introduction to a kind of diagram or
    /// table appears only once.
    fn chapters(&self) -> Vec<Section> {
        let mut printed: BTreeSet<String> = BTreeSet::new();
        let mut all = Vec::new();
        for (index, view) in self.views.iter().enumerate() {
            let paragraphs = summary::summary(view).into_iter().map(Block::Paragraph);
            let mut blocks: Vec<Block> = paragraphs.collect();
            for section in results(view).into_iter().filter(|section| !section.blocks.is_empty()) {
                let known = matches!(section.blocks.first(), Some(Block::Paragraph(words))
                    if !printed.insert(words.clone()));
                blocks.push(Block::Heading(section.title));
                blocks.extend(section.blocks.into_iter().skip(usize::from(known)));
            }
            let id = format!("run-{}", index + 1);
            blocks.iter_mut().for_each(|block| name_within(block, &id));
            all.push(Section { title: self.label(index), id, blocks });
        }
        all
    }

    /// The blocks of each run, below its label.
    fn by_run(&self, content: impl Fn(usize, &View<'a>) -> Vec<Block>) -> Vec<Block> {
        let mut all = Vec::new();
        for (index, view) in self.views.iter().enumerate() {
            let blocks = content(index, view);
            if !blocks.is_empty() {
                all.push(Block::Heading(self.label(index)));
                all.extend(blocks);
            }
        }
        all
    }
}

/// Prefixes ids with the run, because several runs would use the same ids.
fn name_within(block: &mut Block, run: &str) {
    if let Block::Pictures(pictures) = block {
        for picture in pictures {
            picture.id = format!("{run}-{}", picture.id);
        }
    }
}
