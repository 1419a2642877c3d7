//! Tests of plans and profiles, in a single binary.

#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod variants;
#[cfg(test)]
mod ways;
