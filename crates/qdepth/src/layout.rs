//! Tables that fit the width of the terminal. Blocks of rows are separated by rules, columns by
//! blanks. If the width does not suffice, the least important columns are omitted and named below,
//! long names are shortened in the middle, and sentences wrap between words. A table that is too
//! narrow for its numbers becomes a list.

use std::borrow::Cow;

use qdepth_files::{Lines, visible};
use qdepth_report::{Align, Cell, Column, Mark, Table};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks between two columns.
const GAP: usize = 2;
/// Minimum width of a text column.
const WORDS_MIN: usize = 8;
/// Width to which a text column shrinks before another column is omitted.
const WORDS_ENOUGH: usize = 16;

/// Rendered table: control characters are made visible, except qdepth's own colours.
#[derive(Debug)]
pub(crate) struct RenderedTable(String);

impl RenderedTable {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Style of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// True if the first column becomes a title above the rows that share it.
    pub(crate) blocks: bool,
    /// True if grades are coloured.
    pub(crate) colours: bool,
}

/// Renders a table at the width of the style.
pub(crate) fn render(data: &Table, style: Style) -> RenderedTable {
    let grid = Grid::new(data, style);
    let mut lines = if grid.fits() { grid.lines(style) } else { render_as_list(data, style.width) };
    if grid.fits() && !grid.left_out.is_empty() {
        let sentence = format!(
            "omitted at {} columns: {} (shown on a wider terminal)",
            style.width,
            grid.left_out.join(", ")
        );
        lines.extend(wrapped(&sentence, style.width, ""));
    }
    if !data.note.is_empty() {
        lines.extend(wrapped(&visible(&data.note, Lines::One), style.width, ""));
    }
    RenderedTable(lines.join("\n"))
}

fn has_grades(data: &Table) -> bool {
    data.columns.iter().any(|column| column.align == Align::Centre)
}

/// Text of a cell. An invalid one is in parentheses if the table has no column of grades, because
/// a terminal or a pipe need not show strike-through.
fn value(cell: &Cell, has_grades: bool) -> Cow<'_, str> {
    match cell.mark {
        Mark::Struck if !has_grades && cell.text != "–" => format!("({})", cell.text).into(),
        _ => cell.text.as_str().into(),
    }
}

/// Columns that fit, with their cells, and the headings of the omitted ones.
struct Grid {
    columns: Vec<ColumnLayout>,
    rows: Vec<Cells>,
    left_out: Vec<String>,
    room: usize,
}

/// A row: the title of its block, and its cells.
struct Cells {
    block: String,
    cells: Vec<String>,
}

struct ColumnLayout {
    heading: Vec<String>,
    align: Align,
    width: usize,
}

