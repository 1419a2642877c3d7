//! Real targets on Linux: `io_uring`; Linux AIO if `io_uring` is forbidden; synchronous threads if
//! both are. Also the null target, which calibrates the ceiling of the load generator.
//!
//! This is the only crate with `unsafe` code, and the only one that reads the kernel's clock. It
//! opens no targets: a target is made from a file that the guards of `qdepth-host` opened. Start
//! with [`KernelTarget::open`].

mod aio;
mod buffers;
mod calibrate;
mod call;
mod clock;
mod discard;
mod errno;
mod extent_map;
mod file_handle;
mod gate;
mod inline;
mod kernel_target;
mod loop_device;
mod lost_page;
mod mapped;
mod memory;
mod mpi;
mod null;
mod nvme;
mod op_flags;
mod open_files;
mod operations;
mod passthrough;
mod pin;
mod pulse;
mod repeating;
mod ring;
mod ring_queue;
mod stall;
mod supervisor;
mod threads;
mod unsupported;
mod uring;
mod verify;

pub use calibrate::{Costs, RingCosts, costs};
pub use clock::{ClockCheck, now};
pub use errno::errno_name;
pub use extent_map::{Extent, extents};
pub use file_handle::file_handle;
pub use gate::Gate;
pub use kernel_target::{
    Engine, EngineChoice, KernelTarget, OpenError, OpenOptions, Probe, RefusedEngine, take_priority,
};
pub use loop_device::LoopBacking;
pub use lost_page::{outlive_lost_pages, private_index_pages};
pub use memory::{Memory, explain_aborts, keep_freed};
pub use mpi::{MPI_SHIM, Mpi};
pub use null::{NullRate, ceiling};
pub use op_flags::{IoFlagError, O_DSYNC};
pub use open_files::{OpenElsewhere, open_elsewhere, share_descriptors};
pub use operations::entry_name;
pub use passthrough::Namespace;
pub use pin::{allowed_cpus, pin};
pub use pulse::{Pause, Pulse, waited_for_cpu};
pub use repeating::Repeating;
pub use stall::watch_calls;
pub use supervisor::{Limit, can_be_left, ignores, is_frozen, limit, supervised};
pub use verify::{NOT_AS_WRITTEN, Verifying, WithBuffers};
