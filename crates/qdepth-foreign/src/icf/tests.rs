//! Configurations as Iometer writes them, and the plans that they become.

use proptest::prelude::*;
use qdepth_workload::{Arrivals, Choices, Extent, Plan, PlanFile, TargetShape, resolve};

use super::{IcfPlan, icf_plan};
use crate::remark::Remark;

/// A configuration with this test type, these specifications and these workers.
fn icf(kind: &str, specs: &str, workers: &str) -> String {
    format!(
        "Version 2006.07.27 \n'TEST SETUP ====================\n'Test Description\n\tnightly\n\
         'Run Time\n'\thours      minutes    seconds\n\t0          1          30\n\
         'Ramp Up Time (s)\n\t5\n'Default Disk Workers to Spawn\n\tNUMBER_OF_CPUS\n\
         'Default Network Workers to Spawn\n\t0\n'Record Results\n\tALL\n\
         'Worker Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Disk Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Queue Depth Cycling\n'\tstart      end        step       step type\n\
         \t1          8          2          EXPONENTIAL\n'Test Type\n\t{kind}\n'END test setup\n\
         'RESULTS DISPLAY ===============\n'Record Last Update Results,Update Frequency,Update \
         Type\n\
         \tDISABLED,1,WHOLE_TEST\n'Bar chart 1 statistic\n\tTotal I/Os per Second\n\
         'END results display\n'ACCESS SPECIFICATIONS =========\n\
         {specs}'END access specifications\n\
         'MANAGER LIST ==================\n'Manager ID, manager name\n\t1,HOST\n\
         'Manager network address\n\t\n{workers}'End manager\n'END manager list\n\
         Version 2006.07.27 \n"
    )
}

fn spec(name: &str, lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
    format!(
        "'Access specification name,default assignment\n\t{name},NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n{lines}"
    )
}

fn worker(name: &str, queue_depth: &str, disk: &str, specs: &[&str], targets: &[&str]) -> String {
    let specs: String = specs.iter().map(|name| format!("\t{name}\n")).collect();
    let target = |name: &&str| format!("'Target\n\t{name}\n'Target type\n\tDISK\n'End target\n");
    let targets: String = targets.iter().map(target).collect();
    format!(
        "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Default target settings for worker\n\
         'Number of outstanding IOs,test connection rate,transactions per connection\n\
         \t{queue_depth}\n\
         'Disk maximum size,starting sector\n\t{disk}\n'End default target settings for worker\n\
         'Assigned access specs\n{specs}'End assigned access specs\n'Target assignments\n{targets}\
         'End target assignments\n'End worker\n"
    )
}

fn plan(made: &IcfPlan) -> Plan {
    let whole = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
    let shapes = vec![TargetShape::whole(whole, 512); made.targets.len().max(1)];
    resolve(&made.plan, &Choices::default(), &shapes)
        .unwrap_or_else(|why| panic!("{why}: {:?}", made.plan))
}

#[test]
fn iometer_configuration_becomes_steps() {
    let specs = spec("4K; 67% Read", &["4096,100,67,100,0,1,4096,0"])
        + &spec("Log", &["65536,100,0,0,0,1,0,0"]);
    let workers =
        worker("Worker 1", "16,DISABLED,1", "2048,64", &["4K; 67% Read", "Log"], &["I:local"])
            + &worker(
                "Worker 2",
                "2,DISABLED,1",
                "0,0",
                &["4K; 67% Read"],
                &["PHYSICALDRIVE:1", "I:local"],
            );
    let made = icf_plan("Night run", &icf("NORMAL", &specs, &workers)).unwrap();
    assert_eq!(made.targets, ["I:local", "PHYSICALDRIVE:1"]);
    let text = made.text().unwrap();
    assert!(text.contains("# target 2: PHYSICALDRIVE:1\n"), "{text}");
    let plan = plan(&made);
    let loads: Vec<_> = plan.points.iter().map(|p| (p.group, p.target, p.queue_depth)).collect();
    assert_eq!(plan.points.len(), 4, "{loads:?}");
    assert!(
        loads.contains(&(0, 0, 16)) && loads.contains(&(0, 1, 2)) && loads.contains(&(0, 0, 2))
    );
    let first = plan.points.iter().find(|point| point.queue_depth == 16).unwrap();
    assert_eq!((first.area.offset_bytes, first.area.length_bytes), (64 * 512, 2048 * 512));
    assert_eq!((first.warm_up_ns, first.stop.duration_ns), (5_000_000_000, 90_000_000_000));
    assert!((first.read_share - 0.67).abs() < 1e-9 && (first.random_share - 1.0).abs() < 1e-9);
    assert_eq!(first.alignment_bytes, 4096);
    let log = plan.points.last().unwrap();
    assert_eq!(
        (log.step.as_str(), log.alignment_bytes, log.block_size.max()),
        ("Log", 512, 65_536)
    );
}

