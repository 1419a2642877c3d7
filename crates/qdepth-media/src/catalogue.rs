//! Built-in device models, hosts and volume layers: the files of `media/`, embedded.

/// Name and text of every file, listed by `build.rs`.
const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/media.rs"));

fn is_medium(name: &str) -> bool {
    !name.starts_with("host-") && !name.starts_with("layer-")
}

/// Names of the device models.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| is_medium(name))
}

/// Text of a device model file.
pub fn text(name: &str) -> Option<&'static str> {
    let found = ALL.iter().find(|(known, _)| *known == name && is_medium(known));
    found.map(|(_, text)| *text)
}

/// Names of the files of a kind other than device models, without it: `host` or `layer`.
pub(crate) fn part_names(kind: &str) -> impl Iterator<Item = &'static str> {
    parts(kind).map(|(name, _)| name)
}

/// Text of a host file or a volume layer file.
pub(crate) fn part_text(kind: &str, name: &str) -> Option<&'static str> {
    parts(kind).find(|(known, _)| *known == name).map(|(_, text)| text)
}

fn parts(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_kind =
        move |name: &'static str| name.strip_prefix(kind).and_then(|name| name.strip_prefix('-'));
    ALL.iter().filter_map(move |(name, text)| Some((of_kind(name)?, *text)))
}
