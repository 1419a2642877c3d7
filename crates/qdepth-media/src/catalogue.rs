//! The media, hosts and layers that come with the program: the files of `media/`, embedded.

/// Name and text of every file, which `build.rs` lists.
const ALL: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/media.rs"));
const HOST: &str = "host-";
const LAYER: &str = "layer-";

/// The names behind this beginning.
fn behind(prefix: &'static str) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter_map(move |(name, _)| name.strip_prefix(prefix))
}

/// The text of the file whose name is these two.
fn find(prefix: &str, name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| known.strip_prefix(prefix) == Some(name)).map(|(_, text)| *text)
}

fn is_medium(name: &str) -> bool {
    !name.starts_with(HOST) && !name.starts_with(LAYER)
}

/// Names of the media.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| is_medium(name))
}

/// Names of the hosts, as an expression's `@host=` has them.
pub fn host_names() -> impl Iterator<Item = &'static str> {
    behind(HOST)
}

/// The description of a medium as written.
pub fn text(name: &str) -> Option<&'static str> {
    find("", name).filter(|_| is_medium(name))
}

/// The description of a host as written.
pub(crate) fn host_text(name: &str) -> Option<&'static str> {
    find(HOST, name)
}

/// Names of the volume layers.
pub(crate) fn layer_names() -> impl Iterator<Item = &'static str> {
    behind(LAYER)
}

/// The description of a volume layer as written.
pub(crate) fn layer_text(name: &str) -> Option<&'static str> {
    find(LAYER, name)
}
