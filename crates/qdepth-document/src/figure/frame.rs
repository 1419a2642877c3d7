//! Frame of a diagram: border, legend, mark of emulated figures.

use std::fmt::Write as _;

use super::series::{FONT, INK, Label, Markers, Series, WIDTH, colour, opacity};
use super::text::{escaped, middle_out, text_width};

/// Style that kuva adds to a picture whose marks have tooltips.
const HOVER_STYLE: &str = "<style>g.tt{cursor:pointer;}g.tt:hover>*{opacity:0.75;}</style>";
const LEGEND_LEFT: f64 = 62.0;
const LEGEND_ROW: f64 = 19.0;
/// Maximum width of a name in the legend, SVG units.
const NAME: f64 = WIDTH - 54.0;
/// Height of the row above the diagram for the mark of emulated figures.
const STAMP: f64 = 14.0;
/// A bar in a legend.
const SWATCH: &str = "M-9 -5h18v10h-18z";
/// Paths of kuva's marker shapes, centred on the origin, for the legend.
const OUTLINES: [&str; 6] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "M-3 -3h6v6h-6z",
    "M0 -4l4 4l-4 4l-4 -4z",
    "M0 -3.6l3.6 6h-7.2z",
    "M0 3.6l3.6 -6h-7.2z",
    "M0 -3.6l3.4 2.5l-1.3 4h-4.2l-1.3 -4z",
];

/// Width and content of kuva's SVG without the root element, with ids made unique.
pub(super) fn svg_body(svg: &str, id: &str) -> (f64, String) {
    let Some((root, body)) = svg.split_once('>') else { return (WIDTH, String::new()) };
    let width = root.split_once(" width=\"").and_then(|(_, rest)| rest.split_once('"'));
    let width = width.and_then(|(width, _)| width.parse().ok()).unwrap_or(WIDTH);
    let body = body.split_once("-->").map_or(body, |(_, rest)| rest);
    let body = short_numbers(&with_unique_ids(body, id).replace(HOVER_STYLE, ""));
    (width, body.trim_end().trim_end_matches("</svg>").to_owned())
}

/// Moves the name of the vertical axis left, clear of the axis numbers, and returns the new left
/// edge. kuva reserves room for its own number format only.
pub(super) fn with_axis_name_moved(body: String) -> (String, f64) {
    const ROTATION: &str = "transform=\"rotate(-90,";
    let begins = |text: &str| {
        let x = text.split_once("x=\"")?.1.split('"').next()?.parse::<f64>().ok()?;
        let content = text.split_once('>')?.1.split('<').next()?;
        Some(x - text_width(content) * 1.05)
    };
    let numbers = body.split("<text ").filter(|text| text.contains("text-anchor=\"end\""));
    let least = numbers.filter_map(begins).fold(f64::INFINITY, f64::min);
    let x = body.split_once(ROTATION).and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
    // The rotated name extends 4 units to the right of its position, and 11 to the left.
    let Some(x) = x.filter(|x: &f64| *x > least - 6.0) else { return (body, 0.0) };
    let moved = format!("transform=\"translate({:.2} 0) rotate(-90,", least - 6.0 - x);
    (body.replacen(ROTATION, &moved, 1), (least - 17.0).floor().min(0.0))
}

/// Complete SVG: a view box instead of a fixed size, a role, a title and a description.
pub(super) fn complete_svg(
    body: &str,
    left: f64,
    width: f64,
    height: f64,
    &Label { id, title, description, mark }: &Label<'_>,
) -> String {
    let top = if mark.is_empty() { 0.0 } else { -STAMP };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"{left} {top} {} {}\" \
         font-family=\"{FONT}\" fill=\"{INK}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{body}{}</svg>",
        width - left,
        height - top,
        escaped(title),
        escaped(description),
        stamp(mark, plot_right(body).unwrap_or(width) - 12.0),
    )
}

