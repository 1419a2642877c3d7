-- What the witnesses said of the machine while a point ran, by the second.
CREATE TABLE witness (
    point INTEGER NOT NULL REFERENCES point (id),
    place INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER witness_is_final BEFORE UPDATE ON witness
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
