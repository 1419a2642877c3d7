//! Tables, names and values of facts about the machine and its devices.

use qdepth_record::{Observation, source};

use crate::document::{Cell, Table, text};
use crate::number;
use crate::rows::Rows;
use crate::view::View;
use crate::words::{Lang, fact_name, fact_source, fact_subject, fact_value, fill_in, reason_text};

/// Facts with their sources. Unknown facts are listed elsewhere, by reason.
pub(crate) fn observations<'a>(
    view: &View<'_>,
    caption: &str,
    seen: impl Iterator<Item = &'a Observation>,
) -> Table {
    let words = view.words.columns;
    let [subject, name, value, source] =
        [words.subject, words.fact, words.value, words.source].map(text);
    let mut former: Option<&str> = None;
    let known = seen.filter(|seen| seen.value.is_ok());
    let known = known.map(|seen| (seen, former.replace(&seen.subject) != Some(&*seen.subject)));
    Rows::from_items(known)
        .groups(|(_, opens)| *opens)
        .column(subject, |(seen, opens)| match opens {
            true => Cell::head(fact_subject(view.lang, &seen.subject)),
            false => Cell::plain(""),
        })
        .column(name, |(seen, _)| observed_name(view, seen))
        .column(value, |(seen, _)| observed_cell(view, seen))
        .column(source, |(seen, _)| Cell::unknown(fact_source(view.lang, &seen.source)))
        .table(caption)
}

/// Name of a fact. In languages other than English, a parameter of a device model has the key by
/// which an expression sets it; in English the name is that key already.
pub(crate) fn observed_name(view: &View<'_>, seen: &Observation) -> String {
    let parameter = source::is_description(&seen.source) && view.lang != Lang::En;
    if parameter { seen.key.clone() } else { fact_name(view.lang, &seen.key) }
}

/// Value of a fact, or the reason why it is unknown.
pub(crate) fn observed_cell(view: &View<'_>, seen: &Observation) -> Cell {
    match &seen.value {
        Ok(value) => Cell::plain(fact_value(view.lang, &observed(seen, value))),
        Err(why) => Cell::unknown(fill_in(
            view.words.columns.unknown,
            &[("why", reason_text(why, view.lang))],
        )),
    }
}

/// A value with its unit: capacities of drives in powers of ten, everything else in powers of two.
pub(crate) fn observed(seen: &Observation, value: &str) -> String {
    let bytes = value.parse::<f64>().ok().filter(|_| seen.key.ends_with("_bytes"));
    let medium = !matches!(&*seen.subject, "host" | "cpu" | "memory" | "kernel");
    match bytes {
        Some(bytes) if medium && matches!(&*seen.key, "size_bytes" | "capacity_bytes") => {
            number::decimal_bytes(bytes)
        }
        Some(bytes) => number::binary_bytes(bytes),
        None => value.to_owned(),
    }
}
