//! Benchmarks beside fio, interleaved pair by pair, so that a busy machine hits both alike. Printed
//! are medians of ratios, never a verdict on a single run.

mod agree;
mod all;
mod bar;
mod engine;
mod examples;
mod instructions;
mod job_file;
mod live;
mod logbook;
mod many;
mod media;
mod pacing;
mod programs;
mod report;
mod same;
mod until;
mod workers;
mod zram;

pub use agree::agree;
pub use all::all;
pub use engine::{engine, file};
pub use instructions::{budget, inlined, instructions};
pub use job_file::job_file;
pub use live::live;
pub use logbook::logbook;
pub use many::many;
pub use media::media;
pub use pacing::pacing;
pub use report::report;
pub use same::same;
pub use until::until;
pub use workers::workers;
