//! The machine of a measurement: its facts, access to its storage, and its other activity.
//!
//! This is the only crate that runs commands, and the only one that provides a file descriptor that
//! can write to a device. Where to start:
//!
//! 1. [`target::inspect`] looks at what the user named, and opens nothing for reading or writing.
//! 2. [`guard::claim_read_only`] or [`guard::clear_for_writing`] turns that into a
//!    [`guard::Claim`], or into a [`Refusal`] that says which guard refused, what it found, and
//!    what to do. [`measurement_file::clear`] does the same for a directory.
//! 3. [`environment::observe`], [`environment::target_facts`] and [`monitor`] describe the machine,
//!    the target, and other activity. [`check`] finds interferences in advance.
//! 4. [`prepare`] changes the machine in steps, each with an undo.
//!
//! It never writes to a device with a mount, swap, a holder, a loop device or the system; never
//! reopens a target by its name; never writes before every guard has passed; never deletes a file
//! that it did not create; never takes a yes for consent. No switch overrides this. The one
//! override concerns data on an otherwise unused device, and the user must name the data.
//!
//! The guards are numbered as in [`Guard`]. Two of them are elsewhere: G0 (read-only unless the
//! plan says otherwise) in the command line, G15 (every node repeats the guards) in the cluster.

mod aligned;
pub mod below;
pub mod check;
pub mod consent;
pub mod device_handle;
mod device_names;
mod device_number;
mod entry;
pub mod environment;
pub mod extents;
pub mod guard;
pub mod identity;
mod kernel_file;
pub mod label;
mod leftover;
mod loop_device;
pub mod measurement_file;
pub mod monitor;
pub mod mounts;
mod noise;
mod own_content;
pub mod own_entries;
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
mod stack;
pub mod sysfs;
pub mod system;
pub mod target;
#[cfg(test)]
mod tests;

pub use refusal::{Failure, Guard, Problem, Refusal};
