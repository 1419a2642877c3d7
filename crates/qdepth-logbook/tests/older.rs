//! Logbooks of other schemas.

use std::fs;

use qdepth_logbook::{Logbook, SCHEMA_VERSION};

#[test]
fn a_logbook_of_a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("qdepth.db");
    drop(Logbook::open(&path).unwrap());
    let raise = format!("PRAGMA user_version = {}", SCHEMA_VERSION + 1);
    rusqlite::Connection::open(&path).unwrap().execute_batch(&raise).unwrap();
    let before = fs::read(&path).unwrap();
    let told = Logbook::open(&path).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("newer"), "{told}");
    Logbook::open_read_only(&path).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), before);
}
