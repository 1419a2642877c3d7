//! Write amplification of random overwrites: writes of garbage collection in addition to those of
//! the host.

use qdepth_workload::STANDARD_AREA;

/// Parameters of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Collection {
    /// Flash beyond the user capacity that collection can use, bytes; if 0, `standard` applies.
    pub(crate) spare: f64,
    pub(crate) user: f64,
    pub(crate) cold_mixing: f64,
    /// Write amplification at the standard area, used if `spare` is 0.
    pub(crate) standard: f64,
    pub(crate) max: f64,
}

impl Collection {
    /// Write amplification while `area` bytes are overwritten at random.
    pub(crate) fn amplification(&self, area: f64) -> f64 {
        let area = area.min(self.user);
        let free = if self.spare > 0.0 {
            let hot = area + self.cold_mixing * (self.user - area);
            oldest_first(hot / (hot + self.spare))
        } else {
            // Moved data per write is proportional to the hot data per spare block.
            1.0 + (self.standard - 1.0) * area / STANDARD_AREA.0 as f64
        };
        free.clamp(1.0, self.max)
    }
}

/// Write amplification of oldest-first collection if live data fills the share `u` of the flash.
/// The share `p` of a block that is still valid when it is collected solves p = exp(−(1 − p) / u)
/// (Desnoyers, SYSTOR 2012, with LRU cleaning), and the amplification is 1 / (1 − p).
fn oldest_first(u: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0 - 1e-9);
    // p − exp(…) is negative below the smaller root and positive up to the root at 1.
    for _ in 0..60 {
        let p = low.midpoint(high);
        if p - libm::exp(-(1.0 - p) / u) < 0.0 { low = p } else { high = p }
    }
    1.0 / (1.0 - low.midpoint(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_amplification_solves_its_equation() {
        for u in [0.5, 0.7, 0.8, 0.9, 0.95] {
            let p = 1.0 - 1.0 / oldest_first(u);
            assert!((p - libm::exp(-(1.0 - p) / u)).abs() < 1e-9, "{u}: {p}");
        }
        // Known values: u = 0.8 gives 2.69.
        assert!((oldest_first(0.8) - 2.69).abs() < 0.02, "{}", oldest_first(0.8));
    }

    #[test]
    fn spare_space_and_small_areas_reduce_amplification() {
        let with = |spare: f64| Collection {
            spare,
            user: 8e11,
            cold_mixing: 0.05,
            standard: 1.0,
            max: 50.0,
        };
        let areas = [1e9, 1e10, 3.4e10, 2e11, 8e11];
        for pair in areas.windows(2) {
            assert!(with(3e10).amplification(pair[0]) <= with(3e10).amplification(pair[1]));
        }
        for area in areas {
            assert!(with(6e10).amplification(area) <= with(3e10).amplification(area));
        }
    }
}
