//! Mixed reads and writes with separate sizes and offsets.

use qdepth_workload::*;

const SHAPE: TargetShape =
    TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);

#[cfg(test)]
fn point(profile: &str) -> Result<Point, String> {
    let text = format!(
        "name = \"ways\"\nqueue_depth = [1]\n[[profile]]\nname = \"a\"\n\
         area = {{ size = \"64MiB\" }}\n{profile}"
    );
    let file: PlanFile = toml::from_str(&text).map_err(|error| error.to_string())?;
    let plan = resolve(&file, &Choices::default(), &[SHAPE]).map_err(|error| error.to_string())?;
    Plan::from_text(&plan.text()).map(|plan| plan.points[0].clone())
}

#[test]
fn each_direction_has_separate_sizes_and_alignment() {
    let point = point(
        "random = 100\nread = 70\nblock_size = \"4KiB\"\nwrite_alignment = \"64KiB\"\n\
         write_size = [{ size = \"64KiB\", weight = 3 }, { size = \"128KiB\", weight = 1 }]\n",
    )
    .unwrap();
    assert_eq!(point.block_size.text(), "4KiB:28,64KiB:9,128KiB:3");
    let mut stream = RequestStream::new(&point, 0);
    let (mut reads, mut small, mut large) = (0, 0, 0);
    for _ in 0..100_000 {
        let Request { direction, offset, size } = stream.draw();
        assert!(offset + u64::from(size) <= 64 << 20);
        match (direction, size >> 10) {
            (Direction::Read, 4) => reads += 1,
            (Direction::Write, 64) => small += 1,
            (Direction::Write, 128) => large += 1,
            other => panic!("{other:?}"),
        }
        let alignment = if direction == Direction::Read { 4096 } else { 65536 };
        assert!(offset.is_multiple_of(alignment), "{direction:?} at {offset}");
    }
    for (count, share) in [(reads, 70_000), (small, 22_500), (large, 7_500)] {
        assert!(i32::abs_diff(count, share) < 600, "{count} of {share}");
    }
}

/// Asserts that reads follow reads, and writes follow writes.
#[cfg(test)]
fn each_follows_itself(mix: &Point) {
    let mut stream = RequestStream::new(mix, 0);
    let mut next = [0, 0];
    for _ in 0..1000 {
        let Request { direction, offset, size } = stream.draw();
        assert_eq!(offset, next[direction as usize]);
        next[direction as usize] += u64::from(size);
    }
}

#[test]
fn each_direction_is_sequential_by_itself() {
    let point =
        point("random = 0\nread = 50\nblock_size = \"4KiB\"\nwrite_size = \"16KiB\"\n").unwrap();
    each_follows_itself(&point);
}

#[test]
fn equal_sizes_keep_separate_positions() {
    let mix =
        point("random = 0\nread = 50\nblock_size = \"4KiB\"\nwrite_size = \"4KiB\"\n").unwrap();
    assert_eq!(mix.block_size.single(), Some(4096));
    each_follows_itself(&mix);
}

#[test]
fn several_sizes_cover_each_block_once() {
    let once = point(
        "random = 100\nread = 100\ndistribution = { kind = \"each-once\" }\n\
         block_size = [{ size = \"4KiB\", weight = 1 }, { size = \"64KiB\", weight = 1 }]\n",
    )
    .unwrap();
    let mut stream = RequestStream::new(&once, 0);
    let mut seen = std::collections::BTreeSet::new();
    let mut bytes = 0;
    while bytes < 64 << 20 {
        let Request { offset, size, .. } = stream.draw();
        bytes += u64::from(size);
        let blocks = (offset >> 12)..(offset + u64::from(size)) >> 12;
        assert!(blocks.into_iter().all(|block| seen.insert(block)), "{offset} {size}");
    }
    assert_eq!((bytes, seen.len()), (64 << 20, 16384));
}

#[test]
fn separate_write_sizes_need_a_plain_mix() {
    let refusal =
        |more: &str| point(&format!("random = 100\nblock_size = \"4KiB\"\n{more}")).unwrap_err();
    for (more, why) in [
        ("read = 100\nwrite_size = \"8KiB\"\n", "needs a mix"),
        ("read = 50\nwrite_size = \"8KiB\"\nsegments = 2\n", "without strides"),
        ("read = 50\nwrite_size = \"1000B\"\n", "a multiple of"),
        ("read = 50\nwrite_size = \"8KiB\"\nwrite_alignment = \"1000B\"\n", "a multiple of"),
        ("read = 50\nwrite_alignment = \"8KiB\"\n", "need a write_size"),
        (
            "read = 50\nwrite_size = \"8KiB\"\ndistribution = { kind = \"each-once\" }\n",
            "a single block_size",
        ),
    ] {
        let told = refusal(more);
        assert!(told.contains(why), "{more}: {told}");
    }
}

#[test]
fn trims_are_a_share_or_precede_writes() {
    let mixed = point("random = 100\nread = 50\ntrim = 20\nblock_size = \"4KiB\"\n").unwrap();
    assert!(mixed.writes() && mixed.trims() && (mixed.write_share() - 0.3).abs() < 1e-12);
    let mut stream = RequestStream::new(&mixed, 0);
    let mut counts = [0_i32; 4];
    (0..100_000).for_each(|_| counts[stream.draw().direction as usize] += 1);
    for (count, share) in counts.into_iter().zip([50_000, 30_000, 20_000, 0]) {
        assert!(count.abs_diff(share) < 600, "{counts:?}");
    }
    let once = "random = 100\ndistribution = { kind = \"each-once\" }\nread = 0\n\
                trim_first = true\nblock_size = \"64KiB\"\n";
    let first = point(once).unwrap();
    let mut stream = RequestStream::new(&first, 0);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1024 {
        let (trim, write) = (stream.draw(), stream.draw());
        assert_eq!((trim.direction, write.direction), (Direction::Trim, Direction::Write));
        assert_eq!((trim.offset, trim.size), (write.offset, write.size));
        seen.insert(trim.offset);
    }
    assert_eq!(seen.len(), 1024, "each place once");
    // In each slot of the queue, a write follows its own trim.
    let mut formers =
        [stream.draw_after(&Request { direction: Direction::Read, offset: 0, size: 0 }); 4];
    for place in [3, 1, 2, 0, 3, 3] {
        let former: Request = formers[place];
        formers[place] = stream.draw_after(&former);
        if former.direction == Direction::Trim {
            assert_eq!(formers[place], Request { direction: Direction::Write, ..former });
        }
    }
}

#[test]
fn invalid_trim_options_are_refused() {
    let refused = |more: &str| {
        point(&format!("random = 100\nblock_size = \"4KiB\"\n{more}")).expect_err(more)
    };
    assert!(refused("read = 70\ntrim = 40\n").contains("at most 100 %"));
    assert!(refused("read = 50\ntrim_first = true\n").contains("read = 0"));
    assert!(refused("read = 0\ntrim = 100\nverify = true\n").contains("verify cannot be combined"));
    assert!(
        refused("read = 50\ntrim = 10\nwrite_size = \"8KiB\"\n")
            .contains("write_size cannot be combined")
    );
}
