//! What is fitted to what: `media/calibration.toml` names fits, their free parameters and their
//! figures; the figures' values stand in `reference/published.csv`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use qdepth_engine::measure;
use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_workload::{Choices, PlanFile, Point, TargetShape, resolve, shipped_profile_text};
use serde::Deserialize;

/// Requests of a figure: the same for every trial, so that trials differ by parameters alone.
const REQUESTS: u64 = 12_000;

type Answer<T> = Result<T, Box<dyn std::error::Error>>;

/// A parameter that a fit may change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Free {
    pub(crate) file: String,
    pub(crate) format: Option<String>,
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Free {
    pub(crate) fn label(&self) -> String {
        match &self.format {
            Some(format) => format!("{}/{format}: {}", self.file, self.name),
            None => format!("{}: {}", self.file, self.name),
        }
    }

    /// True if a target is changed by it.
    fn concerns(&self, target: &str) -> bool {
        let medium = self.file.starts_with("host-") || target.contains(&self.file);
        let format = |f: &String| target.contains(&format!("/{f}"));
        medium && self.format.as_ref().is_none_or(format)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fit {
    pub(crate) name: String,
    #[serde(rename = "parameter")]
    pub(crate) parameters: Vec<Free>,
    /// `id | target | load | outstanding`, and a weight where it is not 1.
    pub(crate) figures: Vec<String>,
    /// Figures that are shown and not fitted.
    #[serde(default)]
    pub(crate) predictions: Vec<String>,
    /// True if random requests begin at multiples of their size instead of 4096.
    #[serde(default)]
    pub(crate) request_aligned: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    #[serde(rename = "fit")]
    pub(crate) fits: Vec<Fit>,
    #[serde(skip)]
    published: BTreeMap<String, (f64, String)>,
}

/// One figure and the point that emulates it.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) label: String,
    pub(crate) published: f64,
    pub(crate) weight: f64,
    target: String,
    point: Point,
    unit: String,
}

impl Plan {
    pub(crate) fn read(root: &Path) -> Answer<Self> {
        let mut plan: Self =
            toml::from_str(&fs::read_to_string(root.join("media/calibration.toml"))?)?;
        let mut reader = csv::Reader::from_path(root.join("reference/published.csv"))?;
        let headers = reader.headers()?.clone();
        let column =
            |name: &str| headers.iter().position(|h| h == name).ok_or("a column is missing");
        let (id, unit, value, high) =
            (column("id")?, column("unit")?, column("value")?, column("high")?);
        for row in reader.records() {
            let row = row?;
            let Ok(low) = row[value].parse::<f64>() else { continue };
            // A range is met by its middle.
            let middle = row[high].parse::<f64>().map_or(low, |high| low.midpoint(high));
            plan.published.insert(row[id].to_owned(), (middle, row[unit].to_owned()));
        }
        Ok(plan)
    }

    pub(crate) fn cells(&self, fit: &Fit, figures: &[String]) -> Answer<Vec<Cell>> {
        figures.iter().map(|line| self.cell(fit, line)).collect()
    }

    fn cell(&self, fit: &Fit, line: &str) -> Answer<Cell> {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [id, target, load, queue_depth, rest @ ..] = parts.as_slice() else {
            return Err(format!("`{line}`: id | target | load | outstanding").into());
        };
        let (published, unit) =
            self.published.get(*id).ok_or_else(|| format!("no published figure `{id}`"))?;
        let shape = TargetExpression::read(target)?.shape()?;
        let mut point = point(load, queue_depth.parse()?, shape, fit.request_aligned)?;
        let size = f64::from(point.block_size.max());
        let per_s = match unit.as_str() {
            "MB/s" => published * 1_048_576.0 / size,
            "GB/s" => published * 1e9 / size,
            "ms" => 1e3 / published,
            _ => *published,
        };
        let ns = REQUESTS.max(u64::from(point.in_flight_max()) * 8) as f64 / per_s * 1e9;
        point.warm_up_ns = (ns * 0.4) as u64;
        point.stop.duration_ns = ns as u64;
        Ok(Cell {
            label: format!("{id} {target} {load} {queue_depth}"),
            published: *published,
            weight: rest.first().map_or(Ok(1.0), |w| w.parse())?,
            target: (*target).to_owned(),
            point,
            unit: unit.clone(),
        })
    }
}

fn point(load: &str, queue_depth: u32, shape: TargetShape, aligned: bool) -> Answer<Point> {
    let text = shipped_profile_text(load).map(str::to_owned).unwrap_or_else(|| own(load));
    let mut text = text;
    if aligned && !text.contains("alignment") {
        let size = text.lines().find_map(|l| l.strip_prefix("block_size = ")).unwrap_or("\"4KiB\"");
        text = text.replacen("block_size", &format!("alignment = {size}\nblock_size"), 1);
    }
    let body = text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    let file: PlanFile = toml::from_str(&format!(
        "name = \"calibrate\"\nqueue_depth = [{queue_depth}]\n[[profile]]\n{body}"
    ))?;
    Ok(resolve(&file, &Choices::default(), &[shape])?.points.remove(0))
}

/// `random-4k-read`, `sequential-1m-write`, …
fn own(load: &str) -> String {
    let words: Vec<&str> = load.split('-').collect();
    let [order, size, direction] = words.as_slice() else { return String::new() };
    let read = match *direction {
        "read" => 100,
        "write" => 0,
        _ => 67,
    };
    let random = if *order == "random" { 100 } else { 0 };
    let size = size.to_uppercase();
    format!("name = \"{load}\"\nrandom = {random}\nread = {read}\nblock_size = \"{size}iB\"\n")
}

/// The emulated figures, in order, on as many threads as there are.
pub(crate) fn measured(fit: &Fit, cells: &[Cell], values: &[f64]) -> Vec<f64> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all = vec![0.0; cells.len()];
    let share = cells.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (cells, out) in cells.chunks(share).zip(all.chunks_mut(share)) {
            scope.spawn(move || {
                for (cell, out) in cells.iter().zip(out) {
                    *out = measure_cell(fit, cell, values);
                }
            });
        }
    });
    all
}

fn measure_cell(fit: &Fit, cell: &Cell, values: &[f64]) -> f64 {
    let mut expression = cell.target.clone();
    for (parameter, value) in fit.parameters.iter().zip(values) {
        if parameter.concerns(&cell.target) {
            expression += &format!(" @{}={value}", parameter.name);
        }
    }
    let opened = TargetExpression::read(&expression)
        .and_then(|s| s.open(&OpenMedia::for_point(&cell.point)));
    let mut target = match opened {
        Ok(target) => target,
        Err(error) => {
            eprintln!("{expression}: {error}");
            return f64::NAN;
        }
    };
    let outcome = measure(&mut target, &cell.point, &AtomicBool::new(false), &mut |_| {});
    let seconds = outcome.duration.as_secs_f64();
    match cell.unit.as_str() {
        "MB/s" => outcome.bytes() as f64 / 1_048_576.0 / seconds,
        "GB/s" => outcome.bytes() as f64 / 1e9 / seconds,
        "ms" => {
            let sum: u128 = outcome.directions.iter().map(|d| d.latency.sum()).sum();
            sum as f64 / outcome.completed() as f64 / 1e6
        }
        _ => outcome.completed() as f64 / seconds,
    }
}
