//! MPI, if the site has it. A shim compiled with the site's own `mpicc` is loaded at run time, so
//! that the program starts on hosts without MPI and works with any MPI.

use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Source code of the shim.
pub const MPI_SHIM: &str = include_str!("../shim/qdepth-mpi.c");

type Number = unsafe extern "C" fn() -> c_int;

/// An initialised MPI. Only the thread that initialised it may use it; the compiler enforces this.
#[derive(Debug)]
pub struct Mpi {
    rank: u32,
    size: u32,
    send: unsafe extern "C" fn(c_int, *const c_void, c_int) -> c_int,
    probe: unsafe extern "C" fn(c_int) -> c_int,
    receive: unsafe extern "C" fn(c_int, *mut c_void, c_int) -> c_int,
    finalize: Number,
    here: PhantomData<*const ()>,
}

impl Mpi {
    /// Loads the shim and initialises MPI, once per process.
    ///
    /// # Errors
    /// If the file cannot be loaded, is not a shim, or MPI cannot be initialised.
    pub fn open(shim: &Path) -> Result<Self, String> {
        let name = CString::new(shim.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: the name is a C string; the constructors that run are those of the site's MPI.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if library.is_null() {
            return Err(last_error());
        }
        // SAFETY: the shim's functions with these names have the signatures of these fields and
        // variables (shim/qdepth-mpi.c).
        let (mpi, init, number_of_rank, number_of_ranks) = unsafe {
            let mpi = Self {
                rank: 0,
                size: 0,
                send: function(library, c"qdepth_mpi_send")?,
                probe: function(library, c"qdepth_mpi_probe")?,
                receive: function(library, c"qdepth_mpi_receive")?,
                finalize: function(library, c"qdepth_mpi_finalize")?,
                here: PhantomData,
            };
            let init: Number = function(library, c"qdepth_mpi_init")?;
            let rank: Number = function(library, c"qdepth_mpi_rank")?;
            let size: Number = function(library, c"qdepth_mpi_size")?;
            (mpi, init, rank, size)
        };
        // SAFETY: called once, before any other MPI call, by the thread that owns it.
        if unsafe { init() } != 0 {
            return Err("MPI_Init_thread failed".to_owned());
        }
        // SAFETY: MPI is initialised.
        let (rank, size) = unsafe { (number_of_rank(), number_of_ranks()) };
        match (u32::try_from(rank), u32::try_from(size)) {
            (Ok(rank), Ok(size)) if rank < size => Ok(Self { rank, size, ..mpi }),
            _ => Err(format!("MPI reports rank {rank} of {size}")),
        }
    }

    /// Rank of this process, from 0.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Sends a message to a rank.
    ///
    /// # Errors
    /// If MPI reports an error.
    pub fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), String> {
        let length =
            c_int::try_from(bytes.len()).map_err(|_| "a message exceeds 2 GiB".to_owned())?;
        // SAFETY: the bytes are live during the call, which copies them.
        let answer = unsafe { (self.send)(to as c_int, bytes.as_ptr().cast(), length) };
        if answer == 0 { Ok(()) } else { Err("MPI could not send to it".to_owned()) }
    }

    /// The next message from a rank; `None` if none has arrived.
    ///
    /// # Errors
    /// If MPI reports an error.
    pub fn poll(&mut self, from: u32) -> Result<Option<Vec<u8>>, String> {
        // SAFETY: MPI is initialised, on this thread.
        let length = unsafe { (self.probe)(from as c_int) };
        if length == -1 {
            return Ok(None);
        }
        let mut bytes = vec![0_u8; usize::try_from(length).map_err(|_| "MPI lost it".to_owned())?];
        // SAFETY: the buffer is live and has the stated length; the message has arrived, so that
        // the call does not wait.
        let answer = unsafe { (self.receive)(from as c_int, bytes.as_mut_ptr().cast(), length) };
        if answer == 0 { Ok(Some(bytes)) } else { Err("MPI could not receive from it".to_owned()) }
    }

    /// Finalises MPI, which waits for all ranks. Must not be called after a rank was lost.
    pub fn finalize(self) {
        // SAFETY: MPI is initialised, on this thread, and not used afterwards.
        unsafe { (self.finalize)() };
    }
}

/// A function of the library.
///
/// # Safety
/// `F` must be a function pointer with the signature that the function has.
unsafe fn function<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the handle is that of a loaded library, which is never unloaded.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(last_error());
    }
    // SAFETY: guaranteed by the caller; a function pointer has the size of the address.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

fn last_error() -> String {
    // SAFETY: dlerror returns a C string that is valid until its next call, or null.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown".to_owned();
    }
    // SAFETY: not null, and a C string, which is copied at once.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
