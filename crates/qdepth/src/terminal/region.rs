//! Live lines at the bottom of the terminal, redrawn in place. If the terminal became narrower, it
//! has wrapped the old lines, and the additional rows are cleared too.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// Lines that are on the screen now.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// Widths of its lines.
    drawn: Vec<usize>,
}

impl Region {
    /// Prints `above` permanently, and replaces the live lines by `lines`.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[String], width: usize) {
        if above.is_empty() && lines.is_empty() && self.drawn.is_empty() {
            return;
        }
        let text = self.text(above, lines, width);
        let mut err = io::stderr();
        // A failure to print cannot be reported anywhere.
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Output for the terminal, written at once: a partial line would be visible.
    fn text(&mut self, above: &[String], lines: &[String], width: usize) -> String {
        let rows: usize = self.drawn.iter().map(|w| w.div_ceil(width.max(1)).max(1)).sum();
        let mut text = String::new();
        if rows > 0 {
            text.push('\r');
        }
        if rows > 1 {
            text.push_str(&format!("\u{1b}[{}A", rows - 1));
        }
        // Clears row by row: terminals such as tmux (3.3, `screen_write_clearendofscreen`) take
        // clearing from the first column of the first row for clearing the whole screen, and keep a
        // copy of it in their history.
        if rows > 0 {
            text.push_str("\u{1b}[K");
        }
        if rows > 1 {
            text.push_str("\n\u{1b}[J\u{1b}[A");
        }
        above.iter().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
        text.push_str(&lines.join("\n"));
        self.drawn = lines.iter().map(|line| line.width()).collect();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_cleared_after_terminal_becomes_narrower() {
        let mut region = Region::default();
        let lines = ["x".repeat(70), "y".repeat(30)];
        let above = ["told".to_owned()];
        // Moves up, clears the first row, then all rows below.
        let clear = |up: u32, then: &str| format!("\r\u{1b}[{up}A\u{1b}[K\n\u{1b}[J\u{1b}[A{then}");
        assert!(region.text(&[], &lines, 80).starts_with("xx"), "nothing stood there");
        assert!(region.text(&above, &lines, 80).starts_with(&clear(1, "told\nxx")));
        assert!(region.text(&[], &lines, 40).starts_with(&clear(2, "xx")));
        assert_eq!(region.text(&[], &[], 80), clear(1, ""));
        assert_eq!(region.text(&above, &[], 80), "told\n");
    }
}
