//! One client: bytes that came and have not been understood yet, bytes that have not left yet.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::wire::{Command, LENGTH_MAX, REQUEST_BYTES, reply};

/// Bytes that are read at a time.
const READ: usize = 256 << 10;

/// A client past the negotiation.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    /// Room for bytes that came.
    input: Vec<u8>,
    /// Number of received bytes.
    filled: usize,
    /// Number of parsed bytes.
    taken: usize,
    output: Vec<u8>,
    /// Bytes of `output` that have left.
    sent: usize,
    /// Bytes of its requests in flight.
    pub(crate) in_flight: u64,
}

/// Protocol error of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Confused;

impl Connection {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let output = Vec::with_capacity(2 * READ);
        Ok(Self {
            stream,
            input: vec![0; 2 * READ],
            filled: 0,
            taken: 0,
            output,
            sent: 0,
            in_flight: 0,
        })
    }

    pub(crate) fn stream(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Bytes that the client has not yet taken.
    pub(crate) fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Bytes that are held for it: what it asked for, and what it does not take.
    pub(crate) fn held(&self) -> u64 {
        self.in_flight + self.unsent() as u64
    }

    /// Reads what is there, as far as there is room; whether there was anything.
    ///
    /// # Errors
    /// If the client is gone.
    pub(crate) fn receive(&mut self) -> io::Result<bool> {
        self.input.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.filled > REQUEST_BYTES + LENGTH_MAX as usize {
            // A whole request waits here until there is room for it.
            return Ok(false);
        }
        if self.input.len() < self.filled + READ {
            self.input.resize(self.filled + READ, 0);
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

    /// The next request that has come whole, with its data.
    pub(crate) fn next(&mut self) -> Result<Option<(Command, &[u8])>, Confused> {
        let rest = &self.input[self.taken..self.filled];
        let Some((header, rest)) = rest.split_first_chunk::<REQUEST_BYTES>() else {
            return Ok(None);
        };
        let command = Command::read(header).ok_or(Confused)?;
        // A length that cannot be is not waited for.
        if command.data_bytes() > LENGTH_MAX as usize {
            return Err(Confused);
        }
        let Some(data) = rest.get(..command.data_bytes()) else { return Ok(None) };
        self.taken += REQUEST_BYTES + data.len();
        Ok(Some((command, data)))
    }

    /// Puts an answer down to be sent, with `length` bytes of data that `fill` provides.
    pub(crate) fn answer(
        &mut self,
        cookie: u64,
        length: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), i32>,
    ) {
        let header = self.output.len();
        self.output.extend(reply(cookie, 0));
        let data = self.output.len();
        self.output.resize(data + length, 0);
        if let Err(errno) = fill(&mut self.output[data..]) {
            self.output.truncate(header);
            self.output.extend(reply(cookie, errno));
        }
    }

    /// Sends as much as the client takes now.
    ///
    /// # Errors
    /// If the client is gone.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        while self.unsent() > 0 {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_for_now(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        // A long answer is not kept room for.
        self.output.shrink_to(2 * READ);
        self.sent = 0;
        Ok(())
    }
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
