//! Monitored values of the points, one row each.

use qdepth_record::PointRecord;

use crate::document::{Cell, Table, number_in};
use crate::number::{thousands, three_digits};
use crate::rows::{Rows, RunColumns as _};
use crate::view::{LoadPoint, Point, View};

/// The table; `None` if nothing was monitored (imported and emulated runs).
pub(crate) fn table(view: &View<'_>) -> Option<Table> {
    let words = view.words.host;
    let [busy, in_flight, heat, cpu, stolen, thread, waiting] = words.monitor_columns;
    let watched = view.points().filter(|(_, point)| !point.record.monitors.is_empty());
    let watched: Vec<LoadPoint<'_, '_>> = watched.collect();
    // Few machines report their power, and some only to root.
    let shown = [0, 1, 2].map(|at| watched.iter().any(|(_, point)| power(point)[at].is_some()));
    let watts = words.power_columns.into_iter().zip(["W", "W", "IOPS"]).enumerate();
    let share = |value: Option<f64>| Cell::or_dash(value.map(|share| thousands(share * 100.0, 1)));
    let number =
        |value: Option<f64>, decimals| Cell::or_dash(value.map(|n| thousands(n, decimals)));
    let of_machine =
        |point: &Point<'_>, name: &str| share(monitor_figure(point.record, name, &mean));
    let table = Rows::from_items(watched)
        .text(view.words.columns.profile, |(load, _)| Cell::head(&*load.title))
        .targets(view, |(_, point)| point.record.target)
        .text(words.monitor_at, |(load, point)| view.at(load, point.record))
        .number(busy, "%", |(_, point)| share(device(point.record)[0]))
        .number(in_flight, "", |(_, point)| number(busiest(point.record, " in_flight", &mean), 1))
        .number(heat, "°C", |(_, point)| number(device(point.record)[1], 0))
        .number(cpu, "%", |(_, point)| of_machine(point, "cpu busy_share"))
        .number(stolen, "%", |(_, point)| of_machine(point, "cpu steal_share"))
        .number(thread, "%", |(_, point)| of_machine(point, "busiest_thread_share"))
        .number(waiting, "%", |(_, point)| of_machine(point, "pressure cpu_share"))
        .each(
            watts.filter(|(at, _)| shown[*at]),
            |(_, (heading, unit))| number_in(heading, unit),
            |(_, point), (at, _)| Cell::or_dash(power(point)[*at].clone()),
        )
        .table(words.monitors);
    let notes = [words.monitor_note, words.power_note];
    let note = notes[..=usize::from(shown[1])].join(view.words.gap);
    (!table.rows.is_empty()).then(|| table.with_note(note))
}

/// Utilisation of the busiest device, and the highest temperature, °C.
pub(crate) fn device(record: &PointRecord) -> [Option<f64>; 2] {
    [busiest(record, " busy_share", &mean), busiest(record, " celsius", &highest)]
}

/// Power of the processor packages and of the machine, W, and IOPS per watt of the machine.
fn power(point: &Point<'_>) -> [Option<String>; 3] {
    let watts = |name: &str| monitor_figure(point.record, name, &mean);
    let machine = watts("machine watts").filter(|watts| *watts > 0.0);
    let rate = machine.map(|watts| three_digits(point.summary.io_per_s.value / watts));
    let [packages, machine] = [watts("cpu watts"), machine].map(|w| w.map(|w| thousands(w, 1)));
    [packages, machine, rate.filter(|_| point.is_valid())]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

fn monitor_figure(record: &PointRecord, name: &str, figure: &dyn Fn(&[f64]) -> f64) -> Option<f64> {
    let own = record.monitors.iter().filter(|monitor| monitor.name == name);
    let values: Vec<f64> = own.map(|monitor| monitor.value).filter(|v| v.is_finite()).collect();
    (!values.is_empty()).then(|| figure(&values))
}

/// The largest value of the devices below.
fn busiest(record: &PointRecord, key: &str, figure: &dyn Fn(&[f64]) -> f64) -> Option<f64> {
    let own = |name: &&str| name.ends_with(key) && !name.starts_with("cpu ");
    let names = record.monitors.iter().map(|monitor| monitor.name.as_str()).filter(own);
    names.filter_map(|name| monitor_figure(record, name, figure)).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use qdepth_record::MonitorRecord;

    use super::*;
    use crate::Lang;
    use crate::presentation::Presentation;
    use crate::tests::fixture::{one_point, run};

    #[test]
    fn point_row_has_busiest_device_and_highest_temperature() {
        let mut point = one_point(8);
        let saw = |name: &str, value| MonitorRecord { at_ns: 1, name: name.to_owned(), value };
        point.monitors = vec![
            saw("md0 busy_share", 0.2),
            saw("nvme0n1 busy_share", 0.5),
            saw("nvme0n1 busy_share", 0.7),
            saw("cpu busy_share", 0.9),
            saw("nvme0n1 celsius", 41.0),
            saw("nvme0n1 celsius", 44.0),
        ];
        let (run, points) = (run(1), [point]);
        let presentation = Presentation::from(Lang::En);
        let view = View::new(&run, &points, None, &presentation);
        let table = table(&view).unwrap();
        let cells: Vec<&str> = table.rows[0].cells.iter().map(|cell| &*cell.text).collect();
        let last = &cells[cells.len() - 7..];
        assert_eq!(last, ["60.0", "–", "44", "90.0", "–", "–", "–"]);
    }

    #[test]
    fn power_columns_appear_if_measured() {
        let mut point = one_point(8);
        let saw = |name: &str, value| MonitorRecord { at_ns: 1, name: name.to_owned(), value };
        let (run, presentation) = (run(1), Presentation::from(Lang::En));
        let last = |point: &PointRecord, count: usize| {
            let points = [point.clone()];
            let view = View::new(&run, &points, None, &presentation);
            let table = table(&view).unwrap();
            let cells = table.rows[0].cells.iter().map(|cell| cell.text.to_string());
            assert_eq!(table.columns.len(), cells.len());
            assert_eq!(table.note.contains("meter"), count == 3, "{}", table.note);
            cells.rev().take(count).collect::<Vec<_>>()
        };
        point.monitors = vec![saw("cpu watts", 90.04)];
        assert_eq!(last(&point, 2), ["90.0", "–"]);
        point.monitors.extend([saw("machine watts", 200.0), saw("machine watts", 300.0)]);
        let rate = qdepth_record::PointSummary::from_point(&point).io_per_s.value;
        assert_eq!(last(&point, 3), [three_digits(rate / 250.0), "250.0".into(), "90.0".into()]);
    }

    #[test]
    fn points_without_monitors_have_no_table() {
        let (run, points) = (run(1), [one_point(8)]);
        assert_eq!(table(&View::new(&run, &points, None, &Presentation::from(Lang::En))), None);
    }
}
