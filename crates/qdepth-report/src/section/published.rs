//! Published figures next to measured ones: names, notes, and largest values.

use crate::compared::Compared;
use crate::grouped::unique;
use crate::published::{PublishedDrive, PublishedQuantity};
use crate::view::{Load, View};
use crate::words::fill_in;

pub(crate) fn published_name(view: &View<'_>, title: &str) -> String {
    fill_in(view.words.comparison.published, &[("name", title.to_owned())])
}

/// Credits the publishers of published figures; empty if there are none.
pub(crate) fn published_note(view: &View<'_>, compared: &Compared<'_>) -> String {
    let documents = unique(compared.published.iter().map(|drive| &*drive.document));
    if documents.is_empty() {
        return String::new();
    }
    fill_in(
        view.words.comparison.published_note,
        &[("documents", documents.join(view.words.list[0]))],
    )
}

/// Largest published value of a load, in the unit of its main figure.
pub(crate) fn published_maximum(drive: &PublishedDrive, load: &Load<'_>) -> Option<f64> {
    drive.maximum(&load.first().profile, published_quantity(load))
}

pub(crate) fn published_quantity(load: &Load<'_>) -> PublishedQuantity {
    match load.first().reported_as_throughput {
        true => PublishedQuantity::Throughput,
        false => PublishedQuantity::Rate,
    }
}
