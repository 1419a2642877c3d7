CREATE TABLE run (
    sequence            INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    started_at          TEXT NOT NULL,
    ended_at            TEXT,
    state               TEXT NOT NULL CHECK (state IN ('running', 'sealed', 'interrupted', 'failed')),
    qdepth_version      TEXT NOT NULL,
    measurement_version INTEGER NOT NULL,
    plan_name           TEXT NOT NULL,
    plan_hash           TEXT NOT NULL,
    plan_text           TEXT NOT NULL,
    seed                TEXT NOT NULL,
    emulated            INTEGER NOT NULL CHECK (emulated IN (0, 1)),
    points_planned      INTEGER NOT NULL
) STRICT;

CREATE TABLE target (
    run        INTEGER NOT NULL REFERENCES run (sequence),
    place      INTEGER NOT NULL,
    spelling   TEXT NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('directory', 'file', 'block-device', 'emulated')),
    area_bytes INTEGER NOT NULL,
    engine     TEXT NOT NULL,
    PRIMARY KEY (run, place)
) STRICT;

CREATE TABLE ceiling (
    run         INTEGER NOT NULL,
    target      INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    outstanding INTEGER NOT NULL,
    io_per_s    REAL,
    PRIMARY KEY (run, target, place),
    FOREIGN KEY (run, target) REFERENCES target (run, place)
) STRICT;

CREATE TABLE observation (
    id              INTEGER PRIMARY KEY,
    run             INTEGER NOT NULL REFERENCES run (sequence),
    target          INTEGER,
    subject         TEXT NOT NULL,
    key             TEXT NOT NULL,
    value           TEXT,
    unknown_because TEXT,
    source          TEXT NOT NULL,
    FOREIGN KEY (run, target) REFERENCES target (run, place),
    CHECK ((value IS NULL) <> (unknown_because IS NULL))
) STRICT;
CREATE INDEX observation_by_run ON observation (run, target);

CREATE TABLE point (
    id                      INTEGER PRIMARY KEY,
    run                     INTEGER NOT NULL REFERENCES run (sequence),
    place                   INTEGER NOT NULL,
    attempt                 INTEGER NOT NULL,
    target                  INTEGER NOT NULL,
    profile                 TEXT NOT NULL,
    profile_title           TEXT NOT NULL,
    random_share            REAL,
    read_share              REAL,
    request_size            TEXT NOT NULL,
    request_size_mean_bytes REAL,
    reported_as_throughput  INTEGER NOT NULL CHECK (reported_as_throughput IN (0, 1)),
    arrivals                TEXT NOT NULL,
    outstanding             INTEGER NOT NULL,
    streams                 INTEGER NOT NULL,
    direct                  INTEGER NOT NULL CHECK (direct IN (0, 1)),
    started_at              TEXT NOT NULL,
    warm_up_ns              INTEGER NOT NULL,
    duration_ns             INTEGER NOT NULL,
    issued                  INTEGER NOT NULL,
    completed_outside       INTEGER NOT NULL,
    failed_outside          INTEGER NOT NULL,
    abandoned               INTEGER NOT NULL,
    in_flight_integral_ns   REAL,
    latency_in_window_ns    REAL,
    longest_gap_ns          INTEGER NOT NULL,
    gaps_100ms              INTEGER NOT NULL,
    gaps_1s                 INTEGER NOT NULL,
    gaps_10s                INTEGER NOT NULL,
    backlog_max             INTEGER NOT NULL,
    cpu_user_ns             INTEGER NOT NULL,
    cpu_system_ns           INTEGER NOT NULL,
    kernel_reads            INTEGER,
    kernel_read_bytes       INTEGER,
    kernel_writes           INTEGER,
    kernel_written_bytes    INTEGER,
    UNIQUE (run, place, attempt),
    FOREIGN KEY (run, target) REFERENCES target (run, place)
) STRICT;

CREATE TABLE direction (
    point         INTEGER NOT NULL REFERENCES point (id),
    direction     TEXT NOT NULL CHECK (direction IN ('read', 'write', 'sync')),
    completed     INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    short         INTEGER NOT NULL,
    service_time  BLOB NOT NULL,
    response_time BLOB,
    PRIMARY KEY (point, direction)
) STRICT;

CREATE TABLE io_error (
    point     INTEGER NOT NULL,
    direction TEXT NOT NULL,
    place     INTEGER NOT NULL,
    errno     INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (point, direction, place),
    FOREIGN KEY (point, direction) REFERENCES direction (point, direction)
) STRICT;

CREATE TABLE interval (
    point              INTEGER NOT NULL REFERENCES point (id),
    place              INTEGER NOT NULL,
    start_ns           INTEGER NOT NULL,
    length_ns          INTEGER NOT NULL,
    reads              INTEGER NOT NULL,
    writes             INTEGER NOT NULL,
    read_bytes         INTEGER NOT NULL,
    written_bytes      INTEGER NOT NULL,
    read_service_time  BLOB NOT NULL,
    write_service_time BLOB NOT NULL,
    PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE finding (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (sequence),
    point    INTEGER REFERENCES point (id),
    code     TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('remark', 'invalid')),
    figures  TEXT NOT NULL,
    labels   TEXT NOT NULL
) STRICT;
CREATE INDEX finding_by_run ON finding (run, point);
CREATE INDEX finding_by_point ON finding (point);

-- What was seen stays as it was seen, whoever opens the file with whatever tool.
CREATE TRIGGER run_is_sealed BEFORE UPDATE ON run WHEN old.state = 'sealed'
BEGIN SELECT RAISE(ABORT, 'a sealed run is never changed'); END;
CREATE TRIGGER point_is_final BEFORE UPDATE ON point
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER direction_is_final BEFORE UPDATE ON direction
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER io_error_is_final BEFORE UPDATE ON io_error
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER interval_is_final BEFORE UPDATE ON interval
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER finding_is_final BEFORE UPDATE ON finding
BEGIN SELECT RAISE(ABORT, 'a finding is never changed'); END;
