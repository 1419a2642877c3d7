//! A real target: a file opened by the guards, measured by the best engine that the kernel
//! supports.

use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::AtomicBool;

use qdepth_engine::{Interval, Outcome, Shard, Slot, Target, measure_any, measure_shard};
use qdepth_measure::Instant;
use qdepth_workload::{
    CacheAdvice, Direction, IoFlag, Operation, Payload, Plan, Point, Priorities, Priority,
    PriorityDraw, fill,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::aio::Aio;
use crate::buffers::Buffers;
use crate::clock::{Clock, ClockCheck};
use crate::discard::Discard;
use crate::inline::{Inline, Transfers};
use crate::mapped::Mapped;
use crate::op_flags::{self, IoFlagError, OpFlags};
use crate::operations::Operations;
use crate::passthrough::{Namespace, Passthrough};
use crate::ring_queue::CompletionMode;
use crate::threads::Threads;
use crate::unsupported::{operation, reason};
use crate::uring::{Uring, probe};
use crate::verify::WithBuffers;

/// I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `io_uring`.
    IoUring,
    /// Linux AIO.
    LinuxAio,
    /// Synchronous reads and writes in threads.
    Threads,
    /// Synchronous reads and writes by the worker itself, one at a time.
    Sync,
    /// `io_uring`, the worker polling the device for completions.
    IoUringPolled,
    /// `io_uring`, a thread of the kernel polling for submissions.
    IoUringSqPoll,
    /// NVMe commands by `io_uring`.
    IoUringPassthrough,
    /// NVMe commands by `io_uring`, the worker polling the device for completions.
    IoUringPassthroughPolled,
    /// Copies from and to a mapping of the file by the worker itself, one at a time.
    Mmap,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 9] = [
        Self::IoUring,
        Self::LinuxAio,
        Self::Threads,
        Self::Sync,
        Self::IoUringPolled,
        Self::IoUringSqPoll,
        Self::IoUringPassthrough,
        Self::IoUringPassthroughPolled,
        Self::Mmap,
    ];

    /// Name as stored and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::LinuxAio => "linux-aio",
            Self::Threads => "threads",
            Self::Sync => "sync",
            Self::IoUringPolled => "io_uring-polled",
            Self::IoUringSqPoll => "io_uring-sqpoll",
            Self::IoUringPassthrough => "io_uring-passthrough",
            Self::IoUringPassthroughPolled => "io_uring-passthrough-polled",
            Self::Mmap => "mmap",
        }
    }

    const fn completion_mode(self) -> CompletionMode {
        match self {
            Self::IoUringPolled | Self::IoUringPassthroughPolled => CompletionMode::Completions,
            Self::IoUringSqPoll => CompletionMode::Submissions,
            _ => CompletionMode::Interrupts,
        }
    }

    /// True if the worker polls the device, which must have poll queues.
    pub const fn polls_device(self) -> bool {
        matches!(self, Self::IoUringPolled | Self::IoUringPassthroughPolled)
    }

    /// True if the engine supports trims: polled rings and Linux AIO do not.
    pub const fn trims(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringSqPoll | Self::Threads | Self::Sync)
    }

    /// True if a worker makes one request at a time.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Sync | Self::Mmap)
    }

    /// True if the kernel gets the flags of a transfer.
    pub const fn passes_flags(self) -> bool {
        matches!(
            self,
            Self::IoUring | Self::IoUringPolled | Self::IoUringSqPoll | Self::LinuxAio | Self::Sync
        )
    }

    /// True if requests are NVMe commands, which bypass the block layer and its counters.
    pub const fn sends_commands(self) -> bool {
        matches!(self, Self::IoUringPassthrough | Self::IoUringPassthroughPolled)
    }
}

/// Choice of an engine, serialised by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum EngineChoice {
    /// The best engine that works.
    Auto,
    /// This engine only.
    Only(Engine),
}

