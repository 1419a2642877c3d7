//! A name says what it holds or returns: `of`, `look` and their like say neither. Fields may have
//! them, since they are read behind the name of what has them.

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

const NO_NAMES: &[&str] = &["of", "one", "look", "tell", "doubt", "doubts"];

/// Says which functions, parameters and other values are called so, tests and macros included.
pub(super) fn check(name: &str, text: &str, broken: &mut Vec<String>) -> Result<()> {
    let file = syn::parse_file(text).with_context(|| format!("{name} cannot be parsed"))?;
    let mut names = Names::default();
    names.visit_file(&file);
    broken.extend(names.found.iter().map(|(line, called)| {
        format!("{name}:{line}: `{called}` is no name: say what it holds or returns")
    }));
    Ok(())
}

/// Such names, each with its line.
#[derive(Default)]
struct Names {
    found: Vec<(usize, String)>,
}

impl Names {
    fn check_ident(&mut self, ident: &proc_macro2::Ident) {
        if NO_NAMES.iter().any(|name| ident == name) {
            self.found.push((ident.span().start().line, ident.to_string()));
        }
    }

    /// What names a value in tokens that are no expressions: what stands behind `let`, `fn`, `for`
    /// or a bar, and within a tuple there.
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
                // They live for this call alone, and not for as long as the file.
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
