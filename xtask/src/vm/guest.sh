#!/bin/busybox sh
# Runs in the guest as its first process. Each check prints `ok NAME` or `not ok NAME` with what
# was said; the last line is `guest done`. Nothing here reaches a device outside of the guest.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin LD_LIBRARY_PATH=/usr/lib HOME=/root IMSM_NO_PLATFORM=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /run
mkdir -p /run/lvm /run/mdadm /run/lock /dev/shm /usr/sbin
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
echo 3 >/proc/sys/kernel/printk
for module in md-mod raid0 raid1 raid10 raid456 dm-mod xfs ext4 btrfs; do modprobe $module; done
for wait in 1 2 3 4 5 6 7 8 9 10; do [ -e /dev/nvme3n1 ] && break; sleep 0.2; done
cat >/etc/lvm/lvm.conf <<'EOF'
devices { scan=["/dev"] }
global { use_lvmpolld=0 }
activation { udev_sync=0 udev_rules=0 verify_udev_operations=0 monitoring=0 }
backup { backup=0 archive=0 }
EOF
cd /tmp

check() {
    name=$1
    shift
    if "$@" >/tmp/said 2>&1 </dev/null; then echo "ok $name"; else
        echo "not ok $name"
        tail -20 /tmp/said | sed 's/^/    /'
        case "$name" in preparation*|purge*) reset;; esac
    fi
}
# Blank drives, so that a failed check does not fail those after it.
reset() {
    grep ' /mnt/' /proc/mounts | cut -d' ' -f2 | while read at; do umount "$at"; rmdir "$at"; done
    for array in /dev/md[0-9]* /dev/md/*; do [ -b "$array" ] && mdadm --stop "$array"; done
    vgremove -q -ff -y prepared
    for drive in $A $B $C $D; do blkdiscard -f /dev/$drive; blockdev --rereadpt /dev/$drive; done
    rm -f /var/lib/qdepth/undo.jsonl
} >/dev/null 2>&1
says() { grep -qF -- "$1" "$2" || { echo "nothing says \`$1\`:"; cat "$2"; return 1; }; }
ends() {
    wanted=$1
    shift
    "$@" >/tmp/out 2>/tmp/err
    got=$?
    [ $got = "$wanted" ] || { echo "ended with $got, not $wanted: $*"; cat /tmp/out /tmp/err; return 1; }
}
qmp() { echo "qmp {\"execute\": \"$1\", \"arguments\": {$2}}" >/dev/console; }
written() { awk '{print $7}' "/sys/block/$1/stat"; }
# What the machine looks like: devices, arrays, volumes, mounts, signatures, settings.
state() {
    # A node of md without an array holds nothing: the kernel makes it for whoever opens its name.
    lsblk -n -o NAME,SIZE,TYPE,MOUNTPOINT | grep -v '^md[0-9]* *0B md' | sort
    grep -v unused /proc/mdstat
    vgs --noheadings -o vg_name,vg_size 2>/dev/null
    blkid -p /dev/nvme?n1
    grep nvme /proc/mounts
    for file in /sys/block/nvme*/queue/scheduler /sys/block/nvme*/queue/nomerges \
        /sys/block/nvme*/queue/rq_affinity /sys/block/nvme*/queue/nr_requests \
        /sys/block/nvme*/queue/wbt_lat_usec /sys/kernel/mm/transparent_hugepage/enabled; do
        echo "$file $(cat "$file" 2>/dev/null)"
    done
    ls /mnt
}
until_time=$(date -u -d "@$(($(date +%s) + 3600))" +%Y-%m-%dT%H:%M:%SZ)
for n in 0 1 2 3; do
    bytes=$(($(cat /sys/block/nvme${n}n1/size) * 512))
    printf 'destroy = "%s"\nsize_bytes = %s\nexpires = "%s"\n' \
        "$(cat /sys/block/nvme${n}n1/device/serial | tr -d ' ')" $bytes "$until_time"
done >/tmp/consent
device_of() { for d in /sys/block/nvme*n1; do grep -q "$1" "$d/device/serial" && echo "${d##*/}"; done; }
A=$(device_of QD0000) B=$(device_of QD0001) C=$(device_of QD0002) D=$(device_of QD0003)
DESTROY="--destroy QD0000 --destroy QD0001 --destroy QD0002 --destroy QD0003 --consent /tmp/consent"
SMALL="--profile database --queue-depth 4 --duration 300ms --no-report --logbook /tmp/q.db"

# --- inventory ---
inventory() {
    ends 0 qdepth host --json && for n in 0 1 2 3; do says "\"value\": \"QD000$n\"" /tmp/out || return 1; done
    says '"key": "media_errors"' /tmp/out && says '"key": "power_states"' /tmp/out
}
check "inventory: four drives with serials and health" inventory
unprivileged() {
    ends 0 /sbin/setpriv --reuid 65534 --regid 65534 --clear-groups qdepth host --json &&
        says 'Permission denied' /tmp/out
}
check "inventory: an ordinary user is told what is unknown" unprivileged

