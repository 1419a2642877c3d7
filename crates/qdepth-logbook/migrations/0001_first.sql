CREATE TABLE run (
    sequence            INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    started_at          TEXT NOT NULL,
    ended_at            TEXT,
    state               TEXT NOT NULL CHECK (state IN ('running', 'complete', 'interrupted', 'failed')),
    qdepth_version      TEXT NOT NULL,
    measurement_version INTEGER NOT NULL,
    plan_name           TEXT NOT NULL,
    plan_hash           TEXT NOT NULL,
    plan_text           TEXT NOT NULL,
    seed                TEXT NOT NULL,
    emulated            INTEGER NOT NULL CHECK (emulated IN (0, 1)),
    points_planned      INTEGER NOT NULL,
    engine_choice       TEXT NOT NULL,
    comparison          TEXT
) STRICT;

CREATE TABLE target (
    run        INTEGER NOT NULL REFERENCES run (sequence),
    place      INTEGER NOT NULL,
    expression TEXT NOT NULL,
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
    queue_depth INTEGER NOT NULL,
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
    block_size            TEXT NOT NULL,
    block_size_mean_bytes REAL,
    reported_as_throughput  INTEGER NOT NULL CHECK (reported_as_throughput IN (0, 1)),
    arrivals                TEXT NOT NULL,
    queue_depth             INTEGER NOT NULL,
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
    load_group              INTEGER NOT NULL,
    step                    TEXT NOT NULL,
    workers                 INTEGER NOT NULL,
    offered_io_per_s        REAL,
    ended_by                TEXT NOT NULL,
    tolerance               REAL,
    interim_checks          INTEGER NOT NULL,
    variant                 INTEGER,
    trim_share              REAL,
    delay_ns                INTEGER,
    UNIQUE (run, place, attempt),
    FOREIGN KEY (run, target) REFERENCES target (run, place)
) STRICT;

