//! Nothing is allocated between the first request and the last completion.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use qdepth_engine::scripted::{ScriptedTarget, Service};
use qdepth_engine::{Completions, Slot, Target, TargetFailure, measure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{
    Choices, Extent, PlanFile, Request, TargetShape, resolve, shipped_plan_text,
};

thread_local! {
    static COUNTED: Cell<Option<u64>> = const { Cell::new(None) };
}

struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator.
#[expect(unsafe_code, reason = "a counting allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNTED.with(|c| c.set(c.get().map(|n| n + 1)));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Target that starts counting allocations with the first submission.
struct Watched(ScriptedTarget);

impl Target for Watched {
    fn now(&mut self) -> Instant {
        self.0.now()
    }
    fn submit(&mut self, slot: Slot, request: Request) {
        COUNTED.with(|c| c.set(Some(c.get().unwrap_or(0))));
        self.0.submit(slot, request);
    }
    fn wait(&mut self, until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.0.wait(until, done)
    }
}

#[test]
fn measurement_loop_allocates_no_memory() {
    let file: PlanFile =
        toml::from_str(shipped_plan_text("quick").expect("shipped")).expect("reads");
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
    let plan = |until: Option<&str>| {
        let until = until.map(|text| text.parse().expect("a tolerance"));
        let duration = until.map(|_| Nanos::from_secs(12));
        let choices = Choices { until, duration, ..Choices::default() };
        resolve(&file, &choices, std::slice::from_ref(&shape)).expect("resolves").points
    };
    let looked_at = plan(Some("0.1%")).into_iter().take(1);
    for point in &plan(None).into_iter().chain(looked_at).collect::<Vec<_>>() {
        let service = Service::Exponential(Nanos::from_micros(90));
        let mut target = Watched(ScriptedTarget::new(16, service, 1));
        COUNTED.with(|c| c.set(None));
        let outcome = measure(&mut target, point, &AtomicBool::new(false), &mut |_| {});
        let counted = COUNTED.with(|c| c.replace(None));
        assert!(outcome.completed() > 1000);
        assert_eq!(counted, Some(0), "{} × {}", point.profile, point.queue_depth);
    }
}
