//! The loop on the smallest target there is, to count its instructions: `echo_loop OUTSTANDING
//! MILLISECONDS` prints how many requests it made.

#![expect(clippy::print_stdout, reason = "a program of its own")]

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
    let mut words = std::env::args().skip(1);
    let queue_depth: u64 = words.next().unwrap_or_default().parse()?;
    let milliseconds: u64 = words.next().unwrap_or_default().parse()?;
    let text = format!(
        "name = \"echo\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"1us\"\n\
         duration = \"{milliseconds}ms\"\n[[profile]]\nname = \"echo\"\nrandom = 100\nread = 67\n\
         block_size = \"4KiB\"\n"
    );
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);
    let plan = resolve(&toml::from_str::<PlanFile>(&text)?, &Choices::default(), &[shape])?;
    let stop = AtomicBool::new(false);
    let outcome = measure(&mut Echo::default(), &plan.points[0], &stop, &mut |_| {});
    let asked = milliseconds * 1_000 * queue_depth;
    assert!(outcome.completed().abs_diff(asked) <= 2 * queue_depth, "{}", outcome.completed());
    println!("issued {} cpu_s 0", outcome.issued);
    Ok(())
}
