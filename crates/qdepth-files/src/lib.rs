//! The only access to files that qdepth reads or writes: results, logbooks and files next to them,
//! plans and other inputs. `qdepth-host` does the same for devices.
//!
//! - [`Output`]: destination of a result. It replaces a file only if nothing of value is lost:
//!   never a device, a link, or a file of another user.
//! - [`Input`]: a file to be read: a regular one, up to a size limit.
//! - [`Kept`]: a long-lived file of qdepth: logbook, journal, marker of a run.
//! - [`Folder`]: a directory, resolved once and kept open; all of the above are in one.
//! - [`Socket`]: a socket to listen on.
//!
//! Names cannot be trusted: between two checks, a name can come to refer to another file. Therefore
//! a directory is resolved once, component by component, and kept open. Each file in it is opened
//! without following a link, and checked again through its handle.

mod at_work;
mod claim;
mod destination;
mod error;
mod folder;
mod fresh;
mod input;
mod kept;
mod mark;
mod output;
mod shell;
mod shown;
mod socket;
mod sort;
mod trust;
mod walk;

#[cfg(test)]
mod tests;

pub use at_work::{file_at_work, note_results_file, results_file};
pub use destination::{Privacy, Replaced, replace_all};
pub use error::{FileError, How};
pub use folder::{Folder, NewFolder};
pub use input::{Input, Limit, limit};
pub use kept::{Kept, Named, Scratch, Trust};
pub use output::Output;
pub use shell::{is_stored_command, shell_word};
pub use shown::{Lines, harmless_cell, visible};
pub use socket::Socket;
pub use trust::must_be_trusted;
