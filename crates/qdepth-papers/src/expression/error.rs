//! A text that is no expression.

/// A text that is no expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseError {
    /// A character of no word.
    #[error("column {column}: `{found}` begins no name, number or sign")]
    Character {
        /// From 1.
        column: usize,
        /// The character.
        found: char,
    },
    /// A number that cannot be one.
    #[error("column {column}: `{found}` is not a number")]
    Number {
        /// From 1.
        column: usize,
        /// Text as written.
        found: String,
    },
    /// Something else than what must stand there.
    #[error("column {column}: {found} where {expected} is expected")]
    Expected {
        /// From 1.
        column: usize,
        /// Text found.
        found: String,
        /// Expected text.
        expected: &'static str,
    },
    /// A list of intensities that cannot be one.
    #[error(
        "column {column}: intensities are a number from 1, powers of two as 1..512 (the larger \
         last), or {{33, 66}} ascending, at most 32"
    )]
    Intensities {
        /// From 1.
        column: usize,
    },
    /// Too many parentheses within one another.
    #[error("column {column}: more than 32 parentheses within one another")]
    Depth {
        /// From 1.
        column: usize,
    },
}
