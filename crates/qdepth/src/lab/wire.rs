//! The books of a rank as bytes, for the leader: counts, histograms and series, exactly.

use qdepth_engine::{Ended, Interval, Outcome, TargetFailure};
use qdepth_measure::{EncodedHistogram, LatencyHistogram, Nanos};

use crate::lab::execute::Rank;

/// What the workers of a rank found of each point of a group.
pub(crate) type Books = Vec<Vec<(Outcome, Rank)>>;

/// As bytes.
pub(crate) fn write(books: &Books) -> Vec<u8> {
    let mut out = Vec::new();
    number(&mut out, books.len() as u64);
    for of_point in books {
        number(&mut out, of_point.len() as u64);
        for (outcome, rank) in of_point {
            write_outcome(&mut out, outcome);
            for value in [rank.bytes, rank.transfers, rank.moved.0, rank.opened.0, rank.closed.0] {
                number(&mut out, value);
            }
        }
    }
    out
}

fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn histogram(out: &mut Vec<u8>, histogram: &LatencyHistogram) {
    let mut encoded = Vec::new();
    histogram.encode(&mut encoded);
    bytes(out, &encoded);
}

fn write_outcome(out: &mut Vec<u8>, outcome: &Outcome) {
    for direction in &outcome.directions {
        for value in [direction.completed, direction.bytes, direction.short] {
            number(out, value);
        }
        let kinds: Vec<(i32, u64)> = direction.errors.kinds().collect();
        number(out, kinds.len() as u64);
        for (errno, count) in kinds {
            number(out, errno as u64);
            number(out, count);
        }
        histogram(out, &direction.service_time);
    }
    let counts = [
        outcome.duration.0,
        outcome.issued,
        outcome.completed_outside,
        outcome.bytes_outside,
        outcome.failed_outside,
        outcome.abandoned,
        outcome.in_flight_integral.to_bits(),
        outcome.latency_in_window.to_bits(),
        outcome.longest_gap.0,
        outcome.gaps[0],
        outcome.gaps[1],
        outcome.gaps[2],
        outcome.backlog_max,
        outcome.cpu.user.0,
        outcome.cpu.system.0,
        outcome.series.lost,
        u64::from(outcome.interrupted),
        ended_number(outcome.ended),
    ];
    counts.map(|value| number(out, value)).iter().for_each(|()| {});
    let failure = outcome.failure.as_ref().map(ToString::to_string).unwrap_or_default();
    bytes(out, failure.as_bytes());
    number(out, outcome.series.intervals().len() as u64);
    for (index, interval) in outcome.series.intervals().iter().enumerate() {
        let Interval { start, length, completed, service_time_sum, .. } = interval;
        for value in [start.0, length.0, completed[0], completed[1]] {
            number(out, value);
        }
        for value in [interval.bytes[0], interval.bytes[1], *service_time_sum] {
            number(out, value);
        }
        for EncodedHistogram(encoded) in outcome.series.histograms(index) {
            bytes(out, &encoded);
        }
    }
}

fn ended_number(ended: Ended) -> u64 {
    match ended {
        Ended::Bytes => 1,
        Ended::Interrupted => 2,
        Ended::Failure => 3,
        _ => 0,
    }
}

/// Reads what [`write`] wrote; none where it is cut off or is something else.
pub(crate) fn read(mut input: &[u8]) -> Option<Books> {
    let input = &mut input;
    let mut books = Vec::new();
    for _ in 0..take(input)? {
        let mut of_point = Vec::new();
        for _ in 0..take(input)? {
            let outcome = read_outcome(input)?;
            let rank = Rank {
                bytes: take(input)?,
                transfers: take(input)?,
                moved: Nanos(take(input)?),
                opened: Nanos(take(input)?),
                closed: Nanos(take(input)?),
            };
            of_point.push((outcome, rank));
        }
        books.push(of_point);
    }
    input.is_empty().then_some(books)
}

fn take(input: &mut &[u8]) -> Option<u64> {
    let (first, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(u64::from_le_bytes(*first))
}

fn take_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(input)?).ok()?;
    let (first, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(first)
}

fn take_histogram(input: &mut &[u8]) -> Option<LatencyHistogram> {
    let bytes = take_bytes(input)?;
    EncodedHistogram(bytes.to_vec()).decode().ok()
}

