#!/bin/sh
# usage: unshare --mount tests/programs/apptainer.sh ROOT COMMAND...
#
# Runs a command as a container of Apptainer, whose image is this machine itself. ROOT has Apptainer, unpacked from a Debian
# release that has it. Apptainer refuses to run in a chroot: ROOT becomes the root of this mount namespace.
set -eu
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mkdir -p old host
mount --bind / host
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs none tmp
mount -t tmpfs none run
pivot_root . old
cd /
# Its container has no directory of the user's in it, but what lies in the image.
# shellcheck disable=SC2086
exec /usr/bin/apptainer --quiet exec --userns --no-mount tmp,home,cwd,hostfs ${APPTAINER_OPTIONS:-} /host "$@"
