//! Safe display of untrusted names and texts on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// Treatment of line breaks in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Escape them: the text is part of a line, for example a name or a string of a device.
    One,
    /// Keep line breaks and tabs: a text of qdepth.
    Many,
}

/// Makes all characters visible that a terminal would interpret: control characters, including
/// escape sequences, and marks that change the direction of text or have no width (Unicode TR 36
/// and TR 9).
pub fn visible(text: &str, lines: Lines) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && !(lines == Lines::Many && matches!(c, '\n' | '\t'));
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !hidden(c) => shown.push(c),
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c if c.is_ascii() => {
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

/// Text of a cell that neither a spreadsheet nor a terminal executes: a `'` precedes a leading
/// formula character, also in full width (OWASP, *CSV Injection*), and control characters except
/// line breaks become spaces.
pub fn harmless_cell(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && c != '\n', " ");
    let runs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    if text.trim_start().starts_with(runs) { format!("'{text}") } else { text }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cells_execute_nothing() {
        for (text, shown) in [
            ("=1+1", "'=1+1"),
            ("\t=1", "' =1"),
            ("＝1", "'＝1"),
            ("a\u{1b}]0;x\u{7}b\u{9b}c", "a ]0;x b c"),
            ("a-b", "a-b"),
        ] {
            assert_eq!(harmless_cell(text), shown);
        }
    }
}
