//! The published papers beside their emulation: each point of the reference is emulated, as the
//! plan of its section measures it. A leaf: neither the lab nor a medium knows what was published.

mod emulate;
mod figures;
mod planned;

pub use emulate::{emulate, emulate_point, loads};
pub use planned::{Group, ReadWords, planned};
