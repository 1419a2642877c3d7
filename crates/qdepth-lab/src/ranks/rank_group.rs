//! The group of all ranks.

use std::collections::VecDeque;

use thiserror::Error;

use crate::ranks::Transport;

/// Interval of heartbeats.
const ALIVE_NS: u64 = 500_000_000;
/// Silence after which a rank is lost.
const SILENCE_NS: u64 = 5_000_000_000;
/// Silence after which the leader is lost. It is longer, because the leader also prepares, writes
/// and reports.
const LEADER_SILENCE_NS: u64 = 60_000_000_000;
/// Time limit for messages after a request to stop. A launcher that ends a job gives its ranks one
/// second. The waiting rank and the rank waited for check for the request every fifth of a second.
const STOPPING_NS: u64 = 700_000_000;
/// Interval of heartbeat checks of all ranks while one waits for a message.
const HEARTBEAT_CHECK_NS: u64 = 100_000_000;
/// Shortest and longest pause while waiting. Pauses grow from the first to the second, to leave the
/// CPU to others.
const PAUSE_NS: (u64, u64) = (20_000, 1_000_000);
/// Number of readings of another rank's clock. The one with the shortest round trip is used.
const READINGS: u32 = 16;
/// Time from the last message of the start to the start itself.
const AHEAD_NS: u64 = 20_000_000;

const ALIVE: u8 = 0;
const DATA: u8 = 1;
const READ_CLOCK: u8 = 2;
const START_AT: u8 = 3;
const FAILED: u8 = 4;
const HALT: u8 = 5;

/// Error for a rank that does not answer, or reported that it cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {rank} of {size} is lost: {why}{}", on(host))]
pub struct Lost {
    /// Number of the lost rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Its host; empty if unknown.
    pub host: String,
    /// Symptom.
    pub why: Loss,
}

fn on(host: &str) -> String {
    if host.is_empty() { String::new() } else { format!(" (on {host})") }
}

/// Symptom of a lost rank.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Loss {
    /// It sent no heartbeat for this many seconds.
    #[error("it sent no message for {0} s")]
    Silent(u64),
    /// It did not stop when it was asked to.
    #[error("it did not stop when all ranks were asked to")]
    NoAnswer,
    /// The transport does not reach it, with the reason.
    #[error("{0}")]
    Unreachable(String),
    /// It reported an error, with its message.
    #[error("{0}")]
    Failed(String),
}

/// Offset of a rank's clock from that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Number of the rank.
    pub rank: u32,
    /// Its clock less that of rank 0, ns.
    pub offset_ns: i64,
    /// Uncertainty of the offset, ns: half the shortest round trip.
    pub error_ns: u64,
}

/// State of one rank's communication with the others.
#[derive(Debug)]
pub struct RankGroup<W> {
    transport: W,
    inbox: Vec<VecDeque<Vec<u8>>>,
    heard_ns: Vec<u64>,
    spoke_ns: u64,
    heartbeat_checked_ns: u64,
    lost: Vec<Option<Lost>>,
    hosts: Vec<String>,
    halted: bool,
    asked_ns: Option<u64>,
    /// Progress messages of other ranks that were not read yet.
    news: VecDeque<(u32, Vec<u8>)>,
}

impl<W: Transport> RankGroup<W> {
    /// A group on a transport.
    pub fn new(transport: W) -> Self {
        let (size, now) = (transport.size() as usize, transport.now_ns());
        Self {
            transport,
            inbox: vec![VecDeque::new(); size],
            heard_ns: vec![now; size],
            spoke_ns: now,
            heartbeat_checked_ns: now,
            lost: vec![None; size],
            hosts: vec![String::new(); size],
            halted: false,
            asked_ns: None,
            news: VecDeque::new(),
        }
    }

    /// Returns the transport.
    pub fn into_transport(self) -> W {
        self.transport
    }

    /// Sets the host of a rank, for messages.
    pub fn set_host(&mut self, rank: u32, host: String) {
        self.hosts[rank as usize] = host;
    }

