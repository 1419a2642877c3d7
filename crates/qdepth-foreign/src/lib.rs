//! Interoperability with other programs: converts jobs of fio, IOR, mdtest and Iometer to plans,
//! writes results in formats of fio, IOR and mdtest, and imports results.
//!
//! This crate does no I/O and reads no clock: text in, text and records out. Start with
//! [`fio::JobSet`], [`ior::Ior`], [`mdtest::Mdtest`] and [`import`].

pub mod fio;
mod icf;
mod import;
mod import_laws;
mod imported;
mod iometer;
pub mod ior;
pub mod mdtest;
mod remark;
mod spread;

pub use icf::{IcfPlan, IcfRefusal, icf_plan};
pub use import::{ImportError, import};
pub use imported::Imported;
pub use remark::{Remark, Remarked};
