//! IOR's JSON (`-O summaryFormat=JSON`), with the names, order and types of values of its main
//! branch. The document is always valid.

use serde_json::{Map, Value, json};

use super::options::SWITCHES;
use super::result::{
    FORM, FileSystem, IorPhase, IorRun, IorTest, MIB, maximum, options, phase_summary, space,
};
use super::{Hog, Packet};

/// JSON document of a run.
pub fn ior_json(run: &IorRun) -> String {
    let tests: Vec<Value> = run.tests.iter().map(|each| test(run, each)).collect();
    let of_test = |test| ["write", "read"].into_iter().filter_map(move |name| summary(test, name));
    let summaries: Vec<Value> = run.tests.iter().flat_map(of_test).collect();
    let document = json!({
        "Version": FORM,
        "Program": run.program,
        "Emulated": run.emulated,
        "Began": run.began,
        "Command line": format!("ior {}", run.command_line),
        "Machine": run.machine,
        "tests": tests,
        "summary": summaries,
        "Finished": run.finished,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn test(run: &IorRun, test: &IorTest) -> Value {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
    put("TestID", test.id.into());
    put("StartTime", test.began.clone().into());
    if let Some(FileSystem { path, .. }) = &test.file_system {
        let room = space(test);
        put("Path", path.clone().into());
        put("Capacity", room.capacity.into());
        put("Used Capacity", room.used.into());
        put("Inodes", room.inodes.into());
        put("Used Inodes", room.used_inodes.into());
    }
    put("Parameters", parameters(run, test));
    let options: Map<String, Value> =
        options(test).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    put("Options", Value::Object(options));
    put("Results", test.phases.iter().map(|phase| access(test, phase)).collect());
    if test.ior.verbose > 0 {
        let mut max = Map::new();
        for access in ["write", "read"] {
            if let Some(best) = maximum(&test.phases, access) {
                max.insert(format!("{access}MiB"), json!(best));
                max.insert(format!("{access}MB"), json!(best * MIB / 1e6));
            }
        }
        put("max", Value::Object(max));
    }
    Value::Object(all)
}

fn parameters(run: &IorRun, test: &IorTest) -> Value {
    let ior = &test.ior;
    let (system, node) = run.machine.split_once(' ').unwrap_or((&run.machine, ""));
    let node = node.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let (per_task, per_node) = match ior.hog {
        Some(Hog::Task(bytes)) => (bytes, 0),
        Some(Hog::Node(bytes)) => (0, bytes),
        Some(Hog::Share(_)) | None => (0, 0),
    };
    let packet = match ior.packet {
        Packet::Unsaid | Packet::Timestamp => 0,
        Packet::Offset => 1,
        Packet::Incompressible => 2,
        Packet::Random => 3,
    };
    let packet_name = ["g", "t", "o", "i"][packet];
    let mut all = json!({
        "testID": test.id,
        "refnum": ior.reference,
        "api": "POSIX",
        "platform": format!("{node}({system})"),
        "testFileName": ior.files.join("@"),
        "deadlineForStonewall": ior.deadline_s,
        "maxTimeDuration": ior.most_minutes,
        "outlierThreshold": ior.outlier_s,
        "options": "(null)",
        "nodes": test.nodes,
        "memoryPerTask": per_task,
        "memoryPerNode": per_node,
        "tasksPerNode": test.tasks / test.nodes.max(1),
        "repetitions": ior.repetitions,
        "interTestDelay": ior.delay_s,
        "reorderTasks": ior.reorder,
        "taskPerNodeOffset": ior.task_offset,
        "reorderTasksRandom": ior.reorder_random,
        "reorderTasksRandomSeed": ior.reorder_seed,
        "randomOffset": ior.random,
        "dataPacketType": packet,
        "verbose": ior.verbose,
        "data packet type": packet_name,
        "setTimeStampSignature/incompressibleSeed": ior.signature.unwrap_or(0),
        "segmentCount": ior.segments,
        "transferSize": ior.transfer,
        "blockSize": ior.block,
        "numTasks": test.tasks,
    });
    let mut own = ior.clone();
    let switches = SWITCHES.iter().filter(|(_, name, _)| !UNPRINTED.contains(name));
    let switches = switches.map(|(_, name, field)| (*name, *field(&mut own)));
    let never = ["dryRun", "warningAsErrors", "collective"].map(|name| (name, false));
    if let Value::Object(all) = &mut all {
        let switches = switches.chain(never);
        all.extend(switches.map(|(name, on)| (name.to_owned(), u32::from(on).into())));
    }
    all
}

/// Switches that are missing in IOR's JSON.
const UNPRINTED: [&str; 2] = ["useO_DIRECT", "intraTestBarriers"];

fn access(test: &IorTest, phase: &IorPhase) -> Value {
    let figures = phase.figures();
    json!({
        "access": phase.access,
        "bwMiB": figures.mib_per_s,
        "blockKiB": test.ior.block as f64 / 1024.0,
        "xferKiB": test.ior.transfer as f64 / 1024.0,
        "iops": figures.io_per_s,
        "latency": figures.latency_s,
        "openTime": figures.open_s,
        "wrRdTime": figures.moved_s,
        "closeTime": figures.close_s,
        "totalTime": figures.total_s,
    })
}

fn summary(test: &IorTest, name: &str) -> Option<Value> {
    let (totals, ior) = (phase_summary(test, name)?, &test.ior);
    let mut all = json!({
        "operation": name,
        "API": "POSIX",
        "TestID": test.id,
        "ReferenceNumber": ior.reference,
        "segmentCount": ior.segments,
        "blockSize": ior.block,
        "transferSize": ior.transfer,
        "numTasks": test.tasks,
        "tasksPerNode": test.tasks / test.nodes.max(1),
        "repetitions": ior.repetitions,
        "filePerProc": u32::from(ior.file_per_process),
        "reorderTasks": ior.reorder,
        "taskPerNodeOffset": ior.task_offset,
        "reorderTasksRandom": ior.reorder_random,
        "reorderTasksRandomSeed": ior.reorder_seed,
        "bwMaxMIB": totals.rate.max,
        "bwMinMIB": totals.rate.min,
        "bwMeanMIB": totals.rate.mean,
        "bwStdMIB": totals.rate.deviation,
        "OPsMax": totals.ops.max,
        "OPsMin": totals.ops.min,
        "OPsMean": totals.ops.mean,
        "OPsSD": totals.ops.deviation,
        "MeanTime": totals.mean_s,
        "xsizeMiB": totals.mib,
    });
    if let (Value::Object(all), Some((seconds, rate))) = (&mut all, totals.wall) {
        all.insert("StoneWallTime".to_owned(), seconds.into());
        all.insert("StoneWallbwMeanMIB".to_owned(), rate.into());
    }
    Some(all)
}