# --- guards ---
refused() { # GUARD DEVICE
    before=$(written "${2#/dev/}")
    ends 3 qdepth run quick "$2" $SMALL --area 64MiB $DESTROY --overwrite-signature data || return 1
    says "guard $1" /tmp/err || return 1
    [ "$before" = "$(written "${2#/dev/}")" ] || { echo "$2 was written to"; return 1; }
}
mdadm --create /dev/md0 --run --level=0 --chunk=128 --raid-devices=2 /dev/$A /dev/$B >/dev/null 2>&1
check "guards: member of an active array" refused G3 /dev/$A
mkfs.xfs -q -f /dev/md0 && mkdir -p /mnt/held && mount /dev/md0 /mnt/held
mounted_array() {
    uuid=$(cat /sys/block/md0/md/uuid)
    printf 'destroy = "%s"\nsize_bytes = %s\nexpires = "%s"\n' \
        "$uuid" $(($(cat /sys/block/md0/size) * 512)) "$until_time" >/tmp/consent-md0
    DESTROY="--destroy $uuid --consent /tmp/consent-md0" refused G4 /dev/md0
}
check "guards: array that is mounted" mounted_array
check "guards: member of a mounted array" refused G4 /dev/$B
umount /mnt/held && rmdir /mnt/held && mdadm --stop /dev/md0 >/dev/null 2>&1
mdadm --zero-superblock /dev/$A /dev/$B
{ pvcreate -q -ff -y /dev/$C; vgcreate -q held /dev/$C; lvcreate -q -y -Wn -Zn -L64M -n v held; } >/dev/null 2>&1
check "guards: physical volume in use" refused G3 /dev/$C
vgremove -q -ff -y held >/dev/null 2>&1; pvremove -q -ff -y /dev/$C >/dev/null 2>&1
printf 'label: gpt\nstart=1MiB, size=400MiB\n' | sfdisk -q /dev/$C >/dev/null 2>&1; sleep 1
# Without the writes that ext4 puts off: the check sees each write to the disk.
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/${C}p1 && mkdir -p /mnt/held && mount /dev/${C}p1 /mnt/held; sync
check "guards: disk with a mounted partition" refused G4 /dev/$C
umount /mnt/held; rmdir /mnt/held; wipefs -q -a /dev/${C}p1; wipefs -q -a /dev/$C; blockdev --rereadpt /dev/$C 2>/dev/null
for drive in $A $B $C $D; do blkdiscard -f /dev/$drive; done

# --- settings ---
tuned() {
    state >/tmp/before
    ends 0 qdepth host tune --apply && [ "$(cat /sys/block/$A/queue/nomerges)" = 2 ] || return 1
    ends 0 qdepth host undo && state >/tmp/after && diff /tmp/before /tmp/after
}
check "settings: tuned and put back" tuned

# --- preparation ---
array() { # LEVEL METADATA MEMBERS
    members=${3:-"\"/dev/$A\", \"/dev/$B\""}
    cat <<EOF
[[prepare]]
step = "purge"
device = "/dev/$A"
method = "discard"
[[prepare]]
step = "array"
device = "/dev/md0"
level = "$1"
members = [$members]
$2
EOF
}
xfs() { on xfs "$1" '"-K"'; }
on() { # KIND DEVICE OPTIONS
    cat <<EOF
[[prepare]]
step = "file-system"
kind = "$1"
device = "$2"
options = [$3]
[[prepare]]
step = "mount"
at = "/mnt/prepared"
device = "$2"
options = "noatime"
EOF
}
there_and_back() { # FILE
    state >/tmp/before
    c=$(written $C) d=$(written $D)
    ends 0 qdepth host prepare "$1" --apply $DESTROY --overwrite-signature data || return 1
    ends_well qdepth run quick /mnt/prepared $SMALL --area 32MiB || return 1
    ends 0 qdepth host undo && state >/tmp/after && diff /tmp/before /tmp/after || return 1
    [ "$2" = all ] || [ "$c $d" = "$(written $C) $(written $D)" ] || { echo "others were written to"; return 1; }
}
# Finished, whatever the points are worth on an emulated CPU.
ends_well() { "$@" >/tmp/out 2>/tmp/err; [ $? -le 1 ] || { cat /tmp/out /tmp/err; return 1; }; }
{ array 0 'chunk = "128KiB"'; xfs /dev/md0; } >raid0.toml
{ array 1; xfs /dev/md0; } >raid1.toml
{ array 0 'metadata = "imsm"'; xfs /dev/md0; } >imsm.toml
{ printf '[[prepare]]\nstep = "volume"\ngroup = "prepared"\nname = "v"\ndevices = ["/dev/%s", "/dev/%s"]\nstripe = "128KiB"\n' $C $D; xfs /dev/prepared/v; } >volume.toml
{ array 5 'chunk = "64KiB"' "\"/dev/$A\", \"/dev/$B\", \"/dev/$C\""; on ext4 /dev/md0; } >raid5.toml
{ array 10 '' "\"/dev/$A\", \"/dev/$B\", \"/dev/$C\", \"/dev/$D\""; on btrfs /dev/md0; } >raid10.toml
{ printf '[[prepare]]\nstep = "partition"\ndevice = "/dev/%s"\n' $A; on ext4 /dev/${A}p1; } >partition.toml
dry() { state >/tmp/before; ends 0 qdepth host prepare raid0.toml && says 'mdadm --create /dev/md0' /tmp/out && says 'nothing was changed' /tmp/out && state >/tmp/after && diff /tmp/before /tmp/after; }
check "preparation: shown and not done" dry
check "preparation: refused without consent" ends 3 qdepth host prepare raid0.toml --apply
check "preparation: RAID 0, XFS, a run, and back" there_and_back raid0.toml
check "preparation: RAID 1, XFS, a run, and back" there_and_back raid1.toml
check "preparation: IMSM RAID 0, XFS, a run, and back" there_and_back imsm.toml
check "preparation: striped volume, XFS, a run, and back" there_and_back volume.toml all
check "preparation: RAID 5, ext4, a run, and back" there_and_back raid5.toml all
check "preparation: RAID 10, btrfs, a run, and back" there_and_back raid10.toml all
check "preparation: aligned partition, ext4, a run, and back" there_and_back partition.toml
planned() {
    { cat <<EOF
name = "prepared"
profiles = ["database"]
queue_depth = [4]
duration = "300ms"
file_size = "32MiB"
EOF
    cat raid0.toml; } >plan.toml
    state >/tmp/before
    ends 0 qdepth plan plan.toml /mnt/prepared && says 'mkfs.xfs -f -K /dev/md0' /tmp/out || return 1
    ends 3 qdepth run plan.toml /mnt/prepared --no-report --logbook /tmp/p.db || return 1
    ends_well qdepth run plan.toml /mnt/prepared --no-report --logbook /tmp/p.db --json $DESTROY \
        --overwrite-signature data || return 1
    says '"profile": "database"' /tmp/out && says 'umount /mnt/prepared' /tmp/err || return 1
    state >/tmp/after && diff /tmp/before /tmp/after
}
check "preparation: a plan's own, before its points and back after them" planned
variants() {
    cat <<EOF
name = "variants"
profiles = ["database"]
queue_depth = [4, 1]
duration = "$1"
file_size = "32MiB"
[[variant]]
name = "striped xfs"
target = "/mnt/prepared"
EOF
    sed 's/\[\[prepare/[[variant.prepare/' raid0.toml
    printf '[[variant]]\nname = "mirrored ext4"\ntarget = "/mnt/prepared"\n'
    { array 1; on ext4 /dev/md0; } | sed 's/\[\[prepare/[[variant.prepare/'
}
compared() {
    variants 300ms >variants.toml
    state >/tmp/before
    ends 0 qdepth plan variants.toml && says 'variant mirrored ext4, on /mnt/prepared' /tmp/out &&
        says 'mkfs.ext4 -F /dev/md0' /tmp/out || return 1
    ends 3 qdepth run variants.toml --no-report --logbook /tmp/v.db || return 1
    ends_well qdepth run variants.toml --no-report --logbook /tmp/v.db --json $DESTROY \
        --overwrite-signature data || return 1
    [ "$(grep -c '"profile": "database"' /tmp/out)" -ge 4 ] && says '"name": "mirrored ext4"' /tmp/out &&
        says 'mirrored ext4: prepared (ext4 on md0)' /tmp/out &&
        says 'striped xfs: prepared (xfs on md0)' /tmp/out || { cat /tmp/err; return 1; }
    state >/tmp/after && diff /tmp/before /tmp/after
}
check "preparation: two variants, each prepared, measured and taken back" compared
killed_between() { # VARIANT whose measurement file exists when it is killed
    variants 20s >variants.toml
    state >/tmp/before
    qdepth run variants.toml --no-report --logbook /tmp/k.db $DESTROY --overwrite-signature data \
        --duration "$2" >/tmp/out 2>/tmp/err &
    process=$!
    for wait in $(seq 600); do grep -q "variant    $1" /tmp/err && [ -s /mnt/prepared/qdepth-measurement-file ] && break; sleep 0.1; done
    kill -9 $process; wait $process 2>/dev/null
    sleep 1
    [ -s /mnt/prepared/qdepth-measurement-file ]
    left=$?
    says "variant    $1" /tmp/err && ends 0 qdepth host undo && state >/tmp/after && diff /tmp/before /tmp/after &&
        { [ $left = 0 ] || { echo "it left no file"; return 1; }; }
}
check "preparation: undone after SIGKILL in the first variant" killed_between striped 20s
check "preparation: undone after SIGKILL in the second variant" killed_between mirrored 300ms
killed_at() { # NUMBER OF STEPS that were taken
    awk -v n="$1" '/^\[\[prepare/{k++} k<=n' raid0.toml >cut.toml
    state >/tmp/before
    ends 0 qdepth host prepare cut.toml --apply $DESTROY --overwrite-signature data || return 1
    ends 0 qdepth host undo && state >/tmp/after && diff /tmp/before /tmp/after
}
for n in 1 2 3; do check "preparation: undone after $n steps" killed_at $n; done
killed_in() { # FILE TOOL WORD before|after: qdepth is killed while this call of the tool runs
    state >/tmp/before
    rm -f /tmp/in-tool /tmp/tool-ended
    cat >/usr/sbin/$2 <<EOF
#!/bin/busybox sh
pauses() { [ $4 = \$1 ] && case "\$*" in *$3*) touch /tmp/in-tool; sleep 2;; esac; }
pauses before "\$@"
# Into a file: a pipe to the killed qdepth would end the tool.
/sbin/$2 "\$@" >/tmp/tool-said 2>&1
code=\$?
echo \$code >/tmp/tool-ended
pauses after "\$@"
exit \$code
EOF
    chmod +x /usr/sbin/$2
    qdepth host prepare "$1" --apply $DESTROY --overwrite-signature data >/tmp/out 2>/tmp/err &
    process=$!
    for wait in $(seq 600); do [ -e /tmp/in-tool ] && break; sleep 0.1; done
    kill -9 $process; wait $process 2>/dev/null
    rm -f /usr/sbin/$2
    [ -e /tmp/in-tool ] || { echo "$2 was not started"; cat /tmp/out /tmp/err; return 1; }
    for turn in $(seq 60); do
        qdepth host undo >/tmp/out 2>/tmp/err
        got=$?
        [ $got = 3 ] || break
        sleep 1
    done
    # A purge has no undo to wait for it.
    for wait in $(seq 100); do [ -e /tmp/tool-ended ] && break; sleep 0.1; done
    [ "$(cat /tmp/tool-ended)" = 0 ] || { echo "$2 did not succeed"; cat /tmp/tool-said; return 1; }
    [ $got = 0 ] || { echo "undo ended with $got"; cat /tmp/out /tmp/err; return 1; }
    state >/tmp/after && diff /tmp/before /tmp/after
}
while read file tool word moment; do
    check "preparation: ${file%.toml}, undone after SIGKILL $moment $tool $word" killed_in $file $tool $word $moment
done <<EOF
raid0.toml blkdiscard /dev/$A before
raid0.toml mdadm --create before
raid0.toml mdadm --create after
imsm.toml mdadm --create before
imsm.toml mdadm --create after
raid0.toml mkfs.xfs /dev/md0 before
raid0.toml mkfs.xfs /dev/md0 after
raid0.toml mount /mnt/prepared before
raid0.toml mount /mnt/prepared after
raid5.toml mkfs.ext4 /dev/md0 after
raid10.toml mkfs.btrfs /dev/md0 after
volume.toml pvcreate /dev/$C before
volume.toml pvcreate /dev/$C after
volume.toml vgcreate prepared after
volume.toml lvcreate prepared before
volume.toml lvcreate prepared after
partition.toml parted mklabel before
partition.toml parted mklabel after
partition.toml parted mkpart after
EOF

keeps_files() { # FILE DEVICE DEACTIVATE ACTIVATE
    state >/tmp/before
    ends 0 qdepth host prepare "$1" --apply $DESTROY --overwrite-signature data || return 1
    echo 'the only copy' >/mnt/prepared/thesis.tex && umount /mnt/prepared && rmdir /mnt/prepared || return 1
    # The device that holds the file is there, and then is not.
    for hidden in no yes; do
        [ $hidden = no ] || eval "$3" || return 1
        state >/tmp/hidden
        ends 4 qdepth host undo && says 'stay in the journal' /tmp/err || return 1
        state >/tmp/after && diff /tmp/hidden /tmp/after || return 1
    done
    eval "$4" && mkdir -p /mnt/prepared && mount $2 /mnt/prepared && says 'only copy' /mnt/prepared/thesis.tex || return 1
    rm /mnt/prepared/thesis.tex && umount /mnt/prepared && rmdir /mnt/prepared || return 1
    ends 0 qdepth host undo && state >/tmp/after && diff /tmp/before /tmp/after
}
check "preparation: an array with files is kept, also if it was stopped" \
    keeps_files raid0.toml /dev/md0 'mdadm --stop /dev/md0' "mdadm --assemble /dev/md0 /dev/$A /dev/$B"
check "preparation: a volume with files is kept, also if it is inactive" \
    keeps_files volume.toml /dev/prepared/v 'vgchange -q -an prepared' 'vgchange -q -ay prepared'

# --- purge by the drive's own commands ---
yes 'what was on the drive before it was purged, and must be gone after it' | head -c 4194304 >/tmp/pattern
PLACES="0 510 1020" # MiB: the beginning, the middle and the end of 1 GiB
marked() { for at in $PLACES; do dd if=/tmp/pattern of=/dev/$1 bs=1M seek=$at oflag=direct 2>/dev/null || return 1; done; }
marks() { # DEVICE: how many of the places hold the pattern, as the drive reads back
    n=0
    for at in $PLACES; do
        dd if=/dev/$1 bs=1M skip=$at count=4 iflag=direct 2>/dev/null | cmp -s - /tmp/pattern && n=$((n + 1))
    done
    echo $n
}
still() { [ "$(marks $1)" = "$2" ] || { echo "$1 holds the pattern in $(marks $1) places, not $2"; return 1; }; }
purge() { printf '[[prepare]]\nstep = "purge"\ndevice = "/dev/%s"\nmethod = "%s"\n' "$1" "$2"; }
purge $B format >format.toml
purge $B sanitize >sanitize.toml
purge ${B}p1 format >partition-format.toml
unconsented() {
    marked $B && still $B 3 || return 1
    ends 3 qdepth host prepare format.toml --apply && says 'nothing was changed' /tmp/err && still $B 3 || return 1
    # Consent to others is none to this one.
    ends 3 qdepth host prepare format.toml --apply --destroy QD0000 --consent /tmp/consent \
        --overwrite-signature data && still $B 3
}
check "purge: a format without consent is refused, and the drive reads as before" unconsented
formatted() {
    marked $A && marked $B && still $B 3 || return 1
    ends 0 qdepth host prepare format.toml --apply $DESTROY --overwrite-signature data &&
        says "nvme format /dev/$B --ses=1 --force" /tmp/out && still $B 0 && still $A 3 || return 1
    # A sixteenth of the drive, all over it: all of it takes this CPU a minute.
    left=$(for at in $(seq 0 16 1023); do dd if=/dev/$B bs=1M skip=$at count=1 iflag=direct 2>/dev/null; done | tr -d '\000' | wc -c)
    [ "$left" = 0 ] || { echo "$left bytes of the drive are not zero"; return 1; }
    ends 0 qdepth host undo && says 'there is nothing to undo' /tmp/out
}
check "purge: formatted by the drive: what was on it is gone, the other drive's is not" formatted
in_a_plan() {
    { printf 'name = "purged"\nprofiles = ["database"]\nqueue_depth = [4]\nduration = "300ms"\n'; cat format.toml; } >purged.toml
    marked $B || return 1
    ends 3 qdepth run purged.toml /dev/$B --area 64MiB --no-report --logbook /tmp/f.db && still $B 3 || return 1
    ends_well qdepth run purged.toml /dev/$B --area 64MiB --no-report --logbook /tmp/f.db --json $DESTROY \
        --overwrite-signature data || return 1
    says "prepare    purge /dev/$B" /tmp/err && still $B 0 || return 1
    # The plan's text, in the logbook's file.
    cat /tmp/f.db* | tr -d '\000' >/tmp/out
    says '"step": "purge"' /tmp/out && says '"method": "format"' /tmp/out || return 1
    [ ! -e /var/lib/qdepth/undo.jsonl ] || { echo "a journal is left"; cat /var/lib/qdepth/undo.jsonl; return 1; }
}
check "purge: a plan's own format, and the logbook tells it" in_a_plan
impossible() {
    marked $B || return 1
    nvme id-ctrl /dev/$B -o json | grep -E '"(oacs|fna|sanicap)"'
    before=$(written $B)
    ends 3 qdepth host prepare sanitize.toml --apply $DESTROY --overwrite-signature data &&
        says 'guard G16' /tmp/err && says 'SANICAP 0x0' /tmp/err && says 'method = "format"' /tmp/err &&
        says 'nothing was changed' /tmp/err && still $B 3 || return 1
    [ "$before" = "$(written $B)" ] || { echo "$B was written to"; return 1; }
}
check "purge: QEMU's drive cannot be sanitized, which is said before anything is changed" impossible
of_a_partition() {
    printf 'label: gpt\nstart=1MiB, size=400MiB\n' | sfdisk -q /dev/$B >/dev/null 2>&1
    sleep 1
    ends 3 qdepth host prepare partition-format.toml --apply $DESTROY --overwrite-signature data &&
        says "erases all of /dev/$B" /tmp/err && still $B 1 || return 1
    # So it would: nvme-cli takes a partition for its namespace.
    nvme format /dev/${B}p1 --ses=1 --force && still $B 0
}
check "purge: a partition's format would take the whole drive, and is refused" of_a_partition
wipefs -q -a /dev/$B; blockdev --rereadpt /dev/$B 2>/dev/null
for drive in $A $B; do blkdiscard -f /dev/$drive; done

# --- wear ---
preconditioned() {
    before=$(written $C)
    words="quick /dev/$C --profile streaming --queue-depth 4 --duration 300ms --precondition preconditioned"
    # A plan says what it would write, and which guards want a word first.
    ends 3 qdepth plan $words && says '2044MiB to precondition it' /tmp/out || return 1
    ends 0 qdepth plan $words $DESTROY --overwrite-signature data || { cat /tmp/out; return 1; }
    ends_well qdepth run $words --no-report --logbook /tmp/w.db --json $DESTROY \
        --overwrite-signature data || return 1
    says 'passes block_size=128KiB load=sequential area_bytes=1071644672 passes=2 ' /tmp/out || return 1
    all=$((($(written $C) - before) / 2048))
    [ $all -ge 2044 ] && [ $all -le 2050 ] || { echo "$all MiB were written"; return 1; }
}
check "preconditioning: twice the drive is written, as announced" preconditioned

# --- engines ---
check "engines: the last drive has no poll queues, the others have" \
    [ "$(cat /sys/block/$A/queue/io_poll)$(cat /sys/block/$B/queue/io_poll)$(cat /sys/block/$D/queue/io_poll)" = 110 ]
RINGS="io_uring io_uring-polled io_uring-passthrough io_uring-passthrough-polled"
check "engines: the laws of a target, and each reads what the others wrote" ends 0 both_ways $A $RINGS
sed 's/^/    /' /tmp/out # what each engine lacks here
check "engines: the same, on a drive without poll queues" ends 0 both_ways $D io_uring io_uring-passthrough
for drive in $A $D; do blkdiscard -f /dev/$drive; done
LAWS='littles-law|conservation|bytes-law|foreign-io|kernel-saw-less|io-errors|engine-fallback'
counted() { # ENGINE DEVICE: as many requests and bytes as were asked for
    printf '[reads]\nfilename=/dev/%s\nrw=randread\nbs=4k\nsize=16m\nioengine=libaio\niodepth=8\ndirect=1\n' "$2" >count.fio
    ends_well qdepth fio count.fio --engine "$1" --output-format=json --no-report --logbook /tmp/e.db || return 1
    says '"total_ios" : 4096' /tmp/out && says '"io_bytes" : 16777216' /tmp/out && says '"error" : 0' /tmp/out || return 1
    qdepth export --json --logbook /tmp/e.db >/tmp/out 2>/tmp/err || { cat /tmp/err; return 1; }
    says "\"engine\": \"$1\"" /tmp/out && ! grep -E "\"code\": \"($LAWS)\"" /tmp/out
}
verified() { # ENGINE DEVICE
    printf '[w]\nfilename=/dev/%s\nrw=randwrite\nbs=8k\nsize=16m\nioengine=libaio\niodepth=8\ndirect=1\nverify=crc32c\n' "$2" >verify.fio
    ends_well qdepth fio verify.fio --engine "$1" --output-format=json --no-report --logbook /tmp/e.db \
        $DESTROY --overwrite-signature data && says '"error" : 0' /tmp/out || return 1
    [ "$(grep -c '"total_ios" : 2048' /tmp/out)" = 2 ] || { cat /tmp/out; return 1; }
    dd if=/dev/$2 of=/tmp/area bs=1M skip=1 count=16 iflag=direct 2>/dev/null
    [ "$(tr -d '\000' </tmp/area | wc -c)" -gt 15000000 ] || { echo "the block device shows no writes"; return 1; }
}
for engine in $RINGS; do
    check "engines: $engine: requests and bytes" counted $engine $A
    check "engines: $engine: written, read back, seen on the block device" verified $engine $B
    blkdiscard -f /dev/$B
done
check "engines: io_uring-passthrough without poll queues" counted io_uring-passthrough $D
turned_away() { # ENGINE TARGET WHY
    before=$(cat /sys/block/nvme*n1/stat | awk '{s += $7} END {print s}')
    # Consent for a directory is refused earlier.
    [ -d "$2" ] && consent= || consent=$DESTROY
    ends 3 qdepth run large.toml "$2" --engine "$1" --no-report --logbook /tmp/e.db $consent || return 1
    says "$3" /tmp/err && says 'nothing was changed' /tmp/err || return 1
    [ "$before" = "$(cat /sys/block/nvme*n1/stat | awk '{s += $7} END {print s}')" ] || { echo "written to"; return 1; }
}
cat >large.toml <<'EOF'
name = "large"
queue_depth = [4]
duration = "300ms"
[[profile]]
name = "large"
random = 100
read = 0
block_size = "1MiB"
EOF
check "engines: polling is refused without poll queues" turned_away io_uring-polled /dev/$D 'no poll queues'
check "engines: polled commands likewise" turned_away io_uring-passthrough-polled /dev/$D 'no poll queues'
check "engines: a request larger than a command" turned_away io_uring-passthrough /dev/$A 'exceeds the limit of one command'
check "engines: commands to a directory" turned_away io_uring-passthrough /tmp 'not an NVMe namespace'
printf 'label: gpt\nstart=1MiB, size=400MiB\n' | sfdisk -q /dev/$C >/dev/null 2>&1; sleep 1
check "engines: commands to a partition" turned_away io_uring-passthrough /dev/${C}p1 'is a partition'
wipefs -q -a /dev/$C; blockdev --rereadpt /dev/$C 2>/dev/null; blkdiscard -f /dev/$C

# --- settings that a fitted model exports ---
throttled() { # bytes and I/Os per second of reads and writes together; 0 for no limit
    qmp block_set_io_throttle "\"device\": \"d2\", \"bps\": $1, \"bps_rd\": 0, \"bps_wr\": 0, \"iops\": $2, \"iops_rd\": 0, \"iops_wr\": 0"
    sleep 1
}
limited() { # read|write BYTES: I/Os per second of random reads or writes in the control group
    ( echo 0 >/sys/fs/cgroup/limited/cgroup.procs
    exec qdepth fio --name=a --filename=/dev/$C --rw=rand$1 --bs=$2 --iodepth=16 --ioengine=libaio \
        --direct=1 --ramp_time=1 --runtime=3 --time_based --output-format=terse --no-report \
        --logbook /tmp/x.db $DESTROY --overwrite-signature data ) 2>/tmp/err |
        awk -F';' '{print $8 + $49}'
}
near() { # NAME GOT WANTED
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }' && return
    echo "$1: $2, not $3"; cat /tmp/settings /tmp/err; return 1
}
setting() { sed -n "s/.*[ ']$1=\([0-9]*\).*/\1/p" /tmp/settings; }
fitted() { # what is exported
    exported=$1
    { printf 'name = "few"\nqueue_depth = [1, 4, 16, 32]\nduration = "1s"\nwarm_up = "500ms"\n'
    for load in "read 100 4" "read 100 64" "read 0 64" "read 0 4" "write 100 4" "write 100 64" "write 0 64" "write 0 4"; do
        set -- $load
        printf '[[profile]]\nname = "%s-%s-%s"\nread = %s\nrandom = %s\nblock_size = "%sKiB"\n' \
            $1 $2 $3 $([ $1 = read ] && echo 100 || echo 0) $2 $3
    done; } >few.toml
    # Merged requests would count as one.
    echo 2 >/sys/block/$C/queue/nomerges
    throttled 12000000 600
    ends_well qdepth run few.toml /dev/$C --no-report --logbook /tmp/f2.db $DESTROY --overwrite-signature data || return 1
    throttled 0 0
    ends 0 qdepth media fit latest --kind volume --logbook /tmp/f2.db -o drive.toml --export "$exported" || return 1
    sed 's/GROUP/limited/' /tmp/out >/tmp/settings && sh /tmp/settings
}
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
echo +io >/sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/limited
half() {
    fitted io.max=50% || { cat /tmp/settings; return 1; }
    near riops "$(setting riops)" 300 && near wiops "$(setting wiops)" 300 &&
        near rbps "$(setting rbps)" 6000000 && near wbps "$(setting wbps)" 6000000 || return 1
    near "4k reads" "$(limited read 4k)" 300 && near "4k writes" "$(limited write 4k)" 300 &&
        near "64k reads" "$(limited read 64k)" $((6000000 / 65536)) &&
        near "64k writes" "$(limited write 64k)" $((6000000 / 65536))
}
check "export: io.max=50% halves the rates of the drive" half
sed 's/=[0-9]*/=max/g' /tmp/settings | sh
isolation() { # prints the percentage within which reads next to unlimited writes are isolated
    ( [ "$1" ] && echo 0 >/sys/fs/cgroup/limited/cgroup.procs
    exec qdepth run isolation /dev/$C --no-report --logbook /tmp/i.db --duration 6s --warm-up 2s --json \
        $DESTROY --overwrite-signature data ) >/tmp/out 2>/tmp/err
    qdepth report --format md -o /tmp/i.md --replace --logbook /tmp/i.db >>/tmp/err 2>&1
    sed -n 's/.*Next to writes on [^:]*: isolated within \([0-9,]*\)[0-9.]* %.*/\1/p' /tmp/i.md | head -1 | tr -d ,
}
isolated() { # io.max for writes, in qdepth's own group, leaves the reads alone
    throttled 12000000 0
    free=$(isolation)
    echo "$(cat /sys/block/$C/dev) wbps=1000000" >/sys/fs/cgroup/limited/io.max
    limited=$(isolation limited)
    echo "$(cat /sys/block/$C/dev) wbps=max" >/sys/fs/cgroup/limited/io.max
    throttled 0 0
    [ "$free" ] && [ "$limited" ] && [ "$limited" -lt $((free / 2)) ] && return
    echo "within $free %, limited $limited %"; cat /tmp/err; return 1
}
check "isolation: io.max for writes halves the rise of the read latency" isolated
echo 0 >/sys/block/$C/queue/nomerges
blkdiscard -f /dev/$C

