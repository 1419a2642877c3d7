//! Tests of logbooks: kills, alterations, full disks, hostile places. A single binary for all
//! files.

#![expect(clippy::disallowed_methods, reason = "tests make files and run programs as a user does")]

#[cfg(test)]
mod common;

#[cfg(test)]
mod altered;
#[cfg(test)]
mod certificate;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod disk_full;
#[cfg(test)]
mod displaced;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod views;
