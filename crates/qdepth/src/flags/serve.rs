//! Options of `qdepth serve`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use crate::flags::LogbookOption;

#[derive(Args, Clone, Debug)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) logbook: LogbookOption,
    /// Port; 0 chooses a free one. The first line of output is the URL
    #[arg(long, default_value_t = 7373, value_name = "N")]
    pub(crate) port: u16,
    /// Address to listen on
    ///
    /// If other machines can reach it, the URL contains a token. The connection is not encrypted.
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST.into(), value_name = "ADDRESS")]
    pub(crate) address: IpAddr,
}
