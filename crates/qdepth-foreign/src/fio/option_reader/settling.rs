//! Steady-state options of a job.

use qdepth_measure::{Settling, SettlingFigure};

use super::OptionReader;
use crate::fio::number::time_ns;
use crate::fio::refusal::FioRefusal;
use crate::fio::values::number;

/// Default length of a sample, ns.
const EVERY_NS: u64 = 1_000_000_000;

impl OptionReader<'_> {
    /// `steadystate` with its times. As in fio, it has no effect without a duration.
    pub(in crate::fio) fn settling(&self) -> Result<Option<Settling>, FioRefusal> {
        let asked = self.value("steadystate", None, |text| criterion(text).map(Some));
        let over_ns = self.value("steadystate_duration", 0, time_ns);
        let from_ns = self.value("steadystate_ramp_time", 0, time_ns);
        let every_ns = match self.value("steadystate_check_interval", EVERY_NS, time_ns) {
            0 => EVERY_NS,
            every => every,
        };
        let Some((figure, slope, limit, percent)) = asked.filter(|_| over_ns > 0) else {
            return Ok(None);
        };
        let settling = Settling { figure, slope, limit, percent, over_ns, every_ns, from_ns };
        let refuse = |why: String| self.refuse("steadystate", format!("refused: {why}"));
        settling.check().map_err(refuse).map(|()| Some(settling))
    }
}

/// Parses `iops:2%`, `bw_slope:1m`, `lat:5`: the quantity, true for its slope, the limit, true for
/// a limit relative to the mean.
fn criterion(text: &str) -> Result<(SettlingFigure, bool, f64, bool), String> {
    let (name, limit) = text.split_once(':').ok_or("needs a limit, for example iops:2%")?;
    let (figure, slope) = match name.strip_suffix("_slope") {
        Some(figure) => (figure, true),
        None => (name, false),
    };
    let figure = match figure {
        "iops" => SettlingFigure::Requests,
        "bw" => SettlingFigure::Bytes,
        "lat" => SettlingFigure::Latency,
        _ => return Err("must be iops, bw or lat, each with _slope".to_owned()),
    };
    let percent = limit.ends_with('%');
    Ok((figure, slope, number(limit.trim_end_matches('%'))?, percent))
}
