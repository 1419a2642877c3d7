//! Reasons why an engine, or one of its features, is not available: a sentence for the terminal,
//! and a code and a name for the record.

use std::io;

use qdepth_measure::label;
use rustix::io::Errno;
use thiserror::Error;

use crate::errno::errno_name;

/// Missing feature of the kernel, without a meaningful error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Unsupported {
    /// Features that a ring requires.
    #[error("its io_uring is older than Linux 5.11")]
    OldRing,
    /// An operation of `io_uring`, by its kernel name.
    #[error("the kernel's io_uring does not support {0}")]
    Operation(&'static str),
    /// Registration of buffers of this size.
    #[error("more than 1 GiB of buffers")]
    LargeBuffers,
    /// Discards of a device by `io_uring`, with the kernel's error.
    #[error(
        "its io_uring does not discard (needs Linux 6.12 and a device that supports discards): {0}"
    )]
    Discards(Errno),
}

/// Reason why something is not available: a code, or the name of the kernel's error.
pub(crate) fn reason(error: &io::Error) -> String {
    match (unsupported(error), error.raw_os_error()) {
        (Some(Unsupported::OldRing), _) => label::RING_TOO_OLD.to_owned(),
        (Some(Unsupported::Operation(_)), _) => label::NO_OPERATION.to_owned(),
        (Some(Unsupported::LargeBuffers), _) => label::BUFFERS_TOO_LARGE.to_owned(),
        (Some(Unsupported::Discards(why)), _) => errno_name(why.raw_os_error()),
        (None, Some(errno)) => errno_name(errno),
        (None, None) => label::NOT_USABLE.to_owned(),
    }
}

/// Kernel name of the missing operation, if that is the reason.
pub(crate) fn operation(error: &io::Error) -> Option<&'static str> {
    match unsupported(error)? {
        Unsupported::Operation(name) => Some(name),
        Unsupported::Discards(_) => Some("BLOCK_URING_CMD_DISCARD"),
        Unsupported::OldRing | Unsupported::LargeBuffers => None,
    }
}

fn unsupported(error: &io::Error) -> Option<Unsupported> {
    error.get_ref()?.downcast_ref().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_refusal_reason_is_a_code_or_errno() {
        let kept = |error: io::Error| (reason(&error), operation(&error));
        let kernel = |errno| io::Error::from_raw_os_error(errno);
        assert_eq!(kept(kernel(libc::EINVAL)), ("EINVAL".to_owned(), None));
        for (unsupported, why, name) in [
            (Unsupported::OldRing, "ring-too-old", None),
            (Unsupported::Operation("IORING_OP_READ"), "no-operation", Some("IORING_OP_READ")),
            (Unsupported::LargeBuffers, "buffers-too-large", None),
            (
                Unsupported::Discards(Errno::OPNOTSUPP),
                "EOPNOTSUPP",
                Some("BLOCK_URING_CMD_DISCARD"),
            ),
        ] {
            assert_eq!(kept(io::Error::other(unsupported)), (why.to_owned(), name));
        }
        assert_eq!(
            kept(io::Error::other("it does not support trims")),
            ("not-usable".to_owned(), None)
        );
    }
}
