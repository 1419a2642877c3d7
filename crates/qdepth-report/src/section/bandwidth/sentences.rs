//! Results in sentences.

use super::rates::Bandwidth;
use crate::number;
use crate::section::columns::are_unlike;
use crate::view::View;
use crate::words::{counted, fill_in};

/// States the range of threads and transfer sizes that was varied.
pub(crate) fn range(view: &View<'_>, bandwidth: &Bandwidth) -> String {
    let end = |end: Option<&u32>| end.map_or_else(String::new, u32::to_string);
    let values = [
        ("low", end(bandwidth.threads.first())),
        ("high", end(bandwidth.threads.last())),
        ("transfers", bandwidth.transfers.join(view.words.list[0])),
    ];
    fill_in(view.words.bandwidth.range, &values)
}

/// The best rate of each direction, the number of threads that saturates, and the scaling over
/// targets.
pub(crate) fn results(view: &View<'_>, bandwidth: &Bandwidth) -> Vec<String> {
    let best = (0..2).filter_map(|direction| best(view, bandwidth, direction));
    best.chain((0..2).filter_map(|direction| scaling(view, bandwidth, direction))).collect()
}

fn best(view: &View<'_>, bandwidth: &Bandwidth, direction: usize) -> Option<String> {
    let words = view.words.bandwidth;
    let (transfer, threads, rate) = bandwidth.best(direction)?;
    let (found, size) = bandwidth.sufficient(direction)?;
    let threads_of = |n: u32| counted(words.counted, n as usize);
    let mut values = vec![("threads", threads_of(found.number))];
    values
        .extend((size != transfer).then(|| ("other_transfer", bandwidth.transfers[size].clone())));
    let saturates = match found.interval {
        None => format!("{}{}", fill_in(words.saturates, &values), words.no_interval),
        Some((low, high)) => {
            values.push(("low", low.to_string()));
            values.extend(high.map(|high| ("high", high.to_string())));
            let template = match high {
                Some(high) if high == low => words.saturates,
                Some(_) => words.saturates_between,
                None => words.saturates_from,
            };
            fill_in(template, &values)
        }
    };
    let values = [
        ("direction", words.directions[direction].to_owned()),
        ("value", number::in_prose(&rate)),
        ("threads", threads_of(threads)),
        ("transfer", bandwidth.transfers[transfer].clone()),
        ("saturates", saturates),
    ];
    Some(fill_in(words.best, &values))
}

fn scaling(view: &View<'_>, bandwidth: &Bandwidth, direction: usize) -> Option<String> {
    if bandwidth.targets < 2 {
        return None;
    }
    let words = view.words.bandwidth;
    let (_, _, rate) = bandwidth.best(direction)?;
    let (verbs, scaled) = (words.verbs, bandwidth.scaled(direction, &rate)?);
    let values = [
        ("direction", verbs[direction].to_owned()),
        ("value", number::three_digits(bandwidth.baseline(direction)?)),
        ("transfer", bandwidth.transfers.first()?.clone()),
        ("targets", bandwidth.targets.to_string()),
        ("percent", number::percent(scaled)),
        ("times", number::three_digits(scaled * bandwidth.targets as f64)),
    ];
    let unlike = are_unlike(&view.run.targets);
    Some(fill_in(if unlike { words.baseline_unlike } else { words.baseline }, &values))
}
