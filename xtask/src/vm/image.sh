#!/bin/bash
# Builds the guest: Debian's cloud kernel, and an initial RAM disk with the tools, qdepth and the
# guest's script. Everything is made below $VM and is left there for the next time.
set -euo pipefail
VM=$1 QDEPTH=$2 BOTH_WAYS=$3 SCRIPTS=$4 ROOT=$VM/root
# Of the NFS server, whose packages would start one on this machine when installed.
NFS_PACKAGES="nfs-kernel-server nfs-common libnfsidmap1 libtirpc3 libtirpc-common libwrap0
    libevent-core-2.1-7 exfatprogs"

if [ ! -e "$VM/kernel/boot" ]; then
    mkdir -p "$VM/kernel"
    package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-[0-9]/{print $2; exit}')
    (cd "$VM" && apt-get download -qq "$package")
    dpkg -x "$VM/$package"_*.deb "$VM/kernel"
    [ -e "$VM/kernel/lib/modules" ] || ln -s usr/lib "$VM/kernel/lib"
fi
if [ ! -e "$VM/nfs" ]; then
    for package in $NFS_PACKAGES; do
        (cd "$VM" && apt-get download -qq "$package")
        dpkg -x "$VM/$package"_*.deb "$VM/nfs.part"
    done
    mv "$VM/nfs.part" "$VM/nfs"
fi
export LD_LIBRARY_PATH=$VM/nfs/usr/lib/x86_64-linux-gnu:$VM/nfs/lib/x86_64-linux-gnu
release=$(ls "$VM/kernel/lib/modules")
modules=$VM/kernel/lib/modules/$release
[ -e "$modules/modules.dep" ] || depmod -b "$VM/kernel" "$release"

rm -rf "$ROOT"
mkdir -p "$ROOT"/{bin,sbin,etc/lvm,dev,proc,sys,run,tmp,mnt,root,lib64,usr/lib/modules,var/lib}
ln -s usr/lib "$ROOT/lib"
add() {
    cp -L "$1" "$ROOT/sbin/"
    strip "$ROOT/sbin/${1##*/}" 2>/dev/null || true
    # A static program has no libraries.
    { ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' || true; } | while read -r library; do
        [ -e "$ROOT/usr/lib/${library##*/}" ] || cp -L "$library" "$ROOT/usr/lib/"
    done
}
add "$(command -v busybox)"
mv "$ROOT/sbin/busybox" "$ROOT/bin/busybox"
for program in mdadm mkfs.xfs mkfs.ext4 mkfs.btrfs mkfs.vfat parted lvm nvme smartctl blkid wipefs blkdiscard sfdisk lsblk setpriv mount umount; do
    add "$(PATH=$PATH:/usr/sbin:/sbin command -v $program)"
done
for program in usr/sbin/{rpc.nfsd,rpc.mountd,exportfs,mkfs.exfat} sbin/mount.nfs; do
    add "$VM/nfs/$program"
done
cp "$VM/nfs/etc/netconfig" "$ROOT/etc/"
add "$QDEPTH"
add "$BOTH_WAYS"
for name in pvcreate pvremove pvs vgcreate vgremove vgs vgchange lvcreate lvs; do
    ln -s lvm "$ROOT/sbin/$name"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$ROOT/lib64/"
for module in md-mod raid0 raid1 raid10 raid456 dm-mod dm-mirror xfs ext4 btrfs vfat nls_cp437 nls_ascii exfat \
    nfsd nfsv4 loop nvme; do
    modprobe -d "$VM/kernel" -S "$release" --show-depends $module 2>/dev/null | awk '/^insmod/{print $2}'
done | sort -u | while read -r file; do
    place=$ROOT/usr/lib/modules/$release/${file#*"$release"/}
    mkdir -p "${place%/*}"
    cp "$file" "$place"
done
cp "$modules"/modules.{order,builtin,builtin.modinfo} "$ROOT/usr/lib/modules/$release/"
depmod -b "$ROOT" "$release"
cp "$SCRIPTS/guest.sh" "$ROOT/init"
cp "$SCRIPTS/file-systems.sh" "$ROOT/"
chmod +x "$ROOT/init"
(cd "$ROOT" && find . -print0 | cpio --null -o -H newc --quiet | zstd -1 -q -f -o "$VM/initrd.img")