impl EngineChoice {
    /// Name as typed and stored: `auto`, or the engine's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Only(engine) => engine.name(),
        }
    }

    /// The choice with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Engine::ALL.into_iter().map(Self::Only).chain([Self::Auto]);
        all.find(|choice| choice.name() == name)
    }

    /// The engine that is tried first, as far as can be known without a target.
    pub fn first(self) -> Engine {
        match self {
            Self::Only(engine) => engine,
            Self::Auto if probe().is_ok() => Engine::IoUring,
            Self::Auto => Engine::LinuxAio,
        }
    }

    /// The choice for all points of a plan. If each makes one buffered I/O at a time, they are
    /// blocking calls, as applications make them: `io_uring` hands a buffered write on ext4 to a
    /// kernel thread, which takes ten times as long as the write itself. A search for a rate adds
    /// points with many I/Os in flight.
    #[must_use]
    pub fn for_plan(self, plan: &Plan) -> Self {
        let blocks = |point: &Point| {
            let one_each = point.queue_depth == 1 && point.streams == point.workers;
            !point.direct && one_each && point.priorities.is_none() && !point.trims()
        };
        match self {
            Self::Auto if plan.answer.is_empty() && plan.points.iter().all(blocks) => {
                Self::Only(Engine::Sync)
            }
            _ => self,
        }
    }
}

impl From<EngineChoice> for &str {
    fn from(choice: EngineChoice) -> Self {
        choice.name()
    }
}

impl TryFrom<String> for EngineChoice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let unknown = || format!("this version does not support the engine `{name}`");
        Self::from_name(&name).ok_or_else(unknown)
    }
}

/// Options for opening a target.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// Maximum number of requests in flight.
    pub slots: u32,
    /// Size of the largest request, bytes.
    pub size_max: u32,
    /// Data to write.
    pub payload: Payload,
    /// Seed of the payload.
    pub seed: u64,
    /// Engine.
    pub engine: EngineChoice,
    /// True if the load discards data.
    pub trims: bool,
    /// True if syncs are `fdatasync` calls.
    pub data_sync: bool,
    /// True if the load reads and writes: then writes have buffers of their own.
    pub own_writes: bool,
    /// Operation of the requests; only [`Engine::Sync`] supports operations without data transfer.
    pub operation: Operation,
    /// The NVMe namespace, if the file is its character device for commands.
    pub namespace: Option<Namespace>,
}

impl OpenOptions {
    /// Options for all streams of a point.
    pub fn from_point(point: &Point, engine: EngineChoice) -> Self {
        Self {
            slots: point.in_flight_max(),
            size_max: point.buffer_bytes(),
            payload: point.payload,
            seed: point.seed,
            engine,
            trims: point.trims(),
            data_sync: point.fsync.data_only,
            own_writes: point.has_write_buffers(),
            operation: point.operation,
            namespace: None,
        }
    }
}

/// Error on opening a target.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Not enough memory for the buffers.
    #[error(
        "no memory for {slots} buffers of {size} B: {why}. Use a lower --queue-depth or a smaller \
         --block-size"
    )]
    Memory {
        /// Number of slots.
        slots: u32,
        /// Size of a buffer, bytes.
        size: u32,
        /// The kernel's error.
        why: std::io::Error,
    },
    /// No engine works; lists the engines that were tried, with the kernel's errors.
    #[error("no engine can be used here: {0}")]
    NoEngine(String),
    /// The storage cannot discard data.
    #[error(
        "nothing was discarded: the file system does not support holes in files ({0}). Use another \
         directory or a device that supports discards, or remove the trims"
    )]
    NoTrims(std::io::Error),
    /// The engine supports no priorities per request.
    #[error("the engine {0} does not support I/O priorities: use io_uring or linux-aio")]
    NoPriorities(&'static str),
    /// Transfers cannot have the profile's flag.
    #[error(transparent)]
    IoFlag(#[from] IoFlagError),
}

/// Result of the search for an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// Engines that did not work.
    pub refused: Vec<RefusedEngine>,
    /// Code of each feature that the engine lacks on this system, with the reason: a code, or the
    /// name of the kernel's error.
    pub missing: Vec<(&'static str, String)>,
}

/// An engine that did not work, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedEngine {
    /// Engine.
    pub engine: Engine,
    /// Reason: a code of [`qdepth_measure::label`], or the name of the kernel's error.
    pub why: String,
    /// Kernel name of the missing operation, if that is the reason.
    pub operation: Option<&'static str>,
}

