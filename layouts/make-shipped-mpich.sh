#!/bin/sh
# usage: layouts/make-shipped-mpich.sh [NAME...]
#
# Makes the shipped layout profiles of MPICH anew, layouts/NAME.json (all without an argument): with make-mpich.sh, from the source of
# a release that is configured as the library was. Debian's release is fetched as make-shipped.sh fetches Open MPI's.
# Others are taken from $MPICH_SOURCES/mpich-VERSION, an unpacked release (.cache/layouts/sources, where the variable is
# not set); where that is missing, the profile stays as it is. The same sources always give the same bytes.
set -eu
cd "$(dirname "$0")/.."

cache=$PWD/.cache/layouts
python=${PYTHON:-python3}

fail() {
    echo "make-shipped-mpich.sh: $*" >&2
    exit 1
}

for tool in apt-get dpkg dpkg-source gcc make readelf "$python"; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing; type: apt-get install dpkg-dev gcc make python3"
done
[ "$(dpkg --print-architecture)" = amd64 ] || fail "the shipped profiles are those of amd64; this is $(dpkg --print-architecture)"

. layouts/private_apt.sh

# Fetches and unpacks Debian's release, once, into $work.
fetch_debian() {
    work=$cache/bookworm-mpich-4.0.2-3
    [ ! -e "$work/complete" ] || return 0
    echo "fetching mpich 4.0.2-3 of Debian bookworm" >&2
    rm -rf "$work"
    mkdir -p "$work/download"
    update_private_apt bookworm
    (cd "$work/download" && private_apt bookworm download libmpich12=4.0.2-3+b1)
    fetch_source bookworm mpich 4.0.2-3 "$work/download"
    mv "$work/download/source" "$work/source"
    dpkg -x "$work"/download/libmpich12_*.deb "$work/packages"
    touch "$work/complete"
}

# The build-id of the library $1.
build_id_of() {
    readelf -n "$1" | sed -n 's/.*Build ID: \([0-9a-f]*\).*/\1/p'
}

# Makes $1 the shipped profile of its name, where it differs.
ship() {
    shipped=layouts/$(basename "$1")
    if cmp -s "$1" "$shipped"; then
        echo "$shipped: unchanged" >&2
    else
        cp "$1" "$shipped"
        echo "$shipped: written anew" >&2
    fi
}

# Makes a profile of MPICH: $1 name, $2 release, $3 device, $4 source tree, $5 what that is, the rest options of make-mpich.sh.
mpich() {
    profile=$1 release=$2 device=$3 tree=$4 origin=$5
    shift 5
    layouts/make-mpich.sh --source "$tree" --version "$release" --device "$device" --name "$profile" --fits "${release%.*}" \
        --sources "$origin" --sources layouts/mpich.c --sources layouts/mpich-io.c --command "make layouts" \
        --build "$cache/mpich-$release-$(printf '%s' "$device" | tr -c 'A-Za-z0-9' -)" -o "$cache/$profile.json" "$@"
    ship "$cache/$profile.json"
}

# Makes a profile of a release of MPICH that Debian does not have: $1 name, $2 release, the rest options of make-mpich.sh.
mpich_release() {
    profile=$1 release=$2
    shift 2
    tree=${MPICH_SOURCES:-$cache/sources}/mpich-$release
    if [ ! -d "$tree" ]; then
        echo "layouts/$profile.json: left as it is; to make it, unpack MPICH $release as $tree (or name the directory: MPICH_SOURCES=DIR)" >&2
        return 0
    fi
    mpich "$profile" "$release" "$(device_of "$profile")" "$tree" "MPICH $release (pmodels/mpich, v$release)" "$@"
}

# The device that a profile's name has: mpich-5.0-ch4-ucx-ofi-abi is of ch4:ucx,ofi. One that ends in -ucc is of a library with
# UCC's collectives (Debian's since 5.0), which communicators have a member for.
device_of() {
    printf '%s' "$1" | sed 's/^mpich-[0-9.]*-//; s/-abi$//; s/-ucc$//; s/-/:/; s/-/,/g'
}

[ $# -gt 0 ] || set -- mpich-3.4-ch3-nemesis mpich-3.4-ch4-ofi-ucx \
    mpich-4.0-ch3-nemesis mpich-4.0-ch3-nemesis-debuginfo mpich-4.0-ch4-ofi mpich-4.0-ch4-ofi-ucx mpich-4.0-ch4-ucx \
    mpich-4.1-ch3-nemesis mpich-4.1-ch4-ofi mpich-4.1-ch4-ofi-ucx mpich-4.1-ch4-ucx \
    mpich-4.2-ch3-nemesis mpich-4.2-ch4-ofi mpich-4.2-ch4-ofi-ucx mpich-4.2-ch4-ucx \
    mpich-4.3-ch3-nemesis mpich-4.3-ch4-ofi mpich-4.3-ch4-ucx mpich-4.3-ch4-ucx-ofi \
    mpich-5.0-ch3-nemesis mpich-5.0-ch4-ofi mpich-5.0-ch4-ucx mpich-5.0-ch4-ucx-ofi mpich-5.0-ch4-ucx-ofi-abi mpich-5.0-ch4-ucx-ucc
for name; do
    case $name in
        mpich-4.0-ch4-ucx | mpich-4.0-ch4-ofi | mpich-4.0-ch3-nemesis)
            fetch_debian
            set_id=''
            # Debian's own library has this device.
            [ "$name" != mpich-4.0-ch4-ucx ] || set_id="--build-id $(build_id_of "$work/packages/usr/lib/x86_64-linux-gnu/libmpich.so.12")"
            # shellcheck disable=SC2086
            mpich "$name" 4.0.2 "$(device_of "$name")" "$work/source" "mpich 4.0.2-3, source package of Debian bookworm" $set_id
            ;;
        mpich-4.0-ch3-nemesis-debuginfo)
            fetch_debian
            mpich "$name" 4.0.2 ch3:nemesis "$work/source" "mpich 4.0.2-3, source package of Debian bookworm" \
                --build "$cache/mpich-4.0.2-ch3-nemesis-debuginfo" --configure "--enable-debuginfo --disable-cxx"
            ;;
        mpich-3.4-*) mpich_release "$name" 3.4.3 ;;
        mpich-4.0-*) mpich_release "$name" 4.0.3 ;;
        mpich-4.1-*) mpich_release "$name" 4.1.3 ;;
        mpich-4.2-*) mpich_release "$name" 4.2.3 ;;
        mpich-4.3-*) mpich_release "$name" 4.3.2 ;;
        mpich-5.0-*-abi) mpich_release "$name" 5.0.1 --configure --enable-mpi-abi --abi ;;
        mpich-5.0-*-ucc)
            # UCC's headers (libucc-dev) are enough, also where they are not installed: C_INCLUDE_PATH=DIR.
            mpich_release "$name" 5.0.1 --configure "--enable-mpi-abi CPPFLAGS=-DHAVE_UCC" --build "$cache/mpich-5.0.1-ch4-ucx-ucc"
            ;;
        mpich-5.0-*) mpich_release "$name" 5.0.1 --configure --enable-mpi-abi ;;
        *) fail "no recipe for $name; the shipped profiles are in: mpi-queues layouts list" ;;
    esac
done
