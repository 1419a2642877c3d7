//! Sizes, times, shares and arithmetic in fio's syntax: `k` is 1024, or 1000 with `kb_base=1000`.

/// Deepest nesting of parentheses.
const DEPTH_MAX: u32 = 32;

/// Base of the suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// `kb_base`: 1024 or 1000.
    pub(super) kb: u64,
}

impl Default for Base {
    fn default() -> Self {
        Self { kb: 1024 }
    }
}

/// A number of bytes or I/Os with a suffix, or arithmetic in parentheses.
pub(super) fn size(text: &str, base: Base) -> Result<u64, String> {
    let text = text.trim();
    if text.starts_with('(') {
        return whole(arithmetic(text)?);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is not a number"));
    }
    let (number, unit) = split(text)?;
    let factor = size_factor(unit, base).ok_or_else(|| match unit {
        "z" => format!("`{text}` counts zones, which need zonemode=zbd: write it in bytes"),
        _ => format!("`{text}` is not a size: use a number with k, m, g, t or p, for example 4k"),
    })?;
    whole(number * factor)
}

/// Factor of a suffix. `k`, `kb` and `ki` use the base; `kib` uses the other one: 1000 with
/// `kb_base=1024` (observed with fio 3.33).
fn size_factor(unit: &str, base: Base) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    let (letter, other) = match unit.strip_suffix("ib") {
        Some(letter) => (letter, true),
        None => (unit.strip_suffix(['b', 'i']).unwrap_or(&unit), false),
    };
    let power = match letter {
        "" if !other && !unit.starts_with('i') => return Some(1.0),
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let base = if (base.kb == 1024) == other { 1000.0_f64 } else { 1024.0 };
    Some(base.powi(power))
}

/// Time in ns. A number without a suffix is in seconds; in parentheses, in microseconds.
pub(super) fn time_ns(text: &str) -> Result<u64, String> {
    time_with(text, 1e9)
}

/// Like [`time_ns`], but a number without a suffix is in units of `unit_ns`.
pub(super) fn time_with(text: &str, unit_ns: f64) -> Result<u64, String> {
    let text = text.trim();
    if text.starts_with('(') {
        return whole(arithmetic(text)? * 1e3);
    }
    let (number, unit) = split(text)?;
    let ns = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "" => unit_ns,
        "s" | "sec" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => {
            return Err(format!(
                "`{text}` is not a time: use for example 500ms, 30, 30s, 5m or 2h"
            ));
        }
    };
    whole(number * ns)
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse::<f64>().map_err(|_| format!("`{text}` is not a number"))?;
    Ok((number, text[end..].trim()))
}

/// The number before a sign of arithmetic without parentheses, which is all that fio reads. The
/// whole text if it is none: fio gives other signs a meaning, and `30s*2` becomes microseconds.
pub(super) fn before_sign(text: &str, is_time: bool) -> &str {
    let Some((number, _)) = text.split_once(['*', '+', '/', '^']) else { return text };
    let number = number.trim();
    let unit = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_unit = unit.is_empty() || (!is_time && unit.chars().all(|c| c.is_ascii_alphabetic()));
    if is_unit && unit.len() < number.len() { number } else { text }
}

fn whole(value: f64) -> Result<u64, String> {
    // Offsets are below 2^63.
    if value.is_finite() && (0.0..=9.2e18).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!("{value} is outside the supported range"))
    }
}

/// Evaluates `+ - * / % ^` and parentheses over numbers with suffixes (sizes: powers of 1024;
/// times, as microseconds: us, ms, s).
pub(super) fn arithmetic(text: &str) -> Result<f64, String> {
    let mut reader = Arithmetic { text, at: 0 };
    let value = reader.sum(0)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(format!("`{text}` cannot be evaluated from `{}` on", reader.rest())),
    }
}

struct Arithmetic<'a> {
    text: &'a str,
    at: usize,
}

