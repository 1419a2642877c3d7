-- The line of each run in the list of runs, as a JSON object, with the SHA-256 of it: of a list of
-- years is chosen without reading every run whole. No line where the run's own record was damaged.
CREATE TABLE headline (
    run    INTEGER NOT NULL PRIMARY KEY REFERENCES run (sequence),
    line   TEXT NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;