enum Queue {
    Uring(Box<Uring<false>>),
    Trimming(Box<Uring<true>>),
    Aio(Aio),
    Threads(Threads),
    Inline(Inline<Transfers>),
    Mapped(Inline<Mapped>),
    Operations(Inline<Operations>),
    Passthrough(Box<Passthrough>),
}

/// Sets the I/O priority of the calling thread and of the threads that it starts.
///
/// # Errors
/// The kernel's error: the highest priorities need a privilege.
pub fn take_priority(priority: Priority) -> std::io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    const THIS_THREAD: libc::c_int = 0;
    let bits = libc::c_int::from(priority.bits());
    // SAFETY: the call takes three numbers, and no memory.
    let answer = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, THIS_THREAD, bits) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A file or device with an open engine. It is not a [`Target`] itself, but its engine is;
/// [`measure_shard`](Self::measure_shard) has a loop for each engine. Dropping it with requests in
/// flight leaks their memory, because the kernel may still write to it.
pub struct KernelTarget {
    queue: ManuallyDrop<Queue>,
    buffers: ManuallyDrop<Buffers>,
    file: ManuallyDrop<OwnedFd>,
    engine: Engine,
    probe: Probe,
}

impl KernelTarget {
    /// Opens a target on `file`. The flags of the file (direct or not, read-only or not) are not
    /// changed.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers, or no engine works.
    pub fn open(file: OwnedFd, options: &OpenOptions) -> Result<Self, OpenError> {
        let OpenOptions { slots, size_max, payload, seed, engine, .. } = *options;
        // Waits end late by up to the thread's timer slack, by default 50 µs. Failure is harmless.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let memory = |why| OpenError::Memory { slots, size: size_max, why };
        let mut buffers = Buffers::new(slots, size_max, options.own_writes).map_err(memory)?;
        fill(buffers.as_mut_slice(), payload, seed);
        let mut found = Probe::default();
        if options.trims {
            let possible =
                Discard::for_file(file.as_fd()).and_then(|it| it.is_possible(file.as_fd()));
            possible.map_err(OpenError::NoTrims)?;
        }
        let candidates = match engine {
            EngineChoice::Auto if !options.operation.is_transfer() => vec![Engine::Sync],
            // Linux AIO does not support trims.
            EngineChoice::Auto if options.trims => vec![Engine::IoUring, Engine::Threads],
            EngineChoice::Auto => vec![Engine::IoUring, Engine::LinuxAio, Engine::Threads],
            EngineChoice::Only(engine) => vec![engine],
        };
        let mut tried = Vec::new();
        for engine in candidates {
            match Self::queue(engine, &file, options, &mut buffers, &mut found.missing) {
                Ok(queue) => {
                    return Ok(Self {
                        queue: ManuallyDrop::new(queue),
                        buffers: ManuallyDrop::new(buffers),
                        file: ManuallyDrop::new(file),
                        engine,
                        probe: found,
                    });
                }
                Err(error) => {
                    tried.push(format!("{}: {error}", engine.name()));
                    let (why, operation) = (reason(&error), operation(&error));
                    found.refused.push(RefusedEngine { engine, why, operation });
                }
            }
        }
        Err(OpenError::NoEngine(tried.join("; ")))
    }

