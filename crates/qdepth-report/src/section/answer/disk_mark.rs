//! The numbers of CrystalDiskMark and KDiskMark in their layout: four loads, each read and written,
//! in MB/s (10^6 bytes).

use qdepth_measure::Estimate;
use qdepth_record::PointRecord;

use crate::document::{Cell, Table};
use crate::grouped::entry;
use crate::number::rounded;
use crate::rows::{Rows, RunColumns as _};
use crate::view::{Point, View};
use crate::words::fill_in;

/// Plan that measures these numbers.
const PLAN: &str = "disk-mark";
const MEGABYTES_PER_MIB: f64 = 1.048_576;

/// A load with its points that read and that write.
type Line<'v, 'a> = (String, [Option<&'v Point<'a>>; 2]);

/// Lines in the order of those programs; empty for other plans, and for several targets.
fn lines<'v, 'a>(view: &'v View<'a>) -> Vec<Line<'v, 'a>> {
    let ([target], PLAN) = (view.targets.as_slice(), view.run.plan_name.as_str()) else {
        return Vec::new();
    };
    let mut points: Vec<&Point<'_>> = view.swept().flat_map(|load| load.on(*target)).collect();
    points.sort_by(|a, b| {
        let (a, b) = (a.record, b.record);
        a.random_share.total_cmp(&b.random_share).then(b.queue_depth.cmp(&a.queue_depth))
    });
    let mut lines: Vec<Line<'_, '_>> = Vec::new();
    for point in points {
        let name = name(point.record);
        entry(&mut lines, name)[usize::from(point.record.read_share < 0.5)] = Some(point);
    }
    lines
}

/// Name of a load, for example `SEQ1M Q8T1`.
fn name(record: &PointRecord) -> String {
    let order = if record.random_share > 0.0 { "RND" } else { "SEQ" };
    let size = record.block_size.trim_end_matches("iB");
    format!("{order}{size} Q{}T{}", record.queue_depth, record.workers.max(1))
}

fn megabytes(point: &Point<'_>) -> String {
    let Estimate { value, interval, degrees, autocorrelation } = point.mib_per_s;
    let scaled = |mib: f64| mib * MEGABYTES_PER_MIB;
    let interval = interval.map(|(low, high)| (scaled(low), scaled(high)));
    rounded(&Estimate { value: scaled(value), interval, degrees, autocorrelation }).value
}

/// All numbers in a sentence; `None` for another plan.
pub(super) fn sentence(view: &View<'_>) -> Option<String> {
    let words = view.words.answer;
    let line = |(name, both): &Line<'_, '_>| {
        let [read, written] = both.map(|point| point.filter(|point| point.is_valid()));
        let value = |point: Option<&Point<'_>>| point.map_or_else(|| "–".to_owned(), megabytes);
        let values = [("load", name.clone()), ("read", value(read)), ("written", value(written))];
        fill_in(words.disk_mark_line, &values)
    };
    let lines: Vec<String> = lines(view).iter().map(line).collect();
    let values = [("lines", lines.join(view.words.clause))];
    (!lines.is_empty()).then(|| fill_in(words.disk_mark, &values))
}

/// Table in the layout of those programs, with the worse grade of each line; `None` for other
/// plans.
pub(crate) fn table(view: &View<'_>) -> Option<Table> {
    let [writes, reads] = view.words.bandwidth.directions;
    let cell = |point: Option<&Point<'_>>| {
        Cell::or_dash(point.map(megabytes)).struck_if(point.is_some_and(|p| !p.is_valid()))
    };
    let table = Rows::from_items(lines(view))
        .text(view.words.columns.profile, |(name, _)| Cell::head(&**name))
        .number(reads, "MB/s", |(_, both)| cell(both[0]))
        .number(writes, "MB/s", |(_, both)| cell(both[1]))
        .text(view.words.columns.grade, |(_, both)| {
            let grade = both.iter().flatten().map(|point| point.summary.grade).max();
            Cell::or_dash(grade.map(|grade| grade.to_string()))
        })
        .marked(view)
        .table("");
    (!table.rows.is_empty()).then_some(table)
}
