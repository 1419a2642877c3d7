//! Flags of transfers, and advice about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flag of the kernel with which a transfer is issued (preadv2(2), pwritev2(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoFlag {
    /// None.
    #[default]
    None,
    /// Buffered I/O whose pages leave the page cache afterwards (`RWF_DONTCACHE`, Linux 6.14).
    Dontcache,
    /// Direct writes that a crash of the machine leaves whole or undone (`RWF_ATOMIC`, Linux 6.11).
    Atomic,
}

/// Advice to the kernel about buffered requests (posix_fadvise(2), madvise(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheAdvice {
    /// None.
    #[default]
    None,
    /// Requests follow each other: the kernel reads further ahead.
    Sequential,
    /// Requests do not: the kernel reads nothing ahead.
    Random,
}
