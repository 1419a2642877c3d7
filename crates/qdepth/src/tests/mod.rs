//! Tests of the whole program.

mod hostile_names;
