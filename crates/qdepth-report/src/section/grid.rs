//! Layout of loads that differ only in block size and read share.

use std::cmp::Ordering;

use qdepth_record::PointRecord;

use crate::number;
use crate::view::View;
use crate::words::fill_in;

/// Rows by block size, columns by read share, both in the order of their first appearance.
pub(crate) struct Grid<T> {
    /// Block sizes in the spelling of plans, for example `4KiB`.
    sizes: Vec<String>,
    /// Read shares, from 0 to 1.
    pub(crate) shares: Vec<f64>,
    rows: Vec<Vec<Option<T>>>,
}

impl<T: Copy> Grid<T> {
    /// Lays out the items. Of several with the same size and share, the first is used.
    pub(crate) fn new<'k>(all: &[T], key: impl Fn(T) -> (&'k str, f64)) -> Self {
        let (mut sizes, mut shares): (Vec<String>, Vec<f64>) = (Vec::new(), Vec::new());
        for (size, share) in all.iter().map(|item| key(*item)) {
            if !sizes.iter().any(|known| known == size) {
                sizes.push(size.to_owned());
            }
            if !shares.iter().any(|known| same(*known, share)) {
                shares.push(share);
            }
        }
        let at = |of_size: &String, of_share: &f64| {
            let is_it = |item: &&T| {
                let (size, share) = key(**item);
                size == of_size && same(share, *of_share)
            };
            all.iter().find(is_it).copied()
        };
        let row = |size: &String| shares.iter().map(|share| at(size, share)).collect();
        let rows = sizes.iter().map(row).collect();
        Self { sizes, shares, rows }
    }

    /// Block sizes, each with its items by read share.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &[Option<T>])> {
        self.sizes.iter().map(String::as_str).zip(self.rows.iter().map(Vec::as_slice))
    }

    /// True if no two loads share a cell.
    pub(crate) fn holds_all(&self, all: &[T]) -> bool {
        self.rows.iter().flatten().flatten().count() == all.len()
    }

    /// Keeps the first, the middle and the last of more than three read shares.
    pub(crate) fn thinned(mut self) -> Self {
        let last = self.shares.len().saturating_sub(1);
        let kept = |at: usize| last < 3 || [0, last / 2, last].contains(&at);
        let thin = |row: Vec<Option<T>>| {
            row.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, item)| item).collect()
        };
        self.rows = self.rows.into_iter().map(thin).collect();
        let shares = self.shares.into_iter().enumerate();
        self.shares = shares.filter(|(at, _)| kept(*at)).map(|(_, share)| share).collect();
        self
    }

    /// Titles of the block sizes, for example `512 B`, `4 KiB`.
    pub(crate) fn size_titles(&self) -> Vec<String> {
        self.sizes.iter().map(|size| number::spaced_sizes(size)).collect()
    }

    /// Titles of the read shares, for example `65 % read`.
    pub(crate) fn share_titles(&self, view: &View<'_>) -> Vec<String> {
        self.shares.iter().map(|share| reads(view, *share)).collect()
    }
}

/// Order with small block sizes first, as in SNIA's report.
pub(crate) fn by_size(a: &PointRecord, b: &PointRecord) -> Ordering {
    a.block_size_mean_bytes.total_cmp(&b.block_size_mean_bytes)
}

/// A read share as text.
fn reads(view: &View<'_>, share: f64) -> String {
    fill_in(view.words.answer.reads_of, &[("share", number::percent(share))])
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}
