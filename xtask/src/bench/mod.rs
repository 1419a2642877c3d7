//! Benchmarks against fio, interleaved pair by pair, so that other load on the machine affects both
//! equally. They print medians of ratios, never a verdict on a single run.

mod engine;
mod examples;
mod instructions;
mod job_file;
mod programs;
mod report;
mod zram;

pub use engine::engine;
pub use instructions::{budget, inlined};
pub use job_file::job_file;
pub use report::report;
