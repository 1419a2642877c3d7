//! The published papers beside their emulation: each point of the reference is emulated, as the
//! plan of its section measures it, and what comes out stands on a page beside what was printed. A
//! leaf: neither the lab, a medium nor the report knows what was published; reports are handed
//! [`drives`].

mod drives;
mod emulate;
mod figures;
mod phrases;
mod planned;
mod reproduction;

pub use drives::{NoSuchDrive, columns, drive, drives};
pub use emulate::{emulate, emulate_point, loads};
pub use planned::{Group, ReadWords, planned};
pub use reproduction::{compose_edition, compose_reproduction, reproduction_tables};
