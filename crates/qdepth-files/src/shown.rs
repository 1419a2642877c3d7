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

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
