//! Compares claims with an oracle that draws values from the intervals: a claim must hold for every
//! draw.

use proptest::prelude::*;

use super::{
    CurvePoint, CurveShape, RoundedValue, Tail, TargetRelation, between, enough, line_statements,
    statement,
};

/// A line of up to ten queue depths: a shape with noise, intervals of various widths, some missing.
fn lines() -> impl Strategy<Value = Vec<CurvePoint>> {
    let point = (0.2f64..3.0, 0.0f64..0.08, prop::bool::weighted(0.93));
    let shape = prop_oneof![Just(0.0), Just(0.6), Just(1.0), Just(-0.5)];
    (prop::collection::vec(point, 1..=10), shape, 10.0f64..1e6).prop_map(
        |(points, slope, scale)| {
            let at = |(index, (noise, half, known)): (usize, (f64, f64, bool))| {
                let value = scale * 2f64.powf(slope * index as f64) * (1.0 + 0.02 * noise);
                let interval = known.then_some((value * (1.0 - half), value * (1.0 + half)));
                CurvePoint { queue_depth: 1 << index, value, interval }
            };
            points.into_iter().enumerate().map(at).collect()
        },
    )
}

/// Saturating lines, typical of storage.
fn saturating() -> impl Strategy<Value = Vec<CurvePoint>> {
    (10.0f64..1e6, 1u32..9, 0.0f64..0.02, -0.2f64..0.02).prop_map(|(top, knee, half, tail)| {
        let at = |index: u32| {
            let rise = f64::from(1 << index.min(knee)) / f64::from(1 << knee);
            let value = top * rise * (1.0 + tail * f64::from(index.saturating_sub(knee)) / 9.0);
            CurvePoint {
                queue_depth: 1 << index,
                value,
                interval: Some((value * (1.0 - half), value * (1.0 + half))),
            }
        };
        (0..10).map(at).collect()
    })
}

/// Values drawn from the intervals; values without an interval stay.
fn draw(points: &[CurvePoint], shares: &[f64]) -> Vec<f64> {
    let value = |(at, share): (&CurvePoint, &f64)| {
        at.interval.map_or(at.value, |(low, high)| low + share * (high - low))
    };
    points.iter().zip(shares).map(value).collect()
}

