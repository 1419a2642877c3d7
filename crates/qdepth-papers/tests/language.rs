//! The language of expressions, on invented figures and on invalid texts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use qdepth_papers::{
    Class, Condition, Expression, Figures, Outcome, ParseError, PointName, Quantity,
};

/// `rate(a, x, n)` is 100 n; `rate(b, x, n)` is 100 n too, but 900 at 8; `latency` is 1 / n.
/// Target `gap` has no figure at 4.
struct ByHand;

impl Figures for ByHand {
    fn point(&self, quantity: Quantity, point: &PointName) -> Option<f64> {
        let n = f64::from(point.intensity);
        match (quantity, point.target.as_str()) {
            (Quantity::Latency, _) => Some(1.0 / n),
            (_, "gap") if point.intensity == 4 => None,
            (_, "b") if point.intensity == 8 => Some(900.0),
            (_, "a" | "b" | "gap") => Some(100.0 * n),
            _ => None,
        }
    }
}

#[track_caller]
fn value(text: &str) -> Option<f64> {
    Expression::parse(text).expect(text).value(&ByHand)
}

#[track_caller]
fn outcome(text: &str) -> Outcome {
    Condition::parse(text).expect(text).evaluate(&ByHand).outcome
}

#[test]
fn expressions_evaluate_to_known_values() {
    for (text, expected) in [
        ("rate(a, x, 8)", 800.0),
        ("2 + 3 * 4 - 6 / 2", 11.0),
        ("(2 + 3) * 4", 20.0),
        ("10 - 3 - 2", 5.0),
        ("50%", 0.5),
        ("max(rate(a, x, 1..512))", 51200.0),
        ("min(rate(a, x, {3, 33}), 500)", 300.0),
        ("mean(rate(b, x, 4..8) / rate(a, x, 4..8))", 1.0625),
        ("spread(rate(a, x, 1), rate(a, x, 2))", 1.0),
        ("latency(a, x, 4)", 0.25),
        ("share(rate(a, x, 1..8) = rate(b, x, 1..8) within 1%)", 0.75),
        ("rate(a, x, 8) / 12.5", 64.0),
    ] {
        let found = value(text).unwrap_or(f64::NAN);
        assert!((found - expected).abs() < 1e-9, "{text}: {found} instead of {expected}");
    }
}

#[test]
fn unknown_values_are_not_guessed() {
    for text in [
        "rate(nobody, x, 1)",
        "max(rate(gap, x, 1..8))",
        "mean(rate(gap, x, 1..8))",
        "rate(gap, x, 4) + 1",
        "1 / 0",
        "rate(a, x, 1..8)",
    ] {
        assert_eq!(value(text), None, "{text}");
    }
}

#[test]
fn conditions_hold_fail_or_are_unknown() {
    use Outcome::{Fails, Holds, Unknown};
    for (text, expected) in [
        ("rate(a, x, 2) > rate(a, x, 1)", Holds),
        ("rate(a, x, 1) > rate(a, x, 1)", Fails),
        ("rate(a, x, 1) >= rate(a, x, 1)", Holds),
        ("1 < 2 < 3", Holds),
        ("1 < 2 < 2", Fails),
        ("rate(b, x, 8) = 1000 within 10%", Holds),
        ("rate(b, x, 8) = 1001 within 10%", Fails),
        // Neighbours are within 10 %, but the ends are not.
        ("100 = 92 = 84 within 10%", Fails),
        ("rate(a, x, 1..8) = rate(b, x, 1..8) within 5%", Fails),
        ("rate(a, x, 1..4) = rate(b, x, 1..4) within 5%", Holds),
        ("rises(rate(a, x, 1..512))", Holds),
        ("rises(latency(a, x, 1..512))", Fails),
        ("1 < 2 and 2 < 1", Fails),
        ("share(rate(a, x, 1..8) < rate(b, x, 1..8)) >= 25%", Holds),
        ("rate(gap, x, 4) > 1", Unknown),
        ("rate(gap, x, 1..8) > 1", Holds),
        // Lists of different lengths have no result.
        ("rate(a, x, 1..8) > rate(a, x, 1..4)", Unknown),
    ] {
        assert_eq!(outcome(text), expected, "{text}");
    }
    let gap = Condition::parse("rate(gap, x, 1..8) > 1").expect("a condition");
    assert!(!gap.evaluate(&ByHand).complete, "one of four is not known");
}

#[test]
fn failing_element_of_condition_is_shown() {
    let condition = Condition::parse("rate(a, x, 1..8) = rate(b, x, 1..8) within 5%");
    let sides = condition.expect("a condition").evaluate(&ByHand).sides;
    let values: Vec<Option<f64>> = sides.iter().map(|side| side.value).collect();
    assert_eq!(values, [Some(800.0), Some(900.0)]);
}

