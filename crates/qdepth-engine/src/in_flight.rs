//! Requests in flight: the state of each slot of a load.

use qdepth_measure::Instant;
use qdepth_workload::Request;

/// State of one slot. It fills half a cache line, so that none spans two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct InFlight {
    pub(crate) request: Request,
    pub(crate) issued: Instant,
    /// Bytes still to transfer: less than the request's size after a short transfer; [`FREE`] if
    /// the slot has no request.
    pub(crate) left: u32,
    /// Owner of the slot, as an index into the driver's streams; fixed for the point.
    pub(crate) stream: u16,
}

pub(crate) const FREE: u32 = u32::MAX;

const _: () = assert!(size_of::<InFlight>() == 32);

impl InFlight {
    /// Puts a request into the slot, word by word: a structure that is built elsewhere and copied
    /// stalls the CPU (a wide load of words just stored), which took a third of the loop's time.
    #[inline(always)]
    pub(crate) fn put(&mut self, request: Request, issued: Instant) {
        self.request.offset = request.offset;
        self.request.size = request.size;
        self.request.direction = request.direction;
        self.issued = issued;
        self.left = request.size;
    }
}
