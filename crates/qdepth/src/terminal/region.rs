//! Lines at the bottom of the terminal that are drawn again in place. Where the terminal became
//! narrower, it has broken what stands there into more lines, which go as well.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// Lines on the screen now.
#[derive(Debug, Default)]
pub(crate) struct Region {
    /// Widths of its lines.
    drawn: Vec<usize>,
}

impl Region {
    /// Puts these lines in place of those that stand there, below what is told above them.
    pub(crate) fn draw(&mut self, above: &[String], lines: &[String], width: usize) {
        if above.is_empty() && lines.is_empty() && self.drawn.is_empty() {
            return;
        }
        let text = self.text(above, lines, width);
        let mut err = io::stderr();
        // Where nobody can be told there is nobody to tell that.
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
        // Row by row: terminals such as tmux (3.3, `screen_write_clearendofscreen`) take a clearing
        // from their first column and row for one of the whole screen, and keep a copy of it above.
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
    fn what_stood_there_goes_also_where_the_terminal_became_narrower() {
        let mut region = Region::default();
        let lines = ["x".repeat(70), "y".repeat(30)];
        let above = ["told".to_owned()];
        // Up, the first row, and all rows below it.
        let clear = |up: u32, then: &str| format!("\r\u{1b}[{up}A\u{1b}[K\n\u{1b}[J\u{1b}[A{then}");
        assert!(region.text(&[], &lines, 80).starts_with("xx"), "nothing stood there");
        assert!(region.text(&above, &lines, 80).starts_with(&clear(1, "told\nxx")));
        assert!(region.text(&[], &lines, 40).starts_with(&clear(2, "xx")));
        assert_eq!(region.text(&[], &[], 80), clear(1, ""));
        assert_eq!(region.text(&above, &[], 80), "told\n");
    }
}
