//! The NBD server before a client that says anything: from the first byte of its handshake on.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use qdepth_measure::Nanos;
use qdepth_media::TargetExpression;
use qdepth_nbd::Server;

/// Time that a client waits for the server to hang up.
const PATIENCE: Duration = Duration::from_millis(20);

/// NBD's magic words (doc/proto.md of the NBD project), with what a client sends first.
pub(crate) fn inputs() -> Vec<Vec<u8>> {
    let option = |number: u32, data: &[u8]| {
        let mut bytes = b"IHAVEOPT".to_vec();
        bytes.extend(number.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        bytes
    };
    let mut go = 0_u32.to_be_bytes().to_vec();
    go.extend(0_u16.to_be_bytes());
    let mut request = 0x2560_9513_u32.to_be_bytes().to_vec();
    request.extend([0, 0, 0, 0]);
    request.extend(7_u64.to_be_bytes());
    request.extend(4096_u64.to_be_bytes());
    request.extend(4096_u32.to_be_bytes());
    let flags = [0, 0, 0, 3];
    let list = [&flags[..], &option(3, &[]), &option(2, &[])].concat();
    let ask = [&flags[..], &option(7, &go), &request, &request].concat();
    let name = [&flags[..], &option(1, b"medium"), &request].concat();
    vec![list, ask, name]
}

/// The server, which goes on as long as the process.
fn server() -> Option<&'static PathBuf> {
    static SOCKET: OnceLock<Option<PathBuf>> = OnceLock::new();
    static STOP: AtomicBool = AtomicBool::new(false);
    let start = || {
        let folder = tempfile::tempdir().ok()?.keep();
        let socket = folder.join("socket");
        let file =
            File::options().read(true).write(true).create_new(true).open(folder.join("data"));
        let medium = TargetExpression::read("media:p3700-800gb").ok()?;
        let listener = UnixListener::bind(&socket).ok()?;
        let server = Server::new(&medium, listener, file.ok()?, Nanos::ZERO).ok()?;
        std::thread::spawn(move || server.serve(&STOP, false));
        Some(socket)
    };
    SOCKET.get_or_init(start).as_ref()
}

pub(crate) fn take(input: &[u8]) {
    let Some(socket) = server() else { panic_without_server() };
    let Ok(mut stream) = UnixStream::connect(socket) else { panic_without_server() };
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.write_all(input);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = [0; 4096];
    while stream.read(&mut answer).is_ok_and(|count| count > 0) {}
}

#[expect(clippy::panic, reason = "a server that went away is what is looked for")]
fn panic_without_server() -> ! {
    panic!("the server is gone")
}
