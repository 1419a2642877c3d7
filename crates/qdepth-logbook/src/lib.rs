//! The logbook: records of all measured runs in one SQLite file. Only this crate contains SQL
//! ([`Logbook`]).
//!
//! This crate reads no clock: times are passed as RFC 3339 texts.

mod alive;
mod certificate;
mod check;
mod digest;
mod error;
mod failure;
mod file_name;
mod foreign_log;
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

pub use alive::EventFile;
pub use check::{Checked, Damage, DamagedRecord};
pub use error::LogbookError;
pub use keeping::Merged;
pub use live::LiveEvents;
pub use logbook::Logbook;
pub use open::{SCHEMA_VERSION, sqlite_version};
pub use reserve::RESERVE_BYTES;
