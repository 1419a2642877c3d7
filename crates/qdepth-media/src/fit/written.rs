//! Device model file of a fit.

use std::fmt::Write as _;

use crate::ErrorModel;

use crate::fit::fitting::Fitted;
use crate::fit::model::capacity;
use crate::fit::observed::Observed;

/// Origin of a fitted model.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Title, for example the drive's model.
    pub title: String,
    /// IDs of the runs.
    pub runs: Vec<String>,
    /// Time of the measurement, as in the logbook.
    pub measured_at: String,
    /// Program and version.
    pub program: String,
    /// Engine and plan of the measurement.
    pub how: String,
    /// Capacity, bytes.
    pub capacity_bytes: u64,
    /// Logical block size, bytes.
    pub block_bytes: u32,
    /// Relative day-to-day variation of the rates, and its source.
    pub day_to_day: (f64, String),
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Rounds to six significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 5 - libm::floor(libm::log10(value.abs())) as i32;
    let scale = libm::pow(10.0, f64::from(digits));
    (value * scale).round() / scale
}

/// Text of the device model file (TOML) of a fit.
pub fn description(fitted: &Fitted, observed: &[Observed], from: &Provenance) -> String {
    let known = known(fitted, observed, from);
    let mut text = format!(
        "# EMULATED: device model of {}, fitted to measured runs by {}. `qdepth media FILE` \
         explains each number.\n",
        from.title.replace(|c: char| c.is_control(), " "),
        from.program
    );
    let about = format!(
        "Fitted as {} to {} points of {} ({}), measured {}; {}.",
        fitted.kind,
        fitted.points.len() - fitted.held_out(),
        if from.runs.len() == 1 { "run" } else { "runs" },
        from.runs.join(", "),
        from.measured_at,
        from.how
    );
    let compared = format!(
        "{} held-out points of the same runs{}: mean error {:.1} %",
        fitted.held_out(),
        if fitted.is_cross_validated() { " in turns" } else { "" },
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
        "\n# The error model. `error`: logarithm of the error at held-out points. `of_parameters`: \
         the part\n# of it that `direction` explains, the uncertainty of the parameters. Nothing \
         was measured outside these ranges. Day to day: {}.\n[fit]\n{known}",
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

/// Error model of a fit, with the measured ranges.
fn known(fitted: &Fitted, observed: &[Observed], from: &Provenance) -> ErrorModel {
    let range = |figure: fn(&Observed) -> f64| {
        observed
            .iter()
            .map(figure)
            .fold([f64::MAX, 0.0], |[low, high]: [f64; 2], v| [low.min(v), high.max(v)])
    };
    ErrorModel {
        error: rounded(fitted.error),
        of_parameters: rounded(fitted.parameter_error),
        held_out: fitted.held_out() as u32,
        day_to_day: rounded(from.day_to_day.0),
        request_bytes: range(|load| f64::from(load.bytes())),
        in_flight: range(|load| f64::from(load.in_flight())),
        area_bytes: range(|load| load.point.area.length_bytes as f64)[1],
        read_share: range(|load| load.point.read_share),
        random_share: range(|load| load.point.random_share),
        mixes: observed.iter().any(Observed::is_mixed),
        direction: fitted.directions.clone(),
    }
}
