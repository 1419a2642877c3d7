//! One file for each verb of the command line.

pub(crate) mod catalogue;
pub(crate) mod certify;
pub(crate) mod compare;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod first;
pub(crate) mod fit;
pub(crate) mod host;
pub(crate) mod import;
pub(crate) mod iometer;
pub(crate) mod ior;
pub(crate) mod logbook;
pub(crate) mod media;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod read;
pub(crate) mod repeat;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod serve_medium;
pub(crate) mod steady;
pub(crate) mod trend;
