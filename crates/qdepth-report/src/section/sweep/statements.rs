//! Claims that the figures of a diagram support: they hold for all values within the intervals. A
//! value without an interval supports no comparison.

use crate::view::{Load, View};

/// Shares that a claim may state; the smallest that holds is used.
const SHARES: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];
/// Smallest fall and smallest lead that are mentioned, as shares.
pub(crate) const NOTEWORTHY: f64 = 0.01;
/// Largest relative distance of a plateau from the maximum.
const PLATEAU: f64 = 0.05;

/// A value at a queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CurvePoint {
    /// Queue depth.
    pub(crate) queue_depth: u32,
    /// IOPS or MiB/s.
    pub(crate) value: f64,
    /// 95 % interval.
    pub(crate) interval: Option<(f64, f64)>,
}

impl CurvePoint {
    /// True if the value is certainly below the other.
    fn below(&self, other: &Self) -> bool {
        matches!((self.interval, other.interval), (Some((_, high)), Some((low, _))) if high < low)
    }
}

/// Shape of a line from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CurveShape {
    /// A single point.
    Single,
    /// All values are within this share of the smallest.
    Level(f64),
    /// The largest value is certainly above the first.
    Rises {
        /// True if each step up to the largest is above the one before.
        evenly: bool,
    },
    /// The first value is the largest, and the last is certainly below it.
    Falls,
    /// None of these is certain.
    Open,
}

/// Course of a curve after its largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tail {
    /// From this queue depth to the last, all values are within this share of the largest.
    Plateau(u32, f64),
    /// The last value is below the largest by more than the share of a plateau.
    Drops,
    /// Neither is certain, or the largest value is the last.
    Nothing,
}

/// Claims about a curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) first: CurvePoint,
    pub(crate) last: CurvePoint,
    /// The largest point; the first of equal ones.
    pub(crate) largest: CurvePoint,
    /// The first point that may be the largest, by the interval of the largest.
    pub(crate) reached: CurvePoint,
    pub(crate) shape: CurveShape,
    pub(crate) tail: Tail,
    /// The lowest point that is certainly below an earlier one and a later one.
    pub(crate) dip: Option<CurvePoint>,
}

/// Valid points of a load on a target, by ascending queue depth.
pub(crate) fn line(load: &Load<'_>, target: u32) -> Vec<CurvePoint> {
    let valid = load.on(target).filter(|point| point.is_valid());
    let at = valid.map(|point| CurvePoint {
        queue_depth: point.record.queue_depth,
        value: point.main().value,
        interval: point.main().interval,
    });
    at.collect()
}

fn largest(points: &[CurvePoint]) -> Option<(usize, CurvePoint)> {
    let better = |best: Option<(usize, CurvePoint)>, (index, at): (usize, &CurvePoint)| match best {
        Some((_, known)) if known.value >= at.value => best,
        _ => Some((index, *at)),
    };
    points.iter().enumerate().fold(None, better)
}

/// Claims about these points; `None` without points.
pub(crate) fn line_statements(points: &[CurvePoint]) -> Option<Line> {
    let (first, last) = (points.first()?, points.last()?);
    let (index, largest) = largest(points)?;
    let shape = if points.len() == 1 {
        CurveShape::Single
    } else if let Some(share) = spread(points.iter()) {
        CurveShape::Level(share)
    } else if first.below(&largest) {
        let steps = points[..=index].windows(2);
        CurveShape::Rises { evenly: index > 1 && steps.clone().all(|pair| pair[0].below(&pair[1])) }
    } else if index == 0 && last.below(first) {
        CurveShape::Falls
    } else {
        CurveShape::Open
    };
    let tail =
        if matches!(shape, CurveShape::Rises { .. }) { tail(points, index) } else { Tail::Nothing };
    // A dip within the share of a level line or of a plateau is already covered by that claim.
    let within = match (shape, tail) {
        (CurveShape::Level(_), _) => 0,
        (_, Tail::Plateau(from, _)) => {
            points.iter().position(|at| at.queue_depth >= from).unwrap_or(points.len())
        }
        _ => points.len(),
    };
    let dip = dip(points, within);
    let is_reached = |at: &&CurvePoint| largest.interval.is_some_and(|(low, _)| at.value >= low);
    let reached = points.iter().find(is_reached).copied().unwrap_or(largest);
    Some(Line { first: *first, last: *last, largest, reached, shape, tail, dip })
}

