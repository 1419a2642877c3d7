//! The one door for every file that qdepth writes or reads: results, logbooks and what lies beside
//! them, plans and whatever else it is given. Devices have a door of their own, in `qdepth-host`.
//!
//! - [`Output`]: where a result goes. What has its name is replaced only where nothing is lost that
//!   nobody gave up: never a device, a link, or what another user has put there.
//! - [`Input`]: what is read: ordinary files, up to a size.
//! - [`Kept`]: a file of our own that is written on and on: logbook, journal, sign of a run.
//! - [`Folder`]: a directory, looked up once and held; all of the above live in one.
//! - [`Socket`]: a place to listen at.
//!
//! Nobody can be trusted with a name: between two looks at it, it can come to mean something else.
//! So a directory is walked to once, component by component, and held; each file in it is opened
//! without following a link, and looked at once more through the handle.

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

pub use destination::{Privacy, Replaced, replace_all};
pub use error::{FileError, How};
pub use folder::Folder;
pub use input::{Input, Limit, limit};
pub use kept::{Kept, Named, Scratch, Trust};
pub use output::Output;
pub use shell::shell_word;
pub use shown::{Lines, visible};
pub use socket::Socket;
pub use trust::must_be_trusted;
