//! Options of `qdepth serve`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use crate::flags::LogbookOption;

#[derive(Args, Clone, Debug)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// The port; 0 takes any that is free. The first line on standard output is the address
    #[arg(long, default_value_t = 7373, value_name = "N")]
    pub(crate) port: u16,
    /// The address to listen at. One that other machines can reach needs a token, which is part of
    /// the address that is printed; nothing is encrypted
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST.into(), value_name = "ADDRESS")]
    pub(crate) address: IpAddr,
}
