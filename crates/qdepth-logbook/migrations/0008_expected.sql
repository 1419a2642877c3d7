-- What an emulated medium of a target's kind does at a point of the plan. EMULATED: nothing here
-- was measured on storage.
CREATE TABLE expected (
    run INTEGER NOT NULL REFERENCES run (sequence),
    place INTEGER NOT NULL,
    medium TEXT NOT NULL,
    io_per_s REAL NOT NULL,
    bytes_per_s REAL NOT NULL,
    mean_ns REAL NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER expected_is_final BEFORE UPDATE ON expected
BEGIN SELECT RAISE(ABORT, 'what was expected is never changed'); END;
