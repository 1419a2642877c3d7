//! A fitted medium as a description file.

use std::fmt::Write as _;

use crate::Known;

use crate::fit::fitting::Fitted;
use crate::fit::model::capacity;
use crate::fit::observed::Observed;

/// Origin of a fitted model.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Name for people, as the drive's model.
    pub title: String,
    /// Ids of the runs.
    pub runs: Vec<String>,
    /// Time of the measurement, as in the logbook.
    pub measured_at: String,
    /// The program and its version.
    pub program: String,
    /// Engine and plan of the measurement.
    pub how: String,
    /// Capacity of the medium, bytes.
    pub capacity_bytes: u64,
    /// Smallest request, bytes.
    pub block_bytes: u32,
    /// Day-to-day spread of its rates, as a share; and from where that is known.
    pub day_to_day: (f64, String),
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Six digits of a number.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 5 - libm::floor(libm::log10(value.abs())) as i32;
    let scale = libm::pow(10.0, f64::from(digits));
    (value * scale).round() / scale
}

/// The description file of a fitted medium.
pub fn description(fitted: &Fitted, observed: &[Observed], from: &Provenance) -> String {
    let known = known(fitted, observed, from);
    let mut text = format!(
        "# EMULATED: what {} did in measured runs, as a medium. Made by {}; `qdepth media FILE` \
         tells what each number means.\n",
        from.title.replace(|c: char| c.is_control(), " "),
        from.program
    );
    let about = format!(
        "Fitted as {} to {} points of {} ({}), measured {}; {}.",
        fitted.kind,
        fitted.points.len() - fitted.kept_back(),
        if from.runs.len() == 1 { "run" } else { "runs" },
        from.runs.join(", "),
        from.measured_at,
        from.how
    );
    let compared = format!(
        "{} points of the same runs that were kept back from the fit{}: mean error {:.1} %",
        fitted.kept_back(),
        if fitted.in_turns() { " in turns" } else { "" },
        fitted.mean_error(true) * 100.0
    );
    let missed: Vec<String> = fitted
        .unexplained
        .iter()
        .map(|miss| quoted(&format!("{}: {:+.0} %", miss.label, miss.error() * 100.0)))
        .collect();
    let _ = writeln!(text, "title = {}", quoted(&from.title));
    let _ = writeln!(text, "kind = \"{}\"", fitted.kind.described());
    let _ = writeln!(text, "about = {}", quoted(&about));
    let _ = writeln!(text, "compared_with = {}", quoted(&compared));
    let _ = writeln!(text, "divergences = [{}]", missed.join(", "));
    let _ = writeln!(text, "\n[parameters]");
    let _ = writeln!(text, "capacity_gb = {}", capacity(from.capacity_bytes));
    let block = "{ value = BLOCK, from = \"the target's logical block\" }";
    let block = block.replace("BLOCK", &format!("{:.1}", f64::from(from.block_bytes.max(512))));
    let _ = writeln!(text, "block_bytes = {block}");
    entries(&mut text, &fitted.parameters, fitted);
    if !fitted.computer.is_empty() {
        let _ = writeln!(text, "\n[computer]");
        entries(&mut text, &fitted.computer, fitted);
    }
    let known = toml::to_string(&known).unwrap_or_default();
    let known = known.replace("[[direction]]", "[[fit.direction]]");
    let _ = write!(
        text,
        "\n# The error model. `error`: at points kept back, as a logarithm; `of_parameters`: what \
         of\n\
         # it `direction` explains, which is what of the numbers is not known. Outside of these \
         ranges nothing was measured. Day to day: {}.\n\
         [fit]\n{known}",
        from.day_to_day.1
    );
    text
}

fn entries(text: &mut String, numbers: &[(String, f64, String)], fitted: &Fitted) {
    for (name, value, from) in numbers {
        let how = fitted.determined.iter().find(|parameter| parameter.name == *name);
        let from = how.map_or_else(
            || from.clone(),
            |parameter| {
                let (low, high) = (rounded(parameter.interval.0), rounded(parameter.interval.1));
                format!("fitted, {} determined: 95 % within {low} to {high}", parameter.how)
            },
        );
        let value = rounded(*value);
        let _ = writeln!(text, "{name} = {{ value = {value:?}, from = {} }}", quoted(&from));
    }
}

/// The error model of a fit.
fn known(fitted: &Fitted, observed: &[Observed], from: &Provenance) -> Known {
    let range = |figure: fn(&Observed) -> f64| {
        observed
            .iter()
            .map(figure)
            .fold([f64::MAX, 0.0], |[low, high]: [f64; 2], v| [low.min(v), high.max(v)])
    };
    Known {
        error: rounded(fitted.error),
        of_parameters: rounded(fitted.of_parameters),
        kept_back: fitted.kept_back() as u32,
        day_to_day: rounded(from.day_to_day.0),
        request_bytes: range(|load| f64::from(load.bytes())),
        in_flight: range(|load| f64::from(load.in_flight())),
        area_bytes: range(|load| load.point.area.length_bytes as f64)[1],
        read_share: range(|load| load.point.read_share),
        random_share: range(|load| load.point.random_share),
        mixes: observed.iter().any(|load| !load.is_read() && !load.is_write()),
        direction: fitted.directions.clone(),
    }
}
