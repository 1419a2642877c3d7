//! Connected clients and the listener.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use nbd::server::{Export, handshake};
use qdepth_measure::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::connection::Connection;
use crate::store::Store;

/// Time limit of a negotiation, however active the client is.
const NEGOTIATION: Duration = Duration::from_secs(10);
/// Maximum number of clients, including those that negotiate: each needs a thread or buffers.
pub(crate) const CLIENTS_MAX: usize = 64;
/// Stack size of negotiation threads, bytes: the calls are not deep.
const STACK: usize = 256 << 10;

/// Client by slot and number; slots are reused, numbers are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) slot: usize,
    pub(crate) number: u64,
}

/// Listener and clients.
#[derive(Debug)]
pub(crate) struct Clients {
    /// `None` if no further clients are accepted.
    listener: Option<UnixListener>,
    capacity: u64,
    slots: Vec<Option<(u64, Connection)>>,
    /// Number of negotiating clients.
    negotiating: usize,
    /// Channel for the results of negotiations; `None` after a failed one.
    negotiated: (Sender<Option<UnixStream>>, Receiver<Option<UnixStream>>),
    /// Number of clients that have connected.
    pub(crate) count: u64,
    /// Number of rejected clients.
    pub(crate) turned_away: u64,
}

impl Clients {
    pub(crate) fn new(listener: UnixListener, capacity: u64) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Some(listener), ..Self::without_listener(capacity) })
    }

    /// A single client, already negotiated, and no listener.
    pub(crate) fn alone(stream: UnixStream, capacity: u64) -> io::Result<Self> {
        let mut clients = Self::without_listener(capacity);
        clients.count = 1;
        clients.slots.push(Some((1, Connection::new(stream)?)));
        Ok(clients)
    }

    fn without_listener(capacity: u64) -> Self {
        Self {
            listener: None,
            capacity,
            slots: Vec::new(),
            negotiating: 0,
            negotiated: channel(),
            count: 0,
            turned_away: 0,
        }
    }

    /// Accepts new clients up to the maximum. Each negotiates on its own thread, so a slow one does
    /// not delay the others.
    pub(crate) fn welcome(&mut self) -> io::Result<()> {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            // A rejected client sees at once that its stream is closed.
            if self.all().len() + self.negotiating >= CLIENTS_MAX || !self.negotiate(stream) {
                self.turned_away += 1;
            }
        }
        while let Ok(answer) = self.negotiated.1.try_recv() {
            self.negotiating -= 1;
            let Some(stream) = answer else { continue };
            self.count += 1;
            let client = Some((self.count, Connection::new(stream)?));
            match self.slots.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) => *slot = client,
                None => self.slots.push(client),
            }
        }
        Ok(())
    }

    /// Starts a negotiation; false if no thread could be started.
    fn negotiate(&mut self, stream: UnixStream) -> bool {
        let (negotiated, size) = (self.negotiated.0.clone(), self.capacity);
        let thread = std::thread::Builder::new().name("negotiation".to_owned()).stack_size(STACK);
        let work = move || {
            let agreed = negotiate(&stream, size).is_ok();
            // Nobody receives the result after the end of the server.
            let _ = negotiated.send(agreed.then_some(stream));
        };
        let spawned = thread.spawn(work).is_ok();
        self.negotiating += usize::from(spawned);
        spawned
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    pub(crate) fn all(&self) -> Vec<Client> {
        let client = |(slot, client): (usize, &Option<(u64, Connection)>)| {
            client.as_ref().map(|(number, _)| Client { slot, number: *number })
        };
        self.slots.iter().enumerate().filter_map(client).collect()
    }

    /// Connection of a client; `None` if it has left.
    pub(crate) fn get(&mut self, client: Client) -> Option<&mut Connection> {
        let (number, connection) = self.slots.get_mut(client.slot)?.as_mut()?;
        (*number == client.number).then_some(connection)
    }

    pub(crate) fn leave(&mut self, client: Client) {
        if self.get(client).is_some() {
            self.slots[client.slot] = None;
        }
    }

    /// Receives from all clients and drops disconnected ones. True if anything was received.
    pub(crate) fn receive(&mut self) -> bool {
        let mut any = false;
        for slot in &mut self.slots {
            match slot.as_mut().map_or(Ok(false), |(_, connection)| connection.receive()) {
                Ok(received) => any |= received,
                Err(_) => *slot = None,
            }
        }
        any
    }

    /// Sends as much as the clients accept.
    pub(crate) fn send(&mut self, store: &Store) {
        for slot in &mut self.slots {
            if slot.as_mut().is_some_and(|(_, connection)| connection.send(store).is_err()) {
                *slot = None;
            }
        }
    }

    /// Sleeps until there is activity, at most for `limit`.
    pub(crate) fn sleep(&self, limit: Nanos) -> io::Result<()> {
        let mut files: Vec<PollFd<'_>> = Vec::new();
        if let Some(listener) = &self.listener {
            files.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
        }
        for (_, connection) in self.slots.iter().flatten() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::OUT, connection.is_sending());
            // Without buffer space, incoming bytes must not wake the server: it would spin.
            flags.set(PollFlags::IN, connection.can_receive());
            files.push(PollFd::from_borrowed_fd(connection.stream(), flags));
        }
        let limit = Timespec {
            tv_sec: (limit.0 / 1_000_000_000) as i64,
            tv_nsec: (limit.0 % 1_000_000_000) as i64,
        };
        match poll(&mut files, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn negotiate(stream: &UnixStream, size: u64) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let export =
        |_: &str| Ok(Export { size, send_trim: true, send_flush: true, ..Export::default() });
    handshake(Bounded { stream, until: clock() + NEGOTIATION }, export)
}

/// Stream with a deadline for all I/O together: a client that sends single bytes slowly, or asks
/// without end, is no better than a silent one.
struct Bounded<'a> {
    stream: &'a UnixStream,
    /// Deadline on the monotonic clock.
    until: Duration,
}

impl Bounded<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.checked_sub(clock()).filter(|left| !left.is_zero());
        left.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn clock() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
