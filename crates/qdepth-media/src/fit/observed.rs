//! Measurements of points for a fit, and the choice of held-out points.

use qdepth_measure::{LatencyHistogram, percentile};
use qdepth_workload::Point;

/// Measured point: a single closed-loop load.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Load of the point.
    pub point: Point,
    /// Reads and writes completed per second.
    pub io_per_s: f64,
    /// Relative standard error of the rate.
    pub spread: f64,
    /// Mean service time of reads, ns; `None` without reads.
    pub read_ns: Option<f64>,
    /// Mean service time of writes, ns; `None` without writes.
    pub write_ns: Option<f64>,
    /// 90th percentile of the service times of reads and writes together, ns: see [`late_ns`].
    pub late_ns: Option<f64>,
    /// Rate in the first and last third of the window, I/Os per second, if recorded.
    pub thirds: Option<(f64, f64)>,
    /// CPU time per I/O, ns, if recorded.
    pub cpu_ns: Option<f64>,
}

/// 90th percentile of service times, ns; `None` if there are too few.
pub fn late_ns(times: &LatencyHistogram) -> Option<f64> {
    percentile(times, 0.9).map(|late| late.value.0 as f64)
}

impl Observed {
    /// Largest request, bytes.
    pub(crate) fn bytes(&self) -> u32 {
        self.point.block_size.max()
    }

    /// Throughput, KiB/µs.
    pub(crate) fn kib_per_us(&self) -> f64 {
        self.io_per_s * self.point.block_size.mean() / 1024.0 / 1e6
    }

    /// Requests in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.point.in_flight_max().max(1)
    }

    pub(crate) fn is_random(&self) -> bool {
        self.point.random_share >= 0.5
    }

    pub(crate) fn is_read(&self) -> bool {
        self.point.read_share >= 1.0
    }

    pub(crate) fn is_write(&self) -> bool {
        self.point.read_share <= 0.0
    }

    /// True if it reads and writes.
    pub(crate) fn is_mixed(&self) -> bool {
        !self.is_read() && !self.is_write()
    }

    /// Label for the user.
    pub(crate) fn label(&self) -> String {
        format!("{} at {}", self.point.profile, self.point.queue_depth)
    }
}

/// Minimum number of points for a fixed held-out set; smaller tables are cross-validated.
const DENSE: usize = 24;
/// Number of folds of a cross-validation.
const FOLDS: usize = 4;

/// Held-out points of a fit, for each fold.
///
/// A dense table has one fold, which is never fitted: the whole profile that `between` selects, if
/// there are at least four profiles, and every fourth inner point of the others. In a sparse table
/// each inner point is in one of several folds, because a single point off the curve (a drive that
/// reads ahead for one stream) may be the only one that shows an effect.
pub(crate) fn held_out_folds(observed: &[Observed]) -> Vec<Vec<bool>> {
    let mut profiles: Vec<&str> = Vec::new();
    for load in observed {
        if !profiles.contains(&load.point.profile.as_str()) {
            profiles.push(&load.point.profile);
        }
    }
    let dense = observed.len() >= DENSE;
    let whole = if dense && profiles.len() >= 4 { between(observed, &profiles) } else { None };
    let mut back = vec![false; observed.len()];
    let mut inner = Vec::new();
    for profile in profiles {
        let mut indices: Vec<usize> =
            (0..observed.len()).filter(|i| observed[*i].point.profile == profile).collect();
        indices.sort_by_key(|index| observed[*index].in_flight());
        if Some(profile) == whole {
            indices.iter().for_each(|index| back[*index] = true);
            continue;
        }
        inner.extend(indices.iter().copied().skip(1).take(indices.len().saturating_sub(2)));
    }
    if dense {
        inner.iter().skip(1).step_by(4).for_each(|index| back[*index] = true);
        return if back.contains(&true) { vec![back] } else { Vec::new() };
    }
    let folds = 0..FOLDS.min(inner.len());
    folds
        .map(|fold| {
            let mut back = back.clone();
            inner.iter().skip(fold).step_by(FOLDS).for_each(|index| back[*index] = true);
            back
        })
        .collect()
}

/// Random profile with a block size between the smallest and the largest, so that fitted profiles
/// surround it; among several, the one closest to an equal mix of reads and writes.
fn between<'a>(observed: &[Observed], profiles: &[&'a str]) -> Option<&'a str> {
    let sizes = observed.iter().filter(|load| load.is_random()).map(Observed::bytes);
    let (low, high) = sizes.fold((u32::MAX, 0), |(l, h), size| (l.min(size), h.max(size)));
    let first = |name: &str| observed.iter().find(|load| load.point.profile == name);
    let inner = profiles.iter().copied().filter(|name| {
        first(name)
            .is_some_and(|load| load.bytes() > low && load.bytes() < high && load.is_random())
    });
    let mixes = |name: &str| {
        first(name).map_or(0.0, |load| load.point.read_share * (1.0 - load.point.read_share))
    };
    inner.max_by(|a, b| mixes(a).total_cmp(&mixes(b)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use qdepth_workload::{Choices, Extent, PlanFile, TargetShape, resolve, shipped_plan_text};

    use super::*;

    fn observed(queue_depth: &str) -> Vec<Observed> {
        let text = shipped_plan_text("fit").unwrap();
        let text = text.replacen("[1, 4, 16, 64, 256]", queue_depth, 1);
        let file: PlanFile = toml::from_str(&text).unwrap();
        let whole = Extent { offset_bytes: 0, length_bytes: 1 << 33 };
        let shape = TargetShape::whole(whole, 512);
        let load = |point| Observed {
            point,
            io_per_s: 1000.0,
            spread: 0.02,
            read_ns: None,
            write_ns: None,
            late_ns: None,
            thirds: None,
            cpu_ns: None,
        };
        let plan = resolve(&file, &Choices::default(), &[shape]).unwrap();
        plan.points.into_iter().map(load).collect()
    }

    #[test]
    fn sparse_points_are_each_held_out_once() {
        let mut sparse = observed("[1, 16, 256]");
        sparse.truncate(21);
        let folds = held_out_folds(&sparse);
        assert_eq!(folds.len(), FOLDS);
        for (index, load) in sparse.iter().enumerate() {
            let times = folds.iter().filter(|back| back[index]).count();
            assert_eq!(times, usize::from(load.point.queue_depth == 16), "{}", load.label());
        }
    }

    #[test]
    fn table_without_inner_points_cannot_be_fitted() {
        let (two, stop) = (observed("[1, 4]"), AtomicBool::new(false));
        assert!(held_out_folds(&two).is_empty() && two.len() > 8);
        let refused =
            crate::fit::fit(&two, Some(crate::fit::Kind::Memory), 1 << 30, &stop).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, crate::fit::FitError::NoneBetween { have } if have == two.len()));
        assert!(text.contains("--queue-depth 1,2,4"), "{text}");
    }

    #[test]
    fn dense_table_never_fits_a_whole_profile() {
        let dense = observed("[1, 4, 16, 64, 256]");
        let folds = held_out_folds(&dense);
        let [back] = folds.as_slice() else { panic!("{} turns", folds.len()) };
        let kept = |profile: &str| {
            let of_profile =
                dense.iter().zip(back).filter(|(load, _)| load.point.profile == profile);
            of_profile.filter(|(_, back)| **back).count()
        };
        assert_eq!((kept("database"), kept("random-4k-read")), (5, 1));
    }
}
