//! Rejects dependency cycles inside a crate: between the modules of a folder, and between a module
//! and its submodules. A dependency is a path, followed through re-exports to the file that defines
//! the name; method calls without a path do not count.

mod uses;

use std::collections::{BTreeMap, BTreeSet};

use uses::{Uses, Written};

/// Dependencies between the submodules of a module, and of the module itself under the name
/// `ITSELF`.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Name of a module among its submodules.
const ITSELF: &str = "itself";
/// Limit of re-exports followed in a row; no path reaches it.
const RE_EXPORTS: usize = 16;

/// Modules of a crate, by path from its root.
type Crate = BTreeMap<Vec<String>, Uses>;

/// Modules of all crates.
#[derive(Default)]
pub(super) struct Modules {
    crates: BTreeMap<String, Crate>,
    /// Test-only modules, with their crates.
    tests: BTreeSet<(String, Vec<String>)>,
}

impl Modules {
    /// Adds the dependencies of a source file without its test modules; `name` is its path from the
    /// root of the workspace.
    pub(super) fn add(&mut self, name: &str, file: &syn::File, tests: &[syn::ItemMod]) {
        let Some((krate, below)) = name.trim_start_matches("crates/").split_once("/src/") else {
            return;
        };
        let mut module: Vec<String> =
            below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
        if is_root || module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        // The library and the program of a crate share a root.
        let uses = self.crates.entry(krate.to_owned()).or_default().entry(module.clone());
        uses.or_default().read(&module, file);
        for test in tests {
            let test = module.iter().cloned().chain([test.ident.to_string()]).collect();
            self.tests.insert((krate.to_owned(), test));
        }
    }

    /// Reports all cycles.
    pub(super) fn check(&self, broken: &mut Vec<String>) {
        for (krate, modules) in &self.crates {
            for (parent, graph) in self.graphs(krate, modules) {
                let path: Vec<&str> =
                    [krate].into_iter().chain(&parent).map(String::as_str).collect();
                let path = path.join("::");
                for circle in circles(&graph) {
                    let circle = circle.join(", ");
                    broken.push(format!("{path}: modules use one another in a circle: {circle}"));
                }
            }
        }
    }

    /// Dependencies between submodules, by parent module.
    fn graphs(&self, krate: &str, modules: &Crate) -> BTreeMap<Vec<String>, Graph> {
        let mut graphs: BTreeMap<Vec<String>, Graph> = BTreeMap::new();
        for (module, uses) in modules {
            let is_test =
                |(owner, test): &(String, Vec<String>)| owner == krate && module.starts_with(test);
            if self.tests.iter().any(is_test) {
                continue;
            }
            for used in used(modules, module, uses) {
                let shared = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
                let name = |path: &[String]| {
                    path.get(shared).cloned().unwrap_or_else(|| ITSELF.to_owned())
                };
                let graph = graphs.entry(module[..shared].to_vec()).or_default();
                graph.entry(name(&used)).or_default();
                graph.entry(name(module)).or_default().insert(name(&used));
            }
        }
        graphs
    }
}

/// Other modules of the crate that a module uses.
fn used(modules: &Crate, module: &[String], uses: &Uses) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (name, import) in &uses.imports {
        let Some(used) = defined_in(modules, &import.path, RE_EXPORTS) else { continue };
        // Re-exporting a submodule is not a use.
        let handed_on = import.is_public && !uses.begins.contains(name) && used.starts_with(module);
        if !handed_on {
            found.insert(used);
        }
    }
    found.extend(uses.paths.iter().filter_map(|path| defined_in(modules, path, RE_EXPORTS)));
    found.remove(module);
    found
}

/// Module that defines the name of a path, following re-exports.
fn defined_in(modules: &Crate, path: &Written, re_exports: usize) -> Option<Vec<String>> {
    let mut module = path.base.clone();
    if !path.is_rooted && !modules.contains_key(&module) {
        return None;
    }
    while !modules.contains_key(&module) {
        module.pop()?;
    }
    for (index, name) in path.names.iter().enumerate() {
        module.push(name.clone());
        if modules.contains_key(&module) {
            continue;
        }
        module.pop();
        let import = modules.get(&module).and_then(|uses| uses.imports.get(name));
        if let Some(import) = import {
            let mut rest = import.path.clone();
            rest.names.extend_from_slice(&path.names[index + 1..]);
            return defined_in(modules, &rest, re_exports.checked_sub(1)?);
        }
        return (path.is_rooted || index > 0).then_some(module);
    }
    Some(module)
}

