//! Events of a run in progress as server-sent events.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http_body::Frame;
use qdepth_logbook::LiveEvents;
use qdepth_report::Lang;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep};

use crate::answer::{EVENTS, file, plain};
use crate::connection::{STREAM_LIFE, Streaming};
use crate::worded::with_words;

/// Interval for polling new events.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval for comment lines, which show the client that the connection is alive.
const PULSE: Duration = Duration::from_secs(15);
/// Pieces that are buffered for a slow reader.
const LAG: usize = 4;

/// Streams the events from the beginning of the run, or from the position at which the browser lost
/// the connection. With a language, events include their texts.
pub(crate) fn events(
    found: Option<LiveEvents>,
    streaming: &Streaming,
    last: Option<u64>,
    lang: Option<Lang>,
) -> Response<Body> {
    let Some(mut events) = found else {
        return plain(StatusCode::NOT_FOUND, "this run is not being measured");
    };
    if !streaming.begin() {
        return plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many live pages are open: close one and reload",
        );
    }
    events.seek(last.unwrap_or(0));
    let (sender, receiver) = channel(LAG);
    tokio::spawn(follow(events, lang, sender));
    file(EVENTS, Body::new(Pieces(receiver)))
}

async fn follow(mut events: LiveEvents, lang: Option<Lang>, sender: Sender<String>) {
    let (began, mut last_sent) = (Instant::now(), Instant::now());
    while began.elapsed() < STREAM_LIFE {
        let Some(lines) = events.more() else {
            let _ = sender.send("event: end\ndata: {}\n\n".to_owned()).await;
            return;
        };
        let position = events.position();
        let shown = lines.into_iter().map(|line| match lang {
            Some(lang) => with_words(line, lang),
            None => line,
        });
        let mut piece: String = shown.map(|line| format!("data: {line}\n\n")).collect();
        if !piece.is_empty() {
            // The last event of a piece carries the position from which to resume.
            let at = piece.trim_end().rfind("data: ").unwrap_or(0);
            piece.insert_str(at, &format!("id: {position}\n"));
        } else if last_sent.elapsed() > PULSE {
            piece.push_str(":\n\n");
        }
        if !piece.is_empty() {
            last_sent = Instant::now();
            if sender.send(piece).await.is_err() {
                return;
            }
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Response body fed by a channel.
struct Pieces(Receiver<String>);

impl http_body::Body for Pieces {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|text| Ok(Frame::data(text.into()))))
    }
}
