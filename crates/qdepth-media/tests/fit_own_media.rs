//! Virtual truth: drives with random parameters, measured by the plan `fit` in virtual time with
//! noise, fitted, and predicted for other profiles, queue depths and arrays. A campaign of `cargo
//! xtask nightly`; a few drives of each kind otherwise.

#[cfg(test)]
mod truth {
    use std::fmt::Write as _;
    use std::sync::atomic::AtomicBool;

    use qdepth_engine::{Outcome, measure};
    use qdepth_media::fit::{
        Basis, Fitted, Kind, Observed, Prediction, Provenance, alarm_threshold, description, fit,
        predict,
    };
    use qdepth_media::{OpenMedia, TargetExpression};
    use qdepth_workload::{Choices, PlanFile, Point, resolve, shipped_plan_text};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Noise of a measured rate, as the standard deviation of its logarithm.
    const NOISE: f64 = 0.015;
    const CAPACITY_GB: f64 = 64.0;
    /// Nightly measurements of each drive of a campaign.
    const NIGHTS: u64 = 100;

    struct Draw(Xoshiro256PlusPlus);

    impl Draw {
        fn new(kind: Kind, number: u64) -> Self {
            Self(Xoshiro256PlusPlus::seed_from_u64(number * 16 + kind as u64 + 1))
        }

        fn share(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// Random value, uniform on a logarithmic scale.
        fn from(&mut self, low: f64, high: f64) -> f64 {
            low * (high / low).powf(self.share())
        }

        fn one_of(&mut self, values: &[f64]) -> f64 {
            values[(self.share() * values.len() as f64) as usize]
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.share()).sum::<f64>() - 6.0
        }

        fn noisy(&mut self, rate: f64) -> f64 {
            rate * (NOISE * self.normal()).exp()
        }
    }

