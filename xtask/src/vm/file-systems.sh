# --- file systems ---
# On each: the main job in a directory, again after a kill, twice at once, the bandwidth of threads,
# jobs of fio and IOR, with direct I/O and the logbook on the same file system. Nothing but the
# logbook is left. docs/file-systems.md has the table.
for module in nls_cp437 nls_ascii vfat exfat nfsd nfsv4; do modprobe $module; done
LOAD="--profile database --queue-depth 4 --file-size 16MiB --no-report"
nothing_left() { # PLACE
    left=$(cd "$1" && ls -A | grep -v '^q.db' | tr '\n' ' ')
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}
measured_on() { # PLACE
    ends_well qdepth run quick "$1" $LOAD --duration 300ms --logbook $1/q.db --json &&
        says '"profile": "database"' /tmp/out && nothing_left "$1" || return 1
}
again_after_kill() { # PLACE
    qdepth run quick "$1" $LOAD --duration 20s --logbook $1/k.db >/dev/null 2>/tmp/err &
    process=$!
    for wait in $(seq 300); do grep -q '^point' /tmp/err && break; sleep 0.1; done
    sleep 1
    ends 3 qdepth run quick "$1" $LOAD --duration 300ms --logbook $1/q.db || { kill -9 $process; return 1; }
    kill -9 $process
    wait $process 2>/dev/null
    ends_well qdepth run quick "$1" $LOAD --duration 300ms --logbook $1/q.db || return 1
    rm -f "$1"/k.db*
    nothing_left "$1"
}
other_tools() { # PLACE
    ends_well qdepth run bandwidth "$1" --threads 1,2 --transfer 1MiB --bytes-per-thread 4MiB --no-report --logbook $1/q.db &&
        nothing_left "$1" || return 1
    ends_well qdepth ior --no-report --logbook $1/q.db -- -w -r -t 64k -b 4m -o "$1/ior" &&
        nothing_left "$1" || return 1
    ends_well qdepth fio --name=j --directory="$1" --rw=randwrite --bs=4k --size=4m --direct=1 --verify=crc32c \
        --output-format=json --no-report --logbook $1/q.db || return 1
    says '"total_ios" : 1024' /tmp/out && says '"error" : 0' /tmp/out && nothing_left "$1"
}
used() { measured_on "$1" && again_after_kill "$1" && other_tools "$1"; }
on_file_system() { # KIND DEVICE OPTIONS...
    kind=$1 device=$2
    shift 2
    mkdir -p /mnt/files
    "mkfs.$kind" "$@" "$device" && mount -t "$kind" "$device" /mnt/files || return 1
    used /mnt/files
    status=$?
    umount /mnt/files
    wipefs -q -a "$device"
    return $status
}
on_nfs() {
    mkdir -p /mnt/served /mnt/files /var/lib/nfs/v4recovery
    mkfs.ext4 -q -F /dev/$C && mount -t ext4 /dev/$C /mnt/served && mount -t nfsd nfsd /proc/fs/nfsd || return 1
    ip link set lo up
    echo '/mnt/served 127.0.0.1(rw,no_root_squash,no_subtree_check,fsid=0)' >/etc/exports
    echo 'nfs 2049/tcp' >/etc/services
    touch /var/lib/nfs/etab /var/lib/nfs/rmtab
    rm -rf /mnt/served/lost+found
    exportfs -a && rpc.mountd --no-nfs-version 3 && rpc.nfsd --no-nfs-version 3 --grace-time 10 2 || return 1
    echo Y >/proc/fs/nfsd/v4_end_grace
    mount.nfs 127.0.0.1:/ /mnt/files -o vers=4.2 && used /mnt/files
    status=$?
    umount /mnt/files
    rpc.nfsd 0
    killall rpc.mountd
    umount /mnt/served
    wipefs -q -a /dev/$C
    return $status
}
for kind in vfat exfat; do check "file systems: $kind" on_file_system $kind /dev/$C; done
check "file systems: NFS" on_nfs
