//! Size limit: 600 lines for a file without its tests. Clippy limits functions.

use syn::spanned::Spanned;
use syn::{ImplItem, Item, ItemMod};

/// Most lines of a file without its tests.
const FILE_LINES: usize = 600;

/// Checks a source file against the limit; `tests` are its test modules.
pub(super) fn check(name: &str, text: &str, tests: &[ItemMod], broken: &mut Vec<String>) {
    let lines_of = |module: &ItemMod| {
        let span = module.span();
        span.end().line - span.start().line + 1
    };
    let lines = text.lines().count() - tests.iter().map(lines_of).sum::<usize>();
    if lines > FILE_LINES && !is_of_tests(name) {
        broken.push(format!("{name}: {lines} lines, at most {FILE_LINES}"));
    }
}

/// True if a file holds tests only; it is marked where it is declared, not in the file itself.
pub(super) fn is_of_tests(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("tests.rs")
}

/// Removes items that only tests compile, and returns the modules among them.
pub(super) fn without_tests(items: &mut Vec<Item>) -> Vec<ItemMod> {
    let mut tests = Vec::new();
    items.retain_mut(|item| match item {
        Item::Mod(module) if is_test(&module.attrs) => {
            tests.push(module.clone());
            false
        }
        Item::Mod(module) => {
            tests.extend(module.content.iter_mut().flat_map(|(_, items)| without_tests(items)));
            true
        }
        Item::Impl(block) => {
            block.items.retain(|item| !matches!(item, ImplItem::Fn(f) if is_test(&f.attrs)));
            !is_test(&block.attrs)
        }
        Item::Fn(function) => !is_test(&function.attrs),
        Item::Use(import) => !is_test(&import.attrs),
        _ => true,
    });
    tests
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        let mut broken = Vec::new();
        let tests = without_tests(&mut syn::parse_file(text).unwrap().items);
        check("crates/x/src/lib.rs", text, &tests, &mut broken);
        broken.len()
    }

    #[test]
    fn test_modules_do_not_count_as_lines() {
        let lines = "const X: u8 = 1;\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines.repeat(700));
        assert_eq!(found(&tests), 0);
        let elsewhere = format!("#[cfg(test)]\nmod tests;\n{}", lines.repeat(600));
        assert_eq!(found(&elsewhere), 0);
        assert_eq!(found(&format!("{elsewhere}{lines}")), 1);
    }
}
