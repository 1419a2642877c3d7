//! One emulated point, every latency recorded, by the ordinary loop: what its speed and its
//! instructions are counted by. `one_emulated MEDIA PROFILE OUTSTANDING MILLISECONDS` prints the
//! requests and the CPU time of the loop.

#![expect(clippy::disallowed_methods, reason = "a tool for those who work on the project")]
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::sync::atomic::AtomicBool;

use qdepth_media::{OpenMedia, TargetExpression};
use qdepth_workload::{Choices, PlanFile, resolve};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [expression, profile, queue_depth, milliseconds] = words.as_slice() else {
        return Err("usage: one_emulated MEDIA PROFILE OUTSTANDING MILLISECONDS".into());
    };
    let text = format!(
        "name = \"speed\"\nprofiles = [\"{profile}\"]\nqueue_depth = [{queue_depth}]\n\
         warm_up = \"10ms\"\nduration = \"{milliseconds}ms\""
    );
    let file: PlanFile = toml::from_str(&text)?;
    let medium = TargetExpression::read(expression)?;
    let point = resolve(&file, &Choices::default(), &[medium.shape()?])?.points.remove(0);
    let mut target = medium.open(&OpenMedia::for_point(&point))?;
    let before = cpu_seconds();
    let outcome = target.measure(&point, &AtomicBool::new(false)).ok_or("nothing measured")?;
    println!("issued {} cpu_s {:.6}", outcome.issued, cpu_seconds() - before);
    Ok(())
}

/// CPU time of this process, from the kernel's accounts.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
