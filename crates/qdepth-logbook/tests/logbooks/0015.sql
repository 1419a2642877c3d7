PRAGMA application_id = 1902404976;
PRAGMA user_version = 15;
BEGIN TRANSACTION;
CREATE TABLE ceiling (
    run         INTEGER NOT NULL,
    target      INTEGER NOT NULL,
    place       INTEGER NOT NULL,
    outstanding INTEGER NOT NULL,
    io_per_s    REAL,
    PRIMARY KEY (run, target, place),
    FOREIGN KEY (run, target) REFERENCES target (run, place)
) STRICT;
CREATE TABLE certificate (
    id       TEXT NOT NULL PRIMARY KEY,
    at       TEXT NOT NULL,
    host     TEXT NOT NULL,
    document TEXT NOT NULL,
    sha256   BLOB NOT NULL
) STRICT;
INSERT INTO "certificate" VALUES('019aa5ca-cb1b-7000-8000-000000000011','2026-11-23T00:00:00Z','fixture','{
  "schema": {
    "name": "qdepth-certificate",
    "version": 1
  },
  "id": "019aa5ca-cb1b-7000-8000-000000000011",
  "at": "2026-11-23T00:00:00Z",
  "version": "0.2.0",
  "host": "fixture",
  "kernel": "6.18.5",
  "cpu": "",
  "outcome": "not-tried",
  "proofs": [
    {
      "code": "clock",
      "subject": "",
      "outcome": "passed",
      "values": {
        "bar": 0.0005,
        "seconds": 60.0,
        "share": 1.25e-05
      },
      "why": null
    },
    {
      "code": "intervals",
      "subject": "",
      "outcome": "not-tried",
      "values": {
        "bar": 0.8
      },
      "why": "40 samples are too few: give a longer --duration"
    }
  ]
}
',X'41F3D8EFFB1124EDECE9A6E13774E3202010BBCE107C07B3AAA634E8A265CD52');
CREATE TABLE digest (
    run    INTEGER NOT NULL,
    point  INTEGER NOT NULL,
    part   TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    PRIMARY KEY (run, point, part)
) STRICT, WITHOUT ROWID;
INSERT INTO "digest" VALUES(0,0,'runs',X'5C573D35C18A1068DE2AC8678BA8E8F1EB0034DAD01AE436CC811925C42FBAB4');
INSERT INTO "digest" VALUES(1,0,'environment',X'8A53C5A5733F5FE0FF91C234ACD79A4A9955221A5349A992764314458BA264FF');
INSERT INTO "digest" VALUES(1,0,'expected',X'DABDB3AB8F5B6D9101A1FE0059F5F3D5E3738B7E202D6CCC905FD4C6000008AD');
INSERT INTO "digest" VALUES(1,0,'findings',X'AC0E6292C52A9F4FE698D23B66B5B38683D488D033802BFB529F3EB06BF206C9');
INSERT INTO "digest" VALUES(1,0,'points',X'93DFD788ED1FF0CF144044F4EDE5522D4CFB03EB6F9FCC91CC9BF684AEDD34E9');
INSERT INTO "digest" VALUES(1,0,'run',X'8CA380D73640E74C572E845A34AFD583FE5ABBC8E80C0396E7722C24A9F4019F');
INSERT INTO "digest" VALUES(1,0,'targets',X'02C23309840587E52515F648023F2EBD7B2E5345D10040819B4397BAA33A968E');
INSERT INTO "digest" VALUES(1,1,'findings',X'2245E84B1B90B78583CC001C2819999BACCD62343151924A7B9F379DE316AF6D');
INSERT INTO "digest" VALUES(1,1,'monitors',X'A6878668AB89F909CDAE6B0A2758280436531F53B63B380D51F5CA6D17BCB661');
INSERT INTO "digest" VALUES(1,1,'point',X'4B1D7407433666EA88CFBD673BFF07A83D19BBB532419114363A2830E4A7D864');
INSERT INTO "digest" VALUES(1,1,'reads',X'3AF050348C93E15429212BA97413E2C240542643E83E52462FFE3CA685C9B90C');
INSERT INTO "digest" VALUES(1,1,'series',X'3753676E7616083621863D300C89427F85183441A726A347AE1C5178387163AC');
INSERT INTO "digest" VALUES(1,1,'syncs',X'0C3263FD475806D46E476A52A4F6362C9D4068EDDABEDB73A8EF00B98B97D5D9');
INSERT INTO "digest" VALUES(1,1,'writes',X'94BCC9F9E05A179FFD73868E61FD7FB22ED0A83F0B023C5DF1CB0C1704DFBA6B');
INSERT INTO "digest" VALUES(1,2,'findings',X'FC0FB352194D5979B971E27A5488F4DA10A53F0F74AEF171C87E037087730AEC');
INSERT INTO "digest" VALUES(1,2,'monitors',X'4AAE5F70F11413A3D90D8BE372DD265DD6F0ECE52615281A4B371B9AB3735DBB');
INSERT INTO "digest" VALUES(1,2,'point',X'1C90A2DA11B85E43C25D930AFA845A3D0BDFF6D234FD36DF64A6BEE0354D6C36');
INSERT INTO "digest" VALUES(1,2,'reads',X'1B902F1FD2B202EF69612248F4B2C7003CCEE56FB0ACCF3460031E1BFD4B6A22');
INSERT INTO "digest" VALUES(1,2,'series',X'B841FFD7F2C7B599A541A434A0AC78D846768E8827019B3BEBA4269FFF503641');
INSERT INTO "digest" VALUES(1,2,'syncs',X'9B251BC8AAF5C2283E0F23056DE736A4C18C0D85E54B16E44683280281C72646');
INSERT INTO "digest" VALUES(1,2,'writes',X'70047BE4AFBF14D51665A1FBD8232DD869D7DC97FEDEB47A572CA69475E83761');
INSERT INTO "digest" VALUES(2,0,'environment',X'CA3206B80DE408D0A602CA4370D9CA70312E5D73A2CF620F1A2F9D7163868D97');
INSERT INTO "digest" VALUES(2,0,'expected',X'D086B3ACBA801473BCAD8D741B86E903B1A0B7D8C07EBD3F357B2F93AAAC7F62');
INSERT INTO "digest" VALUES(2,0,'findings',X'1DED9BA51F93861DEDC4BD360CEC3E405EEA383932F1A6B0F947BDF23D9FFA31');
INSERT INTO "digest" VALUES(2,0,'points',X'B875B81886C4D1905062A0A9AA3B66F9E55A2A6F9D99CED105BF7C48800EC47C');
INSERT INTO "digest" VALUES(2,0,'run',X'0B8E55BF621C8DF87C24249380245C8D252A6B7CF39D94E99382B335253EA10B');
INSERT INTO "digest" VALUES(2,0,'targets',X'FF5E00C75864DE6F3132D75A27A60CBA8982C11FD5668426EA646DACC301775A');
INSERT INTO "digest" VALUES(2,3,'findings',X'5CD2A9E5F48CDFD91157F39A81BFDCBF4FCCAC45943E97F5D30C645FF41614A9');
INSERT INTO "digest" VALUES(2,3,'monitors',X'B37E3D7B9C5235663C02B060189B8918D5A4E0D463B6915FB8409FBA051B1DD0');
INSERT INTO "digest" VALUES(2,3,'point',X'578D174ED4A5751D306E4702FEA61556B5ADBE9ECD96E32128FAC1FAECF30F08');
INSERT INTO "digest" VALUES(2,3,'reads',X'5432659A8D492CA93A062AF7EAC38BD322C9E4A23B47B6B2704F091D353956A4');
INSERT INTO "digest" VALUES(2,3,'series',X'7FF9BDF36BBA4DC36752419FE26C64720147FF464139706F0313C2FC6CEBC867');
INSERT INTO "digest" VALUES(2,3,'syncs',X'C6082EF41A9E6F173AE4FB76DE667690BE89F88FCC42403499C8AB5E71E2E1BA');
INSERT INTO "digest" VALUES(2,3,'writes',X'9CC7E30FE3DE920FC965254A5D62D1CDBFF2C7D25A7959CACEB4ACF061D099C4');
CREATE TABLE direction (
    point         INTEGER NOT NULL REFERENCES point (id),
    direction     TEXT NOT NULL CHECK (direction IN ('read', 'write', 'sync')),
    completed     INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    short         INTEGER NOT NULL,
    service_time  BLOB NOT NULL,
    response_time BLOB, stated TEXT,
    PRIMARY KEY (point, direction)
) STRICT;
INSERT INTO "direction" VALUES(1,'read',1358,11124736,0,X'01CE0AA2F7A15900DF8B06B7D98D01008513C6015BF108290111017901930101290164016E010E0164014E01110125014E011B0106011C01180105013B031E010301',NULL,NULL);
INSERT INTO "direction" VALUES(1,'write',677,5545984,0,X'01A505C4A48E0600F49301F4930100A70EA505',NULL,NULL);
INSERT INTO "direction" VALUES(1,'sync',0,0,0,X'01000000FFFFFFFFFFFFFFFFFF010000',NULL,NULL);
INSERT INTO "direction" VALUES(2,'read',4307,35282944,0,X'01D3219C83C1E90200DF8B0689D98D01008513A903030301030103010301040102020601010103030101020102010101020201020102020102010101013FB019010A011601080110010A0111011C0105010D01390106010A01090108010A011A010B0102020301040104010301080107010C0103030101010103010102010101020103010201010103010801060102010501020106010201040102010A010F01040101010201020101020601010103010301030103010601020102010501010101010101020101030402030101010B01030102010701010106020401020104010601030229010501060110010301050105010501050101011B011D010102040101011B01060203010701010103010A0204010D01060101010F010C01030134010501100103010101020102010201030103010A010B01010101010201050102020A0101010101010106010601020106010301050101010802040210010301030101010201020101010301010102011101010101010401020101010301050106010E0206010401050101010902050103010301040105010501040101010101070102010401030105010202030105010502040102010201010104010102010106010C0106010401030105010502020102010303030105010401010104010801060103010701010107010201070102020102020101010102010102010101010101010101010101020101020203010C0103010101030203010501080201010702020203020601070102030901050202010302010203020102010102010401020101050202010102010201',NULL,NULL);
INSERT INTO "direction" VALUES(2,'write',2199,18014208,0,X'01971180D9871400F4930188DD0100A70EF10F02010102010201040101020802020101010102020102020302050301010101030103010101050104010501080103010201030202051A02020104020303050101010101010201010301010103010301010102020101020202010101010107020406020401080103010201030204010101040102010101010101012601',NULL,NULL);
INSERT INTO "direction" VALUES(2,'sync',0,0,0,X'01000000FFFFFFFFFFFFFFFFFF010000',NULL,NULL);
INSERT INTO "direction" VALUES(3,'read',1358,11124736,0,X'01CE0AA2F7A15900DF8B06B7D98D01008513C6015BF108290111017901930101290164016E010E0164014E01110125014E011B0106011C01180105013B031E010301',NULL,NULL);
INSERT INTO "direction" VALUES(3,'write',677,5545984,0,X'01A505C4A48E0600F49301F4930100A70EA505',NULL,NULL);
INSERT INTO "direction" VALUES(3,'sync',0,0,0,X'01000000FFFFFFFFFFFFFFFFFF010000',NULL,NULL);
CREATE TABLE expected (
    run INTEGER NOT NULL REFERENCES run (sequence),
    place INTEGER NOT NULL,
    medium TEXT NOT NULL,
    io_per_s REAL NOT NULL,
    bytes_per_s REAL NOT NULL,
    mean_ns REAL NOT NULL, below_io_per_s REAL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
INSERT INTO "expected" VALUES(1,0,'media:p3700-1600gb',11135.0,91217920.0,89847.1180960934,NULL);
INSERT INTO "expected" VALUES(1,1,'media:p3700-1600gb',37420.0,306544640.0,1.06954822822020316377e+05,NULL);
CREATE TABLE finding (
    id       INTEGER PRIMARY KEY,
    run      INTEGER NOT NULL REFERENCES run (sequence),
    point    INTEGER REFERENCES point (id),
    code     TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('remark', 'invalid')),
    figures  TEXT NOT NULL,
    labels   TEXT NOT NULL
) STRICT;
INSERT INTO "finding" VALUES(1,1,1,'interval-not-available','remark','{"autocorrelation":-0.5,"samples":2.0}','{}');
INSERT INTO "finding" VALUES(2,1,2,'interval-not-available','remark','{"autocorrelation":-0.5,"samples":2.0}','{}');
CREATE TABLE headline (
    run    INTEGER NOT NULL PRIMARY KEY REFERENCES run (sequence),
    line   TEXT NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;
INSERT INTO "headline" VALUES(1,'{"id":"019aa5ca-cb1b-7000-8000-000000000001","started_at":"2026-11-21T09:00:00Z","ended_at":"2026-11-21T09:00:01Z","state":"sealed","plan":"fixture","host":"","targets":["media:p3700-800gb (EMULATED)"],"points_done":2,"points_planned":2,"emulated":true,"notes":[],"retracted":null}',X'81B472366290ACAD53A2C3BE41F34932978ACC3E423DD0C42B8D5880B352E6E3');
INSERT INTO "headline" VALUES(2,'{"id":"019aa5ca-cb1b-7000-8000-000000000002","started_at":"2026-11-21T10:00:00Z","ended_at":"2026-11-21T10:00:01Z","state":"interrupted","plan":"fixture","host":"","targets":["media:p3700-800gb (EMULATED)"],"points_done":1,"points_planned":2,"emulated":true,"notes":[],"retracted":null}',X'CEEB7718F377ED6489D1A6B5DCEC72DA126F21EB1A62A55E5C3A67896B68E22C');
CREATE TABLE "interval" (
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
    trims              INTEGER,
    trimmed_bytes      INTEGER,
    trim_service_time  BLOB,
    PRIMARY KEY (point, place)
) STRICT;
INSERT INTO "interval" VALUES(1,0,0,100000000,676,342,5537792,2801664,X'01A4059CFFD32C00DF8B06B7D98D010085135F5BBB04C60201FB01010E01B201018401013D011801050159010301',X'01D602F8978B0300F49301F4930100A70ED602',NULL,NULL,NULL);
INSERT INTO "interval" VALUES(1,1,100000000,100000000,682,335,5586944,2744320,X'01AA0586F8CD2C00DF8B06E7D77E008513675BB604290111017901BC01016401E001015F012501690106017403',X'01CF02CC8C830300F49301F4930100A70ECF02',NULL,NULL,NULL);
INSERT INTO "interval" VALUES(2,0,0,100000000,2204,1032,18055168,8454144,X'019C11AEF89EB50100DF8B0689D98D01008513D601030102010102010103020101010305020202060201010101409A0D0105010D010301090105010601110102010301160104010401070103010501080104010202010101010301010103010201050102030101010102030103010501010103010E010201050108010201040102010A010F010401030103010701030103010C0102010201060101010301010108010B01030102010801060106010A01030129010B0113010A010B011B013E0106010A01010103010A010401130101011B014C010A010301030116011401010101010101060106010201090105010101080104011601010104010101040114010801030119010F010A010B01120101010A0104010301070111010A0107010C0106010401110103030301050104010D01110107010B010101020102010101030102010101020212010401030103010D010101090109010701020109010501050201020301010101010801010203010401',X'018808838CB50900F4930196CA0100A70EB907020102020101010102050201010103010302020305020101010101040102010301050102020202010508030102020302020101010302020102010101020103010304020306010C010301050105010401020101010201',NULL,NULL,NULL);
INSERT INTO "interval" VALUES(2,1,100000000,100000000,2103,1167,17227776,9560064,X'01B710EE8AA2B40100DF8B06F0C48C01008513D301030201030102010101030102020405010102020103010201030102013F960C01050109010501070105010B010B0103010A012301020106010201050105011201070302010301010102010501050107010105010101030105010E010F012C010401010106010A0103010F010301030204020301180107010401060109012E01160108010A0105013901010204010101210103011501110116010F0134010501130101010201020112010B010201020105010202210111010401100103010601060103011101020104010201090106010E01060104010601090105010301070105010501060107010E0102010301050105020601020101010401010101011F01050105020201120104010E01030107010A01070102010101030101010301020103010201020203010F010401080108010802020103020F020E0102010701010103010401030302020301',X'018F09FDCCD20A00F4930188DD0100A70EB808030202030303020102010201010202010202030101010101010202010102010201030101010201010201051202020103020103030101040101010101010201030201030202010101010101030201060104010D010301040109012701',NULL,NULL,NULL);
CREATE TABLE io_error (
    point     INTEGER NOT NULL,
    direction TEXT NOT NULL,
    place     INTEGER NOT NULL,
    errno     INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    PRIMARY KEY (point, direction, place),
    FOREIGN KEY (point, direction) REFERENCES direction (point, direction)
) STRICT;
INSERT INTO "io_error" VALUES(3,'read',0,5,7);
CREATE TABLE "monitor" (
    point INTEGER NOT NULL REFERENCES point (id),
    place INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value REAL,
    PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;
INSERT INTO "monitor" VALUES(1,0,0,'cpu busy',0.25);
INSERT INTO "monitor" VALUES(1,1,100000000,'cpu busy',NULL);
INSERT INTO "monitor" VALUES(1,2,200000000,'cpu busy',0.5);
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
INSERT INTO "observation" VALUES(1,1,0,'p3700-800gb','capacity_gb','800 GB',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(2,1,0,'p3700-800gb','block_bytes','512 B',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(3,1,0,'p3700-800gb','command_us','2.174 µs',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(4,1,0,'p3700-800gb','read_fixed_us','8.932 µs',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(5,1,0,'p3700-800gb','write_fixed_us','7.326 µs',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(6,1,0,'p3700-800gb','write_accept_us_per_kib','0.3697 µs/KiB',NULL,'EMULATED: description file');
INSERT INTO "observation" VALUES(7,1,NULL,'kernel','clock_source','tsc',NULL,'/sys/devices/system/clocksource/clocksource0/current_clocksource');
INSERT INTO "observation" VALUES(8,1,NULL,'kernel','io_uring_disabled','0',NULL,'/proc/sys/kernel/io_uring_disabled');
INSERT INTO "observation" VALUES(9,1,NULL,'kernel','aio_max_requests','65536',NULL,'/proc/sys/fs/aio-max-nr');
INSERT INTO "observation" VALUES(10,1,NULL,'cpu','smt_active','0',NULL,'/sys/devices/system/cpu/smt/active');
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
    kernel_written_bytes    INTEGER, load_group INTEGER NOT NULL DEFAULT 0, step TEXT NOT NULL DEFAULT '', workers INTEGER NOT NULL DEFAULT 1, offered_io_per_s REAL, ended_by TEXT NOT NULL DEFAULT 'duration', tolerance REAL, interim_checks INTEGER NOT NULL DEFAULT 0, variant INTEGER, trim_share REAL, delay_ns INTEGER,
    UNIQUE (run, place, attempt),
    FOREIGN KEY (run, target) REFERENCES target (run, place)
) STRICT;
INSERT INTO "point" VALUES(1,1,0,1,0,'database','Database',1.0,0.67,'8KiB',8192.0,0,'closed',1,1,1,'2026-11-21T09:00:00Z',50000000,200000000,2490,455,0,0,200000000.0,200000000.0,2321591,0,0,0,0,0,0,NULL,NULL,NULL,NULL,0,'',1,NULL,'duration',NULL,0,NULL,NULL,NULL);
INSERT INTO "point" VALUES(2,1,1,1,0,'database','Database',1.0,0.67,'8KiB',8192.0,0,'closed',4,1,1,'2026-11-21T09:00:00Z',50000000,200000000,8078,1572,0,0,800000000.0,800000000.0,1319779,0,0,0,0,0,0,NULL,NULL,NULL,NULL,1,'',1,NULL,'duration',NULL,0,NULL,NULL,NULL);
INSERT INTO "point" VALUES(3,2,0,1,0,'database','Database',1.0,0.67,'8KiB',8192.0,0,'closed',1,1,1,'2026-11-21T09:00:00Z',50000000,200000000,2490,455,0,0,200000000.0,200000000.0,2321591,0,0,0,0,0,0,NULL,NULL,NULL,NULL,0,'',1,NULL,'duration',NULL,0,NULL,NULL,NULL);
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
, engine_choice TEXT NOT NULL DEFAULT 'auto', comparison TEXT) STRICT;
INSERT INTO "run" VALUES(1,'019aa5ca-cb1b-7000-8000-000000000001','2026-11-21T09:00:00Z','2026-11-21T09:00:01Z','sealed','0.1.0',1,'fixture','fde0ec756b8492714093971009cb3f07c435e16d87941164ae648b4b0c3fb0f9','{
  "version": 1,
  "name": "fixture",
  "seed": 1,
  "ends_when_not_followed": false,
  "points": [
    {
      "index": 0,
      "group": 0,
      "step": "",
      "target": 0,
      "profile": "database",
      "profile_title": "Database",
      "application": "Database (data transfer), mail server",
      "random_share": 1.0,
      "distribution": {
        "kind": "uniform"
      },
      "read_share": 0.67,
      "request_size": {
        "sizes": [
          [
            8192,
            1
          ]
        ]
      },
      "alignment_bytes": 4096,
      "area": {
        "offset_bytes": 0,
        "length_bytes": 34359738368
      },
      "streams": 1,
      "workers": 1,
      "outstanding": 1,
      "arrivals": {
        "kind": "closed"
      },
      "payload": {
        "compressible_share": 0.0
      },
      "direct": true,
      "fsync": {
        "every_writes": 0,
        "at_end": false
      },
      "reported_as_throughput": false,
      "warm_up_ns": 50000000,
      "stop": {
        "duration_ns": 200000000,
        "bytes": 0
      },
      "seed": 10195502052445977159
    },
    {
      "index": 1,
      "group": 1,
      "step": "",
      "target": 0,
      "profile": "database",
      "profile_title": "Database",
      "application": "Database (data transfer), mail server",
      "random_share": 1.0,
      "distribution": {
        "kind": "uniform"
      },
      "read_share": 0.67,
      "request_size": {
        "sizes": [
          [
            8192,
            1
          ]
        ]
      },
      "alignment_bytes": 4096,
      "area": {
        "offset_bytes": 0,
        "length_bytes": 34359738368
      },
      "streams": 1,
      "workers": 1,
      "outstanding": 4,
      "arrivals": {
        "kind": "closed"
      },
      "payload": {
        "compressible_share": 0.0
      },
      "direct": true,
      "fsync": {
        "every_writes": 0,
        "at_end": false
      },
      "reported_as_throughput": false,
      "warm_up_ns": 50000000,
      "stop": {
        "duration_ns": 200000000,
        "bytes": 0
      },
      "seed": 9391597147086502444
    }
  ]
}','1',1,2,'auto',NULL);
INSERT INTO "run" VALUES(2,'019aa5ca-cb1b-7000-8000-000000000002','2026-11-21T10:00:00Z','2026-11-21T10:00:01Z','interrupted','0.1.0',1,'fixture','fde0ec756b8492714093971009cb3f07c435e16d87941164ae648b4b0c3fb0f9','{
  "version": 1,
  "name": "fixture",
  "seed": 1,
  "ends_when_not_followed": false,
  "points": [
    {
      "index": 0,
      "group": 0,
      "step": "",
      "target": 0,
      "profile": "database",
      "profile_title": "Database",
      "application": "Database (data transfer), mail server",
      "random_share": 1.0,
      "distribution": {
        "kind": "uniform"
      },
      "read_share": 0.67,
      "request_size": {
        "sizes": [
          [
            8192,
            1
          ]
        ]
      },
      "alignment_bytes": 4096,
      "area": {
        "offset_bytes": 0,
        "length_bytes": 34359738368
      },
      "streams": 1,
      "workers": 1,
      "outstanding": 1,
      "arrivals": {
        "kind": "closed"
      },
      "payload": {
        "compressible_share": 0.0
      },
      "direct": true,
      "fsync": {
        "every_writes": 0,
        "at_end": false
      },
      "reported_as_throughput": false,
      "warm_up_ns": 50000000,
      "stop": {
        "duration_ns": 200000000,
        "bytes": 0
      },
      "seed": 10195502052445977159
    },
    {
      "index": 1,
      "group": 1,
      "step": "",
      "target": 0,
      "profile": "database",
      "profile_title": "Database",
      "application": "Database (data transfer), mail server",
      "random_share": 1.0,
      "distribution": {
        "kind": "uniform"
      },
      "read_share": 0.67,
      "request_size": {
        "sizes": [
          [
            8192,
            1
          ]
        ]
      },
      "alignment_bytes": 4096,
      "area": {
        "offset_bytes": 0,
        "length_bytes": 34359738368
      },
      "streams": 1,
      "workers": 1,
      "outstanding": 4,
      "arrivals": {
        "kind": "closed"
      },
      "payload": {
        "compressible_share": 0.0
      },
      "direct": true,
      "fsync": {
        "every_writes": 0,
        "at_end": false
      },
      "reported_as_throughput": false,
      "warm_up_ns": 50000000,
      "stop": {
        "duration_ns": 200000000,
        "bytes": 0
      },
      "seed": 9391597147086502444
    }
  ]
}','1',1,2,'auto',NULL);
CREATE TABLE target (
    run        INTEGER NOT NULL REFERENCES run (sequence),
    place      INTEGER NOT NULL,
    expression   TEXT NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('directory', 'file', 'block-device', 'emulated')),
    area_bytes INTEGER NOT NULL,
    engine     TEXT NOT NULL,
    PRIMARY KEY (run, place)
) STRICT;
INSERT INTO "target" VALUES(1,0,'media:p3700-800gb','media:p3700-800gb (EMULATED)','emulated',34359738368,'EMULATED');
INSERT INTO "target" VALUES(2,0,'media:p3700-800gb','media:p3700-800gb (EMULATED)','emulated',34359738368,'EMULATED');
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
CREATE INDEX observation_by_run ON observation (run, target);
CREATE INDEX finding_by_run ON finding (run, point);
CREATE INDEX finding_by_point ON finding (point);
CREATE TRIGGER run_is_sealed BEFORE UPDATE ON run WHEN old.state = 'sealed'
BEGIN SELECT RAISE(ABORT, 'a sealed run is never changed'); END;
CREATE TRIGGER point_is_final BEFORE UPDATE ON point
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER direction_is_final BEFORE UPDATE ON direction
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER io_error_is_final BEFORE UPDATE ON io_error
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER finding_is_final BEFORE UPDATE ON finding
BEGIN SELECT RAISE(ABORT, 'a finding is never changed'); END;
CREATE TRIGGER expected_is_final BEFORE UPDATE ON expected
BEGIN SELECT RAISE(ABORT, 'what was expected is never changed'); END;
CREATE TRIGGER trim_is_final BEFORE UPDATE ON trim
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER trim_error_is_final BEFORE UPDATE ON trim_error
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER interval_is_final BEFORE UPDATE ON interval
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
CREATE TRIGGER monitor_is_final BEFORE UPDATE ON monitor
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
COMMIT;
