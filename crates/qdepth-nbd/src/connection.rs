//! Connection of one client. Data is not held in memory: a write goes to the store while it
//! arrives, and a read is loaded while it is sent.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::store::{EINVAL, Store};
use crate::wire::{Command, Kind, LENGTH_MAX, REPLY_BYTES, REQUEST_BYTES, reply};

/// Buffer size, bytes; a client has two buffers, whatever the length of its requests.
const BUFFER: usize = 512 << 10;
/// Maximum number of buffers sent to a client before the next client.
const BUFFERS_MAX: usize = 4;
/// Maximum number of requests in flight and unsent answers of a client.
const REQUESTS_MAX: usize = 4096;

/// Connection of a client after the negotiation.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    /// Receive buffer.
    input: Vec<u8>,
    /// Number of bytes in `input`.
    filled: usize,
    /// Number of parsed bytes of `input`.
    taken: usize,
    /// Write whose data is incomplete.
    arriving: Option<Arriving>,
    /// Answers that are not completely in `output`.
    answers: VecDeque<Answer>,
    output: Vec<u8>,
    /// Number of sent bytes of `output`.
    sent: usize,
    /// Number of requests in flight.
    pub(crate) in_flight: usize,
}

/// Incomplete write; `stored` is the number of bytes stored so far.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    command: Command,
    stored: usize,
    errno: i32,
}

/// Answer; `prepared` is the number of data bytes already in the output.
#[derive(Clone, Copy, Debug)]
struct Answer {
    cookie: u64,
    errno: i32,
    offset: u64,
    length: usize,
    prepared: usize,
}

/// Protocol error of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolError;

impl Connection {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            input: vec![0; BUFFER],
            filled: 0,
            taken: 0,
            arriving: None,
            answers: VecDeque::new(),
            output: Vec::with_capacity(BUFFER),
            sent: 0,
            in_flight: 0,
        })
    }

    pub(crate) fn stream(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// True if there are unsent answers.
    pub(crate) fn is_sending(&self) -> bool {
        self.sent < self.output.len() || !self.answers.is_empty()
    }

    /// True if the receive buffer has space.
    pub(crate) fn can_receive(&self) -> bool {
        self.filled - self.taken < self.input.len()
    }

    /// True if the client may have another request in flight.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight + self.answers.len() < REQUESTS_MAX
    }

    /// Receives as much as there is space for. True if anything was received.
    ///
    /// # Errors
    /// If the client has disconnected.
    pub(crate) fn receive(&mut self) -> io::Result<bool> {
        self.input.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.filled == self.input.len() {
            return Ok(false);
        }
        match self.stream.read(&mut self.input[self.filled..]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.filled += count;
                Ok(true)
            }
            Err(error) if is_for_now(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Next complete request, with the error number of storing its data, or 0.
    pub(crate) fn next(
        &mut self,
        store: &mut Store,
    ) -> Result<Option<(Command, i32)>, ProtocolError> {
        let Some(mut write) = self.arriving.take() else {
            let rest = &self.input[self.taken..self.filled];
            let Some(header) = rest.first_chunk::<REQUEST_BYTES>() else { return Ok(None) };
            let command = Command::read(header).ok_or(ProtocolError)?;
            self.taken += REQUEST_BYTES;
            if command.kind != Kind::Write {
                return Ok(Some((command, 0)));
            }
            // Do not wait for data of an invalid length.
            if command.length > LENGTH_MAX {
                return Err(ProtocolError);
            }
            let fits = store.holds(command.offset, command.length.into());
            let errno = if fits { 0 } else { EINVAL };
            self.arriving = Some(Arriving { command, stored: 0, errno });
            return self.next(store);
        };
        let missing = write.command.length as usize - write.stored;
        let here = missing.min(self.filled - self.taken);
        let data = &self.input[self.taken..self.taken + here];
        if write.errno == 0 {
            write.errno = store.write(write.command.offset + write.stored as u64, data);
        }
        self.taken += here;
        write.stored += here;
        if here < missing {
            self.arriving = Some(write);
            return Ok(None);
        }
        Ok(Some((write.command, write.errno)))
    }

    /// Queues an answer; that of a read with its data.
    pub(crate) fn answer(&mut self, command: &Command, errno: i32) {
        let reads = errno == 0 && command.kind == Kind::Read;
        self.answers.push_back(Answer {
            cookie: command.cookie,
            errno,
            offset: command.offset,
            length: if reads { command.length as usize } else { 0 },
            prepared: 0,
        });
    }

    /// Sends as much as the client accepts, at most a few buffers, since other clients wait.
    ///
    /// # Errors
    /// If the client has disconnected, or the data of an answer that has been started cannot be
    /// read.
    pub(crate) fn send(&mut self, store: &Store) -> io::Result<()> {
        let mut buffers = 0;
        while self.is_sending() {
            if self.sent == self.output.len() {
                if buffers == BUFFERS_MAX {
                    return Ok(());
                }
                buffers += 1;
                self.prepare(store)?;
            }
            match self.stream.write(&self.output[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_for_now(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills the output with the next answers.
    fn prepare(&mut self, store: &Store) -> io::Result<()> {
        self.output.clear();
        self.sent = 0;
        while let Some(answer) = self.answers.front_mut() {
            let room = BUFFER.saturating_sub(self.output.len() + REPLY_BYTES);
            if room == 0 {
                break;
            }
            if answer.prepared == 0 {
                self.output.extend(reply(answer.cookie, answer.errno));
            }
            let (begin, now) = (self.output.len(), room.min(answer.length - answer.prepared));
            self.output.resize(begin + now, 0);
            let offset = answer.offset + answer.prepared as u64;
            store.read(offset, &mut self.output[begin..])?;
            answer.prepared += now;
            if answer.prepared == answer.length {
                self.answers.pop_front();
            }
        }
        Ok(())
    }
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