    /// Number of this rank; 0 is the leader.
    pub fn rank(&self) -> u32 {
        self.transport.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> u32 {
        self.transport.size()
    }

    /// True if this rank is the leader.
    pub fn is_leader(&self) -> bool {
        self.rank() == 0
    }

    /// The first lost rank, if any.
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.iter().flatten().next()
    }

    /// True if the leader asked to stop.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// Ranks that this one communicates with.
    fn peers(&self) -> std::ops::Range<u32> {
        if self.is_leader() { 1..self.size() } else { 0..1 }
    }

    /// Sends a heartbeat if due, and receives messages. Must be called at least five times per
    /// second.
    pub fn heartbeat(&mut self) {
        self.heartbeat_with(&mut Vec::new);
    }

    /// Like [`heartbeat`](Self::heartbeat); a heartbeat, every half second, includes the result of
    /// `news`.
    pub fn heartbeat_with(&mut self, news: &mut dyn FnMut() -> Vec<u8>) {
        let now = self.transport.now_ns();
        self.heartbeat_checked_ns = now;
        if now.saturating_sub(self.spoke_ns) >= ALIVE_NS {
            self.spoke_ns = now;
            let news = news();
            for peer in self.peers() {
                self.send(peer, ALIVE, &news);
            }
        }
        for peer in self.peers() {
            self.take(peer, now);
        }
    }

    fn send(&mut self, to: u32, kind: u8, bytes: &[u8]) {
        if self.lost[to as usize].is_some() {
            return;
        }
        let message: Vec<u8> = std::iter::once(kind).chain(bytes.iter().copied()).collect();
        if let Err(why) = self.transport.send(to, &message) {
            self.lose(to, Loss::Unreachable(why));
        }
    }

    fn lose(&mut self, rank: u32, why: Loss) {
        let (size, host) = (self.size(), self.hosts[rank as usize].clone());
        self.lost[rank as usize].get_or_insert(Lost { rank, size, host, why });
    }

    fn take(&mut self, from: u32, now: u64) {
        let index = from as usize;
        loop {
            match self.transport.poll(from) {
                Ok(Some(message)) => {
                    self.heard_ns[index] = now;
                    match message.first() {
                        Some(&ALIVE) if message.len() > 1 => {
                            self.news.push_back((from, message[1..].to_vec()));
                        }
                        Some(&ALIVE) | None => {}
                        Some(&HALT) => self.halted = true,
                        Some(&FAILED) => {
                            let why = String::from_utf8_lossy(&message[1..]).into_owned();
                            self.lose(from, Loss::Failed(why));
                        }
                        Some(_) => self.inbox[index].push_back(message),
                    }
                }
                Ok(None) => break,
                Err(why) => return self.lose(from, Loss::Unreachable(why)),
            }
        }
        let silent = now.saturating_sub(self.heard_ns[index]);
        let limit = if from == 0 { LEADER_SILENCE_NS } else { SILENCE_NS };
        if silent > limit {
            self.lose(from, Loss::Silent(silent / 1_000_000_000));
        }
    }

    /// Waits for the next message of a rank, and returns it with its kind. Once `stopping` returns
    /// true, the wait is short.
    fn hear(&mut self, from: u32, stopping: &dyn Fn() -> bool) -> Result<(u8, Vec<u8>), Lost> {
        let mut pause_ns = PAUSE_NS.0;
        loop {
            let now = self.transport.now_ns();
            if now.saturating_sub(self.heartbeat_checked_ns) >= HEARTBEAT_CHECK_NS {
                self.heartbeat();
            } else {
                // Only this rank: with a thousand, checking all of them each time would take too
                // long.
                self.take(from, now);
            }
            if let Some(message) = self.inbox[from as usize].pop_front() {
                return Ok((message[0], message[1..].to_vec()));
            }
            if let Some(lost) = &self.lost[from as usize] {
                return Err(lost.clone());
            }
            if stopping() {
                let since = *self.asked_ns.get_or_insert(now);
                if now.saturating_sub(since) > STOPPING_NS {
                    self.lose(from, Loss::NoAnswer);
                }
            }
            self.transport.pause(pause_ns);
            pause_ns = (2 * pause_ns).min(PAUSE_NS.1);
        }
    }

