//! Settings of other programs, from the rates that a fitted model predicts.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use qdepth_workload::{Choices, PlanFile, resolve};

use crate::TargetExpression;
use crate::fit::error::FitError;
use crate::fit::predict::{Basis, predict};

/// Block size of the loads that count I/Os, if it was measured: a page of the kernel, bytes.
const SMALL: f64 = 4096.0;
/// Largest block size of the loads that count bytes, bytes.
const LARGE: f64 = 1_048_576.0;
/// Largest queue depth of all loads, as in the kernel's `iocost_coef_gen.py`.
const QUEUE_DEPTH: f64 = 64.0;
/// Loads of one direction: name in `io.cost.model`, and share of random accesses in per cent.
const LOADS: [(&str, u32); 3] = [("bps", 0), ("seqiops", 0), ("randiops", 100)];

/// Program whose settings are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Export {
    /// Cost model of the kernel: `io.cost.model` and `io.cost.qos` (Linux,
    /// Documentation/admin-guide/cgroup-v2.rst).
    IoCost,
    /// Limits of a control group: `io.max`, at this share of the predicted rates.
    IoMax(f64),
    /// Seastar's `io_properties.yaml`.
    Seastar,
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |text: &str| {
            let value: f64 = text.strip_suffix('%')?.parse().ok()?;
            (value > 0.0 && value <= 100.0).then_some(Self::IoMax(value / 100.0))
        };
        match text.split_once('=').unwrap_or((text, "")) {
            ("io.cost", "") => Ok(Self::IoCost),
            ("seastar", "") => Ok(Self::Seastar),
            ("io.max", "") => Ok(Self::IoMax(1.0)),
            ("io.max", share) => percent(share)
                .ok_or_else(|| format!("{share}: a share above 0 %, up to 100 %, e.g. io.max=50%")),
            _ => Err("use io.cost, io.max=50% or seastar".to_owned()),
        }
    }
}

/// Predicted maximum rates. EMULATED.
#[derive(Clone, Debug, PartialEq)]
pub struct MaximumRates {
    /// Reads, then writes: bytes per second of large sequential I/Os, then I/Os per second of
    /// small sequential ones and of small random ones. `None` if nothing similar was measured.
    rates: [Option<[f64; 3]>; 2],
    /// Block sizes of the small and the large I/Os, bytes.
    sizes: [f64; 2],
    queue_depth: f64,
    /// Root mean square error of the model on held-out points, as a logarithm.
    error: f64,
    /// True if a rate lies outside of the measured loads.
    extrapolated: bool,
}

/// Predicts the maximum rates of a fitted model within the sizes and queue depths that were
/// measured.
///
/// # Errors
/// If the model cannot serve a load, or `stop` was set.
pub fn maximum_rates(
    medium: &TargetExpression,
    stop: &AtomicBool,
) -> Result<MaximumRates, FitError> {
    let unusable = |why: String| FitError::NoMedium { kind: medium.text().to_owned(), why };
    let (fitted, _) = medium.error_models();
    let Some((_, measured)) = fitted.first() else {
        return Err(unusable("it was not fitted to measurements".to_owned()));
    };
    let [smallest, largest] = measured.request_bytes;
    let (small, large) = (SMALL.max(smallest).min(largest), LARGE.min(largest));
    let depth = QUEUE_DEPTH.min(measured.in_flight[1]);
    let mut text = format!(
        "name = \"export\"\nqueue_depth = [{depth:.0}]\nwarm_up = \"1s\"\nduration = \"1s\"\n"
    );
    for read in [100, 0] {
        for (name, random) in LOADS {
            let bytes = if name == "bps" { large } else { small };
            let _ = write!(
                text,
                "[[profile]]\nname = \"{name}-{read}\"\nrandom = {random}\nread = {read}\n\
                 block_size = \"{bytes:.0}\"\narea = {{ size = \"{:.0}\" }}\n",
                measured.area_bytes
            );
        }
    }
    let file: PlanFile = text.parse().map_err(|error| unusable(format!("{error}")))?;
    let plan = resolve(&file, &Choices::default(), &[medium.shape()?])
        .map_err(|error| unusable(error.to_string()))?;
    let (mut rates, mut extrapolated) = (Vec::new(), false);
    for point in &plan.points {
        let predicted = predict(medium, point, stop)?;
        let known = predicted.filter(|p| !matches!(p.basis, Basis::NotKnown(_)));
        extrapolated |= known.as_ref().is_some_and(|p| p.basis != Basis::Inside);
        let in_bytes = point.profile.starts_with("bps");
        rates.push(known.map(|p| if in_bytes { p.bytes_per_s } else { p.io_per_s }));
    }
    let direction = |rates: &[Option<f64>]| Some([rates[0]?, rates[1]?, rates[2]?]);
    Ok(MaximumRates {
        rates: [direction(&rates[..3]), direction(&rates[3..])],
        sizes: [small, large],
        queue_depth: depth,
        error: measured.error,
        extrapolated,
    })
}

