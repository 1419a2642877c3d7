//! The files and command lines of other programs: fio's and IOR's jobs are read and become plans,
//! what was measured is written in their forms, and their results are read into records.
//!
//! This crate does no I/O and reads no clock: texts come in, texts and records go out. Start with
//! [`fio::JobSet`], [`ior::Ior`] and [`import`].

pub mod fio;
mod icf;
mod import;
mod imported;
mod iometer;
pub mod ior;
mod remark;

pub use icf::{IcfPlan, IcfRefusal, icf_plan};
pub use import::{ImportError, import};
pub use imported::Imported;
pub use remark::{Remark, Remarked};
