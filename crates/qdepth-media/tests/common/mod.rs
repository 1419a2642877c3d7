//! Points on emulated targets.

use std::sync::atomic::AtomicBool;

use qdepth_engine::{Outcome, measure};
use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_workload::{Choices, PlanFile, Point, resolve};

/// Point of a profile given as TOML lines.
pub(crate) fn point(expression: &str, queue_depth: u32, milliseconds: u64, profile: &str) -> Point {
    let text = format!(
        "name = \"test\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"{}ms\"\n\
         duration = \"{milliseconds}ms\"\n[[profile]]\nname = \"test\"\n{profile}",
        milliseconds / 5
    );
    let file: PlanFile = toml::from_str(&text).expect("a plan");
    let shape = TargetExpression::read(expression).expect("read").shape().expect("a shape");
    resolve(&file, &Choices::default(), &[shape]).expect("resolves").points.remove(0)
}

/// Measures the point on the device.
pub(crate) fn measured(expression: &str, point: &Point) -> Outcome {
    let mut target = TargetExpression::read(expression)
        .expect("read")
        .open(&OpenMedia::for_point(point))
        .expect("opens");
    measure(&mut target, point, &AtomicBool::new(false), &mut |_| {})
}

/// Measured IOPS of a profile.
#[expect(clippy::allow_attributes, reason = "not every test file asks")]
#[allow(dead_code, reason = "not every test file asks")]
pub(crate) fn rate(expression: &str, queue_depth: u32, milliseconds: u64, profile: &str) -> f64 {
    let point = point(expression, queue_depth, milliseconds, profile);
    let outcome = measured(expression, &point);
    outcome.completed() as f64 / outcome.duration.as_secs_f64()
}
