//! A text that is no expression.

/// A text that is no expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseError {
    /// A character that begins no token.
    #[error("column {column}: `{found}` cannot begin a name, number or sign")]
    Character {
        /// From 1.
        column: usize,
        /// The character.
        found: char,
    },
    /// A malformed number.
    #[error("column {column}: `{found}` is not a number")]
    Number {
        /// From 1.
        column: usize,
        /// Text as written.
        found: String,
    },
    /// An unexpected token.
    #[error("column {column}: expected {expected}, found {found}")]
    Expected {
        /// From 1.
        column: usize,
        /// Text found.
        found: String,
        /// Expected text.
        expected: &'static str,
    },
    /// A malformed list of queue depths.
    #[error(
        "column {column}: queue depths must be a number from 1, powers of two such as 1..512 (the \
         larger last), or an ascending list such as {{33, 66}}, at most 32"
    )]
    Intensities {
        /// From 1.
        column: usize,
    },
    /// Parentheses nested too deeply.
    #[error("column {column}: more than 32 nested parentheses")]
    Depth {
        /// From 1.
        column: usize,
    },
}
