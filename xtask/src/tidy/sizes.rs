//! Size limits: 600 lines for a file and 70 for a function, without tests.

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Most lines of a file without its tests.
const FILE_LINES: usize = 600;
/// Most lines of a function, from `fn` to the closing brace, comments and blank lines counted.
const FUNCTION_LINES: usize = 70;

/// Exception from the limit of a function. The list only shrinks: a limit that is too high is an
/// error, and a new entry needs a reason that convinces a reviewer.
struct Exception {
    file: &'static str,
    function: &'static str,
    lines: usize,
    /// Reason why splitting the function would make it worse.
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[];

/// Checks a source file against the limits.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) -> Result<()> {
    if name.contains("/tests/") || name.ends_with("tests.rs") {
        return Ok(());
    }
    let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
    let mut sizes = Sizes::default();
    sizes.visit_file(&file);
    let lines = text.lines().count() - sizes.test_lines;
    if lines > FILE_LINES {
        broken.push(format!("{name}: {lines} lines, at most {FILE_LINES}"));
    }
    let mut listed: Vec<&Exception> = EXCEPTIONS.iter().filter(|e| e.file == name).collect();
    for (function, lines) in sizes.functions.iter().filter(|(_, lines)| *lines > FUNCTION_LINES) {
        let exception = listed.iter().position(|e| e.function == function);
        match exception.map(|index| listed.remove(index)) {
            None => broken
                .push(format!("{name}: fn {function} has {lines} lines, at most {FUNCTION_LINES}")),
            Some(exception) if exception.lines != *lines => broken.push(format!(
                "{name}: fn {function} has {lines} lines, the list of exceptions says {} ({})",
                exception.lines, exception.reason
            )),
            Some(_) => {}
        }
    }
    for gone in listed {
        broken.push(format!("{name}: fn {} needs no exception any more", gone.function));
    }
    Ok(())
}

#[derive(Default)]
struct Sizes {
    functions: Vec<(String, usize)>,
    test_lines: usize,
}

impl Sizes {
    fn function(&mut self, name: &syn::Ident, from: proc_macro2::Span, to: proc_macro2::Span) {
        self.functions.push((name.to_string(), to.end().line - from.start().line + 1));
    }
}

pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Sizes {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test(&module.attrs) {
            let span = module.span();
            self.test_lines += span.end().line - span.start().line + 1;
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let from = function.sig.fn_token.span;
        self.function(&function.sig.ident, from, function.block.span());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let from = function.sig.fn_token.span;
        self.function(&function.sig.ident, from, function.block.span());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig.ident, function.sig.fn_token.span, block.span());
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::found;

    const NAME: &str = "crates/x/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    let _ = 1;\n".repeat(lines - 2))
    }

    #[test]
    fn functions_are_counted_from_their_first_to_their_last_line() {
        assert_eq!(found(check, NAME, &function(70)), [] as [String; 0]);
        assert_eq!(found(check, NAME, &function(71)).len(), 1);
        for (open, close) in [("impl X {", "}"), ("trait X {", "}"), ("mod x {", "}")] {
            assert_eq!(
                found(check, NAME, &format!("{open}\n{}{close}\n", function(71))).len(),
                1,
                "{open}"
            );
        }
    }

    #[test]
    fn tests_are_apart_and_what_follows_them_is_not() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(700));
        assert_eq!(found(check, NAME, &tests), [] as [String; 0]);
        let elsewhere = format!("#[cfg(test)]\nmod tests;\n{}", "const X: u8 = 1;\n".repeat(600));
        assert_eq!(found(check, NAME, &elsewhere).len(), 0);
        assert_eq!(found(check, NAME, &format!("{elsewhere}const Y: u8 = 1;\n")).len(), 1);
    }
}
