//! Rejects names that do not describe a value, such as `of` and `look`, and in `src` also `told`.
//! Fields may have them, because they are read together with their owner's name.

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

const NO_NAMES: &[&str] = &["of", "one", "look", "tell", "doubt", "doubts"];
/// Names that are rejected only in `src`.
const NO_NAMES_OF_SOURCES: &[&str] = &["told", "said", "place"];

/// Reports functions, parameters and other values with such names, including tests and macros.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) -> Result<()> {
    let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
    let mut names = Names::default();
    names.visit_file(&file);
    let is_source = name.contains("/src/");
    let refused = names
        .found
        .iter()
        .filter(|(_, called)| is_source || !NO_NAMES_OF_SOURCES.contains(&called.as_str()));
    broken.extend(refused.map(|(line, called)| {
        format!("{name}:{line}: `{called}` is no name: say what it holds or returns")
    }));
    Ok(())
}

/// Visitor that collects rejected names with their lines.
#[derive(Default)]
struct Names {
    found: Vec<(usize, String)>,
}

impl Names {
    fn check_ident(&mut self, ident: &proc_macro2::Ident) {
        if NO_NAMES.iter().chain(NO_NAMES_OF_SOURCES).any(|name| ident == name) {
            self.found.push((ident.span().start().line, ident.to_string()));
        }
    }

    /// Finds names in tokens that do not parse as expressions: after `let`, `fn`, `for` or a bar,
    /// and inside a tuple there.
    fn check_tokens(&mut self, tokens: TokenStream, in_pattern: bool) {
        let mut names_follow = in_pattern;
        for token in tokens {
            names_follow = match token {
                TokenTree::Ident(word) if word == "mut" || word == "ref" => names_follow,
                TokenTree::Ident(word) => {
                    if names_follow {
                        self.check_ident(&word);
                    }
                    word == "let" || word == "fn" || word == "for"
                }
                TokenTree::Group(group) => {
                    self.check_tokens(group.stream(), names_follow);
                    false
                }
                TokenTree::Punct(mark) => match mark.as_char() {
                    '&' => names_follow,
                    ',' => in_pattern,
                    other => other == '|',
                },
                TokenTree::Literal(_) => false,
            };
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.check_ident(&signature.ident);
        visit::visit_signature(self, signature);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.check_ident(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let comma_separated = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        match call.parse_body_with(comma_separated) {
            Ok(arguments) => arguments.iter().for_each(|argument| {
                // The arguments live only for this call, not as long as the file.
                let mut names = Names::default();
                names.visit_expr(argument);
                self.found.extend(names.found);
            }),
            Err(_) => self.check_tokens(call.tokens.clone(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::found;

    #[test]
    fn what_is_called_so_is_found_wherever_it_gets_its_name() {
        for name in NO_NAMES {
            for text in [
                "fn f() {\nlet NAME = 1; }",
                "fn f() {\nlet mut NAME = 1; }",
                "fn f() {\nlet (a, NAME) = g(); }",
                "fn f() {\nlet Line { NAME, .. } = g(); }",
                "fn f() {\ng(|NAME| 1); }",
                "fn f() {\ng(|&NAME| 1); }",
                "fn f() {\ng(|(a, NAME): (u8, u8)| 1); }",
                "fn f() {\nfor NAME in g() {} }",
                "fn f() { match g() {\nSome(NAME) => {} _ => {} } }",
                "fn f() { assert!(\ng(|NAME| 1)); }",
                "fn f() { matches!(g(\n|&NAME| 1), Some(_) if true); }",
                "cases! { a =\n|NAME| 1; }",
                "cases! { a =\n|(b, NAME)| 1; }",
                "cases! { fn f() {\nlet mut NAME = 1; } }",
                "cases! {\nfn NAME() {} }",
                "\nfn NAME() {}",
                "impl X {\nfn NAME(&self) {} }",
                "trait X {\nfn NAME(&self); }",
                "fn f(\nNAME: u8) {}",
                "fn f(\nmut NAME: u8) {}",
            ] {
                let expected = format!("a.rs:2: `{name}` is no name: say what it holds or returns");
                assert_eq!(found(check, "a.rs", &text.replace("NAME", name)), [expected], "{text}");
            }
        }
    }

    #[test]
    fn some_are_no_names_in_sources_alone() {
        for name in NO_NAMES_OF_SOURCES {
            for text in [
                format!("fn f() {{ let {name} = 1; }}"),
                format!("fn f() {{ g(|(a, {name})| 1); }}"),
                format!("fn f({name}: u8) {{}}"),
                format!("fn {name}() {{}}"),
            ] {
                for source in ["crates/x/src/a.rs", "crates/x/src/a/tests.rs", "xtask/src/a.rs"] {
                    let expected = format!("{source}:1: `{name}` is no name: say what it holds");
                    let refused = found(check, source, &text);
                    assert_eq!(refused, [format!("{expected} or returns")], "{text}");
                }
                for other in ["crates/x/tests/a.rs", "crates/x/build.rs"] {
                    assert_eq!(found(check, other, &text), [""; 0], "{text}");
                }
            }
            let field = format!("struct X {{ {name}: u8 }} fn f() {{ X {{ {name}: a.{name} }}; }}");
            assert_eq!(found(check, "crates/x/src/a.rs", &field), [""; 0]);
        }
    }

    #[test]
    fn fields_paths_texts_and_longer_names_may() {
        for text in [
            "struct X { of: u8, one: u8 }",
            "fn f() { g(X { of: 1, one: 2 }, a.of, b.one()); }",
            "fn f() { let X { of: run, .. } = g(); }",
            "fn f() { prop::option::of(1); assert!(X { of: 1 } == a && prop::option::of(1)); }",
            "fn f() { let of_target = |of_run: u8, ones: u8| (\"of\", of_run); }",
            "fn f() { println!(\"{} of {}\", a.of, b); }",
            "cases! { a in prop::option::of(1) => |row| row.of; one of }",
            "// let of = 1;\nfn f() {}",
        ] {
            assert_eq!(found(check, "a.rs", text), [] as [String; 0], "{text}");
        }
    }
}
