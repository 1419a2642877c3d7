//! Arrows one way inside of a crate, too: no circle between the modules directly below its root.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use syn::visit::{self, Visit};

use super::sizes::is_test;

/// Modules of a crate that use one another in a circle. The list only shrinks: one that is gone from
/// the code is an error here.
const KNOWN: &[(&str, &[&str])] = &[
    ("qdepth-engine", &["ledger", "outcome"]),
    ("qdepth-files", &["folder", "fresh"]),
    ("qdepth-files", &["output", "place"]),
    ("qdepth-logbook", &["error", "open"]),
    ("qdepth-media", &["array", "node"]),
];

/// Crates whose circles are not taken apart yet: what is in them is not said. This list only shrinks.
const TO_BE_TAKEN_APART: &[&str] =
    &["qdepth-foreign", "qdepth-host", "qdepth-report", "qdepth-workload"];

/// Who uses whom: the modules of a crate.
#[derive(Default)]
pub(super) struct Modules(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

impl Modules {
    /// Adds what a source file uses; `name` is its path from the root of the workspace.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let mut parts = name.split('/');
        let (Some("crates"), Some(krate), Some("src"), Some(below)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Ok(());
        };
        let last = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or_default();
        if last == "tests.rs" {
            return Ok(());
        }
        let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
        let mut uses = Uses::default();
        uses.visit_file(&file);
        let of_crate = self.0.entry(krate.to_owned()).or_default();
        if ["lib.rs", "main.rs"].contains(&below) {
            // Modules that exist for tests alone have no edges of their own.
            for test in uses.test_modules {
                of_crate.insert(test, BTreeSet::new());
            }
            return Ok(());
        }
        let module = below.trim_end_matches(".rs").to_owned();
        uses.used.remove(&module);
        of_crate.entry(module).or_default().extend(uses.used);
        Ok(())
    }

    /// Says which circles are not known, and which known ones are gone.
    pub(super) fn check(&self, broken: &mut Vec<String>) {
        let found: Vec<(&str, Vec<&str>)> = self
            .0
            .iter()
            .filter(|(krate, _)| !TO_BE_TAKEN_APART.contains(&krate.as_str()))
            .flat_map(|(krate, uses)| circles(uses).into_iter().map(move |c| (krate.as_str(), c)))
            .collect();
        for (krate, circle) in &found {
            if !KNOWN.iter().any(|(of, modules)| of == krate && *modules == circle.as_slice()) {
                let circle = circle.join(", ");
                broken.push(format!("{krate}: modules use one another in a circle: {circle}"));
            }
        }
        for (krate, modules) in KNOWN {
            if !found.iter().any(|(of, circle)| of == krate && circle.as_slice() == *modules) {
                let gone = modules.join(", ");
                broken.push(format!("xtask/src/tidy/circles.rs: {krate} has no circle {gone}"));
            }
        }
    }
}

/// The sets of modules that reach one another, of more than one each.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|module| (module.as_str(), reach(uses, module))).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for (module, theirs) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|of| of.contains(module));
        let circle: Vec<&str> = theirs.iter().filter(back).copied().collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(uses: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if uses.contains_key(next) && seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    seen
}

#[derive(Default)]
struct Uses {
    used: BTreeSet<String>,
    test_modules: Vec<String>,
}

impl Uses {
    /// The names that a tree of `use crate::…` begins with.
    fn tree(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => drop(self.used.insert(path.ident.to_string())),
            syn::UseTree::Name(name) => drop(self.used.insert(name.ident.to_string())),
            syn::UseTree::Rename(name) => drop(self.used.insert(name.ident.to_string())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree)),
            syn::UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test(&module.attrs) {
            self.test_modules.push(module.ident.to_string());
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if let (false, syn::UseTree::Path(path)) = (is_test(&item.attrs), &item.tree)
            && path.ident == "crate"
        {
            self.tree(&path.tree);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = path.segments.iter().map(|segment| &segment.ident);
        if let (Some(first), Some(second)) = (names.next(), names.next())
            && first == "crate"
        {
            self.used.insert(second.to_string());
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Modules::default();
        for (name, text) in files {
            modules.add(&format!("crates/qdepth-new/src/{name}"), text).unwrap();
        }
        let mut broken = Vec::new();
        modules.check(&mut broken);
        broken.retain(|line| line.starts_with("qdepth-new"));
        broken
    }

    #[test]
    fn a_circle_of_three_is_seen_and_a_test_is_no_arrow() {
        let one_way = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() { crate::c::g(); }\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
            ("c/deep.rs", "use std::fmt;"),
        ];
        assert!(found(&one_way).is_empty());
        let circle = [one_way[0], one_way[1], ("c/deep.rs", "use crate::{d, a::A};")];
        let said = found(&circle);
        assert_eq!(said, ["qdepth-new: modules use one another in a circle: a, b, c"]);
    }
}
