//! A transport between threads of one process.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::Transport;

/// Longest pause; a message ends it.
const PAUSE: Duration = Duration::from_millis(50);

/// Message of a rank; without bytes it is the last one.
struct Message {
    from: u32,
    bytes: Option<Vec<u8>>,
}

/// Unread messages of one rank.
#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    ended: bool,
}

/// Endpoint of one rank.
#[derive(Debug)]
pub(crate) struct ThreadTransport {
    rank: u32,
    /// Leader: senders to all ranks, in order. Other ranks: the sender to the leader.
    to: Vec<Sender<Message>>,
    from: Receiver<Message>,
    queues: Vec<Queue>,
    clock: fn() -> u64,
}

/// Creates the endpoints of this many ranks, in order. They measure time by `clock`.
pub(crate) fn threads(size: u32, clock: fn() -> u64) -> Vec<ThreadTransport> {
    let (ends, receivers): (Vec<Sender<Message>>, Vec<Receiver<Message>>) =
        (0..size).map(|_| channel()).unzip();
    let transport = |(rank, from): (usize, Receiver<Message>)| ThreadTransport {
        rank: rank as u32,
        to: if rank == 0 { ends.clone() } else { vec![ends[0].clone()] },
        from,
        queues: (0..size).map(|_| Queue::default()).collect(),
        clock,
    };
    receivers.into_iter().enumerate().map(transport).collect()
}

impl ThreadTransport {
    fn keep(&mut self, message: Message) {
        let queue = &mut self.queues[message.from as usize];
        match message.bytes {
            Some(bytes) => queue.messages.push_back(bytes),
            None => queue.ended = true,
        }
    }
}

impl Drop for ThreadTransport {
    fn drop(&mut self) {
        for end in &self.to {
            // An endpoint that has already ended needs no message.
            let _ = end.send(Message { from: self.rank, bytes: None });
        }
    }
}

impl Transport for ThreadTransport {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.queues.len() as u32
    }

    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), String> {
        let message = Message { from: self.rank, bytes: Some(bytes.to_vec()) };
        self.to[to as usize].send(message).map_err(|_| "its thread has ended".to_owned())
    }

    fn poll(&mut self, from: u32) -> Result<Option<Vec<u8>>, String> {
        while let Ok(message) = self.from.try_recv() {
            self.keep(message);
        }
        let queue = &mut self.queues[from as usize];
        match queue.messages.pop_front() {
            None if queue.ended => Err("its thread has ended".to_owned()),
            message => Ok(message),
        }
    }

    fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    fn pause(&mut self, _: u64) {
        if let Ok(message) = self.from.recv_timeout(PAUSE) {
            self.keep(message);
        }
    }
}