fn read_outcome(input: &mut &[u8]) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    for direction in &mut outcome.directions {
        direction.completed = take(input)?;
        direction.bytes = take(input)?;
        direction.short = take(input)?;
        for _ in 0..take(input)? {
            let errno = take(input)? as i32;
            direction.errors.count_many(errno, take(input)?);
        }
        direction.service_time = take_histogram(input)?;
    }
    outcome.duration = Nanos(take(input)?);
    outcome.issued = take(input)?;
    outcome.completed_outside = take(input)?;
    outcome.bytes_outside = take(input)?;
    outcome.failed_outside = take(input)?;
    outcome.abandoned = take(input)?;
    outcome.in_flight_integral = f64::from_bits(take(input)?);
    outcome.latency_in_window = f64::from_bits(take(input)?);
    outcome.longest_gap = Nanos(take(input)?);
    outcome.gaps = [take(input)?, take(input)?, take(input)?];
    outcome.backlog_max = take(input)?;
    outcome.cpu.user = Nanos(take(input)?);
    outcome.cpu.system = Nanos(take(input)?);
    outcome.series.lost = take(input)?;
    outcome.interrupted = take(input)? != 0;
    outcome.ended = match take(input)? {
        1 => Ended::Bytes,
        2 => Ended::Interrupted,
        3 => Ended::Failure,
        _ => Ended::Duration,
    };
    let failure = String::from_utf8(take_bytes(input)?.to_vec()).ok()?;
    outcome.failure = (!failure.is_empty()).then_some(TargetFailure::Broken(failure));
    for _ in 0..take(input)? {
        let mut interval = Interval::default();
        interval.start = Nanos(take(input)?);
        interval.length = Nanos(take(input)?);
        interval.completed = [take(input)?, take(input)?];
        interval.bytes = [take(input)?, take(input)?];
        interval.service_time_sum = take(input)?;
        let histograms = [take_histogram(input)?, take_histogram(input)?];
        outcome.series.push(interval, &histograms);
    }
    Some(outcome)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use qdepth_cluster::{Team, ThreadWire, threads};
    use qdepth_engine::scripted::{ScriptedTarget, Service};
    use qdepth_engine::{join, measure};
    use qdepth_media::{OpenMedia, Spelled};
    use qdepth_workload::{Choices, Extent, PlanFile, TargetShape, resolve, shipped_plan_text};

    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_off_is_not() {
        let file: PlanFile = toml::from_str(shipped_plan_text("quick").unwrap()).unwrap();
        let whole = Extent { offset_bytes: 0, length_bytes: 1 << 30 };
        let shape = TargetShape::whole(whole, 512);
        let plan = resolve(&file, &Choices::default(), &[shape]).unwrap();
        let mut target = ScriptedTarget::new(8, Service::Fixed(Nanos::from_micros(700)), 1);
        let never = AtomicBool::new(false);
        let mut outcome = measure(&mut target, &plan.points[1], &never, &mut |_| {});
        outcome.directions[0].errors.count(5);
        assert!(outcome.completed() > 100 && outcome.series.intervals().len() > 10);
        let rank = Rank { bytes: 7, moved: Nanos(9), ..Rank::default() };
        let bytes = write(&vec![vec![(outcome.clone(), rank)], Vec::new()]);
        let books = read(&bytes).unwrap();
        assert_eq!(books.len(), 2);
        assert_eq!(books[0][0].0, outcome);
        assert_eq!((books[0][0].1.bytes, books[0][0].1.moved), (7, Nanos(9)));
        for length in (0..bytes.len()).step_by(97) {
            assert!(read(&bytes[..length]).is_none(), "{length} of {}", bytes.len());
        }
    }

    /// So many ranks as threads, each on an emulated drive of its own: their books as the leader
    /// has them, and all of them joined where they were made.
    fn ranks(size: u32) -> (Outcome, Outcome) {
        let text = "name = \"t\"\nprofiles = [\"database\"]\noutstanding = [4]\nwarm_up = \"1ms\"\nduration = \"10ms\"\n";
        let file: PlanFile = toml::from_str(text).unwrap();
        let spelled = Spelled::read("media:p3700-800gb").unwrap();
        let shape: TargetShape = spelled.shape().unwrap().into();
        let rank = |mut team: Team<ThreadWire>| {
            let choices = Choices { seed: Some(u64::from(team.rank())), ..Choices::default() };
            let plan = resolve(&file, &choices, &[shape]).unwrap();
            let point = &plan.points[0];
            let mut target = spelled.open(&OpenMedia::for_point(point)).unwrap();
            let outcome = measure(&mut target, point, &AtomicBool::new(false), &mut |_| {});
            if !team.leads() {
                team.give(&write(&vec![vec![(outcome.clone(), Rank::default())]]));
                return (outcome, Vec::new());
            }
            let given = team.gather(&|| false).into_iter();
            let theirs = given.map(|bytes| read(&bytes.unwrap()).unwrap().remove(0).remove(0).0);
            (outcome.clone(), std::iter::once(outcome).chain(theirs).collect())
        };
        let mut all: Vec<(Outcome, Vec<Outcome>)> = std::thread::scope(|scope| {
            let ends = threads(size, || qdepth_linux::now().0).into_iter();
            let running: Vec<_> = ends.map(|end| scope.spawn(|| rank(Team::new(end)))).collect();
            running.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let merged = join(std::mem::take(&mut all[0].1));
        (merged, join(all.into_iter().map(|(own, _)| own).collect()))
    }

    #[test]
    fn a_thousand_ranks_are_merged_exactly_and_in_linear_time() {
        let timed = |size| {
            let before = qdepth_linux::now();
            let (merged, single) = ranks(size);
            assert_eq!(merged, single);
            assert!(merged.completed() > u64::from(size) * 100);
            qdepth_linux::now().since(before).0 as f64
        };
        timed(50);
        let (some, all) = (timed(250), timed(1000));
        println!("250 ranks in {:.0} ms, 1000 in {:.0} ms", some / 1e6, all / 1e6);
        // Four times as many; a quadratic merge would take sixteen times as long.
        assert!(all < 10.0 * some, "{some} ns, {all} ns");
    }
}