/// Cycles: sets of several modules that all reach one another.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sizes::without_tests;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Modules::default();
        for (name, text) in [("lib.rs", "mod a;")].iter().chain(files) {
            let mut file = syn::parse_file(text).unwrap();
            let tests = without_tests(&mut file.items);
            modules.add(&format!("crates/qdepth-new/src/{name}"), &file, &tests);
        }
        let mut broken = Vec::new();
        modules.check(&mut broken);
        broken
    }

    fn circle(path: &str, names: &str) -> String {
        format!("{path}: modules use one another in a circle: {names}")
    }

    #[test]
    fn cycle_of_three_modules_is_found_outside_tests() {
        let one_way = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() { crate::c::g(); }\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
            ("c.rs", "mod deep;"),
            ("c/deep.rs", "use std::fmt;"),
        ];
        assert!(found(&one_way).is_empty());
        let three = [one_way[0], one_way[1], one_way[2], ("c/deep.rs", "use crate::{d, a::A};")];
        assert_eq!(found(&three), [circle("qdepth-new", "a, b, c")]);
        // The same dependency in a test-only file.
        let of_test = [one_way[0], one_way[1], ("c.rs", "#[cfg(test)]\nmod deep;"), three[3]];
        assert!(found(&of_test).is_empty());
    }

    #[test]
    fn nested_cycle_is_found_in_every_path_style() {
        let parent = ("a/mod.rs", "mod x;\nmod y;\npub use x::X;\nuse y::Y;");
        let x = ("a/x.rs", "mod low;\nuse super::y::{self, Z};");
        assert!(found(&[parent, x, ("a/y.rs", ""), ("a/x/low.rs", "")]).is_empty());
        let back = [
            "use super::x::low;",
            "use crate::a::x;",
            "fn f() { super::x::f(); }",
            "fn f() { println!(\"{}\", super::x::f()); }",
            "fn f() { use super::x::f; }",
            "mod inner { fn f() { super::super::x::f(); } }",
            // The parent only re-exports it.
            "use super::X;",
        ];
        for back in back {
            let files = [parent, x, ("a/x/low.rs", ""), ("a/y.rs", back)];
            assert_eq!(found(&files), [circle("qdepth-new::a", "x, y")], "{back}");
        }
        // A use deep inside a subtree counts for the subtree.
        let low = ("a/x/low.rs", "use crate::a::y::Z;");
        let files = [parent, ("a/x.rs", "mod low;"), low, ("a/y.rs", "use super::x;")];
        assert_eq!(found(&files), [circle("qdepth-new::a", "x, y")]);
    }

    #[test]
    fn module_and_child_must_not_depend_mutually() {
        let child = ("a/x.rs", "use super::Shared;");
        let uses = "mod x;\nstruct Shared;\n";
        assert!(found(&[("a.rs", uses), child]).is_empty());
        // A re-export is not a use.
        assert!(found(&[("a.rs", &format!("{uses}pub use x::X;")), child]).is_empty());
        for calls in ["fn f() { x::f(); }", "use x::X;", "pub use x::X;\nfn f(x: X) {}"] {
            let files = [("a.rs", &*format!("{uses}{calls}")), child];
            assert_eq!(found(&files), [circle("qdepth-new::a", "itself, x")], "{calls}");
        }
        // By way of another child.
        let files = [
            ("a.rs", "mod x;\nmod y;\nstruct Shared;\nfn f() { y::f(); }"),
            child,
            ("a/y.rs", "use super::x::X;"),
        ];
        assert_eq!(found(&files), [circle("qdepth-new::a", "itself, x, y")]);
        let root =
            [("lib.rs", "mod a;\nstruct Shared;\nuse a::A;"), ("a.rs", "use crate::Shared;")];
        assert_eq!(found(&root), [circle("qdepth-new", "a, itself")]);
    }

    #[test]
    fn external_crates_are_not_dependencies() {
        let x = ("a/x.rs", "use super::y;\nuse y::Y;");
        let files = [("a.rs", "mod x;\nmod y;"), x, ("a/y.rs", "use x::X;\nuse std::x::Z;")];
        assert!(found(&files).is_empty());
    }
}
