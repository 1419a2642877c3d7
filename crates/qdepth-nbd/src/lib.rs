//! An emulated medium in real time: a block device for any NBD client, at which the medium decides
//! when each request ends. It is how another program, fio, can check what the emulation
//! says in virtual time.
//!
//! One thread does everything, since the order in which requests reach a medium is part of its
//! answer: it reads what clients ask, moves the medium's time on to the clock's, and sends what has
//! ended. While requests are in flight it looks without sleeping, as a kernel wakes a thread 5 to
//! 50 µs late. Start with [`Server`], then `wire.rs`.

mod clients;
mod connection;
mod served;
mod server;
mod store;
mod way;
mod wire;

pub use served::Served;
pub use server::{ServeError, Server};
pub use way::{Outlook, Way};
