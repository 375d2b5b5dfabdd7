#!/usr/bin/env bash
# Turns the folder $1 into the root of a fresh machine until it is killed: read-only outside home and tmp, without /dev/shm, with the folders $2
# as /opt, $3 as /mnt and $4 as npm's cache. Run under `unshare --mount`; other processes enter with nsenter and chroot.
set -euo pipefail
root=$1 node=$2 repository=$3 npm_cache=$4
mount --make-rprivate /
mount --bind "$root" "$root"
mount --options remount,bind,ro "$root"
mount --types tmpfs --options mode=755 none "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln --symbolic /proc/self/fd "$root/dev/fd"
mount --types proc proc "$root/proc"
mount --types tmpfs --options mode=1777 none "$root/tmp"
mount --types tmpfs --options mode=755 none "$root/home"
mkdir --parents "$root/home/user/.npm"
chown 1000:1000 "$root/home/user"
# Only downloads of npm are kept from one run to the next.
mount --bind "$npm_cache" "$root/home/user/.npm"
mount --bind "$node" "$root/opt"
mount --bind "$repository" "$root/mnt"
for file in resolv.conf hosts ssl/certs; do mount --bind "/etc/$file" "$root/etc/$file"; done
echo ready
exec sleep infinity
