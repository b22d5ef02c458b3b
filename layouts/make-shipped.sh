#!/bin/sh
# usage: layouts/make-shipped.sh [4.1.0] [4.1] [5.0] [6.0]
#
# Makes the shipped layout profiles anew: layouts/openmpi-4.1.json and layouts/openmpi-5.0.json without an argument.
# 4.1.0 and 6.0 are made where they are asked for: Debian's archive has no sources of 4.1.0 any more, and release candidates of
# 6.0 are in sid only, where packages come and go.
#
# Each comes from Debian's package and source package of one release: the generated opal_config.h of the package, the
# headers of the source, and our own layouts/openmpi-*.c that includes them. Packages are fetched through an apt root of our
# own under .cache/layouts and unpacked there; nothing is installed and nothing of the system's apt is changed. The
# result depends only on the packages: a second run gives the same bytes.
set -eu
cd "$(dirname "$0")/.."

cache=$PWD/.cache/layouts
mpi_queues=${MPI_QUEUES:-$PWD/.venv/bin/mpi-queues}
python=${PYTHON:-python3}

fail() {
    echo "make-shipped.sh: $*" >&2
    exit 1
}

for tool in apt-get dpkg dpkg-source gcc readelf "$python"; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing; type: apt-get install dpkg-dev gcc python3"
done
[ -x "$mpi_queues" ] || fail "$mpi_queues is missing; type: make build"
[ "$(dpkg --print-architecture)" = amd64 ] || fail "the shipped profiles are those of amd64; this is $(dpkg --print-architecture)"

. layouts/private_apt.sh

# The tree of open-mpi/ompi from which the private headers of 6.0 are taken (branch v6.0.x): the archive keeps no sources
# of release candidates. OPENMPI_SOURCE is a directory with it.
commit_6_0=bb1c85d203cdb7162f0cd92f71f7298048cd9581

# Fetches and unpacks, once: $1 suite, $2 version of the source package, the rest packages. A package without a version is
# taken as the suite has it: only headers of other projects, which no wanted structure contains.
fetch() {
    suite=$1 version=$2
    shift 2
    work=$cache/$suite-$version
    [ ! -e "$work/complete" ] || return 0
    echo "fetching openmpi $version of Debian $suite" >&2
    rm -rf "$work"
    mkdir -p "$work/download" "$work/packages"
    update_private_apt "$suite"
    (cd "$work/download" && private_apt "$suite" download "$@")
    if [ "$suite" = sid ] || [ "$suite" = bullseye ]; then
        ln -sfn "$(cd "$OPENMPI_SOURCE" && pwd)" "$work/source"
    else
        fetch_source "$suite" openmpi "$version" "$work/download"
        mv "$work/download/source" "$work/source"
    fi
    for package in "$work"/download/*.deb; do
        dpkg -x "$package" "$work/packages"
    done
    touch "$work/complete"
}

# Makes one profile: $1 series, $2 suite, $3 version of the source package, $4 the library, for its build-id, $5 versions
# that it may fit, $6 where the source is from, $7 which of layouts/openmpi-*.c, where it is not that of the series.
make_profile() {
    series=$1 suite=$2 version=$3 library=$4 fits=$5 source=$6 unit=layouts/openmpi-${7:-$1}.c
    work=$cache/$suite-$version
    lib=$work/packages/usr/lib/x86_64-linux-gnu
    # A header of 5.0 names this one by its place in a tree that was configured.
    mkdir -p "$work/generated/opal/include"
    ln -sf "$lib/openmpi/include/openmpi/opal_config.h" "$work/generated/opal/include/opal_config.h"
    # Why this order: the generated headers of the build must hide those of the source, the source has the private ones.
    gcc -g -fno-eliminate-unused-debug-types -w -I"$lib/openmpi/include" -I"$lib/openmpi/include/openmpi" \
        -I"$work/generated" -I"$work/source" -I"$work/source/opal/include" -I"$work/source/ompi/include" \
        -I"$work/source/orte/include" \
        -I"$lib/pmix2/include" -I"$work/packages/usr/include" -I"$work/packages/usr/include/x86_64-linux-gnu" \
        -c "$unit" -o "$work/layout.o"
    package=$(dpkg-deb --show --showformat '${Package} ${Version}' "$work"/download/libopenmpi-dev_*.deb)
    build_id=$(readelf -n "$lib/$library" | sed -n 's/.*Build ID: \([0-9a-f]*\).*/\1/p')
    "$mpi_queues" layouts make "$work/layout.o" \
        --name "openmpi-$series" --implementation "Open MPI" --mpi-version "${version%-*}" --fits "$fits" \
        --source "$source" \
        --source "$package, package of Debian $suite" \
        --source "$unit" \
        --command "make layouts" --build-id "$build_id" -o "$work/openmpi-$series.json"
    if cmp -s "$work/openmpi-$series.json" "layouts/openmpi-$series.json"; then
        echo "layouts/openmpi-$series.json: unchanged" >&2
    else
        cp "$work/openmpi-$series.json" "layouts/openmpi-$series.json"
        echo "layouts/openmpi-$series.json: written anew" >&2
    fi
}

[ $# -gt 0 ] || set -- 4.1 5.0
for series; do
    case $series in
        4.1.0)
            [ -d "${OPENMPI_SOURCE:-}/ompi" ] || fail "set OPENMPI_SOURCE to a tree of open-mpi/ompi at v4.1.0"
            fetch bullseye 4.1.0-10 libopenmpi-dev=4.1.0-10 libopenmpi3=4.1.0-10 libhwloc-dev libevent-dev libucx-dev libfabric-dev
            make_profile 4.1.0 bullseye 4.1.0-10 libmpi.so.40 4.1.0 "open-mpi/ompi, tag v4.1.0" 4.1
            ;;
        4.1)
            fetch bookworm 4.1.4-3 libopenmpi-dev=4.1.4-3+b1 libopenmpi3=4.1.4-3+b1 libhwloc-dev libevent-dev libucx-dev \
                libfabric-dev
            make_profile 4.1 bookworm 4.1.4-3 libmpi.so.40 4.1 "openmpi 4.1.4-3, source package of Debian bookworm"
            ;;
        5.0)
            fetch trixie 5.0.7-1 libopenmpi-dev=5.0.7-1 libopenmpi40=5.0.7-1 libpmix-dev libhwloc-dev libevent-dev \
                libucx-dev libfabric-dev
            make_profile 5.0 trixie 5.0.7-1 libmpi.so.40 5.0 "openmpi 5.0.7-1, source package of Debian trixie"
            ;;
        6.0)
            [ -d "${OPENMPI_SOURCE:-}/ompi" ] ||
                fail "set OPENMPI_SOURCE to a tree of open-mpi/ompi at $commit_6_0 (branch v6.0.x)"
            fetch sid '6.0.0~rc2-2' 'libopenmpi-dev=6.0.0~rc2-2' 'libopenmpi40=6.0.0~rc2-2' libpmix-dev libhwloc-dev libevent-dev \
                libucx-dev libfabric-dev
            # A later candidate can have other fields of the same size: no version that was not looked at.
            make_profile 6.0 sid '6.0.0~rc2-2' libopen_mpi.so.40 6.0.0 "open-mpi/ompi, branch v6.0.x at $commit_6_0"
            ;;
        *) fail "no recipe for $series (there are 4.1.0, 4.1, 5.0 and 6.0)" ;;
    esac
done
