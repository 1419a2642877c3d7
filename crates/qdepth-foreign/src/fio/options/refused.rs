//! Options that nothing here stands for, and what comes near.

pub(super) const ZONES: &str = "write pointers of zones are not followed; zonemode=strided reads \
                                and writes parts of a device in their order, and fio itself writes \
                                to zoned devices";
const PROGRAM: &str = "`exec` is not a storage engine; run the program separately";
const SG: &str = "an option of the engine sg; libaio on the device is near";
const GROUP: &str = "no control group is made: systemd-run --scope -p IOWeight=… qdepth fio …";
pub(super) const DATA_PLACEMENT: &str = "data placement is not asked of the device";
const GPU: &str = "buffers are in main memory";
const CPU_LOAD: &str = "`cpuio` is not a storage engine; run the CPU load separately";
const NETWORK: &str = "an engine of a network, which qdepth has not; mount it, and name a file";
const USER: &str = "qdepth does not change its user: sudo -u USER qdepth fio …";
pub(super) const TRIM: &str =
    "blocks that are verified are not trimmed; rw=trimwrite trims what it writes";

/// Each with why, and the nearest way.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("verify_policy", "blocks are checked when all are written"),
    ("sync_file_range", "fsync=N or fdatasync=N forces data out"),
    ("exec_prerun", "no command of a job file is run; run it before"),
    ("exec_postrun", "no command of a job file is run; run it afterwards"),
    ("ioscheduler", "set it before: echo NAME > /sys/block/DEVICE/queue/scheduler"),
    ("zonecapacity", ZONES),
    ("read_beyond_wp", ZONES),
    ("max_open_zones", ZONES),
    ("job_max_open_zones", ZONES),
    ("ignore_zone_limits", ZONES),
    ("zone_reset_threshold", ZONES),
    ("zone_reset_frequency", ZONES),
    ("write_zone_remainder", ZONES),
    ("recover_zbd_write_error", ZONES),
    ("profile", "`qdepth plan` lists the plans that there are"),
    ("cgroup", GROUP),
    ("cgroup_nodelete", GROUP),
    ("cgroup_weight", GROUP),
    ("flow_watermark", "fio itself has it no more; leave it out"),
    ("percentage_sequential", "fio itself has it no more; percentage_random= is"),
    ("rwmixcycle", "fio itself has it no more; leave it out"),
    ("random_sequence_stride", "places are drawn independently; leave it out"),
    ("spr_num_regions", "it belongs to sprandom"),
    ("spr_op", "it belongs to sprandom"),
    ("spr_cs", "it belongs to sprandom"),
    ("thinkcycles", "a pause is a time: thinktime="),
    ("comm", "processes keep their name; leave it out"),
    ("uid", USER),
    ("gid", USER),
    ("plid_select", DATA_PLACEMENT),
    ("plids", DATA_PLACEMENT),
    ("dp_scheme", DATA_PLACEMENT),
    ("gpu_dev_id", GPU),
    ("norandommap_reset", "fio itself has it no more; leave it out"),
    ("cpuload", CPU_LOAD),
    ("cpuchunks", CPU_LOAD),
    ("cpumode", CPU_LOAD),
    ("exit_on_io_done", CPU_LOAD),
    ("hostname", NETWORK),
    ("port", NETWORK),
    ("protocol", NETWORK),
    ("listen", NETWORK),
    ("pingpong", NETWORK),
    ("window_size", NETWORK),
    ("mss", NETWORK),
    ("interface", NETWORK),
    ("nodelay", NETWORK),
    ("ttl", NETWORK),
    ("program", PROGRAM),
    ("arguments", PROGRAM),
    ("grace_time", PROGRAM),
    ("std_redirect", PROGRAM),
    ("rbdname", NETWORK),
    ("clientname", NETWORK),
    ("pool", NETWORK),
    ("namenode", NETWORK),
    ("donorname", "no file is defragmented"),
    ("inplace", "no file is defragmented"),
    ("apptag", "requests have no metadata"),
    ("apptag_mask", "requests have no metadata"),
    ("pi_act", "requests have no metadata"),
    ("pi_chk", "requests have no metadata"),
    ("cdb_len", SG),
    ("sg_write_mode", SG),
    ("stream_id", SG),
    ("skip_bad", "an option of the engine mtd; libaio on /dev/mtdblock… is near"),
    ("deac", "writes are ordinary ones"),
    ("read_mode", "reads are ordinary ones"),
    ("verify_bytchk", "writes are ordinary ones"),
    ("include", "write `include FILE` without `=`"),
];