. /file-systems.sh

# --- a drive goes ---
reads() { awk '{print $1}' "/sys/block/$D/stat"; }
gone() {
    cat >gone.toml <<EOF
name = "gone"
profiles = ["streaming"]
queue_depth = [4, 1, 2]
duration = "4s"
targets = "together"
EOF
    qdepth run gone.toml /dev/$D /dev/$C --no-report --logbook /tmp/gone.db --json >/tmp/out 2>/tmp/err &
    process=$!
    # Not before its point has begun, however slow this machine is; a look at it reads far less.
    first=$(reads)
    for wait in $(seq 300); do [ "$(reads)" -gt $((first + 300)) ] && break; sleep 0.1; done
    sleep 1
    qmp device_del '"id": "nvme3"'
    wait $process
    status=$?
    [ $status = 1 ] || [ $status = 4 ] || { echo "ended with $status"; cat /tmp/out /tmp/err; return 1; }
    qdepth export --json --logbook /tmp/gone.db >/tmp/out 2>/tmp/err || { cat /tmp/err; return 1; }
    says '"code": "device-gone"' /tmp/out && says "/dev/$C" /tmp/out || return 1
    # Three points of each drive: those of the one that went say so, those of the other are measured.
    [ "$(grep -c '"profile": "streaming"' /tmp/out)" = 6 ] || { echo "not six points"; cat /tmp/err; return 1; }
    [ "$(grep -c '"code": "device-gone"' /tmp/out)" = 3 ] || { echo "not three lost"; cat /tmp/err; return 1; }
    [ "$(grep -c '"reads": 0,' /tmp/out)" = 2 ] && ! grep -q 'device-changed' /tmp/out
}
check "a drive is pulled in mid-point: its points say so, the other drive's are measured" gone

