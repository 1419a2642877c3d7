//! Interoperability with other programs: converts jobs of fio, IOR and Iometer to plans, writes
//! results in formats of fio and IOR, and imports results.
//!
//! This crate does no I/O and reads no clock: text in, text and records out. Start with
//! [`fio::JobSet`], [`ior::Ior`] and [`import`].

pub mod fio;
mod icf;
mod import;
mod import_laws;
mod imported;
mod iometer;
pub mod ior;
mod remark;
mod spread;

pub use icf::{IcfPlan, IcfRefusal, icf_plan};
pub use import::{ImportError, import};
pub use imported::Imported;
pub use remark::{Remark, Remarked};
