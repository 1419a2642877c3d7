//! Arrows one way inside of a crate, too: no circle between the modules directly below its root.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};

use super::sizes::is_test;

/// Who uses whom: the modules of a crate.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules of all crates.
#[derive(Default)]
pub(super) struct Modules {
    /// By crate and file below `src`, what it uses.
    files: BTreeMap<(String, String), BTreeSet<String>>,
    /// By crate, modules that exist for tests alone, as `guard/model`.
    tests: BTreeSet<(String, String)>,
}

impl Modules {
    /// Adds what a source file uses; `name` is its path from the root of the workspace.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let Some((krate, below)) =
            name.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"))
        else {
            return Ok(());
        };
        let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
        let mut uses = Uses::default();
        uses.visit_file(&file);
        let stem = below.trim_end_matches(".rs");
        let own = ["lib", "main", "mod"].into_iter().find_map(|root| stem.strip_suffix(root));
        let folder = own.map_or_else(|| format!("{stem}/"), str::to_owned);
        let tests = uses.test_modules.iter().map(|test| format!("{folder}{test}"));
        self.tests.extend(tests.map(|test| (krate.to_owned(), test)));
        self.files.insert((krate.to_owned(), below.to_owned()), uses.used);
        Ok(())
    }

    /// Without tests, and without the roots of the crates, which use all of their modules.
    fn graphs(&self) -> BTreeMap<&str, Graph> {
        let mut graphs: BTreeMap<&str, Graph> = BTreeMap::new();
        for ((krate, below), used) in &self.files {
            let is_test = |(owner, test): &(String, String)| {
                let rest = below.strip_prefix(test.as_str()).filter(|_| owner == krate);
                rest.is_some_and(|rest| rest.starts_with(['.', '/']))
            };
            if ["lib.rs", "main.rs"].contains(&below.as_str()) || self.tests.iter().any(is_test) {
                continue;
            }
            let module = below.split('/').next().unwrap_or_default().trim_end_matches(".rs");
            let of_crate = graphs.entry(krate).or_default().entry(module.to_owned()).or_default();
            of_crate.extend(used.iter().filter(|used| *used != module).cloned());
        }
        graphs
    }

    /// Says which circles there are.
    pub(super) fn check(&self, broken: &mut Vec<String>) {
        for (krate, graph) in self.graphs() {
            for circle in circles(&graph) {
                let circle = circle.join(", ");
                broken.push(format!("{krate}: modules use one another in a circle: {circle}"));
            }
        }
    }
}

/// The sets of modules that reach one another, of more than one each.
fn circles(uses: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|module| (module.as_str(), reach(uses, module))).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for (module, theirs) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|uses| uses.contains(module));
        let circle: Vec<&str> = theirs.iter().filter(back).copied().collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(uses: &'a Graph, from: &str) -> BTreeSet<&'a str> {
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
        // The same arrow in a file that exists for tests alone.
        let of_test = [one_way[0], one_way[1], ("c.rs", "#[cfg(test)]\nmod deep;"), circle[2]];
        assert!(found(&of_test).is_empty());
    }
}
