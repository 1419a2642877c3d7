//! The machine below a measurement: what it is, whether it may be touched, and what else it did.
//!
//! This is the only crate that runs commands, and the only one that hands out a file descriptor
//! that can write to a device. Where to start:
//!
//! 1. [`target::inspect`] looks at what the user named, and opens nothing for reading or writing.
//! 2. [`guard::claim_read_only`] or [`guard::claim_for_writing`] turns that into a
//!    [`guard::Claim`],
//!    or into a [`Refusal`] which says which guard refused, what it found, and what to do.
//!    [`measurement_file::create`] does the same for a directory.
//! 3. [`environment::observe`], [`environment::target_facts`] and [`monitor`] say on what, and
//!    beside what, was measured. [`check`] says beforehand what would disturb it.
//! 4. [`prepare`] changes the machine in steps, each with its way back.
//!
//! It never writes to a device with a mount, swap, a holder, a loop or the system; never reopens a
//! target by its name; never writes before every guard has passed; never deletes a file that it did
//! not create; never takes a yes for consent. No switch overrides this. The one override concerns
//! data on an otherwise unused device, and the user must name the data.
//!
//! The guards are numbered as in [`Guard`]. Two of them live elsewhere: G0 (read-only unless the
//! plan says otherwise) is the command line's, G15 (every node repeats the guards) the cluster's.

mod aligned;
pub mod below;
pub mod check;
pub mod consent;
pub mod device_handle;
mod device_number;
pub mod environment;
pub mod extents;
pub mod guard;
pub mod identity;
mod kernel_file;
pub mod label;
mod loop_device;
pub mod measurement_file;
pub mod monitor;
pub mod mounts;
mod noise;
mod own_content;
pub mod own_files;
mod own_folder;
pub mod placement;
pub mod prepare;
pub mod reach;
pub mod readable;
pub mod recording;
mod refusal;
mod room;
pub mod same_storage;
pub mod served;
pub mod sysfs;
pub mod system;
pub mod target;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use refusal::{Failure, Guard, Problem, Refusal};
