//! The server: its socket, and the loop that accepts connections.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use qdepth_report::PublishedDrive;
use tokio::runtime::Builder;

use crate::connection::{Connections, serve_connection};
use crate::guard::AccessPolicy;
use crate::site::{PAGES_AT_ONCE, Site};
use crate::source::Source;

/// Interval for checking the stop flag.
const STOP_POLL: Duration = Duration::from_millis(100);
/// Nice value of the server: a measurement on the same machine takes precedence.
const NICE: i32 = 10;

/// Options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the logbook, which need not exist yet.
    pub logbook: PathBuf,
    /// Published drives that appear as columns of comparisons that name them.
    pub published: Vec<PublishedDrive>,
    /// The address to listen at.
    pub address: IpAddr,
    /// The port; 0 chooses a free one.
    pub port: u16,
}

/// Errors of starting or running the server.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The address is not available.
    #[error(
        "cannot listen on {address}: {why}. Use an address of this machine and a free port; \
         --port 0 uses any free port"
    )]
    Listen {
        /// Attempted address.
        address: SocketAddr,
        /// Error of the operating system.
        why: std::io::Error,
    },
    /// The runtime that waits for connections could not be set up.
    #[error("cannot wait for connections: {0}")]
    Wait(std::io::Error),
}

/// Listening socket with its site.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

impl Server {
    /// Binds the port. From then on the kernel queues connections.
    ///
    /// # Errors
    /// [`WebError::Listen`].
    pub fn bind(options: Options) -> Result<Self, WebError> {
        let wanted = SocketAddr::new(options.address, options.port);
        let no = |why| WebError::Listen { address: wanted, why };
        let listener = TcpListener::bind(wanted).map_err(no)?;
        listener.set_nonblocking(true).map_err(no)?;
        let address = listener.local_addr().map_err(no)?;
        let site = Arc::new(Site::new(
            Source::new(options.logbook, options.published),
            AccessPolicy::at(address),
        ));
        Ok(Self { listener, site })
    }

    /// Access rules and address.
    pub fn access(&self) -> &AccessPolicy {
        self.site.access()
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// [`WebError::Wait`].
    pub fn serve(self, stop: &AtomicBool) -> Result<(), WebError> {
        // Without permission the server keeps its priority.
        let _ = rustix::process::nice(NICE);
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(PAGES_AT_ONCE)
            .build()
            .map_err(WebError::Wait)?;
        let served = runtime.block_on(take(self.listener, self.site, stop));
        // Does not wait for clients that are still reading.
        runtime.shutdown_background();
        served
    }
}

async fn take(listener: TcpListener, site: Arc<Site>, stop: &AtomicBool) -> Result<(), WebError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(WebError::Wait)?;
    let (connections, router) = (Arc::new(Connections::default()), site.router());
    while !stop.load(Ordering::Relaxed) {
        let Ok(taken) = tokio::time::timeout(STOP_POLL, listener.accept()).await else { continue };
        match taken {
            Ok((stream, _)) => {
                if let Some(slot) = Connections::admit(&connections) {
                    tokio::spawn(serve_connection(stream, router.clone(), slot));
                }
            }
            // Out of descriptors: others close theirs within seconds.
            Err(_) => tokio::time::sleep(STOP_POLL).await,
        }
    }
    Ok(())
}