#[test]
fn parse_errors_name_column_and_alternatives() {
    for (text, said) in [
        ("rate(p3700 database, 1)", "column 12: expected `,`, found `database`"),
        (
            "speed(a, x, 1)",
            "column 1: expected rate, throughput, throughput_gb, latency, max, min, mean, spread \
             or share, found `speed`",
        ),
        (
            "rate(a, x, 3..8)",
            "column 12: queue depths must be a number from 1, powers of two such as 1..512 (the \
             larger last), or an ascending list such as {33, 66}, at most 32",
        ),
        (
            "rate(a, x, {8, 3})",
            "column 12: queue depths must be a number from 1, powers of two such as 1..512 (the \
             larger last), or an ascending list such as {33, 66}, at most 32",
        ),
        (
            "rate(a, x, 0)",
            "column 12: queue depths must be a number from 1, powers of two such as 1..512 (the \
             larger last), or an ascending list such as {33, 66}, at most 32",
        ),
        ("1 +", "column 4: expected a number, a point or a function, found the end"),
        ("1 # 2", "column 3: `#` cannot begin a name, number or sign"),
        ("1 2", "column 3: expected the end, found `2`"),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert_eq!(error.to_string(), said, "{text}");
    }
    for (text, said) in [
        ("1 = 2", "column 6: expected `within` and a share, which equality needs, found the end"),
        ("1 + 2", "column 6: expected a comparison (< <= > >= =), found the end"),
    ] {
        let error = Condition::parse(text).expect_err(text);
        assert_eq!(error.to_string(), said, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(matches!(Expression::parse(&deep), Err(ParseError::Depth { .. })));
}

#[test]
fn grey_classes_end_at_documented_limits() {
    for (increase, class) in [
        (-0.5, Class::White),
        (0.30, Class::White),
        (0.301, Class::Light),
        (0.60, Class::Light),
        (0.601, Class::Middle),
        (1.20, Class::Middle),
        (1.201, Class::Dark),
    ] {
        assert_eq!(Class::from_increase(increase), class, "{increase}");
    }
}

proptest! {
    #[test]
    fn any_expression_parses_without_panic(text in "\\PC{0,80}") {
        let _ = Expression::parse(&text);
        let _ = Condition::parse(&text);
    }

    #[test]
    fn any_token_sequence_evaluates_without_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "rate", "latency", "max", "spread", "share", "rises", "and", "within", "a", "x",
                "(", ")", "{", "}", ",", "..", "+", "-", "*", "/", "<", "<=", ">", "=", "1", "2",
                "512", "5%", "0.5",
            ]),
            0..24,
        ),
    ) {
        let text = words.join(" ");
        if let Ok(expression) = Expression::parse(&text) {
            let _ = expression.value(&ByHand);
        }
        if let Ok(condition) = Condition::parse(&text) {
            let _ = condition.evaluate(&ByHand);
        }
    }

    #[test]
    fn expression_arithmetic_matches_floats(a in 1u32..1000, b in 1u32..1000, c in 1u32..1000) {
        let text = format!("{a} + {b} * {c} - {a} / {b}");
        let (a, b, c) = (f64::from(a), f64::from(b), f64::from(c));
        let found = Expression::parse(&text).unwrap().value(&ByHand).unwrap();
        prop_assert!((found - (a + b * c - a / b)).abs() < 1e-6);
    }

    #[test]
    fn equality_is_independent_of_order(values in prop::collection::vec(1u32..200, 3)) {
        let holds = |v: &[u32]| {
            let text = format!("{} = {} = {} within 10%", v[0], v[1], v[2]);
            Condition::parse(&text).unwrap().evaluate(&ByHand).outcome
        };
        let mut turned = values.clone();
        turned.rotate_left(1);
        prop_assert_eq!(holds(&values), holds(&turned));
    }

    #[test]
    fn evaluation_reads_exactly_the_listed_points(low in 0u32..9, length in 0u32..9) {
        let (first, last) = (1u32 << low, 1u32 << (low + length));
        let text = format!("max(rate(a, x, {first}..{last}))");
        let asked = std::cell::RefCell::new(BTreeMap::new());
        struct Asking<'a>(&'a std::cell::RefCell<BTreeMap<PointName, ()>>);
        impl Figures for Asking<'_> {
            fn point(&self, _: Quantity, point: &PointName) -> Option<f64> {
                self.0.borrow_mut().insert(point.clone(), ());
                Some(1.0)
            }
        }
        let expression = Expression::parse(&text).unwrap();
        expression.value(&Asking(&asked));
        let asked: Vec<PointName> = asked.into_inner().into_keys().collect();
        prop_assert_eq!(asked, expression.points().into_iter().collect::<Vec<_>>());
        prop_assert_eq!(expression.points().len() as u32, length + 1);
    }
}
