-- What points discarded: their share of all requests, their books as those of reads and writes in
-- `direction`, and what of it fell into each slice of the series. NULL, and no row, where nothing
-- was to be discarded.
ALTER TABLE point ADD COLUMN trim_share REAL;
ALTER TABLE interval ADD COLUMN trims INTEGER;
ALTER TABLE interval ADD COLUMN trimmed_bytes INTEGER;
ALTER TABLE interval ADD COLUMN trim_service_time BLOB;
CREATE TABLE trim (
    point         INTEGER NOT NULL PRIMARY KEY REFERENCES point (id),
    completed     INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    short         INTEGER NOT NULL,
    service_time  BLOB NOT NULL,
    response_time BLOB,
    stated        TEXT
) STRICT;
CREATE TABLE trim_error (
    point INTEGER NOT NULL REFERENCES trim (point),
    place INTEGER NOT NULL,
    errno INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER trim_is_final BEFORE UPDATE ON trim
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER trim_error_is_final BEFORE UPDATE ON trim_error
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
