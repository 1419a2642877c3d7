-- What `qdepth certify` proved of the instrument on a machine: its document, as it was written.
CREATE TABLE certificate (
    id       TEXT NOT NULL PRIMARY KEY,
    at       TEXT NOT NULL,
    host     TEXT NOT NULL,
    document TEXT NOT NULL,
    sha256   BLOB NOT NULL
) STRICT;