CREATE TABLE direction (
    point         INTEGER NOT NULL REFERENCES point (id),
    direction     TEXT NOT NULL CHECK (direction IN ('read', 'write', 'trim', 'sync')),
    completed     INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    short         INTEGER NOT NULL,
    latency  BLOB NOT NULL,
    response_time BLOB,
    stated        TEXT,
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
CREATE TRIGGER run_is_complete BEFORE UPDATE ON run WHEN old.state = 'complete'
BEGIN SELECT RAISE(ABORT, 'a complete run is never changed'); END;
CREATE TRIGGER point_is_final BEFORE UPDATE ON point
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER direction_is_final BEFORE UPDATE ON direction
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER io_error_is_final BEFORE UPDATE ON io_error
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER finding_is_final BEFORE UPDATE ON finding
BEGIN SELECT RAISE(ABORT, 'a finding is never changed'); END;

CREATE TABLE monitor (
    point INTEGER NOT NULL REFERENCES point (id),
    place INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;

-- What the model of an emulated medium does at each point, and, where its error is known, the rate
-- under which a measured one is below that.
CREATE TABLE expected (
    run            INTEGER NOT NULL REFERENCES run (sequence),
    place          INTEGER NOT NULL,
    medium         TEXT NOT NULL,
    io_per_s       REAL NOT NULL,
    bytes_per_s    REAL NOT NULL,
    mean_ns        REAL NOT NULL,
    below_io_per_s REAL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER expected_is_final BEFORE UPDATE ON expected
BEGIN SELECT RAISE(ABORT, 'what was expected is never changed'); END;

-- SHA-256 of each part of a record; point 0 is the run itself, run 0 the chain of all runs.
CREATE TABLE digest (
    run    INTEGER NOT NULL,
    point  INTEGER NOT NULL,
    part   TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (run, point, part)
) STRICT, WITHOUT ROWID;

-- What `qdepth certify` proved of the instrument on a machine: its document, as it was written.
CREATE TABLE certificate (
    id       TEXT NOT NULL PRIMARY KEY,
    at       TEXT NOT NULL,
    host     TEXT NOT NULL,
    document TEXT NOT NULL,
    sha256   BLOB NOT NULL
) STRICT;

-- The line of each run in the list of runs, as a JSON object, with the SHA-256 of it: of a list of
-- years is chosen without reading every run whole. No line where the run's own record was damaged.
CREATE TABLE headline (
    run    INTEGER NOT NULL PRIMARY KEY REFERENCES run (sequence),
    line   TEXT NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;

-- Rows of a kilobyte and more, with histograms. Without a rowid they would lie in the tree of the
-- key, where a row of over a quarter of a page goes on in a page of its own (16.2 MB for 7.5 MB of
-- histograms; 9.8 MB so).
CREATE TABLE sample (
    point              INTEGER NOT NULL REFERENCES point (id),
    place              INTEGER NOT NULL,
    start_ns           INTEGER NOT NULL,
    length_ns          INTEGER NOT NULL,
    reads              INTEGER NOT NULL,
    writes             INTEGER NOT NULL,
    read_bytes         INTEGER NOT NULL,
    written_bytes      INTEGER NOT NULL,
    read_latency  BLOB NOT NULL,
    write_latency BLOB NOT NULL,
    trims              INTEGER NOT NULL,
    trimmed_bytes      INTEGER NOT NULL,
    trim_latency  BLOB NOT NULL,
    PRIMARY KEY (point, place)
) STRICT;

CREATE TRIGGER sample_is_final BEFORE UPDATE ON sample
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER monitor_is_final BEFORE UPDATE ON monitor
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;

-- What other programs ask, with the names of JSON and CSV. Latencies are histograms, which SQL
-- cannot read: `qdepth export --all --csv` has their percentiles. DuckDB reads the text of a view
-- in its own dialect: what it does not know makes every column a text, and a cast has 32 bits.
CREATE VIEW runs AS
SELECT r.id AS run, r.started_at, r.ended_at, r.state, r.plan_name AS plan, r.plan_hash, r.seed,
    (SELECT o.value FROM observation AS o
     WHERE o.run = r.sequence AND o.target IS NULL AND o.subject = 'host' AND o.key = 'name'
     ORDER BY o.id LIMIT 1) AS host,
    (SELECT o.value FROM observation AS o
     WHERE o.run = r.sequence AND o.target IS NULL AND o.subject = 'run' AND o.key = 'retracted'
     ORDER BY o.id DESC LIMIT 1) AS retracted,
    r.emulated, r.points_planned, r.engine_choice, r.qdepth_version AS version,
    r.measurement_version
FROM run AS r;

CREATE VIEW points AS
WITH counts AS (
    SELECT d.point,
        coalesce(max(d.completed) FILTER (WHERE d.direction = 'read'), 0) AS reads,
        coalesce(max(d.completed) FILTER (WHERE d.direction = 'write'), 0) AS writes,
        coalesce(max(d.completed) FILTER (WHERE d.direction = 'trim'), 0) AS trims,
        coalesce(max(d.completed) FILTER (WHERE d.direction = 'sync'), 0) AS syncs,
        coalesce(max(d.bytes) FILTER (WHERE d.direction = 'read'), 0) AS read_bytes,
        coalesce(max(d.bytes) FILTER (WHERE d.direction = 'write'), 0) AS written_bytes,
        coalesce(max(d.bytes) FILTER (WHERE d.direction = 'trim'), 0) AS trimmed_bytes
    FROM direction AS d GROUP BY d.point)
SELECT r.id AS run, r.emulated, p.place AS "index", t.name AS target, t.kind AS target_kind,
    t.area_bytes, t.engine, p.profile, p.random_share, p.read_share,
    coalesce(p.trim_share, 0e0) AS trim_share, p.block_size,
    p.block_size_mean_bytes AS block_size_bytes, p.arrivals, p.queue_depth,
    p.offered_io_per_s, p.streams, p.workers, p.load_group AS "group", p.variant,
    CASE WHEN substr(p.step, -5) = ' MB/s' THEN replace(p.step, ' MB/s', ' MiB/s') ELSE p.step END
        AS step,
    p.direct, p.started_at, p.warm_up_ns, p.duration_ns, p.ended_by,
    coalesce((c.reads + c.writes + c.trims) / (nullif(p.duration_ns, 0) / 1e9), 0e0) AS io_per_s,
    coalesce((c.read_bytes + c.written_bytes + c.trimmed_bytes) / 1048576e0
        / (nullif(p.duration_ns, 0) / 1e9), 0e0) AS mib_per_s,
    c.reads, c.writes, c.trims, c.syncs, c.read_bytes, c.written_bytes, c.trimmed_bytes,
    coalesce((SELECT sum(e.count) FROM io_error AS e WHERE e.point = p.id), 0) AS failed,
    p.abandoned, p.in_flight_integral_ns / nullif(p.duration_ns, 0) AS mean_in_flight,
    p.longest_gap_ns,
    CASE (SELECT min(f.severity) FROM finding AS f WHERE f.point = p.id)
        WHEN 'invalid' THEN 'C' WHEN 'remark' THEN 'B' ELSE 'A' END AS grade,
    coalesce((SELECT group_concat(f.code, ' ') FROM finding AS f WHERE f.point = p.id), '')
        AS findings
FROM point AS p
JOIN run AS r ON r.sequence = p.run
JOIN target AS t ON t.run = p.run AND t.place = p.target
JOIN counts AS c ON c.point = p.id
WHERE p.attempt = (SELECT max(q.attempt) FROM point AS q WHERE q.run = p.run AND q.place = p.place);

CREATE VIEW samples AS
SELECT r.id AS run, p.place AS "index", i.place AS sample, i.start_ns, i.length_ns, i.reads,
    i.writes, i.trims, i.read_bytes, i.written_bytes, i.trimmed_bytes
FROM sample AS i
JOIN point AS p ON p.id = i.point
JOIN run AS r ON r.sequence = p.run
WHERE p.attempt = (SELECT max(q.attempt) FROM point AS q WHERE q.run = p.run AND q.place = p.place);