/// The lowest of the first `within` points that is certainly below an earlier and a later point, by
/// more than a sentence may omit.
fn dip(points: &[CurvePoint], within: usize) -> Option<CurvePoint> {
    let above = |other: &CurvePoint, at: &CurvePoint| match (at.interval, other.interval) {
        (Some((_, high)), Some((low, _))) => high < (1.0 - NOTEWORTHY) * low,
        _ => false,
    };
    let falls = |index: &usize| {
        let at = &points[*index];
        points[..*index].iter().any(|before| above(before, at))
            && points[index + 1..].iter().any(|behind| above(behind, at))
    };
    let dips = (0..within.min(points.len())).filter(falls).map(|index| points[index]);
    dips.reduce(|lowest, next| if next.value < lowest.value { next } else { lowest })
}

fn tail(points: &[CurvePoint], index: usize) -> Tail {
    let (top, last) = (points[index], points[points.len() - 1]);
    let Some((low, high)) = top.interval else { return Tail::Nothing };
    let lowest_of = |points: &[CurvePoint]| {
        let ends = points.iter().map(|at| at.interval.map(|(low, _)| low));
        ends.collect::<Option<Vec<f64>>>()
            .map(|ends| ends.into_iter().fold(f64::INFINITY, f64::min))
    };
    let holds = |from: usize, share: f64| {
        lowest_of(&points[from..]).is_some_and(|lowest| lowest >= (1.0 - share) * high)
    };
    // The earliest point of the plateau, then the smallest share that holds from there.
    let from = (0..points.len().saturating_sub(1)).find(|from| holds(*from, PLATEAU));
    if let Some(from) = from.filter(|from| *from > 0 && points.len() - from >= 3) {
        let share = SHARES.into_iter().find(|share| holds(from, *share)).unwrap_or(PLATEAU);
        return Tail::Plateau(points[from].queue_depth, share);
    }
    let far = last.interval.is_some_and(|(_, high)| high < (1.0 - PLATEAU) * low);
    if far { Tail::Drops } else { Tail::Nothing }
}

/// The smallest share within which all values are, wherever each is in its interval.
fn spread<'a>(points: impl Iterator<Item = &'a CurvePoint>) -> Option<f64> {
    let intervals = points.map(|at| at.interval).collect::<Option<Vec<_>>>()?;
    let low = intervals.iter().map(|(low, _)| *low).fold(f64::INFINITY, f64::min);
    let high = intervals.iter().map(|(_, high)| *high).fold(0.0, f64::max);
    SHARES.into_iter().find(|share| low > 0.0 && high <= (1.0 + share) * low)
}

/// Relation between targets under a load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TargetRelation {
    /// At every common queue depth they are within this share of each other.
    Alike(f64),
    /// The largest value of the first is above that of the second: their indices, the ratio, and
    /// the ratio with both intervals at their unfavourable ends.
    Above(usize, usize, f64, f64),
    /// The largest values differ by no more than their intervals.
    WithinIntervals,
    /// Values without intervals support no comparison.
    Unknown,
}

/// Compares the lines of two or more targets.
pub(crate) fn between(lines: &[Vec<CurvePoint>]) -> TargetRelation {
    let tops: Option<Vec<CurvePoint>> =
        lines.iter().map(|line| largest(line).map(|(_, at)| at)).collect();
    let Some(tops) = tops.filter(|tops| tops.len() > 1) else { return TargetRelation::Unknown };
    let alike = alike(lines).map_or(TargetRelation::Unknown, TargetRelation::Alike);
    let by_value = |a: &&usize, b: &&usize| tops[**a].value.total_cmp(&tops[**b].value);
    let places: Vec<usize> = (0..tops.len()).collect();
    let (Some(best), Some(worst)) =
        (places.iter().max_by(by_value), places.iter().min_by(by_value))
    else {
        return alike;
    };
    let (Some((low, _)), Some((_, high))) = (tops[*best].interval, tops[*worst].interval) else {
        return alike;
    };
    // A noteworthy lead is stated even if all lines are near each other.
    if alike != TargetRelation::Unknown && low <= (1.0 + NOTEWORTHY) * high {
        alike
    } else if high > 0.0 && low > high {
        TargetRelation::Above(*best, *worst, tops[*best].value / tops[*worst].value, low / high)
    } else if best != worst && low <= high {
        TargetRelation::WithinIntervals
    } else {
        TargetRelation::Unknown
    }
}

