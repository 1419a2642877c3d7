//! Plans and profiles as they are written. One binary for all files of tests.

#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod ways;