impl MaximumRates {
    /// The settings as text: commands for a shell, or a YAML file. `device` is `MAJ:MIN`,
    /// `path` the target.
    ///
    /// # Errors
    /// The direction that was not measured, if the program needs it.
    pub fn settings(&self, export: Export, device: &str, path: &str) -> Result<String, &str> {
        let both = || -> Result<[[f64; 3]; 2], &str> {
            Ok([self.rates[0].ok_or("reads")?, self.rates[1].ok_or("writes")?])
        };
        let [small, large] = self.sizes.map(|bytes| bytes / 1024.0);
        let mut text = format!(
            "# EMULATED{}: predicted for I/Os of {small:.0} KiB and {large:.0} KiB at queue depth \
             {:.0}; error on held-out points {:.1} %\n",
            if self.extrapolated { ", EXTRAPOLATED" } else { "" },
            self.queue_depth,
            self.error * 100.0
        );
        match export {
            Export::IoCost => {
                let rates = both()?;
                let mut coefficients = String::new();
                for (rates, way) in rates.into_iter().zip(["r", "w"]) {
                    for (rate, (name, _)) in self.linear(rates).into_iter().zip(LOADS) {
                        let _ = write!(coefficients, " {way}{name}={rate:.0}");
                    }
                }
                // Without latency targets the kernel keeps to the model.
                let _ = write!(
                    text,
                    "echo '{device} ctrl=user model=linear{coefficients}' > \
                     /sys/fs/cgroup/io.cost.model\n\
                     echo '{device} enable=1 ctrl=user rpct=0.00 rlat=0 wpct=0.00 wlat=0 \
                     min=100.00 max=100.00' > /sys/fs/cgroup/io.cost.qos\n"
                );
            }
            Export::IoMax(share) => {
                let limits = self.rates.iter().zip(["r", "w"]).filter_map(|(rates, way)| {
                    // The kernel refuses a limit of 0.
                    let [bytes, _, random] = (*rates)?.map(|rate| (rate * share).max(1.0));
                    Some(format!(" {way}bps={bytes:.0} {way}iops={random:.0}"))
                });
                let limits: String = limits.collect();
                let _ = writeln!(text, "echo '{device}{limits}' > /sys/fs/cgroup/GROUP/io.max");
            }
            Export::Seastar => {
                let [[read, _, reads], [write, _, writes]] = both()?;
                let _ = write!(
                    text,
                    "disks:\n  - mountpoint: '{}'\n    read_iops: {reads:.0}\n    \
                     read_bandwidth: {read:.0}\n    write_iops: {writes:.0}\n    \
                     write_bandwidth: {write:.0}\n",
                    path.replace('\'', "''")
                );
            }
        }
        Ok(text)
    }

    /// The same rates as the kernel's model states them: an I/O takes a base time and a time per
    /// byte, and the rates of small I/Os are those of a page.
    fn linear(&self, [bytes, sequential, random]: [f64; 3]) -> [f64; 3] {
        let [small, large] = self.sizes;
        let per_byte = (large / bytes - 1.0 / sequential) / (large - small);
        if !per_byte.is_finite() || per_byte <= 0.0 {
            return [bytes, sequential, random];
        }
        // No page is faster than its bytes, however the two sizes were measured.
        let page = |time: f64| (time - (small - SMALL) * per_byte).max(SMALL * per_byte);
        let of_page = |rate: f64| 1.0 / page(1.0 / rate);
        [1.0 / per_byte, of_page(sequential), of_page(random)]
    }
}
