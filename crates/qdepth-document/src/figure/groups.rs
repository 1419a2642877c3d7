//! Names below groups of bars. kuva draws a name that is wider than its group over the next one.
//! This module breaks such names into lines, rotates them if the groups are narrow, and shortens
//! them in the middle if that does not suffice. The tooltip has the full name.

use std::fmt::Write as _;

use super::text::{escaped, middle_out};

/// Private-use character before a group's number, marking where kuva reserved room for its name.
const PLACEHOLDER: char = '\u{e000}';
/// Gap between two names, SVG units.
const GAP: f64 = 5.0;
/// Height of a line.
const LINE: f64 = 14.0;
/// Maximum number of lines of a name.
const LINES: usize = 4;
/// Width above which a name stays horizontal, even if it must be shortened.
const WIDE: f64 = 64.0;
/// Horizontal distance between names rotated by 45°.
const ROTATED_SPACING: f64 = 18.0;
/// Maximum length of a rotated name.
const LONGEST: f64 = 170.0;

/// Placeholder for the name of a group.
pub(super) fn placeholder(index: usize) -> String {
    format!("{PLACEHOLDER}{index}")
}

/// Group of bars: position of its name, the name, and its index.
struct Group<'a> {
    x: f64,
    y: f64,
    name: &'a str,
    index: usize,
}

/// Replaces the placeholders by names, adds the name of the axis, and returns the drawing with its
/// lower edge.
pub(super) fn with_names(body: &str, names: &[String], axis: &str) -> (String, f64) {
    let (mut out, groups) = split_placeholders(body, names);
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return (out, 0.0) };
    let between = groups.windows(2).map(|two| two[1].x - two[0].x).fold(f64::INFINITY, f64::min);
    let slot = if between.is_finite() { between } else { 2.0 * LONGEST };
    let level = |shorten| horizontal_lines(&groups, slot - GAP, shorten);
    let mut bottom = match level(false).or_else(|| level(slot >= WIDE)) {
        Some(lines) => draw_horizontal(&mut out, &groups, &lines),
        None => draw_rotated(&mut out, &groups, slot),
    };
    if !axis.is_empty() {
        bottom += LINE;
        // Writing into a String cannot fail.
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{bottom:.1}\" font-size=\"13\" text-anchor=\"middle\">{}</text>",
            (first.x + last.x) / 2.0,
            escaped(axis),
        );
    }
    (out, bottom + GAP)
}

/// Removes the placeholders, and returns the groups from left to right.
fn split_placeholders<'a>(body: &str, names: &'a [String]) -> (String, Vec<Group<'a>>) {
    const END: &str = "</text>";
    let (mut out, mut groups) = (String::with_capacity(body.len()), Vec::new());
    for part in body.split_inclusive(END) {
        let group = part.rfind("<text").and_then(|at| Some((at, group(&part[at..], names)?)));
        match group {
            Some((at, group)) => {
                out.push_str(&part[..at]);
                groups.push(group);
            }
            None => out.push_str(part),
        }
    }
    groups.sort_by(|a, b| a.x.total_cmp(&b.x));
    (out, groups)
}

fn group<'a>(text: &str, names: &'a [String]) -> Option<Group<'a>> {
    let index = text.split_once(PLACEHOLDER)?.1.split('<').next()?.trim().parse().ok()?;
    let number = |name: &str| text.split_once(name)?.1.split('"').next()?.parse().ok();
    let name = names.get::<usize>(index)?;
    Some(Group { x: number(" x=\"")?, y: number(" y=\"")?, name, index })
}

/// Lines of each name in this width; `None` if a name does not fit. If shortened names would be
/// equal, the numbers of their groups distinguish them.
fn horizontal_lines(groups: &[Group<'_>], width: f64, shorten: bool) -> Option<Vec<Vec<String>>> {
    let whole: Option<Vec<_>> = groups.iter().map(|group| wrap_lines(group.name, width)).collect();
    if whole.is_some() || !shorten {
        return whole;
    }
    let own = |group: &Group<'_>| {
        wrap_lines(group.name, width).unwrap_or_else(|| shortened_lines(group.name, width, ""))
    };
    let lines: Vec<Vec<String>> = groups.iter().map(own).collect();
    let numbered = |(group, own): (&Group<'_>, &Vec<String>)| {
        let alike = lines.iter().filter(|other| *other == own).count() > 1;
        if alike { shortened_lines(group.name, width, &number(group)) } else { own.clone() }
    };
    Some(groups.iter().zip(&lines).map(numbered).collect())
}

