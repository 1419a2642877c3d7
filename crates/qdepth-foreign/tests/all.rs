//! Tests of the imports of other programs' files, in a single binary.

#![expect(clippy::disallowed_methods, reason = "tests make files and run programs as a user does")]

#[cfg(test)]
mod fio_accepted;
#[cfg(test)]
mod fio_fuzz;
#[cfg(test)]
mod fio_jobs;
#[cfg(test)]
mod fio_options;
#[cfg(test)]
mod fio_others;
#[cfg(test)]
mod fio_trims;
#[cfg(test)]
mod import;
