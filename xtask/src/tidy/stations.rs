//! The block `stations` of ARCHITECTURE.md: each station names a file and a name that is in it, and
//! no value has more of them than it may.

use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

/// Each value with the most stations that it may have.
const MOST: [(&str, usize); 3] = [("outstanding", 9), ("latency", 12), ("serial", 9)];

pub fn check(broken: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    broken.extend(faults(&text, |file| fs::read_to_string(root().join(file)).ok()));
    Ok(())
}

/// What is wrong with the block, given how a file is read.
fn faults(text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut broken = Vec::new();
    let block = text.split("```stations").nth(1).and_then(|rest| rest.split("```").next());
    let mut lines = block.unwrap_or_default().lines().filter(|line| !line.is_empty()).peekable();
    let mut values = Vec::new();
    while let Some(value) = lines.next() {
        let mut stations = 0;
        while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
            stations += 1;
            let mut words = line.split([' ', ':']).filter(|word| !word.is_empty());
            let (file, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let holds = |text: String| text.split(|c| !is_word(c)).any(|word| word == name);
            if !read(file).is_some_and(holds) {
                broken.push(format!("ARCHITECTURE.md: there is no `{name}` in {file}"));
            }
        }
        values.push((value.split(':').next().unwrap_or_default(), stations));
    }
    for (value, most) in MOST {
        match values.iter().find(|(name, _)| *name == value) {
            Some((_, stations)) if (1..=most).contains(stations) => {}
            Some((_, stations)) => broken.push(format!(
                "ARCHITECTURE.md: {value} has {stations} stations, and {most} are the most"
            )),
            None => broken.push(format!("ARCHITECTURE.md draws no stations of {value}")),
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::faults;

    fn found(serial: &str) -> Vec<String> {
        let line = "  a.rs x: it\n";
        let text = format!(
            "```stations\noutstanding: a\n{line}latency: b\n{line}serial: c\n{serial}```\n"
        );
        faults(&text, |file| (file == "a.rs").then(|| "let x = 1;".to_owned()))
    }

    #[test]
    fn a_station_that_is_gone_or_one_too_many_is_found() {
        assert_eq!(found("  a.rs x: it\n"), Vec::<String>::new());
        assert!(found("  a.rs y: it\n")[0].contains("no `y` in a.rs"));
        assert!(found("  b.rs x: it\n")[0].contains("no `x` in b.rs"));
        assert!(found(&"  a.rs x: it\n".repeat(10))[0].contains("serial has 10 stations"));
        assert!(found("")[0].contains("serial has 0 stations"));
        assert_eq!(faults("", |_| None).len(), 3);
    }
}