impl Grid {
    fn new(data: &Table, style: Style) -> Self {
        let blocks = style.blocks && data.columns.len() > 1;
        let from = usize::from(blocks);
        let has_grades = has_grades(data);
        let cell = |row: &qdepth_report::Row, at: usize| {
            row.cells.get(at).map_or_else(String::new, |cell| {
                visible(&value(cell, has_grades), Lines::One).into_owned()
            })
        };
        let sized = |at: usize, column| {
            let cells = data.rows.iter().map(|row| cell(row, at).width()).max().unwrap_or(0);
            ColumnWidths::new(at, column, cells)
        };
        let all = data.columns.iter().enumerate().skip(from);
        let mut kept: Vec<ColumnWidths<'_>> = all.map(|(at, column)| sized(at, column)).collect();
        let mut left_out = Vec::new();
        while needed(kept.iter().map(|sized| sized.enough)) > style.width {
            let least = kept.iter().enumerate().filter(|(_, sized)| sized.column.rank > 0);
            let Some((index, _)) = least.max_by_key(|(_, sized)| sized.column.rank) else {
                break;
            };
            let removed = kept.remove(index);
            left_out.insert(0, removed.column.heading.replace("-\n", "").replace('\n', " "));
        }
        left_out.retain(|heading| !heading.is_empty());
        shrink_to_fit(&mut kept, style.width);
        let rows = data.rows.iter().map(|row| Cells {
            block: if blocks { cell(row, 0) } else { String::new() },
            cells: kept.iter().map(|sized| cell(row, sized.at)).collect(),
        });
        let rows = rows.collect();
        let layout = |sized: &ColumnWidths<'_>| ColumnLayout {
            heading: (heading(sized.column).iter())
                .flat_map(|line| wrapped(line, sized.width, ""))
                .collect(),
            align: sized.column.align,
            width: sized.width,
        };
        Self { columns: kept.iter().map(layout).collect(), rows, left_out, room: style.width }
    }

    fn width(&self) -> usize {
        needed(self.columns.iter().map(|column| column.width))
    }

    fn fits(&self) -> bool {
        self.width() <= self.room
    }

    fn lines(&self, style: Style) -> Vec<String> {
        let rule = "─".repeat(self.width());
        let mut lines = Vec::new();
        let most = self.columns.iter().map(|column| column.heading.len()).max().unwrap_or(0);
        for line in 0..most {
            let part =
                |column: &ColumnLayout| column.heading.get(line).cloned().unwrap_or_default();
            lines.push(self.line(&self.columns.iter().map(part).collect::<Vec<_>>(), false));
        }
        lines.push(rule.clone());
        let (mut block, mut above): (Option<&str>, Option<&str>) = (None, None);
        for row in &self.rows {
            if block != Some(&row.block) {
                above = None;
                lines.extend(block.map(|_| rule.clone()));
                let title = (!row.block.is_empty()).then(|| wrapped(&row.block, self.room, ""));
                lines.extend(title.into_iter().flatten());
                block = Some(&row.block);
            }
            let mut broken: Vec<Vec<String>> =
                row.cells.iter().zip(&self.columns).map(|(cell, c)| within(cell, c)).collect();
            if let Some(name) = self.name_of(row).filter(|_| style.blocks) {
                if above == Some(name) {
                    broken[0] = Vec::new();
                }
                above = Some(name);
            }
            let most = broken.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..most {
                let part = |cell: &Vec<String>| cell.get(line).cloned().unwrap_or_default();
                lines.push(self.line(&broken.iter().map(part).collect::<Vec<_>>(), style.colours));
            }
        }
        lines
    }

    /// Name in the first column, which is printed once in a block of equal names.
    fn name_of<'r>(&self, row: &'r Cells) -> Option<&'r str> {
        let is_words = self.columns.first().is_some_and(|column| column.align == Align::Text);
        row.cells.first().filter(|_| is_words && self.columns.len() > 1).map(String::as_str)
    }

    fn line(&self, cells: &[String], colours: bool) -> String {
        let padded = |(cell, column): (&String, &ColumnLayout)| {
            let space = column.width.saturating_sub(cell.width());
            let (before, behind) = match column.align {
                Align::Number => (space, 0),
                Align::Centre => (space / 2, space - space / 2),
                Align::Text | Align::Places => (0, space),
            };
            let colour = if colours && column.align == Align::Centre { colour(cell) } else { None };
            let cell =
                colour.map_or_else(|| cell.clone(), |c| format!("\u{1b}[{c}m{cell}\u{1b}[0m"));
            format!("{}{cell}{}", " ".repeat(before), " ".repeat(behind))
        };
        let line = cells.iter().zip(&self.columns).map(padded).collect::<Vec<_>>();
        line.join(&" ".repeat(GAP)).trim_end().to_owned()
    }
}

/// Colour of a grade: green, yellow, red.
fn colour(grade: &str) -> Option<u8> {
    match grade {
        "A" => Some(32),
        "B" => Some(33),
        "C" => Some(31),
        _ => None,
    }
}

fn needed(widths: impl Iterator<Item = usize>) -> usize {
    let (count, sum) = widths.fold((0_usize, 0), |(count, sum), width| (count + 1, sum + width));
    sum + GAP * count.saturating_sub(1)
}