fn number(group: &Group<'_>) -> String {
    format!(" #{}", group.index + 1)
}

/// Longest shortened form of a name with a suffix that fits into the lines of this width.
fn shortened_lines(name: &str, width: f64, behind: &str) -> Vec<String> {
    let count = name.chars().count();
    let form =
        |letters: usize| wrap_lines(&format!("{}{behind}", middle_out(name, letters)), width);
    (1..=count).rev().find_map(form).unwrap_or_else(|| vec![behind.trim().to_owned()])
}

/// Breaks a name after blanks and punctuation, and between Japanese letters. Returns `None` if a
/// part is too wide, or if there are too many lines.
fn wrap_lines(name: &str, width: f64) -> Option<Vec<String>> {
    let mut lines = vec![String::new()];
    for part in parts(name) {
        let last = lines.last_mut()?;
        if width_of((last.clone() + part).trim_end()) <= width {
            last.push_str(part);
        } else if width_of(part.trim_end()) <= width {
            lines.push(part.to_owned());
        } else {
            return None;
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.iter().map(|line| line.trim().to_owned()).collect();
    (lines.len() <= LINES).then_some(lines)
}

/// Units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "B", "KiB", "MiB", "GiB", "TiB", "GB", "TB"];

/// Unbreakable parts of a name.
fn parts(name: &str) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let mut letters = name.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let Some((_, next)) = letters.peek() else { break };
        // Closing punctuation does not begin a line.
        let closes = matches!(next, '、' | '。' | '）' | '」' | 'ー' | '・' | '％' | ')' | ',');
        let opens = matches!(letter, '（' | '「');
        // Neither does a unit.
        let counts = letter == ' ' && name[from..at].ends_with(|c: char| c.is_ascii_digit());
        let unit = counts && UNITS.iter().any(|unit| name[at + 1..].starts_with(unit));
        let breaks = matches!(letter, ' ' | '-' | '/' | '_' | ',' | ':' | '…')
            || ((is_japanese(letter) || is_japanese(*next)) && !opens);
        if breaks && !closes && !unit && *next != ' ' {
            let end = at + letter.len_utf8();
            parts.push(&name[from..end]);
            from = end;
        }
    }
    parts.push(&name[from..]);
    parts
}

fn is_japanese(letter: char) -> bool {
    letter >= '\u{2e80}'
}

/// Approximate width of a name at 12 pixels (Japanese at 11) in the widest of the fonts.
fn width_of(name: &str) -> f64 {
    let width = |letter: char| match letter {
        '\u{2e80}'.. => 11.0,
        ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | 'i' | 'j' | 'l' | 't' | 'f' | 'I' | '/' => 3.8,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '—' => 11.0,
        'A'..='Z' => 8.8,
        _ => 6.9,
    };
    name.chars().map(width).sum()
}

/// Draws horizontal names below their groups, and returns their lower edge.
fn draw_horizontal(out: &mut String, groups: &[Group<'_>], lines: &[Vec<String>]) -> f64 {
    // Smaller type for Japanese, so that a katakana word of seven letters fits below one of five
    // groups.
    let japanese = groups.iter().any(|group| group.name.chars().any(is_japanese));
    let size = if japanese { 11 } else { 12 };
    for (group, lines) in groups.iter().zip(lines) {
        let _ = write!(out, "<g class=\"group\"><title>{}</title>", escaped(group.name));
        for (at, line) in lines.iter().enumerate() {
            let (x, y) = (group.x, LINE.mul_add(at as f64, group.y));
            let _ = write!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" \
                 text-anchor=\"middle\">{}</text>",
                escaped(line)
            );
        }
        out.push_str("</g>");
    }
    let most = lines.iter().map(Vec::len).max().unwrap_or(1).max(1);
    groups.first().map_or(0.0, |first| LINE.mul_add((most - 1) as f64, first.y))
}

