#!/bin/sh
# usage: layouts/make-ucx.sh --source DIR --version V -o FILE [--assertions] [--fits PREFIX]... [--command TEXT]
#
# Makes the layout profile of UCX, the network library under MPICH's ch4:ucx, from its source: nothing is configured or built, one
# file is compiled for its debug information.
#
#   --source DIR    an unpacked release, or a git checkout; nothing in it is changed
#   --version V     the release
#   --assertions    as UCX is built without contrib/configure-release (Debian's): structures have members for them
set -eu
library=UCX needed=src/ucp/core/ucp_request.h own_switches=--assertions
assertions=''
own_option() {
    [ "$1" = --assertions ] && assertions=1
}
. "$(dirname "$0")/source_arguments.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What of config.h changes structures: everything else is for code. Its own defaults but for assertions.
{
    echo '#define ENABLE_MT 1'
    echo '#define ENABLE_DEBUG_DATA 0'
    [ -z "$assertions" ] || echo '#define ENABLE_ASSERT 1'
    echo '#define UCS_MAX_LOG_LEVEL UCS_LOG_LEVEL_DEBUG'
    echo '#define NVALGRIND 1'
    echo '#define UCX_MODULE_SUBDIR "ucx"'
} >"$work/config.h"
# Headers that configure makes: they have the version.
(cd "$source" && find src -name 'version.h.in') | while read -r header; do
    made=$work/${header%.in}
    mkdir -p "$(dirname "$made")"
    sed 's/@[A-Za-z_]*@/1/g' "$source/$header" >"$made"
done
"$cc" -g -fno-eliminate-unused-debug-types -w -D_GNU_SOURCE -I"$work" -I"$work/src" -I"$source/src" \
    -c "$here/ucx.c" -o "$work/layout.o"

name=ucx-$series${assertions:+-assertions}
# Lists of arguments, one a line.
IFS=$newline
# shellcheck disable=SC2086
"$mpi_queues" layouts make "$work/layout.o" --name "$name" --implementation UCX --mpi-version "$version" $fits \
    --source "ucx $version${assertions:+, with assertions}" --source layouts/ucx.c --command "$command" -o "$output"