/// Finds the point at which the line with the smaller maximum is certainly above the other by the
/// largest factor. `best` and `worst` are indices of lines.
pub(crate) fn crossing(
    lines: &[Vec<CurvePoint>],
    best: usize,
    worst: usize,
) -> Option<(CurvePoint, CurvePoint)> {
    let (best, worst) = (lines.get(best)?, lines.get(worst)?);
    let both = worst.iter().filter_map(|at| {
        let other = best.iter().find(|other| other.queue_depth == at.queue_depth)?;
        let (low, high) = (at.interval?.0, other.interval?.1);
        (high < (1.0 - NOTEWORTHY) * low).then_some((*other, *at))
    });
    let by = |(best, worst): &(CurvePoint, CurvePoint)| worst.value / best.value;
    both.reduce(|most, next| if by(&next) > by(&most) { next } else { most })
}

fn alike(lines: &[Vec<CurvePoint>]) -> Option<f64> {
    let (first, others) = lines.split_first()?;
    let mut widest: f64 = 0.0;
    let mut common = 0;
    for at in first {
        let same =
            |line: &Vec<CurvePoint>| line.iter().find(|o| o.queue_depth == at.queue_depth).copied();
        let Some(beside) = others.iter().map(same).collect::<Option<Vec<CurvePoint>>>() else {
            continue;
        };
        widest = widest.max(spread(std::iter::once(at).chain(&beside))?);
        common += 1;
    }
    // Queue depths that only some lines have are not compared. If most are missing, no claim is
    // made.
    let most = lines.iter().map(Vec::len).max().unwrap_or(0);
    (common > 0 && common * 2 > most).then_some(widest)
}

/// A queue depth that gives nearly all of the maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Enough {
    pub(crate) queue_depth: u32,
    /// Share of the maximum that it certainly gives.
    pub(crate) share: f64,
}

/// The lowest queue depth that certainly gives at least 90 % of the maximum; `None` if it is more
/// than half the queue depth of the maximum.
pub(crate) fn enough(points: &[CurvePoint]) -> Option<Enough> {
    let (_, top) = largest(points)?;
    let (_, most) = top.interval?;
    points.iter().filter(|at| at.queue_depth * 2 <= top.queue_depth).find_map(|at| {
        let (least, _) = at.interval?;
        let share = [0.98, 0.95, 0.90].into_iter().find(|share| least >= share * most)?;
        Some(Enough { queue_depth: at.queue_depth, share })
    })
}

/// A rounded number with its qualifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RoundedValue {
    /// Exactly this, to the given digits.
    Plain(f64),
    /// About this.
    About(f64),
    /// Slightly less than this.
    Under(f64),
    /// Slightly more than this.
    Over(f64),
}

/// Rounds to two digits if that is close enough, else to three. The qualifier follows from the
/// interval.
pub(crate) fn statement(at: &CurvePoint) -> RoundedValue {
    let rounded = |digits: i32| {
        if at.value <= 0.0 || !at.value.is_finite() {
            return at.value;
        }
        let step = 10f64.powi(at.value.log10().floor() as i32 + 1 - digits);
        (at.value / step).round() * step
    };
    let near = |round: f64| (round / at.value - 1.0).abs() <= 0.015;
    let round = [rounded(2), rounded(3)].into_iter().find(|round| near(*round)).unwrap_or(at.value);
    match at.interval {
        None => RoundedValue::About(round),
        Some((_, high)) if high < round => RoundedValue::Under(round),
        Some((low, _)) if low > round => RoundedValue::Over(round),
        Some((low, high)) if high - low <= 0.01 * at.value => RoundedValue::Plain(round),
        Some(_) => RoundedValue::About(round),
    }
}

/// Targets whose maxima are certainly above those of all others, and by which factor at least; all
/// targets without a factor if there are none. `None` for fewer than two targets, and for values
/// without an interval.
pub(crate) fn lead(view: &View<'_>, load: &Load<'_>) -> Option<(Vec<u32>, Option<f64>)> {
    let top = |target: &u32| Some((load.maximum(*target)?.main().interval?, *target));
    let mut tops: Vec<_> = view.targets.iter().map(top).collect::<Option<_>>()?;
    tops.sort_by(|(a, _), (b, _)| b.1.total_cmp(&a.1));
    let lowest = |n: usize| tops[..n].iter().map(|((low, _), _)| *low).fold(f64::MAX, f64::min);
    let count = (1..tops.len()).find(|n| lowest(*n) > tops[*n].0.1 && tops[*n].0.1 > 0.0);
    let least = count.map(|n| lowest(n) / tops[n].0.1);
    let ahead = &tops[..count.unwrap_or(tops.len())];
    let mut targets: Vec<u32> = ahead.iter().map(|(_, target)| *target).collect();
    targets.sort_unstable();
    (tops.len() > 1).then_some((targets, least))
}

#[cfg(test)]
mod tests;
