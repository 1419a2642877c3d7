//! How large a picture of the author's is: what it is shown in has its form, without bands.

use crate::document::{Logo, LogoKind};

/// Width and height as the file has them: of PNG in its first chunk, of JPEG in the head of its
/// frame, of SVG its view box, or else its size.
pub(super) fn of(own: &Logo) -> Option<(f64, f64)> {
    match own.kind {
        LogoKind::Png => {
            let number =
                |at: usize| own.bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
            Some((f64::from(number(16)?), f64::from(number(20)?)))
        }
        LogoKind::Svg => svg(&String::from_utf8_lossy(&own.bytes)),
        LogoKind::Jpeg => jpeg(&own.bytes),
    }
    .filter(|(width, height)| *width > 0.0 && *height > 0.0)
}

fn svg(text: &str) -> Option<(f64, f64)> {
    let root = text.split_once("<svg")?.1.split('>').next()?;
    let attribute = |name: &str| {
        let (_, value) = root.split_once(&format!(" {name}="))?;
        value.get(1..)?.split(['"', '\'']).next()
    };
    if let Some(view_box) = attribute("viewBox") {
        let mut numbers = view_box.split([' ', ',']).filter_map(|n| n.parse::<f64>().ok()).skip(2);
        return Some((numbers.next()?, numbers.next()?));
    }
    Some((length(attribute("width")?)?, length(attribute("height")?)?))
}

/// A length of SVG, in pixels of 1/96 inch; none of shares of what is around it.
fn length(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let pixels = match &text[number.len()..] {
        "" | "px" => 1.0,
        "mm" => 96.0 / 25.4,
        "cm" => 960.0 / 25.4,
        "in" => 96.0,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * pixels)
}

/// Of the first head of a frame: two bytes each, height before width.
fn jpeg(bytes: &[u8]) -> Option<(f64, f64)> {
    let number = |at: usize| bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes);
    let mut at = 2;
    loop {
        let marker = number(at)?;
        let (before, kind) = (marker >> 8, marker & 0xff);
        if before != 0xff {
            return None;
        }
        // Tables of Huffman codes and of arithmetic coding, and an extension, are no frames.
        if (0xc0..=0xcf).contains(&kind) && ![0xc4, 0xc8, 0xcc].contains(&kind) {
            return Some((f64::from(number(at + 7)?), f64::from(number(at + 5)?)));
        }
        at += 2 + usize::from(number(at + 2)?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(kind: LogoKind, bytes: &[u8]) -> Option<(f64, f64)> {
        of(&Logo { kind, bytes: bytes.to_vec() })
    }

    #[test]
    fn a_picture_says_how_large_it_is() {
        let svg =
            |root: &str| size(LogoKind::Svg, format!("<?xml?><svg {root}><g/></svg>").as_bytes());
        assert_eq!(svg("x='1' viewBox='0 0 600,200'"), Some((600.0, 200.0)));
        assert_eq!(svg("a=\"\" width=\"2in\" height=\"25.4mm\""), Some((192.0, 96.0)));
        assert_eq!(svg("a=\"\" width=\"300\" height=\"100px\""), Some((300.0, 100.0)));
        assert_eq!(svg("a=\"\" width=\"100%\" height=\"100%\""), None);
        assert_eq!(svg("a=\"\""), None);
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 2, 88, 0, 0, 0, 200]);
        assert_eq!(size(LogoKind::Png, &png), Some((600.0, 200.0)));
        assert_eq!(size(LogoKind::Png, &png[..20]), None);
        // A start, a segment of an application with four bytes of length, and a frame.
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 200, 2, 88];
        assert_eq!(size(LogoKind::Jpeg, &jpeg), Some((600.0, 200.0)));
        assert_eq!(size(LogoKind::Jpeg, &jpeg[..15]), None);
        assert_eq!(size(LogoKind::Jpeg, &[0xff, 0xd8, 0, 0, 0, 0]), None);
    }
}
