//! The logbook: the records of every run that was measured, in one SQLite file. This is the only
//! crate that speaks SQL ([`Logbook`]).
//!
//! It reads no clock: times come in as RFC 3339 texts.

mod alive;
mod certificate;
mod check;
mod digest;
mod error;
mod failure;
mod file_name;
mod headlines;
mod keeping;
mod live;
mod logbook;
mod open;
mod read;
mod rescue;
mod reserve;
mod transaction;
mod write;

pub use alive::Sign;
pub use check::{Checked, Damage, DamagedRecord};
pub use error::LogbookError;
pub use keeping::Merged;
pub use live::LiveEvents;
pub use logbook::Logbook;
pub use open::{SCHEMA_VERSION, sqlite_version};
pub use reserve::RESERVE_BYTES;
