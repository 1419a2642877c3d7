//! Literature: the sources of the method, and those of the publisher file.

use crate::document::{Block, numbered};
use crate::view::View;

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
pub(crate) fn cited(view: &View<'_>) -> Vec<Block> {
    let own = view.paper.literature.iter().map(|source| source.in_lang(view.lang));
    let all = SOURCES.into_iter().map(|source| (source, None)).chain(own);
    let (texts, links): (Vec<&str>, Vec<Option<&str>>) = all.unzip();
    let block = |(text, link): (String, Option<&str>)| match link {
        Some(link) => Block::Reference { text, link: link.to_owned() },
        None => Block::Paragraph(text),
    };
    numbered(texts.into_iter()).into_iter().zip(links).map(block).collect()
}