impl Arithmetic<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&mut self) -> Option<char> {
        let blanks = self.rest().len() - self.rest().trim_start().len();
        self.at += blanks;
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| wanted.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn sum(&mut self, depth: u32) -> Result<f64, String> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.take(&['+', '-']) {
            let other = self.product(depth)?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self, depth: u32) -> Result<f64, String> {
        let mut value = self.power(depth)?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let other = self.power(depth)?;
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
            if !value.is_finite() {
                return Err(format!("`{}` divides by zero or is too large", self.text));
            }
        }
        Ok(value)
    }

    fn power(&mut self, depth: u32) -> Result<f64, String> {
        let value = self.atom(depth)?;
        if self.take(&['^']).is_none() {
            return Ok(value);
        }
        deeper(depth)?;
        Ok(value.powf(self.power(depth + 1)?))
    }

    fn atom(&mut self, depth: u32) -> Result<f64, String> {
        deeper(depth)?;
        if self.take(&['-']).is_some() {
            return Ok(-self.atom(depth + 1)?);
        }
        if self.take(&['(']).is_some() {
            let value = self.sum(depth + 1)?;
            return match self.take(&[')']) {
                Some(_) => Ok(value),
                None => Err(format!("a `)` is missing in `{}`", self.text)),
            };
        }
        self.number()
    }

    fn number(&mut self) -> Result<f64, String> {
        self.peek();
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let (text, length) = (&rest[..end], end);
        let (number, suffix) = split(text)?;
        let factor = match suffix.to_ascii_lowercase().as_str() {
            "" => 1.0,
            "us" => 1.0,
            "ms" => 1e3,
            "s" | "sec" => 1e6,
            other => size_factor(other, Base::default())
                .ok_or_else(|| format!("`{text}` is not a valid number"))?,
        };
        self.at += length;
        Ok(number * factor)
    }
}

fn deeper(depth: u32) -> Result<(), String> {
    if depth < DEPTH_MAX { Ok(()) } else { Err("parentheses are nested too deeply".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_suffixes_follow_kb_base() {
        let (usual, decimal) = (Base::default(), Base { kb: 1000 });
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("1m", 1 << 20),
            ("+4", 4),
        ] {
            assert_eq!(size(text, usual), Ok(bytes), "{text}");
        }
        for (text, bytes) in [("4k", 4000), ("4kib", 4096), ("0x10", 16), ("1.5m", 1_500_000)] {
            assert_eq!(size(text, decimal), Ok(bytes), "{text}");
        }
        assert!(size("4q", usual).is_err());
    }

    #[test]
    fn number_before_an_arithmetic_sign_counts() {
        for (text, is_time, number) in [
            ("128*1", false, "128"),
            ("4k*2", false, "4k"),
            ("8m+4m", false, "8m"),
            ("4k+", false, "4k"),
            ("40+20", true, "40"),
        ] {
            assert_eq!(before_sign(text, is_time), number, "{text}");
        }
        // fio reads these in other ways.
        for (text, is_time) in
            [("30s*2", true), ("1m,2m", false), ("1m-2m", false), ("4k:8k", false), ("1-2", true)]
        {
            assert_eq!(before_sign(text, is_time), text);
            assert!(size(text, Base::default()).is_err() && time_ns(text).is_err(), "{text}");
        }
        for whole in ["4k", "(2*4)", "30s", "", "k*2", "*2", "+4", "-4"] {
            assert_eq!(before_sign(whole, false), whole);
        }
        for bad in ["*2", "4q*2", "-4"] {
            assert!(size(bad, Base::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn plain_times_are_seconds_and_expressions_microseconds() {
        assert_eq!(time_ns("30"), Ok(30_000_000_000));
        assert_eq!(time_ns("500ms"), Ok(500_000_000));
        assert_eq!(time_ns("2m"), Ok(120_000_000_000));
        assert_eq!(time_ns("(2*1000)"), Ok(2_000_000));
    }

    #[test]
    fn arithmetic_has_precedence_and_rejects_invalid_input() {
        assert_eq!(size("(2+3*4)", Base::default()), Ok(14));
        assert_eq!(size("(2*2k)", Base::default()), Ok(4096));
        assert_eq!(size("(2^(1+2))", Base::default()), Ok(8));
        for bad in ["(1/0)", "(1", "(1+)", "()", "((((((((((((((((((((((((((((((((((((1"] {
            assert!(size(bad, Base::default()).is_err(), "{bad}");
        }
    }
}