/// Column with the widths it may have, in terminal columns.
struct ColumnWidths<'a> {
    at: usize,
    column: &'a Column,
    /// Current width; initially wide enough to wrap nothing.
    width: usize,
    /// Width below which omitting another column is preferred to shrinking this one.
    enough: usize,
    /// Minimum width: any less would cut a number or a word of the heading.
    least: usize,
}

impl<'a> ColumnWidths<'a> {
    fn new(at: usize, column: &'a Column, cells: usize) -> Self {
        let heading = heading(column);
        let words = heading.iter().flat_map(|line| line.split(' '));
        let word = words.map(UnicodeWidthStr::width).max().unwrap_or(0);
        let width = heading.iter().map(|line| line.width()).fold(cells, usize::max);
        let (enough, least) = match column.align {
            Align::Text | Align::Places => (width.min(WORDS_ENOUGH), width.min(WORDS_MIN)),
            Align::Number | Align::Centre => (cells.max(word), cells.max(word)),
        };
        Self { at, column, width, enough, least }
    }
}

/// Shrinks the widest shrinkable column until all fit or none can shrink further. First wraps
/// headings alone, then cells too.
fn shrink_to_fit(kept: &mut [ColumnWidths<'_>], room: usize) {
    let limits: [fn(&ColumnWidths<'_>) -> usize; 2] =
        [|sized| sized.enough.max(sized.least), |sized| sized.least];
    for limit in limits {
        while needed(kept.iter().map(|sized| sized.width)) > room {
            let wide = kept.iter_mut().filter(|sized| sized.width > limit(sized));
            let Some(widest) = wide.max_by_key(|sized| sized.width) else { break };
            widest.width -= 1;
        }
    }
}

/// Lines of the heading, followed by the unit.
fn heading(column: &Column) -> Vec<String> {
    let unit = (!column.unit.is_empty()).then_some(column.unit.as_str());
    column.heading.lines().chain(unit).map(str::to_owned).collect()
}

/// Lines of a cell: wrapped between words; a single long word is shortened.
fn within(cell: &str, column: &ColumnLayout) -> Vec<String> {
    if cell.width() <= column.width {
        vec![cell.to_owned()]
    } else {
        wrapped(cell, column.width, "")
    }
}

/// Wraps a text to this width, indenting all lines but the first. Longer words are shortened in the
/// middle.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1))
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options);
    lines.iter().map(|line| shortened(line, width)).collect()
}

/// Shortens a name to this width with an ellipsis in the middle, because its end distinguishes it
/// best.
pub(crate) fn shortened(name: &str, width: usize) -> String {
    if name.width() <= width || width == 0 {
        return name.to_owned();
    }
    let (front, back) = ((width - 1) / 2, (width - 1).div_ceil(2));
    let taken = |letters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = |letter: &char| {
            used += letter.width().unwrap_or(0);
            used <= room
        };
        letters.take_while(fits).collect::<String>()
    };
    let head = taken(&mut name.chars(), front);
    let tail: String = taken(&mut name.chars().rev(), back).chars().rev().collect();
    format!("{head}…{tail}")
}