fn holds_for(points: &[CurvePoint], values: &[f64]) -> Result<(), TestCaseError> {
    let line = line_statements(points).expect("points");
    let index = points.iter().position(|at| *at == line.largest).expect("the largest is a point");
    prop_assert!(points.iter().all(|at| at.value <= line.largest.value));
    let slack = 1.0 + 1e-9;
    match line.shape {
        CurveShape::Single => prop_assert_eq!(points.len(), 1),
        CurveShape::Level(share) => {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(high <= (1.0 + share) * low * slack);
        }
        CurveShape::Rises { evenly } => {
            prop_assert!(values[index] > values[0]);
            if evenly {
                prop_assert!(values[..=index].windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
        CurveShape::Falls => prop_assert!(index == 0 && values[values.len() - 1] < values[0]),
        CurveShape::Open => {}
    }
    match line.tail {
        Tail::Plateau(from, share) => {
            for (at, value) in points.iter().zip(values).filter(|(at, _)| at.queue_depth >= from) {
                prop_assert!(*value * slack >= (1.0 - share) * values[index], "{at:?}");
            }
        }
        Tail::Drops => prop_assert!(values[values.len() - 1] < 0.96 * values[index]),
        Tail::Nothing => {}
    }
    if let Some(enough) = enough(points) {
        let at =
            points.iter().position(|at| at.queue_depth == enough.queue_depth).expect("a point");
        prop_assert!(values[at] * slack >= enough.share * values[index]);
        prop_assert!(enough.queue_depth * 2 <= line.largest.queue_depth);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn claims_hold_for_any_value_in_the_intervals(
        points in prop_oneof![lines(), saturating()],
        shares in prop::collection::vec(0.0f64..=1.0, 10),
    ) {
        holds_for(&points, &draw(&points, &shares))?;
        holds_for(&points, &draw(&points, &[0.0; 10]))?;
        holds_for(&points, &draw(&points, &[1.0; 10]))?;
    }

    #[test]
    fn comparisons_hold_for_any_value_in_the_intervals(
        first in saturating(), second in saturating(),
        near in 0.9f64..1.1, alike in any::<bool>(),
        shares in prop::collection::vec(0.0f64..=1.0, 20),
    ) {
        let second: Vec<CurvePoint> = if alike {
            let moved = |at: &CurvePoint| CurvePoint {
                value: at.value * near,
                interval: at.interval.map(|(low, high)| (low * near, high * near)),
                ..*at
            };
            first.iter().map(moved).collect()
        } else {
            second
        };
        let values = [draw(&first, &shares[..10]), draw(&second, &shares[10..])];
        let top = |line: &[CurvePoint], values: &[f64]| {
            let by_value = |a: &usize, b: &usize| line[*a].value.total_cmp(&line[*b].value);
            let index = (0..line.len()).max_by(|a, b| by_value(a, b).then(b.cmp(a)));
            values[index.expect("points")]
        };
        let lines = [first, second];
        match between(&lines) {
            TargetRelation::Alike(share) => {
                for (a, b) in values[0].iter().zip(&values[1]) {
                    prop_assert!(a.max(*b) <= (1.0 + share) * a.min(*b) * (1.0 + 1e-9));
                }
            }
            TargetRelation::Above(best, worst, _, least) => {
                let [above, below] = [best, worst].map(|line| top(&lines[line], &values[line]));
                let quotient = above / below;
                prop_assert!(quotient >= least * (1.0 - 1e-9) && least > 1.0);
            }
            TargetRelation::WithinIntervals | TargetRelation::Unknown => {}
        }
    }

    #[test]
    fn rounded_value_agrees_with_its_interval(
        value in 1e-3f64..1e9,
        half in 0.0f64..0.2,
        known in any::<bool>(),
    ) {
        let interval = known.then_some((value * (1.0 - half), value * (1.0 + half)));
        let (round, within) = match statement(&CurvePoint { queue_depth: 1, value, interval }) {
            RoundedValue::Plain(round) => (round, known && half <= 0.0051),
            RoundedValue::About(round) => (round, true),
            RoundedValue::Under(round) => (round, value * (1.0 + half) < round),
            RoundedValue::Over(round) => (round, value * (1.0 - half) > round),
        };
        prop_assert!(within && (round / value - 1.0).abs() <= 0.0151, "{round} for {value}");
    }
}

#[test]
fn saturating_curve_is_described_correctly() {
    let at = |queue_depth, value: f64| CurvePoint {
        queue_depth,
        value,
        interval: Some((value * 0.997, value * 1.003)),
    };
    let values = [
        9_980.0, 19_900.0, 39_500.0, 78_000.0, 140_000.0, 190_000.0, 194_000.0, 194_800.0,
        194_500.0,
    ];
    let points: Vec<CurvePoint> =
        values.iter().enumerate().map(|(n, value)| at(1 << n, *value)).collect();
    let line = line_statements(&points).unwrap();
    assert_eq!(line.shape, CurveShape::Rises { evenly: false });
    assert_eq!(line.tail, Tail::Plateau(32, 0.05));
    assert_eq!(statement(&points[0]), RoundedValue::Plain(10_000.0));
    assert_eq!(statement(&at(64, 194_000.0)), RoundedValue::Plain(194_000.0));
    assert_eq!(statement(&at(64, 198_000.0)), RoundedValue::Under(200_000.0));
    let bare = |at: &CurvePoint| CurvePoint { interval: None, ..*at };
    let bare: Vec<CurvePoint> = points.iter().map(bare).collect();
    let line = line_statements(&bare).unwrap();
    assert_eq!((line.shape, line.tail), (CurveShape::Open, Tail::Nothing));
}

#[test]
fn tied_maximum_is_reached_at_lowest_depth() {
    let at = |queue_depth, value: f64| CurvePoint {
        queue_depth,
        value,
        interval: Some((value * 0.997, value * 1.003)),
    };
    let line = line_statements(&[at(1, 100.0), at(8, 199.0), at(32, 200.0), at(512, 200.1)]);
    let line = line.unwrap();
    assert_eq!((line.reached.queue_depth, line.largest.queue_depth), (32, 512));
}
