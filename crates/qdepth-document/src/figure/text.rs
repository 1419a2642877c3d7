//! Text in pictures: escaping, width, shortening.

/// Approximate width of a name in the legend; Japanese letters are as wide as they are high.
pub(super) fn text_width(name: &str) -> f64 {
    name.chars().map(|c| if c >= '\u{2e80}' { 12.0 } else { 6.4 }).sum()
}

/// Text escaped for SVG, without control characters, which XML forbids.
pub fn escaped(text: &str) -> String {
    let text = text.replace(char::is_control, "");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A name of at most this many letters; an ellipsis replaces the middle.
pub(super) fn middle_out(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    if count <= letters {
        return name.to_owned();
    }
    let (front, back) = (letters / 2, letters - letters / 2);
    let head: String = name.chars().take(front).collect();
    let tail: String = name.chars().skip(count - back).collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}