    fn queue(
        engine: Engine,
        file: &OwnedFd,
        options: &OpenOptions,
        buffers: &mut Buffers,
        missing: &mut Vec<(&'static str, String)>,
    ) -> std::io::Result<Queue> {
        let (slots, op_flags) = (options.slots, OpFlags::new(options.data_sync));
        let (completion_mode, pieces) = (engine.completion_mode(), buffers.pieces());
        Ok(match engine {
            Engine::Sync if !options.operation.is_transfer() => {
                let (operation, size_max) = (options.operation, options.size_max);
                let calls = Operations::new(file.as_raw_fd(), operation, size_max, pieces);
                Queue::Operations(Inline::new(calls, slots)?)
            }
            _ if !options.operation.is_transfer() => {
                return Err(std::io::Error::other("it only transfers data; use the engine sync"));
            }
            _ if options.trims && !engine.trims() => {
                return Err(std::io::Error::other("it does not support trims"));
            }
            Engine::IoUring | Engine::IoUringSqPoll if options.trims => {
                probe()?;
                let mut queue = Uring::new(file.as_fd(), slots, completion_mode, buffers, missing)?;
                queue.op_flags = op_flags;
                Queue::Trimming(Box::new(queue))
            }
            Engine::IoUring | Engine::IoUringPolled | Engine::IoUringSqPoll => {
                probe()?;
                let mut queue = Uring::new(file.as_fd(), slots, completion_mode, buffers, missing)?;
                queue.op_flags = op_flags;
                Queue::Uring(Box::new(queue))
            }
            Engine::IoUringPassthrough | Engine::IoUringPassthroughPolled => {
                let namespace = options.namespace;
                let namespace = namespace.ok_or_else(|| {
                    std::io::Error::other("the target does not accept NVMe commands")
                })?;
                let queue = Passthrough::new(
                    file.as_fd(),
                    namespace,
                    slots,
                    options.size_max,
                    completion_mode,
                    buffers,
                    missing,
                )?;
                Queue::Passthrough(Box::new(queue))
            }
            Engine::Sync => {
                Queue::Inline(Inline::new(Transfers::new(file.as_fd(), op_flags, pieces)?, slots)?)
            }
            Engine::Mmap => {
                Queue::Mapped(Inline::new(Mapped::new(file.as_fd(), op_flags, pieces)?, slots)?)
            }
            Engine::LinuxAio => Queue::Aio(Aio::new(file.as_raw_fd(), op_flags, slots, pieces)?),
            Engine::Threads => Queue::Threads(Threads::new(file.as_fd(), op_flags, slots, pieces)?),
        })
    }

    /// Lets requests carry priorities from now on. The calling thread has its own priority already
    /// ([`take_priority`]).
    ///
    /// # Errors
    /// If the engine supports no priorities per request.
    pub fn prioritise(&mut self, priorities: &Priorities, seed: u64) -> Result<(), OpenError> {
        let draw = PriorityDraw::new(priorities, seed);
        match &mut *self.queue {
            Queue::Uring(engine) => engine.prioritise(draw),
            Queue::Trimming(engine) => engine.prioritise(draw),
            Queue::Aio(engine) => engine.prioritise(draw),
            Queue::Threads(_) | Queue::Inline(_) | Queue::Mapped(_) | Queue::Operations(_)
                if priorities.others.is_empty() => {}
            _ => return Err(OpenError::NoPriorities(self.engine.name())),
        }
        Ok(())
    }

    /// Gives the kernel advice about a mapping; other engines use that of the file.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn advise(&self, advice: CacheAdvice) -> std::io::Result<()> {
        match &*self.queue {
            Queue::Mapped(engine) => engine.calls.advise(advice),
            _ => Ok(()),
        }
    }

    /// Sets the flag with which transfers are issued from now on. `size_max` is the size of the
    /// largest one, in bytes.
    ///
    /// # Errors
    /// If the engine passes no flags, or the file does not support this one.
    pub fn set_io_flag(&mut self, flag: IoFlag, size_max: u32) -> Result<(), OpenError> {
        if flag == IoFlag::None {
            return Ok(());
        }
        op_flags::check(self.file.as_fd(), flag, size_max)?;
        let flags = match &mut *self.queue {
            Queue::Uring(engine) => &mut engine.op_flags,
            Queue::Trimming(engine) => &mut engine.op_flags,
            Queue::Aio(engine) => &mut engine.op_flags,
            Queue::Inline(engine) => &mut engine.calls.op_flags,
            _ => return Err(IoFlagError::Engine(self.engine.name()).into()),
        };
        *flags = flags.with(flag);
        Ok(())
    }

