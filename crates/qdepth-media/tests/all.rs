//! Tests of emulated devices under the measurement loop, in a single binary.

#![expect(clippy::disallowed_methods, reason = "tests make files and run programs as a user does")]

#[cfg(test)]
mod common;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod data_sheets;
#[cfg(test)]
mod determinism;
#[cfg(test)]
mod fit_own_media;
#[cfg(test)]
mod fit_published;
#[cfg(test)]
mod keep_up;
#[cfg(test)]
mod provenance;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod together;
#[cfg(test)]
mod truth;
