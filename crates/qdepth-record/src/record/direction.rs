//! Fields of one direction of a point, one row each.

use qdepth_measure::LatencyHistogram;

use super::{ErrorCount, StatedLatency};
use crate::fields::record;
use crate::merged::{keep_first, sum};

record! {
    /// Results of one direction (reads, writes, trims or syncs) of a point in the measured window.
    record DirectionRecord in "direction" and &[], merged;
    completed "I/Os completed in full."
        kept u64 = "completed": sum,;
    bytes "Bytes of those."
        kept u64 = "bytes": sum,;
    errors "I/Os that failed; in no rate and no latency."
        part Vec<ErrorCount>: errors,;
    short "Transfers that came back short and were completed by further requests."
        kept u64 = "short": sum,;
    latency "Histogram of completed − issued."
        kept LatencyHistogram = "latency": histogram,;
    response_time "Histogram of completed − intended; NULL in a closed loop, where it would equal \
                   the latency."
        kept Option<LatencyHistogram> = "response_time": response_time,;
    // Only points that are never merged have statistics of other programs.
    stated "Imported results: latencies reported by the other program, as JSON (`count`, `min_ns`, \
            `mean_ns`, `max_ns`, `percentiles` as pairs of quantile and nanoseconds). The \
            histogram is then empty."
        kept Option<StatedLatency> = "stated": keep_first,;
}

fn errors(sum: &mut Vec<ErrorCount>, part: &[ErrorCount]) {
    for ErrorCount { errno, count } in part {
        match sum.iter_mut().find(|error| error.errno == *errno) {
            Some(error) => error.count = error.count.saturating_add(*count),
            None => sum.push(ErrorCount { errno: *errno, count: *count }),
        }
    }
}

fn histogram(sum: &mut LatencyHistogram, part: &LatencyHistogram) {
    sum.merge(part);
}

fn response_time(sum: &mut Option<LatencyHistogram>, part: &Option<LatencyHistogram>) {
    if let Some(part) = part {
        sum.get_or_insert_default().merge(part);
    }
}
