//! The numbers of description files that a fit may change: each stands alone on its line.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cells::{Fit, Free};

type Answer<T> = Result<T, Box<dyn std::error::Error>>;

fn path(root: &Path, parameter: &Free) -> PathBuf {
    root.join("media").join(format!("{}.toml", parameter.file))
}

/// The values that the descriptions hold now.
pub(crate) fn values(root: &Path, fit: &Fit) -> Answer<Vec<f64>> {
    fit.parameters
        .iter()
        .map(|parameter| {
            let text = fs::read_to_string(path(root, parameter))?;
            let line = line_of(&text, parameter)?;
            let value = text.lines().nth(line).and_then(number).ok_or("no number")?;
            Ok(value)
        })
        .collect()
}

/// Puts what was found into the descriptions.
pub(crate) fn write(root: &Path, fit: &Fit, found: &[f64]) -> Answer<()> {
    for (parameter, value) in fit.parameters.iter().zip(found) {
        let path = path(root, parameter);
        let text = fs::read_to_string(&path)?;
        let line = line_of(&text, parameter)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (head, rest) = lines[line].split_once("value = ").ok_or("no value")?;
        let (_, tail) = rest.split_once(',').ok_or("no provenance")?;
        lines[line] = format!("{head}value = {},{tail}", short(*value));
        fs::write(&path, lines.join("\n") + "\n")?;
    }
    Ok(())
}

/// Four digits say all that a fit can know.
fn short(value: f64) -> String {
    let digits = 3 - value.abs().max(1e-12).log10().floor() as i32;
    format!("{:.*}", digits.max(0) as usize, value)
}

fn number(line: &str) -> Option<f64> {
    let rest = line.split_once("value = ")?.1;
    rest.split([',', ' ']).next()?.parse().ok()
}

fn line_of(text: &str, parameter: &Free) -> Answer<usize> {
    let section = match &parameter.format {
        Some(format) => format!("[format.{format}.parameters]"),
        None => "[parameters]".to_owned(),
    };
    let from = text
        .lines()
        .position(|line| line.trim() == section)
        .ok_or_else(|| format!("{} has no section {section}", parameter.file))?;
    let start = format!("{} = {{", parameter.name);
    let line = text
        .lines()
        .skip(from + 1)
        .take_while(|line| !line.starts_with('['))
        .position(|line| line.starts_with(&start))
        .ok_or_else(|| format!("{} has no {} in {section}", parameter.file, parameter.name))?;
    Ok(from + 1 + line)
}
