//! Parts of a white paper around the results: cover, technical data, best practice, conclusion,
//! literature, contact.

pub(crate) mod media;
mod picture_size;
pub(crate) mod practice;
pub(crate) mod slots;
pub(crate) mod topology;

use crate::document::{Block, Cover, Logo, Revision, Section, numbered};
use crate::paper::{self, Paper};
use crate::section::{date, summary};
use crate::view::View;
use crate::words::{Lang, Words};

/// The cover: texts of the publisher file, and the day of the run.
pub(crate) fn cover(
    paper: &Paper,
    logo: Option<&Logo>,
    day: &str,
    lang: Lang,
    words: &Words,
) -> Cover {
    let day = paper.date.clone().unwrap_or_else(|| day.split('T').next().unwrap_or(day).to_owned());
    let revision = |revision: &paper::Revision| Revision {
        version: revision.version.clone(),
        date: date::date(&revision.date, words),
        changes: revision.changes.in_lang(lang).to_owned(),
    };
    Cover {
        organisation: paper.organisation.in_lang(lang).to_owned(),
        logo: logo.cloned(),
        version: paper.version.clone(),
        date: date::date(&day, words),
        iso_date: day,
        history: paper.history.iter().map(revision).collect(),
        ..Cover::default()
    }
}

/// The last sections: conclusion, literature, contact.
pub(crate) fn closing(view: &View<'_>) -> Vec<Section> {
    let [_, _, _, literature, contact] = view.words.paper.sections;
    let cited = cited(view);
    let lines = match view.paper.contact.as_slice() {
        [] => vec![view.words.paper.contact.to_owned()],
        lines => lines.iter().map(|line| line.in_lang(view.lang).to_owned()).collect(),
    };
    let lines = lines.into_iter().chain([view.words.paper.disclaimer.to_owned()]);
    let last = [
        Section::new("literature", literature, cited),
        Section::new("contact", contact, lines.map(Block::Paragraph).collect()),
    ];
    slots::footnotes(view).into_iter().chain(last).collect()
}

/// Introduction of the publisher file; empty if there is none.
pub(crate) fn introduction(view: &View<'_>) -> Vec<Section> {
    let blocks = slots::texts(&view.paper.introduction, view.lang).collect();
    let first = Section::unless_empty(blocks, "introduction", view.words.paper.introduction);
    let own = [first, slots::products(view), slots::administration(view)];
    own.into_iter().flatten().collect()
}

/// Conclusion in a few sentences: every load, the shortest latency, the reliability.
pub(crate) fn conclusion(view: &View<'_>) -> Vec<Block> {
    summary::conclusion(view).into_iter().map(Block::Paragraph).collect()
}

/// Sources of the method in bibliographic form, the same in every language.
const SOURCES: [&str; 7] = [
    "J. D. C. Little: A proof for the queuing formula L = λW. Operations Research 9 (3), 1961.",
    "E. Lazarus, D. J. Lewis, J. H. Stock, M. W. Watson: HAR inference: recommendations for \
     practice. Journal of Business & Economic Statistics 36 (4), 2018.",
    "H. A. David, H. N. Nagaraja: Order Statistics, 3rd edition. Wiley, 2003.",
    "G. Tene: How not to measure latency (coordinated omission). 2013.",
    "SNIA: Solid State Storage Performance Test Specification (PTS), version 2.0.2. 2020.",
    "J. Axboe: Efficient IO with io_uring. 2019.",
    "M. Okabe, K. Ito: Color universal design: how to make figures and presentations that are \
     friendly to colorblind people. 2008.",
];

/// Numbered lines: the method's sources, then the publisher's.
fn cited(view: &View<'_>) -> Vec<Block> {
    let own = view.paper.literature.iter().map(|source| source.in_lang(view.lang));
    let all = SOURCES.into_iter().map(|source| (source, None)).chain(own);
    let (texts, links): (Vec<&str>, Vec<Option<&str>>) = all.unzip();
    let block = |(text, link): (String, Option<&str>)| match link {
        Some(link) => Block::Reference { text, link: link.to_owned() },
        None => Block::Paragraph(text),
    };
    numbered(texts.into_iter()).into_iter().zip(links).map(block).collect()
}