#[test]
fn iometer_cycling_becomes_separate_steps() {
    let specs = spec("a", &["512,100,100,0,0,1,0,0"]);
    let numbered =
        |number: u32| worker(&format!("w{number}"), "4,DISABLED,1", "0,0", &["a"], &["C:"]);
    let three: String = (1..=3).map(numbered).collect();
    for (kind, expected) in [
        ("NORMAL", vec![(3, 4)]),
        ("CYCLE_OUTSTANDING_IOS", vec![(3, 1), (3, 2), (3, 4), (3, 8)]),
        ("CYCLE_OUTSTANDING_IOS_AND_TARGETS", vec![(3, 1), (3, 2), (3, 4), (3, 8)]),
        ("CYCLE_WORKERS", vec![(1, 4), (2, 4), (3, 4)]),
        ("CYCLE_TARGETS", vec![(3, 4)]),
    ] {
        let plan = plan(&icf_plan("x", &icf(kind, &specs, &three)).unwrap());
        let groups: Vec<(usize, u32)> =
            plan.groups().map(|group| (group.len(), group[0].queue_depth)).collect();
        assert_eq!(groups, expected, "{kind}");
    }
}

/// Specification with 60 % reads of 4 KiB and 40 % writes of 64 KiB: no write has 4 KiB.
#[test]
fn specification_lines_keep_read_and_write_sizes() {
    let specs = spec("mix", &["4096,60,100,100,0,1,0,0", "65536,40,0,100,0,1,0,0"])
        + &spec("server", &["512,10,80,100,0,1,0,0", "4096,90,80,100,0,1,0,0"])
        + &spec("burst", &["8192,100,100,100,20,4,0,0"])
        + &spec("both", &["4096,50,100,100,0,1,0,0", "4096,50,100,0,0,1,0,0"]);
    let workers =
        worker("w", "1,DISABLED,1", "0,0", &["mix", "server", "Idle", "burst", "both"], &["C:"]);
    let made = icf_plan("x", &icf("NORMAL", &specs, &workers)).unwrap();
    let plan = plan(&made);
    let [mix, server, burst, both] = plan.points.as_slice() else {
        panic!("{}", plan.points.len())
    };
    assert!((mix.read_share - 0.6).abs() < 1e-9);
    let sizes: Vec<u32> = mix.block_size.sizes.iter().map(|(size, _)| *size).collect();
    assert_eq!((sizes, mix.own_writes.unwrap().first_size), (vec![4096, 65_536], 1));
    assert_eq!((server.block_size.sizes.len(), server.own_writes.is_none()), (2, true));
    assert_eq!(burst.arrivals, Arrivals::ThinkTime { time_ns: 20_000_000, requests: 4 });
    assert!((both.random_share - 0.5).abs() < 1e-9);
    assert!(made.remarks.contains(&Remark::MeanRandomShare), "{:?}", made.remarks);
    assert!(made.remarks.contains(&Remark::IdleTestLeftOut), "{:?}", made.remarks);
}