/// Draws names rotated by 45° that end below their groups, and returns their lower edge. If groups
/// are narrower than a line, some names are omitted.
fn draw_rotated(out: &mut String, groups: &[Group<'_>], slot: f64) -> f64 {
    let Some(first) = groups.first() else { return 0.0 };
    let short = |group: &Group<'_>, behind: &str| {
        let room = ((group.x - 2.0) * std::f64::consts::SQRT_2).min(LONGEST);
        let fits = |text: &String| width_of(text) <= room;
        let form = |letters: usize| middle_out(group.name, letters) + behind;
        (1..=group.name.chars().count()).rev().map(form).find(fits)
    };
    let shown: Vec<&Group<'_>> =
        groups.iter().step_by((ROTATED_SPACING / slot).ceil() as usize).collect();
    let own: Vec<Option<String>> = shown.iter().map(|group| short(group, "")).collect();
    let mut longest = 0.0_f64;
    for (group, text) in shown.iter().zip(&own) {
        let alike = own.iter().filter(|other| *other == text).count() > 1;
        let text = if alike { short(group, &number(group)) } else { text.clone() };
        let text = text.unwrap_or_else(|| number(group));
        longest = longest.max(width_of(&text));
        let (x, y) = (group.x + 3.0, group.y - 2.0);
        let _ = write!(
            out,
            "<g class=\"group\"><title>{}</title><text transform=\"translate({x:.1} {y:.1}) \
             rotate(-45)\" font-size=\"12\" text-anchor=\"end\">{}</text></g>",
            escaped(group.name),
            escaped(&text)
        );
    }
    longest.mul_add(std::f64::consts::FRAC_1_SQRT_2, first.y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{
        Figure, Horizontal, Label, Mark, MarkValue, Markers, Scale, Series, Stroke,
    };

    fn drawn(names: &[String]) -> String {
        let mark = |at: usize| Mark::at(at as f64, MarkValue::Known(1.0 + at as f64, None));
        let series = Series {
            name: "mean".to_owned(),
            colour: 0,
            stroke: Stroke::None,
            markers: Markers::Plain,
            marks: (0..names.len()).map(mark).collect(),
        };
        let figure = Figure {
            x_label: "Load".to_owned(),
            x_axis: Horizontal::Groups(names.to_vec()),
            y_label: "IOPS[IOPS]".to_owned(),
            y_scale: Scale::FromZero,
            series: vec![series],
            right: None,
            panels: Vec::new(),
        };
        figure.svg(&Label { id: "a", title: "t", description: "d", mark: "EMULATED" })
    }

    /// Text below a group: anchor, extent and rotation.
    struct Box {
        x: f64,
        y: f64,
        width: f64,
        turned: bool,
        text: String,
    }

    fn boxes(svg: &str) -> Vec<Vec<Box>> {
        let group = |part: &str| {
            let texts = part.split("<text").skip(1).map(|text| {
                let turned = text.contains("rotate(-45)");
                let number = |before: &str| {
                    let from = text.split_once(before).unwrap().1;
                    let end = from.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap();
                    from[..end].parse::<f64>().unwrap()
                };
                let (x, y) = if turned {
                    let places = text.split_once("translate(").unwrap().1;
                    let y = places.split([' ', ')']).nth(1).unwrap().parse().unwrap();
                    (number("translate("), y)
                } else {
                    (number(" x=\""), number(" y=\""))
                };
                let text = text.split_once('>').unwrap().1.split('<').next().unwrap().to_owned();
                Box { x, y, width: width_of(&text), turned, text }
            });
            texts.collect::<Vec<_>>()
        };
        svg.split("<g class=\"group\">")
            .skip(1)
            .map(|g| group(g.split("</g>").next().unwrap()))
            .collect()
    }

    fn view(svg: &str) -> (f64, f64) {
        let size = svg.split_once("viewBox=\"0 ").unwrap().1.split('"').next().unwrap();
        let numbers: Vec<f64> = size.split(' ').map(|number| number.parse().unwrap()).collect();
        let [top, width, height] = numbers[..] else { panic!("{size}") };
        (width, top + height)
    }

    fn assert_legible(names: &[String]) {
        let svg = drawn(names);
        let (groups, (width, height)) = (boxes(&svg), view(&svg));
        assert_eq!(groups.len(), names.len(), "each has its name");
        for group in &groups {
            for own in group {
                assert!(!own.text.is_empty());
                let reach = if own.turned { own.width / 2_f64.sqrt() } else { own.width / 2.0 };
                assert!(own.x - reach >= 0.0, "`{}` begins left of the picture", own.text);
                assert!(own.turned || own.x + reach <= width, "`{}` ends outside", own.text);
                let low = if own.turned { own.y + reach } else { own.y };
                assert!(low < height, "`{}` at {low} of {height}", own.text);
            }
        }
        for two in groups.windows(2) {
            for (left, right) in two[0].iter().flat_map(|l| two[1].iter().map(move |r| (l, r))) {
                let apart = right.x - left.x;
                if left.turned {
                    // Parallel lines of 12 pixels at 45° must not overlap.
                    assert!(apart / 2_f64.sqrt() >= 12.0, "{apart}: `{}`", left.text);
                } else {
                    let needed = (left.width + right.width) / 2.0;
                    assert!(apart >= needed, "`{}` runs into `{}`", left.text, right.text);
                }
            }
        }
        let shown: Vec<String> = groups
            .iter()
            .map(|group| {
                group.iter().map(|label| label.text.as_str()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        for (at, name) in shown.iter().enumerate() {
            let other = shown[at + 1..].iter().find(|other| *other == name);
            assert_eq!(other, None, "two of {} names look alike", names.len());
        }
    }

    #[test]
    fn long_group_names_do_not_overlap() {
        let english = |at: usize| {
            format!("Random 8 KiB, 67 % read, RAID 0 ({at} × Intel Optane SSD DC P5800X 1600 GB)")
        };
        let japanese =
            |at: usize| format!("データベースの測定対象その{at}（仮想ディスクの上のファイル）");
        let path =
            |at: usize| format!("/mnt/a-long-path/of/several_parts/drive{at}/measurement-file");
        let one_word = |at: usize| format!("{at}averylongwordthatisbrokennowhere{at}");
        let middle = |at: usize| format!("the_same_long_beginning{at}the_same_long_end_of_names");
        let short = |at: usize| format!("{at} KiB");
        let kinds: [&dyn Fn(usize) -> String; 6] =
            [&english, &japanese, &path, &one_word, &middle, &short];
        for kind in kinds {
            for count in [1, 2, 3, 5, 8, 12, 20] {
                assert_legible(&(1..=count).map(kind).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn group_name_that_fits_is_shown_complete() {
        let names = ["Database", "File server", "Random 4 KiB, 100 % read"].map(str::to_owned);
        let shown: Vec<String> = boxes(&drawn(&names))
            .iter()
            .map(|group| {
                group.iter().map(|label| label.text.as_str()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(shown, names);
    }

    #[test]
    fn crowded_groups_show_some_of_their_names() {
        let names: Vec<String> = (0..60).map(|at| format!("a long name of a group {at}")).collect();
        let shown = boxes(&drawn(&names));
        assert!((15..60).contains(&shown.len()), "{}", shown.len());
        let close = |two: &[Vec<Box>]| (two[1][0].x - two[0][0].x) / 2_f64.sqrt() < 12.0;
        assert!(!shown.windows(2).any(close));
    }

    #[test]
    fn names_are_wrapped_at_word_ends() {
        let lines = wrap_lines("測定対象の、長い名前（仮）", 60.0).unwrap();
        assert_eq!(lines, ["測定対象", "の、長い名", "前（仮）"]);
        assert_eq!(wrap_lines("Random 8 KiB, read", 60.0).unwrap(), ["Random", "8 KiB,", "read"]);
        assert_eq!(wrap_lines("unbreakable", 20.0), None);
        assert_eq!(middle_out("/mnt/storage/scratch", 10), "/mnt/…ratch");
    }
}