/// Legend in rows below the diagram, and its height. Drawn here, because kuva's swatches are too
/// short to distinguish dashes from dots.
pub(super) fn legend(named: &[&Series], bars: bool, top: f64) -> (String, f64) {
    // Names wider than the diagram are shortened in the middle.
    let names: Vec<String> =
        named.iter().map(|series| shorten_to_width(&series.name, NAME)).collect();
    let longest = names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
    let width = 40.0 + longest + 14.0;
    let columns = ((WIDTH / width) as usize).max(1);
    // Two rows of three look better than four and two.
    let columns = if columns > 3 && named.len().is_multiple_of(3) { 3 } else { columns };
    let left = LEGEND_LEFT.min(WIDTH - columns as f64 * width).max(0.0);
    let mut out = String::new();
    for (index, series) in named.iter().enumerate() {
        let x = left + (index % columns) as f64 * width;
        let y = top + 16.0 + (index / columns) as f64 * LEGEND_ROW;
        let colour = colour(series.colour);
        let line = series.stroke.style().map_or_else(String::new, |style| {
            let dashes = style
                .dasharray()
                .map_or_else(String::new, |dashes| format!(" stroke-dasharray=\"{dashes}\""));
            format!("<path d=\"M0 0H30\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}/>")
        });
        let outline = if bars { SWATCH } else { OUTLINES[series.colour % OUTLINES.len()] };
        let marker = match series.markers {
            Markers::None => String::new(),
            Markers::Shade(shade) => format!(
                "<circle cx=\"15\" r=\"4\" fill=\"{colour}\" fill-opacity=\"{}\"/>",
                opacity(shade)
            ),
            Markers::Rings => format!(
                "<circle cx=\"15\" r=\"6\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>"
            ),
            Markers::Plain | Markers::HollowWithoutInterval => {
                format!("<path d=\"{outline}\" transform=\"translate(15 0)\" fill=\"{colour}\"/>")
            }
        };
        // Writing into a String cannot fail.
        let _ = write!(
            out,
            "<g class=\"key\" transform=\"translate({x:.1} {y:.1})\">{line}{marker}\
             <text x=\"37\" y=\"4\" font-size=\"12\">{}</text></g>",
            escaped(&names[index]),
        );
    }
    (out, named.len().div_ceil(columns) as f64 * LEGEND_ROW + 12.0)
}

/// Longest shortened form of a name that fits the width.
fn shorten_to_width(name: &str, width: f64) -> String {
    let forms = (1..=name.chars().count()).rev().map(|letters| middle_out(name, letters));
    forms.into_iter().find(|form| text_width(form) <= width).unwrap_or_default()
}

/// Right edge of the plot area, before the right axis; `None` for several panels.
fn plot_right(body: &str) -> Option<f64> {
    let mut areas = body.split("<clipPath");
    let area = areas.nth(1).filter(|_| areas.next().is_none())?;
    let number = |name: &str| area.split_once(name)?.1.split('"').next()?.parse::<f64>().ok();
    Some(number(" x=\"")? + number(" width=\"")? + 8.0)
}

/// Mark of emulated figures inside the picture, so that it stays when the picture is copied from
/// its page. It is placed above the plot, where no line crosses it.
fn stamp(mark: &str, right: f64) -> String {
    if mark.is_empty() {
        return String::new();
    }
    format!(
        "<text class=\"stamp\" x=\"{right}\" y=\"-2\" text-anchor=\"end\" font-size=\"12\" \
         font-weight=\"bold\" letter-spacing=\"1\">{}</text>",
        escaped(mark)
    )
}

/// Rounds coordinates to a hundredth of a unit, which is invisible; text stays unchanged.
fn short_numbers(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let (mut in_tag, mut decimals) = (false, None);
    for letter in svg.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ => {}
        }
        decimals = match (letter, decimals) {
            ('.', _) if in_tag => Some(0),
            ('0'..='9', Some(n)) => Some(n + 1),
            _ => None,
        };
        if decimals.is_none_or(|n| n <= 2) {
            out.push(letter);
        }
    }
    out
}

/// Renames clip paths. kuva numbers them with a global counter, so equal pictures would differ
/// between renderings, and two pictures on a page could share a name.
fn with_unique_ids(svg: &str, id: &str) -> String {
    const PREFIX: &str = "kuva-clip-";
    let mut parts = svg.split(PREFIX);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let _ = write!(out, "{id}-clip{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::series::Label;
    use super::{complete_svg, with_axis_name_moved};

    #[test]
    fn emulated_mark_is_outside_the_plot_area() {
        let picture = |mark| {
            let label = Label { id: "a", title: "", description: "", mark };
            complete_svg("<path/>", -3.0, 500.0, 300.0, &label)
        };
        let marked = picture("EMULATED");
        // The mark lies above y = 0, where the plot begins, and inside the view box.
        assert!(marked.contains("viewBox=\"-3 -14 503 314\""), "{marked}");
        assert!(marked.contains("y=\"-2\""), "{marked}");
        assert!(picture("").contains("viewBox=\"-3 0 503 300\""));
    }

    #[test]
    fn axis_name_is_moved_away_from_its_numbers() {
        let axis = |x: f64, number: &str| {
            let number =
                format!("<text x=\"52\" font-size=\"12\" text-anchor=\"end\">{number}</text>");
            format!("{number}<text x=\"{x}\" transform=\"rotate(-90,{x},145)\">Rate</text>")
        };
        let clear = axis(16.6, "20");
        assert_eq!(with_axis_name_moved(clear.clone()), (clear, 0.0));
        let (moved, left) = with_axis_name_moved(axis(16.6, "250,000"));
        assert!(
            moved.contains("translate(-17") && (-14.0..-10.0).contains(&left),
            "{moved}: {left}"
        );
    }
}
