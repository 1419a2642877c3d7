//! A served device as its clients see it. Lower limits of times are strict, because no I/O may end
//! before the device permits; upper limits leave room for a busy machine.

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test holds the medium's time against a clock")]
mod tests {
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::JoinHandle;
    use std::time::Duration;

    use nbd::client::{NbdClient, handshake};
    use qdepth_measure::Nanos;
    use qdepth_media::TargetExpression;
    use qdepth_nbd::{Served, Server};

    const MS: u64 = 1_000_000;

    struct Serving {
        folder: tempfile::TempDir,
        stop: Arc<AtomicBool>,
        thread: JoinHandle<Served>,
    }

    fn serve(expression: &str) -> Serving {
        let folder = tempfile::tempdir().unwrap();
        let target = TargetExpression::read(expression).unwrap();
        let data = tempfile::tempfile_in(folder.path()).unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(socket).unwrap();
        let server = Server::new(&target, listener, data, Nanos::ZERO).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || server.serve(&stopped, false).unwrap());
        Serving { folder, stop, thread }
    }

    impl Serving {
        fn socket(&self) -> PathBuf {
            self.folder.path().join("socket")
        }
        /// Client after the negotiation, and the size that the server announced.
        fn connect(&self) -> (UnixStream, u64) {
            let stream = UnixStream::connect(self.socket()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let export = handshake(&stream, b"").unwrap();
            (stream, export.size)
        }
        fn client(&self) -> NbdClient<UnixStream> {
            let stream = UnixStream::connect(self.socket()).unwrap();
            let export = handshake(&stream, b"").unwrap();
            NbdClient::new(stream, &export)
        }
        fn end(self) -> Served {
            self.stop.store(true, Ordering::Relaxed);
            self.thread.join().unwrap()
        }
    }

    fn request(kind: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
        let mut bytes = vec![0x25, 0x60, 0x95, 0x13, 0, 0];
        bytes.extend(kind.to_be_bytes());
        bytes.extend(cookie.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes
    }

    /// Error and cookie of the next reply; `length` returns the bytes of data that follow, by
    /// cookie.
    fn reply(stream: &mut UnixStream, length: impl Fn(u64) -> usize) -> (u32, u64) {
        let mut header = [0; 16];
        stream.read_exact(&mut header).unwrap();
        assert_eq!(header[..4], [0x67, 0x44, 0x66, 0x98]);
        let errno = u32::from_be_bytes(header[4..8].try_into().unwrap());
        let cookie = u64::from_be_bytes(header[8..].try_into().unwrap());
        if errno == 0 {
            stream.read_exact(&mut vec![0; length(cookie)]).unwrap();
        }
        (errno, cookie)
    }

    #[test]
    fn written_data_is_read_and_the_rest_zeros() {
        let serving = serve("media:null");
        let mut client = serving.client();
        let data: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
        client.seek(SeekFrom::Start(5 << 30)).unwrap();
        client.write_all(&data).unwrap();
        client.flush().unwrap();
        client.seek(SeekFrom::Start((5 << 30) - 4096)).unwrap();
        let mut read = vec![1; 4096 + data.len()];
        client.read_exact(&mut read).unwrap();
        assert!(read[..4096].iter().all(|byte| *byte == 0) && read[4096..] == data);
        drop(client);
        let served = serving.end();
        assert_eq!((served.written_bytes, served.errors, served.clients), (100_000, 0, 1));
        assert!(served.read_bytes >= 4096 + 100_000, "{}", served.read_bytes);
    }

    #[test]
    fn served_ios_take_device_time_in_parallel() {
        let serving = serve("media:fixed @service_us=500000 @servers=4 @host=none");
        let (mut stream, size) = serving.connect();
        assert_eq!(size, qdepth_capacity("media:fixed"));
        let began = std::time::Instant::now();
        for cookie in 0..8 {
            stream.write_all(&request(0, cookie, cookie * 4096, 4096)).unwrap();
        }
        let order: Vec<u64> = (0..8).map(|_| reply(&mut stream, |_| 4096).1).collect();
        let took = began.elapsed();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
        // Eight requests on four servers of 0.5 s take two rounds; one after the other would take 4
        // s. The difference is room for a machine that delays this test.
        assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(4), "{took:?}");
        drop(stream);
        let served = serving.end();
        let times = served.latency;
        assert_eq!((served.reads, times.count()), (8, 8));
        assert!(times.min().unwrap().0 >= 500 * MS && times.max().unwrap().0 < 4000 * MS);
    }

    fn qdepth_capacity(expression: &str) -> u64 {
        TargetExpression::read(expression).unwrap().shape().unwrap().usable.length_bytes
    }

    #[test]
    fn write_overtakes_a_slower_read() {
        let serving = serve("media:p3700-800gb @die_read_us=200 @host=none");
        let (mut stream, _) = serving.connect();
        let mut both = request(0, 1, 1 << 30, 4096);
        both.extend(request(1, 2, 0, 512));
        both.extend([7; 512]);
        stream.write_all(&both).unwrap();
        let length = |cookie| if cookie == 1 { 4096 } else { 0 };
        let order: Vec<_> = (0..2).map(|_| reply(&mut stream, length)).collect();
        assert_eq!(order, [(0, 2), (0, 1)]);
        serving.end();
    }

    #[test]
    fn invalid_requests_fail_without_disconnecting_the_client() {
        let serving = serve("media:null");
        let (mut stream, size) = serving.connect();
        let wrong = [
            request(0, 1, size - 4095, 4096),
            request(0, 2, u64::MAX, 4096),
            request(0, 3, 0, 0),
            request(0, 4, 0, (32 << 20) + 1),
            request(4, 5, size, 4096),
            request(6, 6, 0, 4096),
            [request(1, 7, size, 512), vec![1; 512]].concat(),
        ];
        for (bytes, cookie) in wrong.iter().zip(1..) {
            stream.write_all(bytes).unwrap();
            assert_eq!(reply(&mut stream, |_| 0), (22, cookie));
        }
        stream.write_all(&request(0, 9, size - 4096, 4096)).unwrap();
        assert_eq!(reply(&mut stream, |_| 4096), (0, 9));
        assert_eq!(serving.end().errors, wrong.len() as u64);
    }

    #[test]
    fn invalid_client_is_disconnected_without_affecting_others() {
        let serving = serve("media:null");
        let (mut sane, _) = serving.connect();
        for nonsense in [vec![0; 28], request(1, 1, 0, u32::MAX)] {
            let (mut stream, _) = serving.connect();
            stream.write_all(&nonsense).unwrap();
            assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0, "it is let go");
        }
        // One client that sends nothing, and one that disconnects inside a request.
        let silent = UnixStream::connect(serving.socket()).unwrap();
        let (mut gone, _) = serving.connect();
        gone.write_all(&request(1, 1, 0, 4096)[..20]).unwrap();
        drop(gone);
        sane.write_all(&request(3, 8, 0, 0)).unwrap();
        assert_eq!(reply(&mut sane, |_| 0), (0, 8));
        drop(silent);
        serving.end();
    }

    /// True if the server closes the connection within this number of seconds.
    fn ends_within(stream: &mut UnixStream, seconds: u64) -> bool {
        stream.set_read_timeout(Some(Duration::from_secs(seconds))).unwrap();
        let mut all = Vec::new();
        match stream.read_to_end(&mut all) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    #[test]
    fn client_without_complete_handshake_is_disconnected() {
        let serving = serve("media:null");
        let silent = UnixStream::connect(serving.socket()).unwrap();
        let mut drips = UnixStream::connect(serving.socket()).unwrap();
        let mut asks = UnixStream::connect(serving.socket()).unwrap();
        for stream in [&drips, &asks] {
            stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
        }
        let began = std::time::Instant::now();
        // Flags, then options without end: NBD_OPT_LIST is answered, and another may follow.
        asks.write_all(&3_u32.to_be_bytes()).unwrap();
        let list = [b"IHAVEOPT".as_slice(), &3_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat();
        let mut gone = [false; 2];
        while gone != [true; 2] {
            let took = began.elapsed();
            assert!(took < Duration::from_secs(20), "still there after {took:?}: {gone:?}");
            gone[0] |= drips.write_all(b"\0").is_err();
            gone[1] |= asks.write_all(&list).is_err();
            // Replies are read, so that no buffer fills up.
            asks.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            let _ = asks.read(&mut [0; 1 << 16]);
            std::thread::sleep(Duration::from_millis(200));
        }
        let mut silent = silent;
        assert!(ends_within(&mut silent, 10));
        let (mut sane, _) = serving.connect();
        sane.write_all(&request(3, 8, 0, 0)).unwrap();
        assert_eq!(reply(&mut sane, |_| 0), (0, 8));
        serving.end();
    }

    /// Threads of this process that negotiate.
    fn negotiating() -> usize {
        let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        tasks.filter_map(|task| name(task).ok()).filter(|n| n.trim() == "negotiation").count()
    }

    #[test]
    fn excess_connections_are_rejected_above_the_limit() {
        let serving = serve("media:null");
        let (mut sane, _) = serving.connect();
        let mut all = Vec::new();
        let mut most = 0;
        for _ in 0..1000 {
            // A full queue blocks: a thousand clients connect at once.
            all.push(UnixStream::connect(serving.socket()).unwrap());
            most = most.max(negotiating());
        }
        let began = std::time::Instant::now();
        let mut ended = 0;
        while ended < 1000 - 64 {
            assert!(began.elapsed() < Duration::from_secs(20), "{ended} were turned away");
            ended = 0;
            for stream in &mut all {
                stream.set_nonblocking(true).unwrap();
                let mut greeting = [0; 64];
                let read = stream.read(&mut greeting);
                ended += usize::from(matches!(read, Ok(0)) || is_reset(&read));
            }
            most = most.max(negotiating());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(most <= 64 * 4, "{most} threads");
        // Connected clients are still served.
        sane.write_all(&request(3, 8, 0, 0)).unwrap();
        assert_eq!(reply(&mut sane, |_| 0), (0, 8));
        drop(all);
        let served = serving.end();
        assert!(served.turned_away >= 1000 - 64, "{}", served.turned_away);
    }

    fn resident_mib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }

    #[test]
    fn clients_that_never_read_use_bounded_memory() {
        let serving = serve("media:null");
        let before = resident_mib();
        let mut silent: Vec<UnixStream> = (0..60).map(|_| serving.connect().0).collect();
        for (number, stream) in silent.iter_mut().enumerate() {
            // Replies of 3.2 GB each, or almost a complete write of 32 MiB.
            if number % 2 == 0 {
                for cookie in 0..100 {
                    stream.write_all(&request(0, cookie, 0, 32 << 20)).unwrap();
                }
            } else {
                stream.write_all(&request(1, 0, 0, 32 << 20)).unwrap();
                stream.write_all(&vec![1; (32 << 20) - 1]).unwrap();
            }
        }
        let (mut sane, _) = serving.connect();
        for cookie in 0..20 {
            sane.write_all(&request(0, cookie, 1 << 30, 32 << 20)).unwrap();
            assert_eq!(reply(&mut sane, |_| 32 << 20), (0, cookie));
        }
        let grown = resident_mib().saturating_sub(before);
        // One buffer for requests and one for replies, of half a MiB each, plus this test's own.
        assert!(grown < 160, "{grown} MiB");
        drop(silent);
        serving.end();
    }

    fn is_reset(read: &std::io::Result<usize>) -> bool {
        let reset = std::io::ErrorKind::ConnectionReset;
        matches!(read, Err(error) if error.kind() == reset)
    }

    #[test]
    fn device_error_reaches_the_client() {
        let serving = serve("fault(media:null, errors=2)");
        let (mut stream, _) = serving.connect();
        for cookie in 1..=4 {
            stream.write_all(&request(0, cookie, 0, 4096)).unwrap();
            let expected = if cookie % 2 == 0 { 5 } else { 0 };
            assert_eq!(reply(&mut stream, |_| 4096), (expected, cookie));
        }
        serving.end();
    }

    #[test]
    fn independent_targets_cannot_be_served_together() {
        let folder = tempfile::tempdir().unwrap();
        let target = TargetExpression::read("independent(media:null*2)").unwrap();
        let data = tempfile::tempfile().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        let refused = Server::new(&target, listener, data, Nanos::ZERO).unwrap_err().to_string();
        assert!(refused.contains("Serve each drive separately"), "{refused}");
    }
}
