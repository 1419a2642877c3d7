//! Reads and writes of one mix with sizes and places of their own.

use qdepth_workload::*;

const SHAPE: TargetShape =
    TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 30 }, 512);

#[cfg(test)]
fn point(profile: &str) -> Result<Point, String> {
    let text = format!(
        "name = \"ways\"\noutstanding = [1]\n[[profile]]\nname = \"a\"\n\
         area = {{ size = \"64MiB\" }}\n{profile}"
    );
    let file: PlanFile = toml::from_str(&text).map_err(|error| error.to_string())?;
    let plan = resolve(&file, &Choices::default(), &[SHAPE]).map_err(|error| error.to_string())?;
    Plan::from_text(&plan.text()).map(|plan| plan.points[0].clone())
}

#[test]
fn each_way_draws_its_sizes_and_begins_where_they_may() {
    let point = point(
        "random = 100\nread = 70\nrequest_size = \"4KiB\"\nwrite_alignment = \"64KiB\"\n\
         write_size = [{ size = \"64KiB\", weight = 3 }, { size = \"128KiB\", weight = 1 }]\n",
    )
    .unwrap();
    assert_eq!(point.request_size.text(), "4KiB:28,64KiB:9,128KiB:3");
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

#[test]
fn each_way_follows_itself() {
    let point =
        point("random = 0\nread = 50\nrequest_size = \"4KiB\"\nwrite_size = \"16KiB\"\n").unwrap();
    let mut stream = RequestStream::new(&point, 0);
    let mut next = [0, 0];
    for _ in 0..1000 {
        let Request { direction, offset, size } = stream.draw();
        assert_eq!(offset, next[direction as usize]);
        next[direction as usize] += u64::from(size);
    }
}

#[test]
fn own_sizes_are_of_plain_mixes() {
    let of =
        |more: &str| point(&format!("random = 100\nrequest_size = \"4KiB\"\n{more}")).unwrap_err();
    for (more, why) in [
        ("read = 100\nwrite_size = \"8KiB\"\n", "of a mix"),
        ("read = 50\nwrite_size = \"8KiB\"\nsegments = 2\n", "without strides"),
        ("read = 50\nwrite_size = \"1000B\"\n", "whole multiples"),
        ("read = 50\nwrite_size = \"8KiB\"\nwrite_alignment = \"1000B\"\n", "multiples of"),
        ("read = 50\nwrite_alignment = \"8KiB\"\n", "with a write_size"),
        (
            "read = 50\nwrite_size = \"8KiB\"\ndistribution = { kind = \"each-once\" }\n",
            "one request size",
        ),
    ] {
        let told = of(more);
        assert!(told.contains(why), "{more}: {told}");
    }
}
