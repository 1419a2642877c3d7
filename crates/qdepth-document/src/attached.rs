//! Long source texts: their visible beginning, and their compressed attachment.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};

use qdepth_words::{Lang, counted, words};

/// Maximum number of lines of a source that are printed: the resolved plan of ninety points would
/// fill forty pages, and its beginning only shows what it looks like.
const LINES: usize = 20;
/// Size above which a page embeds a file compressed, bytes. A plan of a thousand points has a
/// megabyte.
const LARGE: usize = 64 << 10;

/// True if [`excerpt`] leaves lines out.
pub(crate) fn is_long(source: &str) -> bool {
    source.lines().count() > LINES
}

/// First lines of a source, and a note on the number omitted. The complete text is attached to the
/// document.
pub(crate) fn excerpt(source: &str, lang: Lang) -> String {
    if !is_long(source) {
        return source.to_owned();
    }
    let count = source.lines().count();
    let lines: Vec<&str> = source.lines().take(LINES).collect();
    let left = counted(words(lang).paper.left_out, count - LINES);
    format!("{}\n… {left}", lines.join("\n"))
}

/// True if a page prints only the beginning of the text.
pub(crate) fn is_large(text: &str) -> bool {
    text.len() > LARGE
}

/// Text compressed with gzip (RFC 1952), without a timestamp: equal texts give equal bytes.
pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut packer = GzBuilder::new().write(Vec::new(), Compression::best());
    // Writing into a vector cannot fail.
    let _ = packer.write_all(text.as_bytes());
    packer.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn long_source_takes_a_third_of_a_page() {
        let cut = excerpt(&"line\n".repeat(90), Lang::En);
        assert_eq!(cut.lines().count(), 21);
        assert!(cut.contains("… 70 lines"), "{cut}");
        assert_eq!(excerpt("one\ntwo", Lang::En), "one\ntwo");
    }

    #[test]
    fn gzip_round_trip_preserves_the_text() {
        let text = "point,rate\n".repeat(9_000);
        let gzip = gzip(&text);
        assert!(is_large(&text) && gzip.len() < text.len() / 50, "{}", gzip.len());
        let mut out = String::new();
        flate2::read::GzDecoder::new(&*gzip).read_to_string(&mut out).unwrap();
        assert_eq!(out, text);
        assert_eq!(super::gzip(&text), gzip);
    }
}
