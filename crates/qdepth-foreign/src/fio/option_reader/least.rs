//! Minimum rate of a job.

use super::{OptionReader, rates};
use crate::fio::access::Access;
use crate::fio::job_parts::MinimumRate;
use crate::fio::refusal::FioRefusal;
use crate::fio::values::Trims;

impl OptionReader<'_> {
    /// `rate_min` and `rate_iops_min` for the directions of the job. As in fio, neither may exceed
    /// the job's rate.
    pub(in crate::fio) fn least(&self, access: &Access) -> Result<Option<MinimumRate>, FioRefusal> {
        let limits = |name: &str| self.value(name, [None; 3], |text| rates(text, self.base));
        let does = [
            access.read > 0.0 && access.trims == Trims::None,
            access.read < 100.0 && access.trims != Trims::All,
            access.trims != Trims::None,
        ];
        let mut least = [[0.0; 3]; 2];
        for (index, (name, above)) in
            [("rate_min", "rate"), ("rate_iops_min", "rate_iops")].into_iter().enumerate()
        {
            let (asked, most) = (limits(name), limits(above));
            let exceeds = |(least, most): (&Option<f64>, &Option<f64>)| match (least, most) {
                (Some(least), Some(most)) => least > most,
                _ => false,
            };
            if asked.iter().zip(&most).any(exceeds) {
                return Err(self.refuse(name, format!("refused: must not be above {above}=")));
            }
            for kind in 0..3 {
                least[index][kind] = asked[kind].filter(|_| does[kind]).unwrap_or(0.0);
            }
        }
        // As in fio, in milliseconds; 0 means the default.
        let cycle_ms = match self.whole("rate_cycle", 1000) {
            0 => 1000,
            cycle @ 1..=86_400_000 => cycle,
            _ => return Err(self.refuse("rate_cycle", "must be at most 86400000 ms")),
        };
        let [bytes, ios] = least;
        let any = bytes.iter().chain(&ios).any(|rate| *rate > 0.0);
        Ok(any.then_some(MinimumRate { bytes, ios, cycle_ns: cycle_ms * 1_000_000 }))
    }
}
