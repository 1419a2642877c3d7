//! The server loop: virtual time follows the clock.

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

/// Length of busy polling before a due time and after any activity: four times the typical wake-up
/// delay of a thread.
const BUSY_POLL: Nanos = Nanos::from_micros(200);
/// Longest sleep, and so the interval of checks for a signal.
const SLEEP: Nanos = Nanos::from_millis(50);
/// Interval of checks for new clients, also while others are active.
const WELCOME: Nanos = Nanos::from_millis(1);
/// Time without clients after which the server with `once` ends: fio connects once for the size,
/// disconnects, and connects again.
const LINGER: Nanos = Nanos::from_secs(2);

/// Error of the server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The device cannot be opened, or has parts with separate streams.
    #[error(transparent)]
    Medium(#[from] MediaError),
    /// The file for written data cannot be as large as the device.
    #[error("cannot create a sparse file of {bytes} bytes for written data: {source}")]
    Store {
        /// Capacity.
        bytes: u64,
        /// Error of the system.
        source: io::Error,
    },
    /// Waiting for clients failed.
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

/// Server of an emulated device.
#[derive(Debug)]
pub struct Server {
    medium: Emulated,
    capacity: u64,
    store: Store,
    clients: Clients,
    begun: Nanos,
    lead: Nanos,
    /// True if it polls all the time and never sleeps.
    awake: bool,
    /// Requests in flight, by slot.
    in_flight: Vec<Option<InFlightRequest>>,
    free: Vec<u32>,
    done: Completions,
    served: Served,
}

impl Server {
    /// Accepts clients on `listener`. Written data is stored in `file`, which must be empty.
    /// Answers are sent `lead` before their due time, to make up for their way to the client, but
    /// never before the request.
    ///
    /// # Errors
    /// If the device has several parts, or the file cannot be as large as the device.
    pub fn new(
        target: &TargetExpression,
        listener: UnixListener,
        file: File,
        lead: Nanos,
    ) -> Result<Self, ServeError> {
        Self::with(target, file, lead, |capacity| Clients::new(listener, capacity))
    }

    /// Server of a single client, already negotiated.
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

    /// Polls all the time instead of sleeping: one CPU is always busy, and no request waits for a
    /// thread to be woken.
    #[must_use]
    pub fn busy_polling(mut self, awake: bool) -> Self {
        self.awake = awake;
        self
    }

    /// Size of the exported device, bytes.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Serves until `stop`, or with `once` until two seconds after the last client has left.
    ///
    /// # Errors
    /// If waiting for clients fails.
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

    /// Advances virtual time, and queues the answers to completed requests. True if there were any.
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
            self.served.latency.record(done.at.since(request.arrived));
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

    /// Submits received requests to the device, as far as there are slots. True if there were any.
    fn take(&mut self, now: Instant) -> bool {
        let mut any = false;
        for client in self.clients.all() {
            while self.take_one(client, now) {
                any = true;
            }
        }
        any
    }

    /// Submits one request of a client; false if there was none, or no slot.
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
            // Trims are not passed to the emulated device.
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

    /// Sleeps if nothing is due soon.
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

/// Opens the device for an unknown load: one stream with the maximum number of requests in flight.
pub(crate) fn open(target: &TargetExpression) -> Result<(Emulated, u64), MediaError> {
    let shape = target.shape()?;
    if shape.parts > 1 {
        return Err(MediaError::Expression {
            text: target.text().to_owned(),
            why:
                "its parts have separate streams, which one block device cannot distinguish. Serve \
                 each drive separately, without independent(…) and @processes"
                    .to_owned(),
        });
    }
    let area = Extent { offset_bytes: 0, length_bytes: shape.area_bytes };
    let load = MediaLoad { queue_depth: SLOTS as u32, streams: 1, area, alignment: 1 };
    let medium = target.open(&OpenMedia { seed: 0, loads: vec![load], wear: None })?;
    Ok((medium, shape.usable.length_bytes))
}

/// True if a request is within the device and not too long.
fn fits(command: &Command, store: &Store) -> bool {
    let inside = store.holds(command.offset, command.length.into());
    match command.kind {
        Kind::Read | Kind::Write => (1..=LENGTH_MAX).contains(&command.length) && inside,
        Kind::Trim => command.length > 0 && inside,
        Kind::Flush | Kind::Disconnect | Kind::Unknown => true,
    }
}