/// Renders each row as lines `heading: value`, for widths that no table fits.
fn render_as_list(data: &Table, width: usize) -> Vec<String> {
    let has_grades = has_grades(data);
    let mut lines = Vec::new();
    for row in &data.rows {
        if !lines.is_empty() {
            lines.push("─".repeat(width.min(WORDS_MIN)));
        }
        // Unknown values are omitted.
        let known = |(_, cell): &(&Column, &Cell)| cell.text != "–";
        for (column, cell) in data.columns.iter().zip(&row.cells).filter(known) {
            let unit = if column.unit.is_empty() { "" } else { " " };
            let name = column.heading.replace("-\n", "").replace('\n', " ");
            let text = value(cell, has_grades);
            let line = match name.as_str() {
                "" => text.into_owned(),
                name => format!("{name}: {text}{unit}{}", column.unit),
            };
            lines.extend(wrapped(&visible(&line, Lines::One), width, "  "));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use qdepth_report::{Cell, Row};

    use super::*;

    fn column(heading: &str, align: Align, rank: u8) -> Column {
        Column { heading: heading.to_owned(), unit: String::new(), align, rank }
    }

    fn table() -> Table {
        let columns = vec![
            column("Profile", Align::Text, 0),
            column("Target", Align::Text, 0),
            column("Out-\nstanding", Align::Number, 0),
            column("IOPS", Align::Number, 0),
            column("p99", Align::Number, 2),
            column("Max", Align::Number, 3),
            column("Grade", Align::Centre, 0),
        ];
        let row = |profile: &str, target: &str, queue_depth: &str| {
            let cells = [profile, target, queue_depth, "1,234,567", "12.345", "1,234.5", "A"];
            let cell = |text: &str| Cell { text: text.to_owned(), ..Cell::default() };
            Row { cells: cells.into_iter().map(cell).collect(), opens_group: false }
        };
        let long = "/mnt/a/very/long/path/to/some/storage/that/has/a/name (xfs on nvme0n1)";
        let rows = vec![
            row("Database", long, "1"),
            row("Database", "測定対象の長い名前です", "512"),
            row("Restore", "bad\u{1b}[31mname\nin two lines", "1"),
        ];
        Table { caption: String::new(), columns, rows, note: "A note of several words".to_owned() }
    }

    fn laid(width: usize) -> String {
        render(&table(), Style { width, blocks: true, colours: false }).text().to_owned()
    }

    #[test]
    fn invalid_cells_have_parentheses_without_a_grade() {
        let mut table = table();
        for row in &mut table.rows {
            row.cells[3].mark = Mark::Struck;
        }
        let style = Style { width: 100, blocks: false, colours: false };
        assert!(!render(&table, style).text().contains("(1,234,567)"));
        table.retain_columns(|_, column| column.align != Align::Centre);
        assert!(render(&table, style).text().contains("(1,234,567)"));
    }

    #[test]
    fn table_fits_every_terminal_width_without_cut_numbers() {
        for width in 20..=140 {
            let text = laid(width);
            for line in text.lines() {
                assert!(line.width() <= width, "{width}: {} of `{line}`", line.width());
            }
            assert!(text.contains("1,234,567"), "{width}: {text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }

    #[test]
    fn least_important_columns_are_omitted_first() {
        let (wide, narrow, least) = (laid(140), laid(56), laid(44));
        assert!(wide.contains("Max") && wide.contains("p99") && !wide.contains("omitted"));
        assert!(narrow.contains("omitted at 56 columns: Max ("), "{narrow}");
        assert!(least.replace('\n', " ").contains("columns: p99, Max ("), "{least}");
        for text in [&wide, &narrow, &least] {
            assert_eq!(text.matches("Database").count(), 1, "a title of a block: {text}");
        }
    }

    #[test]
    fn repeated_row_label_is_printed_once_per_block() {
        let mut data = table();
        let again = data.rows[0].clone();
        data.rows.insert(1, again);
        let style = |blocks| Style { width: 140, blocks, colours: false };
        let named =
            |blocks| render(&data, style(blocks)).text().matches("(xfs on nvme0n1)").count();
        assert_eq!((named(true), named(false)), (1, 2));
        // The name is repeated in the next block.
        data.rows[3] = Row { cells: data.rows[2].cells.clone(), ..Row::default() };
        data.rows[3].cells[0].text = "Restore".to_owned();
        let text = render(&data, style(true)).text().to_owned();
        assert_eq!(text.matches("測定対象の長い名前です").count(), 2, "{text}");
    }

    #[test]
    fn long_name_is_shortened_in_the_middle() {
        assert_eq!(shortened("/mnt/storage/scratch", 11), "/mnt/…ratch");
        assert_eq!(shortened("short", 11), "short");
        assert_eq!(shortened("測定対象の名前", 7), "測…前");
    }

    #[test]
    fn only_grades_are_coloured_on_request() {
        let style = Style { width: 100, blocks: true, colours: true };
        let text = render(&table(), style).text().to_owned();
        assert_eq!(text.matches("\u{1b}[32mA\u{1b}[0m").count(), 3);
        assert!(!text.contains("\u{1b}[31mname"));
    }
}
