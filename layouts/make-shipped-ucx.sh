#!/bin/sh
# usage: layouts/make-shipped-ucx.sh
#
# Makes the shipped layout profiles of UCX anew, layouts/ucx-*.json, with make-ucx.sh: of each release as it is built by default
# for users and with assertions (Debian's). The sources are taken from $UCX_SOURCES/ucx-VERSION, an unpacked release
# (.cache/layouts/sources, where the variable is not set); where that is missing, the profile stays as it is.
set -eu
cd "$(dirname "$0")/.."

sources=${UCX_SOURCES:-$PWD/.cache/layouts/sources}

# Makes both profiles of one release: $1 version, the rest the series that have the same structures.
ucx() {
    version=$1 series=${1%.*}
    shift
    if [ ! -d "$sources/ucx-$version" ]; then
        echo "layouts/ucx-$series*.json: left as they are; to make them, unpack UCX $version as $sources/ucx-$version" \
            "(or name the directory: UCX_SOURCES=DIR)" >&2
        return 0
    fi
    fits=''
    for one; do fits="$fits --fits $one"; done
    # shellcheck disable=SC2086
    layouts/make-ucx.sh --source "$sources/ucx-$version" --version "$version" $fits --command 'make layouts' \
        -o "layouts/ucx-$series.json"
    # shellcheck disable=SC2086
    layouts/make-ucx.sh --source "$sources/ucx-$version" --version "$version" $fits --command 'make layouts' --assertions \
        -o "layouts/ucx-$series-assertions.json"
}

ucx 1.13.1 1.13 1.14 1.15
ucx 1.18.1 1.16 1.17 1.18
ucx 1.19.1 1.19
ucx 1.20.1 1.20
