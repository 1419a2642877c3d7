//! Devices of the catalogue that are modelled from a data sheet alone: each promise compared with
//! the emulation, at the sheet's own load. Agreement only shows that the promise was entered
//! correctly; figures that no sheet gives are untested and unknown.

use std::collections::BTreeSet;

use crate::common::rate;
use qdepth_media::{Checked, Description, catalogue, description_text};

/// Measurement conditions of a data sheet: suffix of the expression, queue depth, milliseconds.
#[cfg(test)]
struct Sheet {
    name: &'static str,
    random: (&'static str, u32, u64),
    sequential: (&'static str, u32, u64),
    /// Largest permitted error of a promise, if it is not 5 %.
    wider: &'static [(&'static str, f64)],
}

const fn fresh(name: &'static str, queue_depth: u32) -> Sheet {
    Sheet {
        name,
        random: ("@host=none @state=fresh", queue_depth, 300),
        sequential: ("@host=none @state=fresh", 32, 300),
        wider: &[],
    }
}

const fn volume(name: &'static str) -> Sheet {
    Sheet { name, random: ("", 256, 2000), sequential: ("", 256, 2000), wider: &[] }
}

const SHEETS: &[Sheet] = &[
    Sheet { wider: &[("random_write_4k_io_s", 0.10)], ..fresh("samsung-990-pro-2tb", 512) },
    fresh("crucial-t700-2tb", 512),
    // In the steady state, over the whole capacity.
    Sheet {
        name: "intel-d7-p5500-7680gb",
        random: ("@host=none @area=full", 512, 1000),
        sequential: ("@host=none", 32, 300),
        wider: &[("random_write_4k_io_s", 0.10)],
    },
    fresh("solidigm-d5-p5336-122tb", 512),
    Sheet { wider: &[("random_write_4k_io_s", 0.15)], ..fresh("samsung-870-qvo-4tb", 32) },
    Sheet { wider: &[("random_write_4k_io_s", 0.15)], ..fresh("samsung-870-evo-1tb", 32) },
    fresh("intel-p5800x-800gb", 128),
    Sheet {
        name: "seagate-exos-x18-18tb",
        random: ("@host=none @area=full", 16, 60_000),
        sequential: ("@host=none", 1, 10_000),
        wider: &[],
    },
    volume("aws-gp2-100gib"),
    volume("aws-gp3-3000"),
    volume("aws-io2-64000"),
    volume("azure-p10"),
    volume("gcp-pd-balanced-1000gib"),
];

#[cfg(test)]
fn near(what: &str, found: f64, promised: f64, share: f64) {
    let off = found / promised - 1.0;
    assert!(off.abs() <= share, "{what}: {found:.0} for {promised:.0}, {:.1} %", off * 100.0);
}

#[cfg(test)]
fn profile(random: u32, read: u32, size: &str, full: bool) -> String {
    let area = if full { "area = { size = \"full\" }\n" } else { "" };
    format!("random = {random}\nread = {read}\nblock_size = \"{size}\"\n{area}")
}

/// Emulated value of a promise, in its unit.
#[cfg(test)]
fn emulated(sheet: &Sheet, key: &str) -> f64 {
    let random = key.starts_with("random");
    let read = if key.contains("_read") { 100 } else { 0 };
    let (behind, queue_depth, milliseconds) = if random { sheet.random } else { sheet.sequential };
    let expression = format!("media:{} {behind}", sheet.name);
    let full = behind.contains("@area=full");
    if random {
        return rate(&expression, queue_depth, milliseconds, &profile(100, read, "4KiB", full));
    }
    let requests = rate(&expression, queue_depth, milliseconds, &profile(0, read, "128KiB", full));
    requests * f64::from(128 << 10) / 1e6
}

#[test]
fn each_data_sheet_promise_is_reached() {
    for sheet in SHEETS {
        let promises = Description::shipped(sheet.name).unwrap().data_sheet;
        let mut seen = 0;
        for (key, promise, _) in promises.promises() {
            let wider = sheet.wider.iter().find(|(known, _)| *known == key);
            let share = wider.map_or(0.05, |(_, share)| *share);
            let what = format!("{}: {key}", sheet.name);
            near(&what, emulated(sheet, key), promise.value, share);
            seen += 1;
        }
        assert!(seen >= 2, "{}: only {seen} promises", sheet.name);
    }
}

