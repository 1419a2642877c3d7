//! Rejects parameters that destructure a tuple: they hide the number of a function's values, and
//! calls do not show their names.

use syn::visit::{self, Visit};

use super::sizes::is_of_tests;

/// Reports functions with tuple patterns as parameters; closures may have them.
pub(super) fn check(name: &str, file: &syn::File, broken: &mut Vec<String>) {
    if is_of_tests(name) {
        return;
    }
    let mut functions = Functions::default();
    functions.visit_file(file);
    broken.extend(functions.found.iter().map(|(line, function)| {
        format!("{name}:{line}: fn {function} takes a tuple: name its parts")
    }));
}

/// Visitor that collects functions with such a parameter, with its line.
#[derive(Default)]
struct Functions {
    found: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        for input in &signature.inputs {
            if let syn::FnArg::Typed(parameter) = input
                && let Some(tuple) = tuple(&parameter.pat)
            {
                let line = tuple.paren_token.span.open().start().line;
                self.found.push((line, signature.ident.to_string()));
            }
        }
        visit::visit_signature(self, signature);
    }
}

/// Tuple pattern, directly or behind a reference; otherwise `None`.
fn tuple(pattern: &syn::Pat) -> Option<&syn::PatTuple> {
    match pattern {
        syn::Pat::Tuple(tuple) => Some(tuple),
        syn::Pat::Reference(reference) => tuple(&reference.pat),
        syn::Pat::Paren(parentheses) => tuple(&parentheses.pat),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::found;

    #[test]
    fn tuple_parameter_is_found_in_every_function() {
        let parameters =
            ["(a, b): (u8, u8)", "&(a, b): &(u8, u8)", "(a, b): &(u8, u8)", "(a, b): Ab"];
        for parameter in parameters {
            let function = format!("fn f(\n    x: u8,\n    {parameter},\n) {{}}\n");
            let expected = "a.rs:4: fn f takes a tuple: name its parts";
            for (open, close) in [("impl X {", "}"), ("trait X {", "}"), ("fn g() {", "}")] {
                assert_eq!(
                    found(check, "a.rs", &format!("{open}\n{function}{close}\n")),
                    [expected],
                    "{open}"
                );
            }
        }
    }

    #[test]
    fn tuples_in_tests_and_closures_are_permitted() {
        let function = "fn f((a, b): (u8, u8)) {}\n";
        assert_eq!(found(check, "a.rs", function).len(), 1);
        for name in ["crates/x/tests/a.rs", "crates/x/src/a/tests.rs"] {
            assert!(found(check, name, function).is_empty());
        }
        let module = format!("#[cfg(test)]\nmod tests {{\n{function}}}\n#[cfg(test)]\n{function}");
        assert!(found(check, "a.rs", &module).is_empty());
        assert!(found(check, "a.rs", "fn f(pair: (u8, u8)) { g(|(a, b)| a + b); }").is_empty());
    }
}
