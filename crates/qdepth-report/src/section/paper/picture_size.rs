//! Size of a publisher's picture, so that its frame has the same aspect ratio.

use crate::document::{Logo, LogoKind};

/// Width and height from the file. For SVG, which `imagesize` does not support, its view box, or
/// else its size.
pub(super) fn width_and_height(own: &Logo) -> Option<(f64, f64)> {
    let size = match own.kind {
        LogoKind::Svg => svg(&String::from_utf8_lossy(&own.bytes)),
        LogoKind::Png | LogoKind::Jpeg => imagesize::blob_size(&own.bytes)
            .ok()
            .map(|size| (size.width as f64, size.height as f64)),
    };
    size.filter(|(width, height)| *width > 0.0 && *height > 0.0)
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

/// An SVG length in pixels of 1/96 inch; `None` for percentages.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn size(kind: LogoKind, bytes: &[u8]) -> Option<(f64, f64)> {
        width_and_height(&Logo { kind, bytes: bytes.to_vec() })
    }

    #[test]
    fn picture_size_is_read_from_every_format() {
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
        // A start marker, an application segment with a length of four bytes, and a frame.
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 200, 2, 88];
        assert_eq!(size(LogoKind::Jpeg, &jpeg), Some((600.0, 200.0)));
        assert_eq!(size(LogoKind::Jpeg, &jpeg[..15]), None);
        assert_eq!(size(LogoKind::Jpeg, &[0xff, 0xd8, 0, 0, 0, 0]), None);
    }
}
