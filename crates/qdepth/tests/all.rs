//! Tests of the program as users run it. A single binary, so that a changed line links one program
//! instead of forty, and tests that wait leave their CPU to those of other files. Each file is
//! independent. `cargo xtask tidy` checks that none is missing.

#![expect(clippy::disallowed_methods, reason = "tests make files and run programs as a user does")]

#[cfg(test)]
mod common;

#[cfg(test)]
mod answer;
#[cfg(test)]
mod bandwidth;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod causes;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod deploy;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod durable;
#[cfg(test)]
mod emulated;
#[cfg(test)]
mod existing_file;
#[cfg(test)]
mod expect;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod fio;
#[cfg(test)]
mod fio_accepted;
#[cfg(test)]
mod fio_forms;
#[cfg(test)]
mod fio_others;
#[cfg(test)]
mod fio_remarks;
#[cfg(test)]
mod fio_runs;
#[cfg(test)]
mod first_minute;
#[cfg(test)]
mod fit_for;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod host;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod ior;
#[cfg(test)]
mod kubernetes;
#[cfg(test)]
mod left_behind;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod live_screen;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod mdtest;
#[cfg(test)]
mod monitors;
#[cfg(test)]
mod mpi;
#[cfg(test)]
mod own_medium;
#[cfg(test)]
#[cfg(test)]
mod plan;
#[cfg(test)]
mod precondition;
#[cfg(test)]
mod print;
#[cfg(test)]
mod pts;
#[cfg(test)]
mod repeat;
#[cfg(test)]
mod replaced;
#[cfg(test)]
mod report;
#[cfg(test)]
mod reproduce;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod same_storage;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_medium;
#[cfg(test)]
mod several_targets;
#[cfg(test)]
mod slurm;
#[cfg(test)]
mod sql;
#[cfg(test)]
mod timeline;
mod trims;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod until;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod write_pressure;