    /// Sends to all ranks (leader only).
    pub fn broadcast(&mut self, bytes: &[u8]) {
        for peer in self.peers() {
            self.send(peer, DATA, bytes);
        }
    }

    /// Waits for the next broadcast of the leader.
    ///
    /// # Errors
    /// If the leader is lost.
    pub fn receive(&mut self, stopping: &dyn Fn() -> bool) -> Result<Vec<u8>, Lost> {
        loop {
            let (kind, bytes) = self.hear(0, stopping)?;
            if kind == DATA {
                return Ok(bytes);
            }
        }
    }

    /// Sends a contribution to the leader.
    pub fn give(&mut self, bytes: &[u8]) {
        self.send(0, DATA, bytes);
    }

    /// Sends progress to the leader at once, without waiting for the next heartbeat.
    pub fn send_news(&mut self, news: &[u8]) {
        self.send(0, ALIVE, news);
    }

    /// Next progress message with its rank, the oldest first; `None` if there is none.
    pub fn news(&mut self) -> Option<(u32, Vec<u8>)> {
        self.news.pop_front()
    }

    /// Reports to the leader that this rank cannot continue.
    pub fn fail(&mut self, why: &str) {
        self.send(0, FAILED, why.as_bytes());
    }

    /// Waits for the contributions of all other ranks, in order (leader only). Lost ranks give an
    /// error.
    pub fn gather(&mut self, stopping: &dyn Fn() -> bool) -> Vec<Result<Vec<u8>, Lost>> {
        self.peers().map(|peer| self.hear(peer, stopping).map(|(_, bytes)| bytes)).collect()
    }

    /// Asks all ranks to stop (leader only).
    pub fn halt(&mut self) {
        for peer in self.peers() {
            self.send(peer, HALT, &[]);
        }
    }

    /// Agrees on a common start: waits until all ranks are ready, and returns the start by this
    /// rank's clock. The leader also gets the clock offsets (from the shortest of 16 round trips,
    /// Cristian 1989).
    ///
    /// # Errors
    /// If a rank is lost before the start.
    pub fn start(&mut self, stopping: &dyn Fn() -> bool) -> Result<(u64, Vec<ClockOffset>), Lost> {
        if !self.is_leader() {
            self.give(&[]);
            return self.be_started(stopping).map(|start| (start, Vec::new()));
        }
        for ready in self.gather(stopping) {
            ready?;
        }
        let offsets = self
            .peers()
            .map(|peer| self.clock_offset(peer, stopping))
            .collect::<Result<Vec<_>, _>>()?;
        let start = self.transport.now_ns() + AHEAD_NS;
        for skew in &offsets {
            let theirs = start.saturating_add_signed(skew.offset_ns);
            self.send(skew.rank, START_AT, &theirs.to_le_bytes());
        }
        Ok((start, offsets))
    }

    fn be_started(&mut self, stopping: &dyn Fn() -> bool) -> Result<u64, Lost> {
        loop {
            let (kind, bytes) = self.hear(0, stopping)?;
            match kind {
                READ_CLOCK => {
                    let now = self.transport.now_ns();
                    self.send(0, DATA, &now.to_le_bytes());
                }
                START_AT => return Ok(number(&bytes)),
                _ => {}
            }
        }
    }

    fn clock_offset(
        &mut self,
        rank: u32,
        stopping: &dyn Fn() -> bool,
    ) -> Result<ClockOffset, Lost> {
        let mut best = ClockOffset { rank, offset_ns: 0, error_ns: u64::MAX };
        for _ in 0..READINGS {
            let sent = self.transport.now_ns();
            self.send(rank, READ_CLOCK, &[]);
            let (_, bytes) = self.hear(rank, stopping)?;
            let back = self.transport.now_ns();
            let error_ns = back.saturating_sub(sent).div_ceil(2);
            if error_ns < best.error_ns {
                let offset_ns = number(&bytes) as i64 - (sent + error_ns) as i64;
                best = ClockOffset { rank, offset_ns, error_ns };
            }
        }
        Ok(best)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}