# --- drives behind a switch ---
switched() {
    drives=
    for n in 0 1 2 3 4 5 6 7; do
        qmp device_add "\"driver\": \"nvme\", \"drive\": \"s$n\", \"serial\": \"QS000$n\", \"bus\": \"down$n\", \"max_ioqpairs\": 1"
    done
    for n in 7 3 0 1 2 6 5 4; do
        for wait in $(seq 100); do [ "$(device_of QS000$n)" ] && break; sleep 0.2; done
        drives="$drives /dev/$(device_of QS000$n)"
    done
    ends 0 qdepth plan saturation $drives --read-only || return 1
    # In the order of the tree: root port, switch, its port, drive.
    [ "$(grep -cE 'place +(0000:[0-9a-f:.]+ \(PCIe [^)]+\), ){3}0000:' /tmp/out)" = 8 ] || { cat /tmp/out; return 1; }
    [ "$(grep -oE 'serial QS000[0-7]' /tmp/out | tr -dc '0-7\n' | cut -c4 | tr -d '\n')" = 01234567 ] || { cat /tmp/out; return 1; }
    ends_well qdepth run saturation $drives --read-only --duration 200ms --warm-up 50ms --no-report --logbook /tmp/s.db || return 1
    ends 0 qdepth report --format md -o /tmp/s.md --logbook /tmp/s.db || return 1
    # Its result may be invalid on a busy machine, and then says so.
    says 'with 8 drives' /tmp/s.md || return 1
    [ "$(grep -cE '^\| 0000:.*PCIe [0-9.]+ x[0-9]+ \| 8 \|' /tmp/s.md)" = 2 ] || { echo "no link above 8 drives"; cat /tmp/s.md; return 1; }
    for n in 0 1 2 3 4 5 6 7; do [ "$(written $(device_of QS000$n))" = 0 ] || return 1; done
}
check "saturation: eight drives behind a switch are added in its order, and only read" switched

echo "guest done $(cut -d' ' -f1 /proc/uptime)"
poweroff -f
