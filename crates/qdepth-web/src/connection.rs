//! Limits of a connection: bytes, time, and eviction when all slots are taken.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tower_service::Service;

/// Maximum number of simultaneous connections; a further one evicts the one that was opened first
/// among the idle.
const MOST: usize = 256;
/// Time limit for the head of a request, and for idling between requests.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 16 << 10;
/// Maximum number of header lines of a request.
const HEAD_LINES: usize = 64;
/// Lifetime of a connection. Afterwards no new request is accepted, and the last response gets the
/// same time again.
const LIFE: Duration = Duration::from_secs(60);

/// Connection time of a live page, which then reconnects.
pub(crate) const STREAM_LIFE: Duration = Duration::from_secs(600);
/// Maximum number of simultaneous endless streams.
const STREAMS: usize = 32;

/// Open connections, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<VecDeque<Arc<State>>>);

/// State of a connection that others can read.
#[derive(Debug, Default)]
struct State {
    /// True while a request is being answered.
    busy: AtomicBool,
    /// True if its response is an endless stream.
    streams: AtomicBool,
    evict: Notify,
}

/// Slot of a connection, released when the value is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    all: Arc<Connections>,
    state: Arc<State>,
}

/// Handle with which a page marks its response as an endless stream.
#[derive(Clone, Debug)]
pub(crate) struct Streaming {
    all: Arc<Connections>,
    own: Arc<State>,
}

impl Streaming {
    /// Marks the connection as a stream, which extends its lifetime. Returns false if there are too
    /// many streams.
    pub(crate) fn begin(&self) -> bool {
        let places = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = places.iter().filter(|state| state.streams.load(Ordering::Relaxed)).count();
        let has_room = all < STREAMS;
        self.own.streams.store(has_room, Ordering::Relaxed);
        has_room
    }
}

impl Connections {
    /// Takes a slot, evicting an idle connection if necessary; `None` if all connections are busy.
    pub(crate) fn admit(all: &Arc<Self>) -> Option<ConnectionSlot> {
        let mut places = all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST {
            let idle = |state: &Arc<State>| {
                !state.busy.load(Ordering::Relaxed) && !state.streams.load(Ordering::Relaxed)
            };
            let oldest = places.iter().position(idle)?;
            places.remove(oldest)?.evict.notify_one();
        }
        let state = Arc::new(State::default());
        places.push_back(state.clone());
        Some(ConnectionSlot { all: all.clone(), state })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut places = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|state| !Arc::ptr_eq(state, &self.state));
    }
}

/// Answers requests until the connection ends, idles too long, or is evicted.
pub(crate) async fn serve_connection(stream: TcpStream, router: Router, slot: ConnectionSlot) {
    let state = &slot.state;
    let streaming = Streaming { all: slot.all.clone(), own: state.clone() };
    let answer = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(streaming.clone());
        let (mut router, state) = (router.clone(), state.clone());
        async move {
            state.busy.store(true, Ordering::Relaxed);
            let answer = router.call(request).await;
            state.busy.store(false, Ordering::Relaxed);
            answer
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEAD_LINES)
            .serve_connection(TokioIo::new(stream), answer)
    );
    tokio::select! {
        // An error of the connection concerns only the client.
        _ = connection.as_mut() => return,
        () = state.evict.notified() => return,
        () = sleep(LIFE) => {}
    }
    let left = if state.streams.load(Ordering::Relaxed) { STREAM_LIFE } else { LIFE };
    connection.as_mut().graceful_shutdown();
    let _ = timeout(left, connection).await;
}
