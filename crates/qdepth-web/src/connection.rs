//! One connection: what it may send, how long it may take, and who gives way when all places are
//! taken.

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

/// Connections at the same time; one more takes the place of the one that has been idle longest.
const MOST: usize = 256;
/// Head of a request, and idle time between two.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// Lines of the head of a request.
const HEAD_LINES: usize = 64;
/// After this a connection gets no further request answered, and that long again to read the last.
const LIFE: Duration = Duration::from_secs(60);

/// Connection time of a live page, which then reconnects.
pub(crate) const STREAM_LIFE: Duration = Duration::from_secs(600);
/// Connections whose answers go on and on, at the same time.
const STREAMS: usize = 32;

/// The connections there are, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Peers(Mutex<VecDeque<Arc<State>>>);

/// Public state of a connection.
#[derive(Debug, Default)]
struct State {
    /// True if it is being answered.
    busy: AtomicBool,
    /// True if its response is an endless stream.
    streams: AtomicBool,
    leave: Notify,
}

/// A connection's place among the others; given back when this value goes.
#[derive(Debug)]
pub(crate) struct Peer {
    all: Arc<Peers>,
    state: Arc<State>,
}

/// Lets a page say that its answer goes on and on.
#[derive(Clone, Debug)]
pub(crate) struct Streaming {
    all: Arc<Peers>,
    own: Arc<State>,
}

impl Streaming {
    /// From now on the connection is given the time of a stream, if there are not too many.
    pub(crate) fn begin(&self) -> bool {
        let places = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = places.iter().filter(|state| state.streams.load(Ordering::Relaxed)).count();
        let has_room = all < STREAMS;
        self.own.streams.store(has_room, Ordering::Relaxed);
        has_room
    }
}

impl Peers {
    /// A place; `None` if all others are being answered.
    pub(crate) fn admit(all: &Arc<Self>) -> Option<Peer> {
        let mut places = all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST {
            let idle = |state: &Arc<State>| {
                !state.busy.load(Ordering::Relaxed) && !state.streams.load(Ordering::Relaxed)
            };
            let oldest = places.iter().position(idle)?;
            places.remove(oldest)?.leave.notify_one();
        }
        let state = Arc::new(State::default());
        places.push_back(state.clone());
        Some(Peer { all: all.clone(), state })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let mut places = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.retain(|state| !Arc::ptr_eq(state, &self.state));
    }
}

/// Answers the requests of a connection until it ends, idles, or has to give way.
pub(crate) async fn converse(stream: TcpStream, router: Router, peer: Peer) {
    let state = &peer.state;
    let streaming = Streaming { all: peer.all.clone(), own: state.clone() };
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
        // How it ended is the other side's to know.
        _ = connection.as_mut() => return,
        () = state.leave.notified() => return,
        () = sleep(LIFE) => {}
    }
    let left = if state.streams.load(Ordering::Relaxed) { STREAM_LIFE } else { LIFE };
    connection.as_mut().graceful_shutdown();
    let _ = timeout(left, connection).await;
}
