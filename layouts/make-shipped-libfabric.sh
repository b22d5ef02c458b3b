#!/bin/sh
# usage: layouts/make-shipped-libfabric.sh
#
# Makes the shipped layout profiles of libfabric anew, layouts/libfabric-*.json, with make-libfabric.sh. The sources are taken from
# $LIBFABRIC_SOURCES/libfabric-VERSION, an unpacked release, and the headers for its provider cxi from $LIBFABRIC_SOURCES/cxi
# (.cache/layouts/sources, where the variable is not set); where those are missing, the profile stays as it is.
set -eu
cd "$(dirname "$0")/.."

sources=${LIBFABRIC_SOURCES:-$PWD/.cache/layouts/sources}

# Makes the profile of one release: $1 version, the rest beginnings of the releases that have the same structures.
libfabric() {
    version=$1 series=${1%.*}
    shift
    if [ ! -d "$sources/libfabric-$version" ] || [ ! -d "$sources/cxi" ]; then
        echo "layouts/libfabric-$series.json: left as it is; to make it, unpack libfabric $version as" \
            "$sources/libfabric-$version and its headers for cxi in $sources/cxi (or name the directory:" \
            "LIBFABRIC_SOURCES=DIR)" >&2
        return 0
    fi
    fits=''
    for one; do fits="$fits --fits $one"; done
    # shellcheck disable=SC2086
    layouts/make-libfabric.sh --source "$sources/libfabric-$version" --version "$version" --cxi "$sources/cxi" $fits \
        --command 'make layouts' -o "layouts/libfabric-$series.json"
}

libfabric 1.15.2 1.15
libfabric 1.17.1 1.17
libfabric 1.18.2 1.18.2 1.18.3
libfabric 1.19.1 1.19
libfabric 1.20.1 1.20
libfabric 1.22.0 1.21 1.22
libfabric 2.0.0 2.0
libfabric 2.1.0 2.1
libfabric 2.2.0 2.2
libfabric 2.3.1 2.3
libfabric 2.4.0 2.4
libfabric 2.5.1 2.5
libfabric 2.6.0 2.6
