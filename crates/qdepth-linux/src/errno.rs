//! Names of the kernel's error numbers, independent of language.

macro_rules! named {
    ($($name:ident)+) => {
        /// Kernel name of an error number, for example `EIO`; rare ones are printed as numbers.
        pub fn errno_name(errno: i32) -> String {
            match errno {
                $(libc::$name => stringify!($name).to_owned(),)+
                other => format!("errno-{other}"),
            }
        }
    };
}

named! {
    EPERM ENOENT EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV
    ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE
    EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP ENODATA ETIME ENOLINK EPROTO
    EBADMSG EOVERFLOW EILSEQ EUSERS ENOTSOCK EOPNOTSUPP ENETDOWN ENETUNREACH ECONNABORTED ECONNRESET
    ENOBUFS ENOTCONN ESHUTDOWN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS
    ESTALE EUCLEAN EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED EBADE ENOKEY EKEYREJECTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_name_is_language_independent() {
        assert_eq!(errno_name(libc::EIO), "EIO");
        assert_eq!(errno_name(4000), "errno-4000");
    }
}
