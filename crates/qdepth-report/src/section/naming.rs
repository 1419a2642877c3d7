//! Lists of names in sentences and titles: enumerated, counted, and shortened if there are many.

use crate::grouped::grouped;
use crate::view::View;
use crate::words::fill_in;

/// Largest number of targets that are named. If more than one is left, only their number is given.
const TARGETS_NAMED: usize = 4;

/// Enumeration: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(view: &View<'_>, mut items: Vec<String>) -> String {
    let Some(last) = items.pop() else { return String::new() };
    if items.is_empty() {
        return last;
    }
    let [comma, and] = view.words.list;
    format!("{}{and}{last}", items.join(comma))
}

/// Enumeration in which a repeated name appears once, preceded by its count.
pub(crate) fn counted_names(view: &View<'_>, names: Vec<String>) -> String {
    let kinds = grouped(names.into_iter().map(|name| (name, ()))).into_iter();
    let counted = |(name, found): (String, Vec<()>)| match found.len() {
        1 => name,
        count => format!("{count} × {name}"),
    };
    list(view, kinds.map(counted).collect())
}

/// Names of the targets; only the first ones if there are many.
pub(crate) fn targets(view: &View<'_>) -> String {
    names(view, target_names(view))
}

pub(crate) fn target_names(view: &View<'_>) -> Vec<String> {
    view.run.targets.iter().map(|target| view.shown(&target.name)).collect()
}

/// Enumeration in which several of one kind (`drive #1`, `drive #2`) become `2 × drive`; only the
/// first names if there are many.
pub(crate) fn names(view: &View<'_>, names: Vec<String>) -> String {
    let kind = |name: &str| name.rsplit_once(" #").map_or(name, |(kind, _)| kind).to_owned();
    let kinds = grouped(names.into_iter().map(|name| (kind(&name), name))).into_iter();
    let counted = |(kind, members): (String, Vec<String>)| match &*members {
        [name] => name.clone(),
        many => format!("{} × {kind}", many.len()),
    };
    let mut names: Vec<String> = kinds.map(counted).collect();
    let more = names.len().saturating_sub(TARGETS_NAMED);
    if more > 1 {
        names.truncate(TARGETS_NAMED);
        names.push(fill_in(view.words.summary.more, &[("n", more.to_string())]));
    }
    list(view, names)
}

/// Largest number of letters of all names in a title.
const TITLE: usize = 56;

/// Names in a title. If they are too long, capacities are removed, unless they distinguish two
/// names; if they are still too long, only the first is used.
pub(crate) fn in_title(view: &View<'_>, all: Vec<String>) -> String {
    let fits = |text: &String| text.chars().count() <= TITLE;
    let kinds = |names: &[String]| {
        let kind = |name: &String| name.rsplit_once(" #").map_or(name.clone(), |k| k.0.to_owned());
        names.iter().map(kind).collect::<std::collections::BTreeSet<String>>().len()
    };
    if kinds(&all) < 2 {
        return names(view, all);
    }
    let short: Vec<String> = all.iter().map(|name| without_capacity(name).to_owned()).collect();
    let short = if kinds(&short) == kinds(&all) { short } else { all.clone() };
    let shared = shared(&all);
    let title = [all, short.clone()].map(|all| names(view, all)).into_iter().find(fits);
    let title = title.or_else(|| shared.map(|name| names(view, vec![name])));
    title.unwrap_or_else(|| {
        let first: Vec<String> = short.iter().take(1).cloned().collect();
        let more = kinds(&short).saturating_sub(1).to_string();
        list(view, [first, vec![fill_in(view.words.summary.more, &[("n", more)])]].concat())
    })
}

/// Common part of these names, for example a drive in the names of its options and arrays: the
/// first name, or a common prefix, or the first name without settings.
fn shared(all: &[String]) -> Option<String> {
    let first = all.first()?;
    let beginning = first.split_once(", ").map_or(first.as_str(), |(beginning, _)| beginning);
    let without_settings = first.split_once(" @").map_or(first.as_str(), |(device, _)| device);
    let mut candidates = [first.as_str(), beginning, without_settings].into_iter();
    candidates.find(|name| all.iter().all(|other| other.contains(*name))).map(str::to_owned)
}

/// Turns `Intel P3700 800 GB` into `Intel P3700`.
fn without_capacity(name: &str) -> &str {
    let parts = name.rsplit_once(' ').and_then(|(rest, unit)| {
        let (before, number) = rest.rsplit_once(' ')?;
        let is_unit = ["GB", "TB", "GiB", "TiB"].contains(&unit);
        (is_unit && number.parse::<f64>().is_ok()).then_some(before)
    });
    parts.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn device_name_is_not_confused_with_longer_name() {
        let (run, points) = (fixture::run(1), fixture::points(1));
        let presentation = crate::Presentation::from(crate::Lang::En);
        let view = View::new(&run, &points, None, &presentation);
        for order in [["sda10", "sda1"], ["sda1", "sda10"]] {
            let named = names(&view, order.map(str::to_owned).to_vec());
            assert_eq!(named, order.join(" and "));
        }
        let drives = ["drive #1", "drive #2", "sda"].map(str::to_owned).to_vec();
        assert_eq!(names(&view, drives), "2 × drive and sda");
    }
}
