//! A device that follows an external clock: no completion is late or lost, and without a lead the
//! rate is that of virtual time.

#[cfg(test)]
mod tests {
    use qdepth_engine::{Completions, Slot, Target};
    use qdepth_measure::{Instant, Nanos};
    use qdepth_media::{Emulated, MediaLoad, OpenMedia, TargetExpression};
    use qdepth_workload::{Direction, Extent, Request};

    use crate::common::rate;

    const SLOTS: u32 = 16;
    const MEDIA: [&str; 6] = [
        "media:p3700-800gb",
        "media:iodrive-320gb/improved-write",
        "raid5(media:p3700-800gb*3)",
        "raid0(media:sas-12g-hdd-450gb*2)",
        "media:fixed @exponential=1 @servers=3",
        "media:generic-cloud-volume",
    ];

    fn open(expression: &str) -> Emulated {
        let area = Extent { offset_bytes: 0, length_bytes: 32 << 30 };
        let load = MediaLoad { queue_depth: SLOTS, streams: 1, area, alignment: 4096 };
        let options = OpenMedia { loads: vec![load], ..OpenMedia::for_points(&[]) };
        TargetExpression::read(expression).unwrap().open(&options).unwrap()
    }

    /// Request at a random offset: two thirds are reads, of 8 KiB.
    fn request(number: u64) -> Request {
        let drawn = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) >> 8;
        let direction = if drawn.is_multiple_of(3) { Direction::Write } else { Direction::Read };
        Request { direction, offset: (drawn % (32 << 30)) & !4095, size: 8192 }
    }

    /// Number of I/Os completed in `ms`, polled every `step` ns.
    fn served(expression: &str, ms: u64, step: u64, lead: Nanos) -> u64 {
        let mut target = open(expression);
        let mut done = Completions::with_capacity(SLOTS as usize);
        let (mut issued, mut completed) = (0, 0);
        let mut submitted = [Instant(0); SLOTS as usize];
        for slot in 0..SLOTS {
            target.submit(Slot(slot), request(issued));
            issued += 1;
        }
        let mut before = Instant(0);
        while before.0 < ms * 1_000_000 {
            let clock = Instant(before.0 + step);
            done.clear();
            target.keep_up(clock, lead, &mut done);
            assert_eq!(target.now(), clock);
            for end in done.as_slice() {
                let slot = end.slot.0 as usize;
                assert!(end.at.0 <= clock.0 + lead.0, "{expression}: ahead of its lead");
                // An array or a disk decides later, so completions are known later, but never after
                // their end.
                let ahead = if expression.starts_with("raid") { 0 } else { lead.0 };
                let late = end.at.0 <= before.0 + ahead && submitted[slot] < before;
                assert!(!late, "{expression}: {} at {} with {lead}", end.at.0, clock.0);
                completed += 1;
                submitted[slot] = clock;
                target.submit(end.slot, request(issued));
                issued += 1;
            }
            before = clock;
        }
        let mut left = 0;
        while left < SLOTS {
            done.clear();
            target.wait(Instant::NEVER, &mut done).unwrap();
            left += done.as_slice().len() as u32;
        }
        assert_eq!(issued, completed + u64::from(left), "{expression}: each ends once");
        completed
    }

    #[test]
    fn served_device_loses_no_completions() {
        for expression in MEDIA {
            for lead in [0, 40, 400] {
                assert!(served(expression, 200, 3_000, Nanos::from_micros(lead)) > 50);
            }
        }
    }

    #[test]
    fn served_device_reaches_the_virtual_time_rate() {
        let expression = "media:p3700-800gb";
        let found = served(expression, 300, 200, Nanos::ZERO) as f64 / 0.3;
        let profile = "random = 100\nread = 67\nblock_size = \"8KiB\"\n";
        let truth = rate(expression, SLOTS, 2000, profile);
        assert!((found / truth - 1.0).abs() < 0.02, "{found} instead of {truth}");
    }
}