    fn target_expression(text: &str, expression: &str) -> TargetExpression {
        TargetExpression::read_with(expression, &|_| Ok(text.to_owned()))
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    fn written(kind: &str, numbers: &[(&str, f64)], computer: &[(&str, f64)]) -> String {
        let mut text = format!("title = \"drawn\"\nkind = \"{kind}\"\n[parameters]\n");
        let entry = |text: &mut String, (name, value): &(&str, f64)| {
            writeln!(text, "{name} = {{ value = {value:?}, from = \"drawn\" }}").unwrap();
        };
        entry(&mut text, &("capacity_gb", CAPACITY_GB));
        numbers.iter().for_each(|number| entry(&mut text, number));
        text += "[computer]\n";
        computer.iter().for_each(|number| entry(&mut text, number));
        text
    }

    /// Random drive that no fit knows: parameters that a fit keeps fixed are random, too.
    fn drawn(kind: Kind, draw: &mut Draw) -> String {
        match kind {
            Kind::Flash => flash(draw),
            Kind::Disk => {
                let rpm = draw.one_of(&[5400.0, 7200.0, 7200.0, 10_000.0, 15_000.0]);
                let numbers = [
                    ("rpm", rpm),
                    ("media_mb_s", draw.from(80.0, 300.0)),
                    ("settle_us", draw.from(300.0, 1500.0)),
                    ("seek_us_per_sqrt_track", draw.from(5.0, 40.0)),
                    ("write_settle_us", draw.from(50.0, 800.0)),
                    ("queue", draw.from(4.0, 128.0).round()),
                    ("command_us", draw.from(10.0, 100.0)),
                    ("hit_read_us", draw.from(60.0, 300.0)),
                    ("hit_write_us", draw.from(60.0, 300.0)),
                ];
                written("hdd", &numbers, &[])
            }
            Kind::Volume => {
                let rate = draw.from(500.0, 20_000.0);
                let burst = rate * draw.from(1.5, 8.0);
                // Half of them run out of credits within the plan's windows.
                let credits =
                    if draw.share() < 0.5 { (burst - rate) * draw.from(0.3, 1.5) } else { 0.0 };
                let numbers = [
                    ("latency_us", draw.from(200.0, 2000.0)),
                    ("latency_us_per_kib", draw.from(0.1, 5.0)),
                    ("write_factor", draw.from(0.5, 2.0)),
                    ("io_per_s", rate),
                    ("burst_io_per_s", burst),
                    ("credits", credits),
                    ("mb_s", draw.from(60.0, 1000.0)),
                    ("limits_apart", draw.one_of(&[0.0, 0.0, 1.0])),
                ];
                written("volume", &numbers, &[])
            }
            Kind::Network => {
                let numbers = [
                    ("service_us", draw.from(20.0, 2000.0)),
                    ("service_us_per_kib", draw.from(0.05, 10.0)),
                    ("write_factor", draw.from(0.3, 3.0)),
                    ("servers", draw.from(1.0, 64.0).round()),
                    ("delay_us", draw.from(10.0, 1000.0)),
                    ("exponential", draw.one_of(&[0.0, 1.0])),
                ];
                written("servers", &numbers, &[])
            }
            Kind::Memory => {
                let computer = [
                    ("ghz", 1.0),
                    ("read_us", draw.from(1.0, 10.0)),
                    ("write_us", draw.from(1.0, 20.0)),
                    ("us_per_kib", draw.from(0.02, 0.5)),
                    ("write_us_per_kib", draw.from(0.02, 2.0)),
                ];
                let numbers = [("service_us", draw.from(0.5, 5.0)), ("servers", 4096.0)];
                written("servers", &numbers, &computer)
            }
        }
    }

    fn flash(draw: &mut Draw) -> String {
        let (read, write) = (draw.from(0.12, 1.2), draw.from(0.2, 2.0));
        let link = 976.0 / read.min(write) * draw.from(0.9, 2.0);
        let numbers = [
            ("command_us", draw.from(0.4, 5.0)),
            ("read_fixed_us", draw.from(2.0, 12.0)),
            ("write_fixed_us", draw.from(4.0, 40.0)),
            ("write_accept_us_per_kib", draw.from(0.05, 1.0)),
            ("path_read_us_per_kib", read),
            ("path_random_read_us_per_kib", draw.from(0.001, 0.1) * read),
            ("path_write_us_per_kib", write),
            ("path_mix_loss", draw.from(0.02, 0.4)),
            ("link_mb_s", link),
            ("prefetch_us", draw.from(8.0, 60.0)),
            ("ahead_when_busy", draw.one_of(&[0.0, 1.0])),
            ("dies", draw.from(16.0, 512.0).round()),
            ("die_chunk_kib", draw.one_of(&[16.0, 32.0, 64.0])),
            ("die_read_us", draw.from(25.0, 120.0)),
            ("die_read_us_per_kib", draw.from(0.1, 1.5)),
            ("die_program_us", draw.from(300.0, 2500.0)),
            ("buffer_chunks", draw.from(32.0, 512.0).round()),
            ("amplification", draw.from(3.0, 40.0)),
        ];
        written("ssd", &numbers, &[])
    }

    /// Outcome of a point, measured as long as its rate needs, with its own seed.
    fn measured(medium: &TargetExpression, point: &Point, seed: u64) -> Outcome {
        let stop = AtomicBool::new(false);
        let mut target = medium.open(&OpenMedia::for_point(point)).unwrap();
        let mut short = point.clone();
        short.seed = seed;
        // Credits depend on time, so the whole window is measured for them.
        if !medium.parameter("drawn.toml", "credits").is_some_and(|credits| credits > 0.0) {
            // A drive's buffer is full before the window.
            short.warm_up_ns = if point.writes() { 400_000_000 } else { 60_000_000 };
            short.stop.bytes =
                (u64::from(point.in_flight_max()) * 20 + 6000) * u64::from(point.block_size.max());
            short.stop.duration_ns = 400_000_000_000;
        }
        measure(&mut target, &short, &stop, &mut |_| {})
    }

    fn points(plan: &str, target: &TargetExpression) -> Vec<Point> {
        let file: PlanFile = toml::from_str(plan).unwrap();
        let shape = target.shape().unwrap();
        let choices = Choices { area: Some("4GiB".to_owned()), ..Choices::default() };
        resolve(&file, &choices, &[shape]).unwrap().points
    }

    fn observed(drive: &TargetExpression, plan: &str, draw: &mut Draw) -> Vec<Observed> {
        let load = |point: Point| {
            let outcome = measured(drive, &point, draw.0.next_u64());
            let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64();
            let noisy = draw.noisy(rate);
            let slower = rate / noisy;
            let mean = |side: usize| {
                let times = &outcome.directions[side].latency;
                (times.count() > 0).then(|| times.sum() as f64 / times.count() as f64 * slower)
            };
            let mut times = outcome.directions[0].latency.clone();
            times.merge(&outcome.directions[1].latency);
            let intervals = outcome.series.intervals();
            let third = intervals.len() / 3;
            let rate_of = |part: &[qdepth_engine::Interval]| {
                let count: u64 = part.iter().map(|i| i.completed[0] + i.completed[1]).sum();
                let ns: u64 = part.iter().map(|i| i.length.0).sum();
                count as f64 / ns as f64 * 1e9
            };
            let thirds = (third > 0).then(|| {
                (rate_of(&intervals[..third]), rate_of(&intervals[intervals.len() - third..]))
            });
            Observed {
                io_per_s: noisy,
                spread: NOISE,
                read_ns: mean(0),
                write_ns: mean(1),
                late_ns: qdepth_media::fit::late_ns(&times).map(|ns| ns * slower),
                thirds,
                cpu_ns: None,
                point,
            }
        };
        points(plan, drive).into_iter().map(load).collect()
    }

    /// Profiles that are not in the plan.
    const ELSEWHERE: &str = r#"
    name = "elsewhere"
    queue_depth = [2, 24, 128]
    warm_up = "500ms"
    duration = "2s"
    file_size = "4GiB"
    profiles = ["random-8k-read", "random-8k-write", "file-server"]
    [[profile]]
    name = "sequential-32k"
    random = 0
    read = 100
    block_size = "32KiB"
    [[profile]]
    name = "random-16k-even"
    random = 100
    read = 50
    block_size = "16KiB"
    "#;

    #[derive(Default)]
    struct Tally {
        errors: Vec<f64>,
        covered: usize,
        worst: (f64, String),
    }

    impl Tally {
        fn mean(&self) -> f64 {
            self.errors.iter().sum::<f64>() / self.errors.len() as f64
        }

        fn coverage(&self) -> f64 {
            self.covered as f64 / self.errors.len() as f64
        }
    }

    fn fitted_medium(
        kind: Kind,
        number: u64,
        draw: &mut Draw,
    ) -> (TargetExpression, String, Fitted) {
        let truth = drawn(kind, draw);
        let drive = target_expression(&truth, "media:drawn.toml");
        let seen = observed(&drive, shipped_plan_text("fit").unwrap(), draw);
        let stop = AtomicBool::new(false);
        let bytes = drive.shape().unwrap().usable.length_bytes;
        let fitted = fit(&seen, Some(kind), bytes, &stop).unwrap();
        let from = Provenance {
            title: format!("drawn {number}"),
            capacity_bytes: bytes,
            block_bytes: 512,
            day_to_day: (NOISE, "as drawn".to_owned()),
            ..Provenance::default()
        };
        let text = description(&fitted, &seen, &from);
        (drive, text, fitted)
    }

    fn elsewhere(
        kind: Kind,
        number: u64,
        (single, arrays): (&mut Tally, &mut Tally),
        nights: &mut Nights,
    ) {
        let mut draw = Draw::new(kind, number);
        let truth = drawn(kind, &mut Draw::new(kind, number));
        let (drive, text, fitted) = fitted_medium(kind, number, &mut draw);
        if tries().is_some() {
            let model = target_expression(&text, "media:fitted.toml");
            nights.add(&format!("{kind} {number}"), NIGHTS, (&drive, &model), &mut draw);
        }
        let mut told = format!("{kind} {number}: kept back {:.3}", fitted.error);
        for form in ["media:FILE", "raid0(media:FILE*2)", "raid1(media:FILE*2)"] {
            let expression = |file: &str| form.replace("FILE", file);
            let drives = target_expression(&truth, &expression("drawn.toml"));
            let model = target_expression(&text, &expression("fitted.toml"));
            let mut sum = 0.0;
            let mut count = 0.0;
            for point in points(ELSEWHERE, &drives) {
                let prediction = predicted(&model, &point);
                if prediction.basis != Basis::Inside {
                    continue;
                }
                let outcome = measured(&drives, &point, draw.0.next_u64());
                let rate = draw.noisy(outcome.completed() as f64 / outcome.duration.as_secs_f64());
                let error = (prediction.io_per_s / rate - 1.0).abs();
                let (low, high) = prediction.interval();
                let tally = if form.starts_with("media") { &mut *single } else { &mut *arrays };
                tally.errors.push(error);
                tally.covered += usize::from(rate > low && rate < high);
                sum += error;
                count += 1.0;
                if error > tally.worst.0 {
                    let where_ =
                        format!("{kind} {number} {form} {} {}", point.profile, point.queue_depth);
                    tally.worst = (error, where_);
                }
            }
            write!(told, "; {form} {:.3}", sum / count).unwrap();
        }
        println!("{told}");
    }

    fn predicted(model: &TargetExpression, point: &Point) -> Prediction {
        predict(model, point, &AtomicBool::new(false)).unwrap().unwrap()
    }

    fn tries() -> Option<u64> {
        std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok())
    }

