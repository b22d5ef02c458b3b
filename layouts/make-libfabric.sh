#!/bin/sh
# usage: layouts/make-libfabric.sh --source DIR --version V -o FILE [--cxi DIR]... [--fits PREFIX]... [--command TEXT]
#
# Makes the layout profile of libfabric, the network library under Open MPI's mtl ofi and MPICH's ch4:ofi, from its source: nothing
# is configured or built, one file is compiled for the debug information of each provider.
#
#   --source DIR    an unpacked release, or a git checkout; nothing in it is changed
#   --version V     the release
#   --cxi DIR       where headers are that the provider cxi needs: libcxi/libcxi.h (HewlettPackard/shs-libcxi), cxi_prov_hw.h
#                   (HewlettPackard/shs-cassini-headers), uapi/misc/cxi.h (HewlettPackard/shs-cxi-driver) and json-c/json.h;
#                   several times, if they are not in one; without it the profile has nothing of that provider
set -eu
library=libfabric needed=include/ofi_util.h own_switches=''
cxi=''
own_option() {
    [ "$1" = --cxi ] && cxi="$cxi-I$2$newline"
}
. "$(dirname "$0")/source_arguments.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What of config.h changes structures, as configure decides it on Linux without options (which also defines NDEBUG).
{
    echo '#define HAVE_ATOMICS 1'
    echo '#define HAVE_ATOMICS_LEAST_TYPES 1'
    echo '#define HAVE_BUILTIN_ATOMICS 1'
    echo '#define HAVE_BUILTIN_MM_ATOMICS 1'
    echo '#define HAVE_EPOLL 1'
    echo '#define PT_LOCK_SPIN 1'
    echo '#define ENABLE_DEBUG 0'
    echo '#define PACKAGE_VERSION "0"'
} >"$work/config.h"

# Lists of arguments, one a line.
IFS=$newline
objects=''
for header in rxm/src/rxm.h tcp/src/xnet.h net/src/xnet.h shm/src/smr.h sm2/src/sm2.h rxd/src/rxd.h sockets/include/sock.h \
    cxi/include/cxip.h; do
    [ -f "$source/prov/$header" ] || continue
    provider=${header%%/*}
    [ "$provider" != cxi ] || [ -n "$cxi" ] || continue
    # shellcheck disable=SC2086
    "$cc" -g -fno-eliminate-unused-debug-types -w -D_GNU_SOURCE -DNDEBUG "-DPROVIDER=\"${header##*/}\"" -I"$work" $cxi -I"$source" \
        -I"$source/include" -I"$source/prov/${header%/*}" -I"$source/prov/$provider" -I"$source/prov/$provider/include" \
        -c "$here/libfabric.c" -o "$work/$provider.o"
    objects="$objects$work/$provider.o$newline"
done

# shellcheck disable=SC2086
"$mpi_queues" layouts make $objects --name "libfabric-$series" --implementation libfabric --mpi-version "$version" $fits \
    --source "libfabric $version" --source layouts/libfabric.c --command "$command" -o "$output"
