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
here=$(cd "$(dirname "$0")" && pwd)
mpi_queues=${MPI_QUEUES:-$here/../.venv/bin/mpi-queues}
cc=${CC:-gcc}

fail() {
    echo "make-ucx.sh: $*" >&2
    exit 1
}

source='' version='' output='' assertions='' fits='' arguments=$*
command=''
newline='
'
while [ $# -gt 0 ]; do
    case $1 in
        --assertions) assertions=1 && shift && continue ;;
        -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" && exit 0 ;;
    esac
    [ $# -gt 1 ] || fail "$1 needs a value; see layouts/make-ucx.sh --help"
    case $1 in
        --source) source=$2 ;;
        --version) version=$2 ;;
        --command) command=$2 ;;
        --fits) fits="$fits--fits$newline$2$newline" ;;
        -o | --output) output=$2 ;;
        *) fail "unknown option $1; see layouts/make-ucx.sh --help" ;;
    esac
    shift 2
done
[ -n "$source" ] && [ -n "$version" ] && [ -n "$output" ] || fail "--source, --version and -o are needed"
[ -f "$source/src/ucp/core/ucp_request.h" ] || fail "$source is no source of UCX: src/ucp/core/ucp_request.h is missing"
series=${version%.*}
[ -n "$fits" ] || fits="--fits$newline$series$newline"

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
[ -n "$command" ] || command="layouts/make-ucx.sh $arguments"
# Lists of arguments, one a line.
IFS=$newline
# shellcheck disable=SC2086
"$mpi_queues" layouts make "$work/layout.o" --name "$name" --implementation UCX --mpi-version "$version" $fits \
    --source "ucx $version${assertions:+, with assertions}" --source layouts/ucx.c --command "$command" -o "$output"
