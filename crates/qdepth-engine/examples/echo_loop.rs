//! The loop on the smallest target there is, to count its instructions: `echo_loop IOS`.

use std::error::Error;
use std::sync::atomic::AtomicBool;

use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure, measure};
use qdepth_measure::{Instant, Nanos};
use qdepth_workload::{Choices, Extent, PlanFile, Request, TargetShape, resolve};

/// Answers all that was submitted at once; each wait takes 1 µs.
#[derive(Default)]
struct Echo {
    now: Instant,
    queue: Vec<(Slot, u32)>,
}

impl Target for Echo {
    fn now(&mut self) -> Instant {
        self.now
    }
    fn submit(&mut self, slot: Slot, request: Request) {
        self.queue.push((slot, request.size));
    }
    fn wait(&mut self, _until: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.now = self.now + Nanos::from_micros(1);
        for (slot, size) in self.queue.drain(..) {
            done.push(Completion { slot, result: size as i32, at: self.now });
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let ios: u64 = std::env::args().nth(1).unwrap_or_default().parse()?;
    let text = format!(
        "name = \"echo\"\noutstanding = [32]\nwarm_up = \"1us\"\nduration = \"10s\"\n\
         bytes = \"{}B\"\n[[profile]]\nname = \"echo\"\nrandom = 100\nread = 67\n\
         request_size = \"4KiB\"\n",
        ios * 4096
    );
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
    let plan = resolve(&toml::from_str::<PlanFile>(&text)?, &Choices::default(), &[shape])?;
    let stop = AtomicBool::new(false);
    let outcome = measure(&mut Echo::default(), &plan.points[0], &stop, &mut |_| {});
    assert!(outcome.completed().abs_diff(ios) < 64, "{}", outcome.completed());
    Ok(())
}
