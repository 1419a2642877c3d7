//! Emulated storage in virtual time, built from device models: drives, arrays and the host in front
//! of them. The loop that measures real storage also measures these.
//!
//! A device model is a small set of physical parameters. An emulated device sees requests
//! (direction, offset, size) and knows nothing of profiles, queue depths or published results.
//! Start with [`TargetExpression`]; then `ssd.rs`, the drive.

mod amplification;
mod calendar;
mod catalogue;
mod checked;
mod description;
mod discarded;
mod emulated;
mod error;
mod expression;
pub mod fit;
mod hdd;
mod host;
mod io;
mod known;
mod load;
mod measure;
mod node;
mod open;
mod parameter;
mod pressure;
mod simple;
mod single;
mod ssd;
mod thermal;
mod tick;

/// Optimisation level of the measuring crates, which are all built with the same one.
pub const OPTIMISATION: &str = env!("QDEPTH_OPTIMISATION");

pub use catalogue::{names as catalogue, text as description_text};
pub use checked::Checked;
pub use description::{DataSheet, Description, Format, Sourced};
pub use emulated::{Emulated, SLOTS};
pub use error::MediaError;
pub use expression::{is_emulated, is_file, name_and_format, several};
pub use host::Settings;
pub use known::{ErrorModel, RangeExceeded, Unmeasured};
pub use load::{MediaLoad, OpenMedia};
pub use open::TargetExpression;
pub use parameter::{Parameter, Values, parameters};
pub use ssd::Wear;
