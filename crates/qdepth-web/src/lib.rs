//! The logbook as web pages: a front end that reads, and nothing else.
//!
//! [`Server::bind`] takes a port, [`Server::serve`] answers until it is told to stop. Requests pass
//! `guard` (who may ask what), then `site`, which hands them to a page; pages get records from
//! `source`, pictures from the report's crate and words from the catalogues. Nothing here
//! measures, speaks SQL or writes.

mod answer;
mod connection;
mod guard;
mod metrics;
mod pages;
mod query;
mod server;
mod site;
mod source;
mod stream;
mod worded;

pub use guard::Door;
pub use server::{Options, Server, WebError};
