//! Tests of the program as a whole.

mod hostile_names;
