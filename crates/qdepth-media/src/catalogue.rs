//! Built-in device models, hosts and volume layers: the files of `media/`, embedded.

/// Name and text of every file, listed by `build.rs`.
const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/media.rs"));
const HOST: &str = "host-";
const LAYER: &str = "layer-";

/// Names with this prefix, without it.
fn behind(prefix: &'static str) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter_map(move |(name, _)| name.strip_prefix(prefix))
}

/// Text of the file named `prefix` + `name`.
fn find(prefix: &str, name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| known.strip_prefix(prefix) == Some(name)).map(|(_, text)| *text)
}

fn is_medium(name: &str) -> bool {
    !name.starts_with(HOST) && !name.starts_with(LAYER)
}

/// Names of the device models.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| is_medium(name))
}

/// Names of the hosts, for `@host=` of an expression.
pub fn host_names() -> impl Iterator<Item = &'static str> {
    behind(HOST)
}

/// Text of a device model file.
pub fn text(name: &str) -> Option<&'static str> {
    find("", name).filter(|_| is_medium(name))
}

/// Text of a host file.
pub(crate) fn host_text(name: &str) -> Option<&'static str> {
    find(HOST, name)
}

/// Names of the volume layers.
pub(crate) fn layer_names() -> impl Iterator<Item = &'static str> {
    behind(LAYER)
}

/// Text of a volume layer file.
pub(crate) fn layer_text(name: &str) -> Option<&'static str> {
    find(LAYER, name)
}
