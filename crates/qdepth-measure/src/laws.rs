//! Consistency checks that every point must pass (docs/method/thresholds.md), computed from its own
//! counts. A failed check becomes a finding; no figure is corrected.

use crate::code::{Code, Severity};
use crate::finding::Finding;
use crate::label;

/// Largest relative difference for Little's law.
const LITTLE_MAX: f64 = 0.01;
/// Smallest share of the requested queue depth that must be in flight.
const DEPTH_MIN: f64 = 0.99;
/// Share by which latencies may fall short of the queue depth, beyond chance, without a warning.
const UNSETTLED_REMARK: f64 = 0.05;
const UNSETTLED_INVALID: f64 = 0.2;
/// Standard deviations that are attributed to chance.
const CHANCE: f64 = 3.0;
/// Ratio of the ceiling to the rate: below 10 a warning, below 2 invalid
/// (docs/method/thresholds.md).
const CEILING_REMARK: f64 = 10.0;
const CEILING_INVALID: f64 = 2.0;
/// Relative difference between the kernel's bytes and qdepth's that gives a warning, and the one
/// that makes the point invalid (docs/method/thresholds.md).
const KERNEL_REMARK: f64 = 0.005;
const KERNEL_INVALID: f64 = 0.02;
/// The same for the device below a file, which others use, too, and on which the file system has
/// I/O of its own.
const FILE_FOREIGN_REMARK: f64 = 0.05;
const FILE_FOREIGN_INVALID: f64 = 0.25;
const FILE_FOREIGN_BYTES: f64 = 1024.0 * 1024.0;

/// Counts of a point that the checks compare. Figures refer to the window unless stated otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointFacts {
    /// Length of the window, ns.
    pub duration_ns: f64,
    /// I/Os that should always have been in flight; `None` for an open loop.
    pub queue_depth_asked: Option<f64>,
    /// Time integral of the I/Os in flight, sampled by the loop, I/O·ns.
    pub in_flight_integral_ns: f64,
    /// Sum of the parts of all latencies that lie in the window, from the stamps, ns.
    pub latency_in_window_ns: f64,
    /// Sum of the whole latencies of the I/Os completed in the window, ns. `None` for an open loop,
    /// for a window that ended early, and after failed I/Os.
    pub latency_completed_ns: Option<f64>,
    /// Requests issued over the whole point, warm-up and drain included.
    pub issued: u64,
    /// Completed in the window, all directions.
    pub completed: u64,
    /// Failed in the window.
    pub failed: u64,
    /// Completed or failed outside the window.
    pub outside: u64,
    /// Never came back.
    pub abandoned: u64,
    /// Sum over all buckets of the service-time histograms.
    pub histogram_sum: u64,
    /// Bytes of the completed reads and writes.
    pub bytes: u64,
    /// Bytes of the completed reads and writes, computed as I/Os × size; `None` unless all have one
    /// size.
    pub bytes_expected: Option<u64>,
    /// Bytes that the kernel counted on the device; `None` unless the target is a device with
    /// direct I/O.
    pub kernel_bytes: Option<u64>,
    /// Bytes that qdepth moved in the time span of the kernel's counters (warm-up and drain
    /// included).
    pub our_bytes_in_kernel_span: u64,
    /// I/Os that the kernel counted and that qdepth issued in that time span, for the detection of
    /// small foreign I/O. `None` if requests are so large that the kernel splits them.
    pub ios_in_kernel_span: Option<(u64, u64)>,
    /// Bytes that the kernel counted on the device below a file, for a direct load.
    pub below_file: Option<BelowFile>,
    /// Practical limit of the link, bytes per second.
    pub link_bytes_per_s: Option<f64>,
    /// The generator's ceiling at this queue depth, I/Os per second.
    pub ceiling_io_per_s: Option<f64>,
}

/// Bytes that the kernel counted on the device below a file, in the time span of qdepth's own
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BelowFile {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
    /// Share of reads in the load, 0 to 1.
    pub read_share: f64,
}

impl BelowFile {
    /// Bytes in the directions of the load, and bytes that certainly are foreign. A file system
    /// writes on its own account, but not more than the load does, and it reads little.
    fn own_and_foreign(self, ours: f64) -> (f64, f64) {
        let (read, written) = (self.read as f64, self.written as f64);
        if self.read_share >= 1.0 {
            (read, (read - ours).max(0.0) + written)
        } else if self.read_share <= 0.0 {
            (written, read + (written - 2.0 * ours).max(0.0))
        } else {
            (read + written, (read + written - 2.0 * ours).max(0.0))
        }
    }
}

impl PointFacts {
    fn io_per_s(&self) -> f64 {
        if self.duration_ns > 0.0 { self.completed as f64 / (self.duration_ns / 1e9) } else { 0.0 }
    }
}