    /// Number of the first drive, for a campaign that is split into parts.
    fn first() -> u64 {
        std::env::var("QDEPTH_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn campaign(kind: Kind, short: u64, (mean, coverage): (f64, f64)) {
        let count = tries().unwrap_or(short);
        let (mut single, mut arrays) = (Tally::default(), Tally::default());
        let mut nights = Nights::default();
        for number in first()..first() + count {
            elsewhere(kind, number, (&mut single, &mut arrays), &mut nights);
        }
        println!(
            "TRIES fit-{kind} {count} mean-error={:.1}% coverage={:.1}% worst={:.0}% \
             arrays-error={:.1}% arrays-coverage={:.1}% arrays-worst={:.0}% {}",
            single.mean() * 100.0,
            single.coverage() * 100.0,
            single.worst.0 * 100.0,
            arrays.mean() * 100.0,
            arrays.coverage() * 100.0,
            arrays.worst.0 * 100.0,
            nights.summary(),
        );
        println!("alarms of {:?}", nights.misjudged);
        println!("worst: {}; {}", single.worst.1, arrays.worst.1);
        for tally in [&single, &arrays] {
            assert!(tally.mean() <= mean, "mean error {}", tally.mean());
            assert!(tally.coverage() >= coverage, "coverage {}", tally.coverage());
        }
    }

    /// Results of repeated nightly measurements.
    #[derive(Default)]
    struct Nights {
        all: u64,
        alarms: u64,
        /// Alarms on nights in which the drive is slower by 30 %.
        slow: u64,
        /// Drives with false alarms on more than 1 % of the nights.
        misjudged: Vec<String>,
    }

    impl Nights {
        /// Adds a drive that the plan `quick` measures on `count` nights, each with its own level
        /// and noise.
        fn add(
            &mut self,
            name: &str,
            count: u64,
            (drive, model): (&TargetExpression, &TargetExpression),
            draw: &mut Draw,
        ) {
            let points = points(shipped_plan_text("quick").unwrap(), drive);
            let limits: Vec<f64> = points
                .iter()
                .map(|point| alarm_threshold(&predicted(model, point), points.len()))
                .collect();
            let mut rate = |point: &Point| {
                let outcome = measured(drive, point, draw.0.next_u64());
                outcome.completed() as f64 / outcome.duration.as_secs_f64()
            };
            let rates: Vec<f64> = points.iter().map(&mut rate).collect();
            let mut alarms = 0;
            for _ in 0..count {
                let level = (NOISE * draw.normal()).exp();
                let night: Vec<f64> = rates.iter().map(|rate| draw.noisy(rate * level)).collect();
                let called = |share: f64| night.iter().zip(&limits).any(|(r, l)| r * share < *l);
                alarms += u64::from(called(1.0));
                self.slow += u64::from(called(0.7));
            }
            self.all += count;
            self.alarms += alarms;
            if alarms * 100 > count {
                let all = points.iter().zip(rates.iter().zip(&limits));
                let least = all.map(|(point, (rate, limit))| (rate / limit, point));
                let (share, point) = least.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
                let told =
                    format!("{} {} at {share:.3} of its limit", point.profile, point.queue_depth);
                self.misjudged.push(format!("{name}: {alarms} of {count}, {told}"));
            }
        }

        fn summary(&self) -> String {
            format!("nights={} alarms={} slow-by-30%-called={}", self.all, self.alarms, self.slow)
        }
    }

    /// Device with a buffer of 64 chunks, which small writes fill much faster than the sustained
    /// rate.
    const BUFFERED: &str = r#"
title = "small random writes"
kind = "ssd"
[parameters]
capacity_gb = { value = 64, from = "test" }
command_us = { value = 1, from = "test" }
read_fixed_us = { value = 5, from = "test" }
write_fixed_us = { value = 10, from = "test" }
write_accept_us_per_kib = { value = 0.2, from = "test" }
path_read_us_per_kib = { value = 0.3, from = "test" }
path_write_us_per_kib = { value = 0.5, from = "test" }
link_mb_s = { value = 3500, from = "test" }
prefetch_us = { value = 20, from = "test" }
dies = { value = 64, from = "test" }
die_chunk_kib = { value = 64, from = "test" }
die_read_us = { value = 60, from = "test" }
die_program_us = { value = 1500, from = "test" }
buffer_chunks = { value = 64, from = "test" }
amplification = { value = 10, from = "test" }
[fit]
error = 0.02
kept_back = 12
day_to_day = 0.02
request_bytes = [4096, 65536]
in_flight = [1, 256]
area_bytes = 4294967296
read_share = [0, 1]
random_share = [0, 1]
"#;

    /// Predictions of writes are for the sustained rate, not for the time in which buffers absorb
    /// them.
    pub(crate) fn buffers() {
        for form in ["media:FILE", "raid0(media:FILE*2)"] {
            let drives = target_expression(BUFFERED, &form.replace("FILE", "drawn.toml"));
            for point in points(ELSEWHERE, &drives) {
                let outcome = measured(&drives, &point, 7);
                let rate = outcome.completed() as f64 / outcome.duration.as_secs_f64();
                let error = predicted(&drives, &point).io_per_s / rate - 1.0;
                assert!(error.abs() < 0.1, "{form} {}: {error:+.3}", point.profile);
            }
        }
    }

    pub(crate) fn nights() {
        let mut nights = Nights::default();
        for (kind, number) in [(Kind::Network, 100), (Kind::Memory, 101), (Kind::Volume, 102)] {
            let mut draw = Draw::new(kind, number);
            let (drive, text, _) = fitted_medium(kind, number, &mut draw);
            let model = target_expression(&text, "media:fitted.toml");
            nights.add(&format!("{kind} {number}"), 300, (&drive, &model), &mut draw);
        }
        println!("TRIES fit-nights {} {}", nights.all, nights.summary());
        assert!(nights.alarms * 100 <= nights.all, "{:?}", nights.misjudged);
        assert!(nights.slow * 10 >= nights.all * 8, "{}", nights.summary());
    }
}

#[cfg(test)]
use qdepth_media::fit::Kind;
#[cfg(test)]
use truth::campaign;

#[test]
fn fitted_flash_drive_predicts_other_loads() {
    campaign(Kind::Flash, 1, (0.1, 0.85));
}

#[test]
fn fitted_disk_predicts_other_loads() {
    campaign(Kind::Disk, 1, (0.1, 0.85));
}

#[test]
fn fitted_volume_predicts_other_loads() {
    campaign(Kind::Volume, 2, (0.1, 0.85));
}

#[test]
fn fitted_network_volume_predicts_other_loads() {
    campaign(Kind::Network, 2, (0.1, 0.85));
}

#[test]
fn fitted_memory_predicts_other_loads() {
    campaign(Kind::Memory, 2, (0.1, 0.85));
}

#[test]
fn writes_beyond_full_buffers_are_predicted() {
    truth::buffers();
}

#[test]
fn unchanged_drive_rarely_raises_slow_alarms() {
    truth::nights();
}
