//! Serves an emulated device in real time as a block device for any NBD client. The device decides
//! when each request ends. This lets other programs, such as fio, check the emulation, which
//! otherwise runs in virtual time.
//!
//! One thread does everything, because the order of requests affects the results of a device: it
//! reads requests, advances virtual time to the clock, and sends answers. It polls while requests
//! are in flight, because a kernel wakes a thread 5 to 50 µs late. Start with [`Server`], then
//! `wire.rs`.

mod clients;
mod connection;
mod served;
mod server;
mod store;
mod way;
mod wire;

pub use served::Served;
pub use server::{ServeError, Server};
pub use way::{Outlook, TransportLatency};