/// Checks all rules, and returns a finding for each that is broken.
pub fn check_laws(facts: &PointFacts) -> Vec<Finding> {
    [
        little(facts),
        depth(facts),
        unsettled(facts),
        conservation(facts),
        histogram_sum(facts),
        bytes(facts),
        kernel(facts),
        kernel_below_file(facts),
        link(facts),
        ceiling(facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// L = λ·W (Little 1961). The parts of latencies outside the window are cut off, so that the law
/// holds exactly for every window and not only on average.
fn little(facts: &PointFacts) -> Option<Finding> {
    let (integral, latency) = (facts.in_flight_integral_ns, facts.latency_in_window_ns);
    let difference = (integral - latency).abs() / integral.max(latency).max(1.0);
    (difference > LITTLE_MAX).then(|| {
        Finding::invalid(Code::LittlesLaw)
            .value("integral_ns", integral)
            .value("latency_sum_ns", latency)
            .value("difference", difference)
    })
}

fn depth(facts: &PointFacts) -> Option<Finding> {
    let asked = facts.queue_depth_asked?;
    if facts.duration_ns <= 0.0 {
        return None;
    }
    let mean = facts.in_flight_integral_ns / facts.duration_ns;
    (mean < DEPTH_MIN * asked)
        .then(|| Finding::invalid(Code::DepthNotReached).value("asked", asked).value("mean", mean))
}

/// L = λ·W with the whole latencies, as reported. Requests cut off by the end of the window are
/// missing from them. At its beginning the window gets less back, if the queue was not yet full
/// when those requests were issued. Each edge holds L requests. With latencies that vary as much as
/// an exponential distribution, the difference of the edges has a standard deviation of √(2·L)
/// times the mean latency.
fn unsettled(facts: &PointFacts) -> Option<Finding> {
    let (sum, integral) = (facts.latency_completed_ns?, facts.in_flight_integral_ns);
    let completed = facts.completed as f64;
    if completed <= 0.0 || integral <= 0.0 || facts.duration_ns <= 0.0 {
        return None;
    }
    let in_flight = integral / facts.duration_ns;
    let chance = CHANCE * (2.0 * in_flight).sqrt() / completed;
    let missing = 1.0 - sum / integral;
    if missing <= UNSETTLED_REMARK + chance {
        return None;
    }
    let is_invalid = missing > UNSETTLED_INVALID + chance;
    let severity = if is_invalid { Severity::Invalid } else { Severity::Remark };
    let finding = Finding::new(Code::QueueUnsettled, severity);
    Some(
        finding
            .value("mean_ns", sum / completed)
            .value("settled_ns", integral / completed)
            .value("share", missing),
    )
}

fn conservation(facts: &PointFacts) -> Option<Finding> {
    let counted = facts.completed + facts.failed + facts.outside + facts.abandoned;
    (counted != facts.issued).then(|| unequal(label::COUNTS[0], facts.issued, counted))
}

fn histogram_sum(facts: &PointFacts) -> Option<Finding> {
    (facts.histogram_sum != facts.completed)
        .then(|| unequal(label::COUNTS[1], facts.completed, facts.histogram_sum))
}

fn unequal(law: &str, expected: u64, counted: u64) -> Finding {
    Finding::invalid(Code::Conservation)
        .label("law", law)
        .value("expected", expected as f64)
        .value("counted", counted as f64)
}

fn bytes(facts: &PointFacts) -> Option<Finding> {
    let expected = facts.bytes_expected?;
    (expected != facts.bytes).then(|| {
        Finding::invalid(Code::BytesLaw)
            .value("expected_bytes", expected as f64)
            .value("counted_bytes", facts.bytes as f64)
    })
}

fn kernel(facts: &PointFacts) -> Option<Finding> {
    let kernel = facts.kernel_bytes? as f64;
    let ours = facts.our_bytes_in_kernel_span as f64;
    let of_bytes = (kernel - ours) / ours.max(1.0);
    // The kernel may merge requests, so that too few I/Os mean nothing; too many are foreign.
    let of_ios = facts
        .ios_in_kernel_span
        .map_or(0.0, |(kernel, ours)| (kernel as f64 - ours as f64) / (ours as f64).max(1.0));
    let share = if of_bytes < -KERNEL_REMARK { of_bytes } else { of_bytes.max(of_ios) };
    if share.abs() <= KERNEL_REMARK {
        return None;
    }
    let code = if share > 0.0 { Code::ForeignIo } else { Code::KernelSawLess };
    let severity = if share.abs() > KERNEL_INVALID { Severity::Invalid } else { Severity::Remark };
    let finding = Finding::new(code, severity);
    Some(finding.value("kernel_bytes", kernel).value("our_bytes", ours).value("share", share))
}

/// Below a file, the file system has I/O of its own, and others use the same device: an excess
/// weighs less than on a device used by qdepth alone. A shortfall means that a cache answered, or
/// that no storage was involved.
fn kernel_below_file(facts: &PointFacts) -> Option<Finding> {
    let below = facts.below_file?;
    let ours = facts.our_bytes_in_kernel_span as f64;
    let (own, foreign) = below.own_and_foreign(ours);
    let more = (below.read + below.written) as f64 - ours;
    let share = |bytes: f64| bytes / ours.max(1.0);
    let less = share(ours - own);
    let (code, severity, difference) = if less > KERNEL_INVALID {
        (Code::KernelSawLess, Severity::Invalid, own - ours)
    } else if less > KERNEL_REMARK {
        (Code::KernelSawLess, Severity::Remark, own - ours)
    } else if more < FILE_FOREIGN_BYTES || share(more) <= FILE_FOREIGN_REMARK {
        return None;
    } else if share(foreign) > FILE_FOREIGN_INVALID {
        (Code::ForeignIo, Severity::Invalid, more)
    } else if share(foreign.max(more - ours * FILE_FOREIGN_INVALID)) > FILE_FOREIGN_REMARK {
        (Code::ForeignIo, Severity::Remark, more)
    } else {
        return None;
    };
    let finding = Finding::new(code, severity).value("kernel_bytes", ours + difference);
    Some(finding.value("our_bytes", ours).value("share", share(difference)))
}

fn link(facts: &PointFacts) -> Option<Finding> {
    let limit = facts.link_bytes_per_s?;
    let rate = facts.bytes as f64 / (facts.duration_ns / 1e9).max(1e-9);
    (rate > limit).then(|| {
        Finding::invalid(Code::AboveLinkLimit)
            .value("mib_per_s", rate / f64::from(1 << 20))
            .value("link_mib_per_s", limit / f64::from(1 << 20))
    })
}

fn ceiling(facts: &PointFacts) -> Option<Finding> {
    let ceiling = facts.ceiling_io_per_s?;
    let rate = facts.io_per_s();
    let ratio = ceiling / rate.max(1e-9);
    if ratio >= CEILING_REMARK {
        return None;
    }
    let severity = if ratio < CEILING_INVALID { Severity::Invalid } else { Severity::Remark };
    let finding = Finding::new(Code::GeneratorCeiling, severity);
    Some(finding.value("ceiling_io_per_s", ceiling).value("io_per_s", rate).value("ratio", ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Grade;

    fn lawful() -> PointFacts {
        PointFacts {
            duration_ns: 1e9,
            queue_depth_asked: Some(8.0),
            in_flight_integral_ns: 8e9,
            latency_in_window_ns: 8e9,
            latency_completed_ns: Some(8e9),
            issued: 1010,
            completed: 1000,
            failed: 0,
            outside: 10,
            abandoned: 0,
            histogram_sum: 1000,
            bytes: 8_192_000,
            bytes_expected: Some(8_192_000),
            kernel_bytes: Some(8_273_920),
            our_bytes_in_kernel_span: 8_273_920,
            ios_in_kernel_span: Some((1010, 1010)),
            below_file: Some(BelowFile { read: 8_400_000, written: 0, read_share: 1.0 }),
            link_bytes_per_s: Some(1e9),
            ceiling_io_per_s: Some(1e6),
        }
    }

    #[test]
    fn lawful_point_has_no_findings() {
        assert_eq!(check_laws(&lawful()), []);
    }

    #[test]
    fn each_broken_law_is_found_alone() {
        let file = |read, written, read_share| PointFacts {
            below_file: Some(BelowFile { read, written, read_share }),
            ..lawful()
        };
        let broken = [
            (PointFacts { latency_in_window_ns: 7.9e9, ..lawful() }, Code::LittlesLaw),
            (
                PointFacts {
                    in_flight_integral_ns: 7.91e9,
                    latency_in_window_ns: 7.91e9,
                    ..lawful()
                },
                Code::DepthNotReached,
            ),
            (PointFacts { latency_completed_ns: Some(6.2e9), ..lawful() }, Code::QueueUnsettled),
            (PointFacts { issued: 1011, ..lawful() }, Code::Conservation),
            (PointFacts { histogram_sum: 999, ..lawful() }, Code::Conservation),
            (PointFacts { bytes: 8_191_999, ..lawful() }, Code::BytesLaw),
            (PointFacts { kernel_bytes: Some(8_500_000), ..lawful() }, Code::ForeignIo),
            (PointFacts { ios_in_kernel_span: Some((1040, 1010)), ..lawful() }, Code::ForeignIo),
            (PointFacts { kernel_bytes: Some(4096), ..lawful() }, Code::KernelSawLess),
            (file(8_000_000, 0, 1.0), Code::KernelSawLess),
            (file(8_000_000, 9_000_000, 1.0), Code::KernelSawLess),
            (file(30_000_000, 0, 1.0), Code::ForeignIo),
            (file(8_273_920, 3_000_000, 1.0), Code::ForeignIo),
            (file(9_000_000, 8_000_000, 0.0), Code::KernelSawLess),
            (file(3_000_000, 8_273_920, 0.0), Code::ForeignIo),
            (file(0, 20_000_000, 0.0), Code::ForeignIo),
            (file(4_000_000, 4_000_000, 0.5), Code::KernelSawLess),
            (file(10_000_000, 10_000_000, 0.5), Code::ForeignIo),
            (PointFacts { link_bytes_per_s: Some(8e6), ..lawful() }, Code::AboveLinkLimit),
            (PointFacts { ceiling_io_per_s: Some(1999.0), ..lawful() }, Code::GeneratorCeiling),
        ];
        for (facts, code) in broken {
            let findings = check_laws(&facts);
            assert_eq!(findings.iter().map(|f| f.code).collect::<Vec<_>>(), [code]);
            assert_eq!(findings[0].check(false), Ok(()));
            assert_eq!(Grade::from_findings(&findings), Grade::C, "{code}");
        }
    }

    #[test]
    fn file_system_overhead_is_at_most_a_remark() {
        let severity = |read, written, read_share| {
            let below_file = Some(BelowFile { read, written, read_share });
            let findings = check_laws(&PointFacts { below_file, ..lawful() });
            findings.first().map(|finding| (finding.code, finding.severity))
        };
        assert_eq!(severity(0, 9_000_000, 0.0), None);
        assert_eq!(severity(0, 14_000_000, 0.0), Some((Code::ForeignIo, Severity::Remark)));
        assert_eq!(severity(4_000_000, 5_000_000, 0.5), None);
        // Another program writes while the load reads.
        assert_eq!(severity(8_273_920, 1_500_000, 1.0), Some((Code::ForeignIo, Severity::Remark)));
    }

    #[test]
    fn small_random_latency_difference_is_no_finding() {
        let severity = |share: f64, completed: u64| {
            let facts = PointFacts {
                latency_completed_ns: Some(8e9 * share),
                completed,
                histogram_sum: completed,
                ..lawful()
            };
            unsettled(&facts).map(|finding| finding.severity)
        };
        assert_eq!(severity(0.96, 1000), None);
        assert_eq!(severity(0.9, 1000), Some(Severity::Remark));
        assert_eq!(severity(0.75, 1000), Some(Severity::Invalid));
        // With eight I/Os in flight and forty in all, a quarter can be chance.
        assert_eq!(severity(0.75, 40), None);
        assert_eq!(severity(1.3, 1000), None);
    }

    /// 100 points with 1 % of foreign I/O, as Poisson arrivals of small requests, and 100 without:
    /// docs/method/thresholds.md requires that at least 99 % are found, and no false alarm.
    #[test]
    fn one_percent_foreign_io_is_found_reliably() {
        let mut draws = crate::SplitMix(7);
        let mut draw = || draws.share();
        let mut point = |foreign_share: f64| {
            let ours = 20_000 + (draw() * 180_000.0) as u64;
            // A normal draw of the Poisson number, by twelve uniform ones (Irwin and Hall).
            let mean = ours as f64 * foreign_share;
            let normal = (0..12).map(|_| draw()).sum::<f64>() - 6.0;
            let foreign = (mean + mean.sqrt() * normal).max(0.0) as u64;
            let merged = (draw() * 0.001 * ours as f64) as u64 * u64::from(foreign_share <= 0.0);
            let facts = PointFacts {
                kernel_bytes: Some(ours * 65_536 + foreign * 4096),
                our_bytes_in_kernel_span: ours * 65_536,
                ios_in_kernel_span: Some((ours + foreign - merged, ours)),
                ..lawful()
            };
            kernel(&facts).is_some_and(|finding| finding.code == Code::ForeignIo)
        };
        let found = (0..100).filter(|_| point(0.01)).count();
        let invented = (0..100).filter(|_| point(0.0)).count();
        assert!(found >= 99 && invented == 0, "{found} found, {invented} invented");
    }

    #[test]
    fn rate_near_ceiling_is_a_remark() {
        let findings = check_laws(&PointFacts { ceiling_io_per_s: Some(9000.0), ..lawful() });
        assert_eq!(Grade::from_findings(&findings), Grade::B);
    }
}