#[test]
fn old_and_specification_only_files_are_read() {
    let old = "'size, % of size, % reads, % random, delay, burst\n2048 100 67 100 0 1\n";
    let workers = worker("w", "1,DISABLED,1", "0,0", &["2 KiB random 67% reads"], &["C:"]);
    let text = icf("normal", old, &workers).replace("'Ramp Up Time (s)", "'Ramp Up Time");
    assert_eq!(plan(&icf_plan("x", &text).unwrap()).points.len(), 1);
    let alone = format!(
        "\u{feff}Version 1.1.0 \r\n'ACCESS SPECIFICATIONS ===\r\n{}'END access specifications\r\n",
        spec("a", &["2048,100,67,100,0,1,0,0"]) + &spec("b", &["512,100,0,0,0,1,0,0"])
    );
    let made = icf_plan("", &alone).unwrap();
    assert_eq!(plan(&made).points.len(), 2);
    assert!(made.remarks.contains(&Remark::NoWorkerInFile), "{:?}", made.remarks);
}

#[test]
fn unsupported_iometer_features_are_refused_by_line() {
    let specs = spec("a", &["512,100,100,0,0,1,0,0"]);
    let good = worker("w", "4,DISABLED,1", "0,0", &["a"], &["C:"]);
    let net = good.replace("'Worker type\n\tDISK", "'Worker type\n\tNETWORK,TCP");
    let ask = |kind: &str, specs: &str, workers: &str| {
        icf_plan("x", &icf(kind, specs, workers)).unwrap_err()
    };
    for (refusal, reason) in [
        (ask("NORMAL", &specs, &net), "does not measure networks"),
        (ask("NORMAL", &spec("a", &["512,100,100,0,0,1,0,64"]), &good), "reply of 64 B"),
        (ask("NORMAL", &specs, &good.replace("4,DISABLED", "4,ENABLED")), "connection rate"),
        (ask("INCREMENT_TARGETS_SERIAL", &specs, &good), "INCREMENT_TARGETS_SERIAL"),
        (ask("SOMETIMES", &specs, &good), "SOMETIMES"),
        (
            ask(
                "CYCLE_TARGETS",
                &specs,
                &worker("w", "4,DISABLED,1", "0,0", &["a"], &["C:", "D:"]),
            ),
            "several targets",
        ),
        (ask("NORMAL", &specs, &good.replace("\ta\n", "\tb\n")), "no access specification `b`"),
        (ask("NORMAL", &spec("a", &["512,100,150,0,0,1,0,0"]), &good), "between 0 and 100"),
        (ask("NORMAL", &spec("a", &["x,100,50,0,0,1,0,0"]), &good), "not a line"),
        (
            ask("NORMAL", &spec("a", &["512,50,9,0,1,1,0,0", "512,50,9,0,2,1,0,0"]), &good),
            "different delays",
        ),
        (ask("NORMAL", &specs, &format!("{good}'Novelty\n\t7\n")), "novelty"),
        (icf_plan("x", "hello\n").unwrap_err(), "not an Iometer configuration"),
    ] {
        let text = refusal.to_string();
        assert!(text.contains(reason) && text.starts_with("line "), "`{reason}`: {text}");
    }
    assert!(ask("NORMAL", &specs, &net).line > 30, "the line of the worker's type");
}

proptest! {
    #[test]
    fn any_icf_text_parses_without_panic(
        lines in prop::collection::vec(
            prop_oneof![
                Just("'Worker".to_owned()), Just("'Assigned access specs".to_owned()),
                Just("'Target".to_owned()), Just("'Disk maximum size,starting sector".to_owned()),
                Just("'size,% of size".to_owned()), Just("'Test Type".to_owned()),
                Just("'Queue Depth Cycling".to_owned()), Just("'Run Time".to_owned()),
                Just("'Access specification name,default assignment".to_owned()),
                r"[0-9A-Z, ]{0,24}",
            ],
            0..24,
        )
    ) {
        let text = format!("Version 1.1.0\n{}", lines.join("\n"));
        if let Ok(made) = icf_plan("x", &text) {
            let text = made.text().unwrap();
            prop_assert_eq!(text.parse::<PlanFile>(), Ok(made.plan), "{}", text);
        }
    }
}
