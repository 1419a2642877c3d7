//! One point of reads on a file, in a closed loop or by a schedule, printed as a line of JSON: what
//! the benchmarks run where no guard admits the target (`/dev/zero`). Reads only; opens nothing for
//! writing.
//!
//! `one_point FILE OUTSTANDING SECONDS [ENGINE [REQUEST_BYTES [AREA_BYTES [STREAMS IO_PER_S
//! [poisson]]]]]`, the rate that of each stream

#![expect(clippy::disallowed_methods, reason = "a tool for those who work on the project")]
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::error::Error;
use std::fs::OpenOptions as Open;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use qdepth_linux::{Engine, EngineChoice, KernelTarget, Namespace, OpenOptions};
use qdepth_workload::{Choices, Extent, PlanFile, TargetShape, resolve};

const ENGINES: [Engine; 6] = [
    Engine::IoUring,
    Engine::LinuxAio,
    Engine::Threads,
    Engine::Sync,
    Engine::IoUringSqPoll,
    // On `/dev/null`, which answers every command at once.
    Engine::IoUringPassthrough,
];

fn engine(name: &str) -> Result<Engine, Box<dyn Error>> {
    let known = ENGINES.into_iter().find(|engine| engine.name() == name);
    known.ok_or_else(|| format!("no engine {name}").into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |n: usize, or: &str| words.get(n).map_or(or.to_owned(), Clone::clone);
    let path = word(0, "/dev/zero");
    let queue_depth: u32 = word(1, "32").parse()?;
    let seconds: f64 = word(2, "2").parse()?;
    let engine = engine(&word(3, "io_uring"))?;
    let size: u32 = word(4, "4096").parse()?;
    let area: u64 = word(5, "1073741824").parse()?;
    let streams: u32 = word(6, "1").parse()?;
    let arrivals = match words.get(7) {
        Some(rate) => format!(
            "arrivals = {{ kind = \"{}\", rate = {:?} }}\n",
            word(8, "fixed"),
            rate.parse::<f64>()?
        ),
        None => String::new(),
    };
    let mut open = Open::new();
    open.read(true);
    if !std::fs::metadata(&path)?.file_type().is_char_device() {
        open.custom_flags(libc::O_DIRECT);
    }
    let file = open.open(&path)?;
    let text = format!(
        "name = \"bench\"\nqueue_depth = [{queue_depth}]\nwarm_up = \"200ms\"\n\
         duration = \"{}ms\"\n[[profile]]\nname = \"bench\"\nrandom = 100\nread = 100\n\
         block_size = \"{size}B\"\nstreams = {streams}\n{arrivals}",
        (seconds * 1e3) as u64
    );
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: area }, 512);
    let plan = resolve(&toml::from_str::<PlanFile>(&text)?, &Choices::default(), &[shape])?;
    let point = &plan.points[0];
    let options = OpenOptions {
        namespace: Some(Namespace { id: 1, block_bytes: 512 }),
        ..OpenOptions::from_point(point, EngineChoice::Only(engine))
    };
    let mut target = KernelTarget::open(file.into(), &options)?;
    let outcome = target.measure(point);
    let reads = &outcome.directions[0];
    let ios = reads.completed as f64;
    let per_io = |nanos: u64| nanos as f64 / ios;
    // On a target that answers at once the response time is how late a request was issued.
    let response = reads.response_time.as_ref();
    let late = |quantile: f64| {
        let value = response.and_then(|times| times.quantile(quantile));
        value.map_or("null".to_owned(), |value| value.0.to_string())
    };
    println!(
        "{{\"io_per_s\": {:.1}, \"mean_ns\": {:.1}, \"user_ns\": {:.2}, \"system_ns\": {:.2}, \
         \"failed\": {}, \"response_p50_ns\": {}, \"response_p99_ns\": {}, \"response_p999_ns\": \
         {}}}",
        ios / outcome.duration.as_secs_f64(),
        reads.latency.mean().unwrap_or(f64::NAN),
        per_io(outcome.cpu.user.0),
        per_io(outcome.cpu.system.0),
        outcome.failed(),
        late(0.5),
        late(0.99),
        late(0.999),
    );
    Ok(())
}
