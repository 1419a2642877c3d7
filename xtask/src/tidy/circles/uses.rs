//! Uses of a source file, as written.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Path as written in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    /// Module in which the first name is resolved.
    pub(super) base: Vec<String>,
    pub(super) names: Vec<String>,
    /// True if the path begins with `crate`, `super` or `self`; otherwise it may belong to another
    /// crate.
    pub(super) is_rooted: bool,
}

/// Name imported by `use`.
pub(super) struct Import {
    pub(super) path: Written,
    /// True if the import is re-exported.
    pub(super) is_public: bool,
}

/// Uses of one source file, without tests.
#[derive(Default)]
pub(super) struct Uses {
    /// Module of the current paths.
    module: Vec<String>,
    /// Number of names of `module` that are inline modules.
    inline: usize,
    /// Imports by local name.
    pub(super) imports: BTreeMap<String, Import>,
    /// Paths elsewhere than in `use`, and `use` within functions.
    pub(super) paths: BTreeSet<Written>,
    /// First names of the paths outside of `use`.
    pub(super) begins: BTreeSet<String>,
}

impl Uses {
    /// Adds the dependencies of a module's file.
    pub(super) fn read(&mut self, module: &[String], file: &syn::File) {
        self.module = module.to_vec();
        self.visit_file(file);
    }

    fn written(&self, names: &[String]) -> Written {
        let is_root = |name: &&String| ["crate", "super", "self"].contains(&name.as_str());
        let roots = names.iter().take_while(is_root).count();
        let mut base = self.module.clone();
        for root in &names[..roots] {
            match root.as_str() {
                "crate" => base.clear(),
                "super" => drop(base.pop()),
                _ => {}
            }
        }
        Written { base, names: names[roots..].to_vec(), is_rooted: roots > 0 }
    }

    fn path(&mut self, names: &[String]) {
        self.begins.extend(names.first().cloned());
        if names.len() > 1 {
            let written = self.written(names);
            self.paths.insert(written);
        }
    }

    /// Adds the paths in a macro's arguments, which are not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut names, mut colons) = (Vec::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.path(&std::mem::take(&mut names));
                    }
                    names.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                other => {
                    self.path(&std::mem::take(&mut names));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(&names);
    }

    /// Paths of a `use`, each with its local name.
    fn tree(before: &[String], tree: &syn::UseTree, found: &mut Vec<(String, Vec<String>)>) {
        let with = |name: &syn::Ident| {
            let name = name.to_string();
            let own = (name != "self").then_some(name);
            before.iter().cloned().chain(own).collect::<Vec<String>>()
        };
        match tree {
            syn::UseTree::Path(path) => {
                let mut before = before.to_vec();
                before.push(path.ident.to_string());
                Self::tree(&before, &path.tree, found);
            }
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                found.push((path.last().cloned().unwrap_or_default(), path));
            }
            syn::UseTree::Rename(name) => found.push((name.rename.to_string(), with(&name.ident))),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| Self::tree(before, tree, found));
            }
            syn::UseTree::Glob(_) => {
                found.push((format!("{}::*", before.join("::")), before.to_vec()))
            }
        }
    }

    fn taken_in(&self, item: &syn::ItemUse) -> Vec<(String, Import)> {
        let mut found = Vec::new();
        Self::tree(&[], &item.tree, &mut found);
        let is_public = !matches!(item.vis, syn::Visibility::Inherited);
        let import = |path: Vec<String>| Import { path: self.written(&path), is_public };
        found.into_iter().map(|(name, path)| (name, import(path))).collect()
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() {
            self.module.push(module.ident.to_string());
            self.inline += 1;
            visit::visit_item_mod(self, module);
            self.inline -= 1;
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (name, import) in self.taken_in(item) {
            if self.inline == 0 {
                self.imports.insert(name, import);
            } else {
                self.paths.insert(import.path);
            }
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        for statement in &block.stmts {
            match statement {
                // An import inside a function is visible only there.
                syn::Stmt::Item(syn::Item::Use(item)) => {
                    let paths = self.taken_in(item).into_iter().map(|(_, import)| import.path);
                    self.paths.extend(paths);
                }
                other => self.visit_stmt(other),
            }
        }
    }

    /// A visibility is not a use.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|name| name.ident.to_string()).collect();
        self.path(&names);
        visit::visit_path(self, path);
    }
}
