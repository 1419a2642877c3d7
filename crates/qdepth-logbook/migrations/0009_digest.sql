-- SHA-256 of each part of a run (point 0) and of its points, over every column of the rows that it
-- is read from. Of rows that were there before, they are made as the rows are found.
CREATE TABLE digest (
    run    INTEGER NOT NULL,
    point  INTEGER NOT NULL,
    part   TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (run, point, part)
) STRICT, WITHOUT ROWID;