/// Further promises of data sheets, besides the four maxima.
#[test]
fn further_data_sheet_numbers_are_reached() {
    let measured = |expression: &str, queue_depth: u32, random: u32, read: u32, size: &str| {
        let expression = format!("media:{expression} @host=none");
        rate(&expression, queue_depth, 2000, &profile(random, read, size, false))
    };
    let fresh = "@state=fresh";
    let alone = |name: &str, read: u32| measured(&format!("{name} {fresh}"), 1, 100, read, "4KiB");
    near("990 PRO, one read at a time", alone("samsung-990-pro-2tb", 100), 22_000.0, 0.05);
    near("870 EVO, one read at a time", alone("samsung-870-evo-1tb", 100), 13_000.0, 0.05);
    near("870 EVO, one write at a time", alone("samsung-870-evo-1tb", 0), 36_000.0, 0.05);
    assert!(alone("intel-p5800x-800gb", 100) > 1e6 / 6.0, "below 6 µs");
    // Full cache, emulated by one without capacity.
    let behind = measured("samsung-870-qvo-4tb @cache_gb=0", 32, 0, 0, "128KiB");
    near("870 QVO behind its cache", behind * f64::from(128 << 10) / 1e6, 160.0, 0.05);
    let disk = measured("seagate-exos-x18-18tb @area=full", 16, 100, 100, "4KiB");
    near("Exos X18 at a queue depth of 16", disk, 170.0, 0.05);
}

/// A hundredth of the documented credits lasts a hundredth of the documented time: at the burst
/// rate, credits / (burst − base).
#[test]
fn burst_credits_last_as_documented() {
    for (name, base, burst, seconds) in
        [("aws-gp2-100gib", 300.0, 3000.0, 2000.0), ("azure-p10", 500.0, 3500.0, 1800.0)]
    {
        let credits = Description::shipped(name).unwrap().parameters["credits"].value;
        near("burst, seconds", credits / (burst - base), seconds, 1e-9);
        let expression = format!("media:{name} @credits={}", credits / 100.0);
        // The warm-up is a fifth of the window, and takes credits too.
        let window = seconds / 100.0 * 1.25;
        let reads = profile(100, 100, "4KiB", false);
        let found = rate(&expression, 32, (window * 1000.0) as u64, &reads);
        let bursting = seconds / 100.0 - window / 5.0;
        let truth = (bursting * burst + (window - bursting) * base) / window;
        near(name, found, truth, 0.01);
    }
}

/// Every number of a data sheet's device cites a sheet with its year, or its class. Every such
/// device is tested above, and is derived from no other. `p4800x-375gb` has sources in an older
/// form, and one published figure.
#[test]
fn every_data_sheet_number_cites_its_source() {
    let of_sheet = |name: &&str| {
        Description::shipped(name).unwrap().checked() == Checked::DataSheetOnly
            && *name != "p4800x-375gb"
    };
    let found: BTreeSet<&str> = catalogue().filter(of_sheet).collect();
    let tested: BTreeSet<&str> = SHEETS.iter().map(|sheet| sheet.name).collect();
    assert_eq!(found, tested);
    for name in found {
        let description = Description::shipped(name).unwrap();
        assert!(description.like.is_none() && !description.compared_with.is_empty(), "{name}");
        let promised: Vec<&str> =
            description.data_sheet.promises().map(|(_, s, _)| s.from.as_str()).collect();
        let all = description.parameters.values().map(|number| number.from.as_str());
        for from in all.chain(promised) {
            let dated = from.contains(", 20") && from.contains('(');
            let class = ["class", "as p3700-800gb", "prior: as p4800x-375gb"];
            assert!(dated || class.iter().any(|c| from.starts_with(c)), "{name}: {from}");
        }
        let head = description_text(name).unwrap().lines().take_while(|l| l.starts_with('#'));
        let head: Vec<&str> = head.collect();
        for word in ["Checked at", "Not known", "data_sheets.rs"] {
            assert!(head.iter().any(|line| line.contains(word)), "{name}: no `{word}`");
        }
    }
}

#[test]
fn every_device_model_states_its_validation() {
    for name in catalogue() {
        let checked = Description::shipped(name).unwrap().checked();
        assert_ne!(checked, Checked::Not, "{name}");
    }
    let described = |line: &str| {
        Description::read("own", &format!("title = \"D\"\nlike = \"p3700-800gb\"\n{line}\n"))
    };
    // `checked` is not inherited from another drive, and its values form a closed set.
    assert_eq!(described("").unwrap().checked(), Checked::Not);
    assert_eq!(
        described("checked = \"data sheet only\"").unwrap().checked().words(),
        "data sheet only"
    );
    let said = described("checked = \"thoroughly\"").expect_err("refused").to_string();
    assert!(said.contains("published figures") && said.contains("data sheet only"), "{said}");
}
