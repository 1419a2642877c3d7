//! Certificates in a logbook: stored as written, listed by machine, and never returned when
//! damaged.

use crate::common::certificate;
use qdepth_logbook::Logbook;

#[test]
fn newest_undamaged_certificate_of_a_machine_is_returned() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("qdepth.db");
    let mut logbook = Logbook::open(&file).unwrap();
    let old = certificate("a", "2026-01-01T00:00:00Z", "one");
    let new = certificate("b", "2026-02-01T00:00:00Z", "one");
    let other = certificate("c", "2026-03-01T00:00:00Z", "two");
    for each in [&new, &old, &other] {
        logbook.keep_certificate(each).unwrap();
    }
    assert_eq!(logbook.certificate("one", "").unwrap(), Some(new.clone()));
    assert_eq!(logbook.certificate("two", "").unwrap(), Some(other.clone()));
    assert_eq!(logbook.certificate("three", "").unwrap(), None);
    assert_eq!(logbook.certificate("one", "another CPU").unwrap(), None);
    assert!(logbook.check().unwrap().is_whole());
    // A merge copies them to another logbook.
    let mut into = Logbook::open(directory.path().join("other.db")).unwrap();
    into.merge(&logbook).unwrap();
    into.merge(&logbook).unwrap();
    assert_eq!(into.certificate("two", "").unwrap(), Some(other));
    drop(logbook);
    for (forged, record) in [
        (
            "UPDATE certificate SET document = replace(document, '0.2.0', '0.3.0') WHERE id = 'b'",
            "b",
        ),
        ("UPDATE certificate SET host = 'one' WHERE id = 'c'", "c"),
    ] {
        let connection = rusqlite::Connection::open(&file).unwrap();
        assert_eq!(connection.execute(forged, []).unwrap(), 1);
        drop(connection);
        let logbook = Logbook::open_read_only(&file).unwrap();
        assert_eq!(logbook.certificate("one", "").unwrap(), Some(old.clone()));
        let damaged = logbook.check().unwrap().damaged;
        let named = format!("certificate {record}");
        assert!(damaged.iter().any(|damage| damage.record.to_string() == named), "{damaged:?}");
    }
}
