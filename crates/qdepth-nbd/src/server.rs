//! The loop that lets virtual time follow the clock.

use std::fs::File;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};

use qdepth_engine::{Completions, Slot, Target};
use qdepth_measure::{Instant, Nanos};
use qdepth_media::{Emulated, MediaError, MediaLoad, OpenMedia, SLOTS, TargetExpression};
use qdepth_workload::{Direction, Extent, Request};
use rustix::time::{ClockId, clock_gettime};
use thiserror::Error;

use crate::clients::{Client, Clients};
use crate::served::Served;
use crate::store::{EINVAL, Store};
use crate::wire::{Command, Kind, LENGTH_MAX};

/// Before a moment that is waited for, and after something was done, this stretch is spent looking:
/// four times what a kernel is late by in waking a thread.
const BUSY_POLL: Nanos = Nanos::from_micros(200);
/// Longest sleep: a signal is looked for this often.
const SLEEP: Nanos = Nanos::from_millis(50);
/// New clients are looked for this often, also while others are busy.
const WELCOME: Nanos = Nanos::from_millis(1);
/// So long may nobody be there before the last client is taken to have left: fio connects once to
/// ask for the size, leaves, and comes back.
const LINGER: Nanos = Nanos::from_secs(2);

/// Why a medium cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It cannot be made, or has parts with streams of their own.
    #[error(transparent)]
    Medium(#[from] MediaError),
    /// The file for what clients write cannot be as large as the medium.
    #[error("cannot make a sparse file of {bytes} bytes for what clients write: {source}")]
    Store {
        /// Capacity.
        bytes: u64,
        /// Why not.
        source: io::Error,
    },
    /// The clients can no longer be waited for.
    #[error("cannot wait for clients: {0}")]
    Wait(#[from] io::Error),
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
struct InFlightRequest {
    client: Client,
    command: Command,
    arrived: Instant,
}

/// A medium and its clients.
#[derive(Debug)]
pub struct Server {
    medium: Emulated,
    capacity: u64,
    store: Store,
    clients: Clients,
    begun: Nanos,
    lead: Nanos,
    /// True if it looks for requests without end, and never sleeps.
    awake: bool,
    /// Requests in flight, by slot.
    in_flight: Vec<Option<InFlightRequest>>,
    free: Vec<u32>,
    done: Completions,
    served: Served,
}

impl Server {
    /// Lets clients in through `listener`. What clients write is kept in `file`, which is empty.
    /// Answers leave `lead` before the medium's time for them, for the way that they have to the
    /// client; none before its request has come.
    ///
    /// # Errors
    /// If the medium has several parts, or the file cannot be as large as it.
    pub fn new(
        target: &TargetExpression,
        listener: UnixListener,
        file: File,
        lead: Nanos,
    ) -> Result<Self, ServeError> {
        Self::with(target, file, lead, |capacity| Clients::new(listener, capacity))
    }

    /// One client, past the negotiation, and nobody else.
    pub(crate) fn for_client(
        target: &TargetExpression,
        client: UnixStream,
        file: File,
    ) -> Result<Self, ServeError> {
        Self::with(target, file, Nanos::ZERO, |capacity| Clients::alone(client, capacity))
    }

    fn with(
        target: &TargetExpression,
        file: File,
        lead: Nanos,
        clients: impl FnOnce(u64) -> io::Result<Clients>,
    ) -> Result<Self, ServeError> {
        let (medium, capacity) = open(target)?;
        let store = Store::new(file, capacity)
            .map_err(|source| ServeError::Store { bytes: capacity, source })?;
        let clients = clients(capacity)?;
        Ok(Self {
            medium,
            capacity,
            store,
            clients,
            begun: clock(),
            lead,
            awake: false,
            in_flight: vec![None; SLOTS],
            free: (0..SLOTS as u32).rev().collect(),
            done: Completions::with_capacity(SLOTS),
            served: Served::default(),
        })
    }

    /// Looks for requests without end instead of sleeping where nothing is due: a processor is
    /// busy all the time, and no request waits for a thread to be woken.
    #[must_use]
    pub fn busy_polling(mut self, awake: bool) -> Self {
        self.awake = awake;
        self
    }

    /// Bytes that clients see.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Serves until `stop`, or with `once` until two seconds after the last client has left.
    ///
    /// # Errors
    /// If clients can no longer be waited for.
    pub fn serve(mut self, stop: &AtomicBool, once: bool) -> Result<Served, ServeError> {
        let (mut active, mut welcomed, mut left) = (Instant(0), None, None);
        while !stop.load(Ordering::Relaxed) {
            let received = self.clients.receive();
            let now = self.now();
            let ended = self.complete(now);
            let taken = self.take(now);
            self.clients.send(&self.store);
            if received || ended || taken {
                active = now;
            } else if !self.awake && now.since(active) >= BUSY_POLL {
                self.sleep(now)?;
            }
            if welcomed.is_none_or(|before| now.since(before) >= WELCOME) {
                self.clients.welcome()?;
                welcomed = Some(now);
            }
            if !self.clients.is_empty() {
                left = None;
            } else if once && self.clients.count > 0 {
                let since = *left.get_or_insert(now);
                if now.since(since) >= LINGER {
                    break;
                }
            }
        }
        self.served.clients = self.clients.count;
        self.served.turned_away = self.clients.turned_away;
        Ok(self.served)
    }

    fn now(&self) -> Instant {
        Instant(clock().saturating_sub(self.begun).0)
    }

    /// Moves the medium's time on, and puts down the answers to what has ended.
    fn complete(&mut self, now: Instant) -> bool {
        self.done.clear();
        self.medium.keep_up(now, self.lead, &mut self.done);
        for index in 0..self.done.as_slice().len() {
            let done = self.done.as_slice()[index];
            let Some(request) = self.in_flight[done.slot.0 as usize].take() else { continue };
            self.free.push(done.slot.0);
            if let Some(connection) = self.clients.get(request.client) {
                connection.in_flight -= 1;
            }
            let due = Instant(done.at.0.saturating_sub(self.lead.0)).max(request.arrived);
            self.served.service_time.record(done.at.since(request.arrived));
            self.served.late.record(now.since(due));
            self.answer(&request, done.result.min(0).abs());
        }
        !self.done.as_slice().is_empty()
    }

    fn answer(&mut self, request: &InFlightRequest, errno: i32) {
        self.served.count(&request.command, errno == 0);
        if let Some(connection) = self.clients.get(request.client) {
            connection.answer(&request.command, errno);
        }
    }

    /// Hands the requests that have come to the medium, as far as there is room.
    fn take(&mut self, now: Instant) -> bool {
        let mut any = false;
        for client in self.clients.all() {
            while self.take_one(client, now) {
                any = true;
            }
        }
        any
    }

    /// True if there was a request, and room for it.
    fn take_one(&mut self, client: Client, arrived: Instant) -> bool {
        let Some(connection) = self.clients.get(client) else { return false };
        if self.free.is_empty() || !connection.has_room() {
            return false;
        }
        let (command, stored) = match connection.next(&mut self.store) {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(_) => {
                self.clients.leave(client);
                return false;
            }
        };
        if command.kind == Kind::Disconnect {
            self.clients.leave(client);
            return false;
        }
        let (errno, direction) = match command.kind {
            _ if !fits(&command, &self.store) => (EINVAL, Direction::Sync),
            Kind::Read => (0, Direction::Read),
            Kind::Write => (stored, Direction::Write),
            // The medium is not told of what was trimmed.
            Kind::Trim => (self.store.trim(command.offset, command.length.into()), Direction::Sync),
            Kind::Flush | Kind::Disconnect => (0, Direction::Sync),
            Kind::Unknown => (EINVAL, Direction::Sync),
        };
        let request = InFlightRequest { client, command, arrived };
        let slot = if errno == 0 { self.free.pop() } else { None };
        match slot {
            Some(slot) => self.submit(slot, request, direction),
            None => self.answer(&request, errno),
        }
        true
    }

    fn submit(&mut self, slot: u32, request: InFlightRequest, direction: Direction) {
        let Command { offset, length, .. } = request.command;
        let (offset, size) = if direction == Direction::Sync { (0, 0) } else { (offset, length) };
        if let Some(connection) = self.clients.get(request.client) {
            connection.in_flight += 1;
        }
        self.in_flight[slot as usize] = Some(request);
        self.medium.submit(Slot(slot), Request { direction, offset, size });
    }

    /// Sleeps where nothing is due soon.
    fn sleep(&self, now: Instant) -> io::Result<()> {
        let due = self.medium.next_due().map_or(SLEEP, |due| due.since(now));
        let sleep = due.saturating_sub(self.lead).saturating_sub(BUSY_POLL).min(SLEEP);
        if sleep == Nanos::ZERO { Ok(()) } else { self.clients.sleep(sleep) }
    }
}

pub(crate) fn clock() -> Nanos {
    let at = clock_gettime(ClockId::Monotonic);
    Nanos(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// The medium under a load that nobody knows yet: one stream, as many requests in flight as can be.
pub(crate) fn open(target: &TargetExpression) -> Result<(Emulated, u64), MediaError> {
    let shape = target.shape()?;
    if shape.parts > 1 {
        return Err(MediaError::Expression {
            text: target.text().to_owned(),
            why: "its parts have streams of their own, which one block device cannot tell apart: \
                  serve each drive by itself, without independent(…) and @processes"
                .to_owned(),
        });
    }
    let area = Extent { offset_bytes: 0, length_bytes: shape.area_bytes };
    let load = MediaLoad { outstanding: SLOTS as u32, streams: 1, area, alignment: 1 };
    let medium = target.open(&OpenMedia { seed: 0, loads: vec![load], wear: None })?;
    Ok((medium, shape.usable_bytes))
}

/// True if a request that has a place is within the device, and not too long.
fn fits(command: &Command, store: &Store) -> bool {
    let inside = store.holds(command.offset, command.length.into());
    match command.kind {
        Kind::Read | Kind::Write => (1..=LENGTH_MAX).contains(&command.length) && inside,
        Kind::Trim => command.length > 0 && inside,
        Kind::Flush | Kind::Disconnect | Kind::Unknown => true,
    }
}