    /// The engine that is in use.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Engines tried, and the reasons against them.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Source of stamps, and its accuracy compared with the kernel's clock.
    pub fn clock_check(&self) -> ClockCheck {
        Clock::get().check()
    }

    /// [`qdepth_engine::measure_shard`]. The engine is a type parameter of the loop, so that no
    /// virtual call separates the loop from its system calls. The loops are compiled in this crate,
    /// once, and not in every crate that measures.
    pub fn measure_shard(
        &mut self,
        shard: &Shard<'_>,
        start: Instant,
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Interval),
    ) -> Outcome {
        match &mut *self.queue {
            Queue::Uring(engine) => measure_shard(&mut **engine, shard, start, stop, seen),
            Queue::Trimming(engine) => measure_any(&mut **engine, shard, start, stop, seen),
            Queue::Aio(engine) => measure_shard(engine, shard, start, stop, seen),
            Queue::Threads(engine) => measure_any(engine, shard, start, stop, seen),
            Queue::Inline(engine) => measure_shard(engine, shard, start, stop, seen),
            Queue::Mapped(engine) => measure_any(engine, shard, start, stop, seen),
            Queue::Operations(engine) => measure_any(engine, shard, start, stop, seen),
            Queue::Passthrough(engine) => measure_shard(&mut **engine, shard, start, stop, seen),
        }
    }

    /// Measures a whole point, from now ([`qdepth_engine::measure`]).
    pub fn measure(&mut self, point: &Point) -> Outcome {
        let never = AtomicBool::new(false);
        self.measure_shard(&Shard::whole(point), Instant::default(), &never, &mut |_| {})
    }

    /// The engine as a trait object, for single requests. The loop does not use it, because each
    /// request would pay for a virtual call.
    pub fn as_target(&mut self) -> &mut dyn Target {
        match &mut *self.queue {
            Queue::Uring(engine) => &mut **engine,
            Queue::Trimming(engine) => &mut **engine,
            Queue::Aio(engine) => engine,
            Queue::Threads(engine) => engine,
            Queue::Inline(engine) => engine,
            Queue::Mapped(engine) => engine,
            Queue::Operations(engine) => engine,
            Queue::Passthrough(engine) => &mut **engine,
        }
    }

    fn in_kernel(&self) -> u32 {
        match &*self.queue {
            Queue::Uring(queue) => queue.in_kernel(),
            Queue::Trimming(queue) => queue.in_kernel(),
            Queue::Aio(queue) => queue.in_kernel(),
            Queue::Threads(queue) => queue.in_kernel(),
            Queue::Inline(queue) => queue.in_kernel(),
            Queue::Mapped(queue) => queue.in_kernel(),
            Queue::Operations(queue) => queue.in_kernel(),
            Queue::Passthrough(queue) => queue.in_kernel(),
        }
    }
}

impl WithBuffers for KernelTarget {
    fn target(&mut self) -> &mut dyn Target {
        self.as_target()
    }
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.buffers.piece(slot.0, Direction::Read)
    }
    fn write_buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.buffers.piece(slot.0, Direction::Write)
    }
}

impl Drop for KernelTarget {
    fn drop(&mut self) {
        if self.in_kernel() > 0 {
            return;
        }
        // SAFETY: dropped once, here: the queue before the memory and the file that it refers to.
        unsafe {
            ManuallyDrop::drop(&mut self.queue);
            ManuallyDrop::drop(&mut self.buffers);
            ManuallyDrop::drop(&mut self.file);
        }
    }
}
