//! Read-only web front end of the logbook.
//!
//! [`Server::bind`] takes a port, [`Server::serve`] answers until it is stopped. Requests pass the
//! access rules in `guard`, then `site` dispatches them to a page. Pages get records from `source`,
//! pictures from the report crate and texts from the catalogues. Nothing here measures, uses SQL or
//! writes.

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

pub use guard::AccessPolicy;
pub use server::{Options, Server, WebError};
