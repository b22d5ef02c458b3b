#!/bin/sh
# usage: layouts/make-mpich.sh --source DIR --device DEVICE -o FILE [--configure "OPTIONS"] [--build DIR] [--abi]
#                              [--version V] [--name NAME] [--fits PREFIX]... [--sources TEXT]... [--command TEXT] [--build-id HEX]
#
# Makes the layout profile of an MPICH without debug information, from a source tree of the same release. The tree is configured
# in a directory of its own and not built (a minute or two); then one file is compiled for its debug information.
#
#   --source DIR       an unpacked release, or a git checkout in which ./autogen.sh was run; nothing in it is changed
#   --device DEVICE    as the library was configured: "MPICH Device" and "MPICH configure" of its mpichversion
#   --configure "..."  further options that the library was configured with, such as --enable-debuginfo
#   --build DIR        where to configure; a directory that is configured already is used as it is
#   --abi              for the library of the MPI ABI (libmpi_abi.so, since 5.0)
#   --version V        the release, where it is not the one that the tree says
#   --name, --fits ... what is written into the profile; by default from the release and the device
#
# Fortran, hydra and what else no structure depends on are left out. Headers of libfabric and UCX must be installed for their
# devices (Debian: libfabric-dev libucx-dev libhwloc-dev); what lies elsewhere is named with --configure
# "--with-libfabric=DIR --with-ucx=DIR --with-hwloc=DIR".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mpi_queues=${MPI_QUEUES:-$here/../.venv/bin/mpi-queues}
cc=${CC:-gcc}

fail() {
    echo "make-mpich.sh: $*" >&2
    exit 1
}

# An absolute path of $1, whose directory must exist.
absolute() {
    case $1 in
        /*) printf '%s\n' "$1" ;;
        *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

source='' device='' output='' options='' build='' abi='' version='' name='' command='' arguments=$*
set_fits='' set_sources=''
newline='
'
while [ $# -gt 0 ]; do
    case $1 in
        --abi) abi=-abi && shift && continue ;;
        -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" && exit 0 ;;
    esac
    [ $# -gt 1 ] || fail "$1 needs a value; see layouts/make-mpich.sh --help"
    case $1 in
        --source) source=$(absolute "$2") ;;
        --device) device=$2 ;;
        --configure) options=$2 ;;
        --build) build=$(absolute "$2") ;;
        --version) version=$2 ;;
        --name) name=$2 ;;
        --command) command=$2 ;;
        --fits) set_fits="$set_fits--fits$newline$2$newline" ;;
        --build-id) set_sources="$set_sources--build-id$newline$2$newline" ;;
        --sources) set_sources="$set_sources--source$newline$2$newline" ;;
        -o | --output) output=$(absolute "$2") ;;
        *) fail "unknown option $1; see layouts/make-mpich.sh --help" ;;
    esac
    shift 2
done
[ -n "$source" ] || fail "which source? name an unpacked release with --source DIR"
[ -n "$device" ] || fail "which device? name it with --device, such as ch4:ofi (MPICH Device in the output of mpichversion)"
[ -n "$output" ] || fail "where to? name a file with -o FILE"
for tool in "$cc" make sed awk; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing; type: apt-get install gcc make"
done
[ -x "$mpi_queues" ] || mpi_queues=$(command -v mpi-queues) || fail "mpi-queues is missing; type: make build"
[ -d "$source/src/mpid" ] || fail "$source is no source tree of MPICH: it has no src/mpid"
[ -x "$source/configure" ] || fail "$source has no configure, so it is no release but a git checkout; make one there, with\
 autoconf, automake, libtool, m4 and python3 installed: git submodule update --init && ./autogen.sh"

if [ -z "$version" ]; then
    version=$(sed -n 's/^m4_define(\[MPICH_VERSION_m4\],\[\([^]]*\)\]).*/\1/p' "$source/maint/version.m4")
    [ -n "$version" ] || fail "$source/maint/version.m4 does not say the release; name it with --version"
fi
series=$(printf '%s\n' "$version" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
label=$(printf '%s' "$device" | tr -c 'A-Za-z0-9' -)
[ -n "$name" ] || name=mpich-$series-$label$abi
[ -n "$set_fits" ] || set_fits="--fits$newline$version$newline"
[ -n "$set_sources" ] || set_sources="--source$newline${source##*/}$newline"
[ -n "$build" ] || build=$here/../.cache/layouts/mpich-$version-$label

# Only what the structures depend on is configured. $options is a list of words.
if [ ! -e "$build/Makefile" ] || [ ! -e "$build/src/include/mpichconf.h" ]; then
    mkdir -p "$build"
    echo "configuring MPICH $version with $device in $build (a minute or two)" >&2
    # shellcheck disable=SC2086
    (cd "$build" && "$source/configure" --with-device="$device" --with-pm=no --disable-fortran \
        --with-ucx=/usr --with-libfabric=/usr --with-hwloc=/usr --with-hwloc-prefix=/usr $options >mq-configure.log 2>&1) || {
        # Half a configuration is none.
        rm -f "$build/Makefile"
        fail "cannot configure MPICH; see the end of $build/mq-configure.log, which names the header or library that it lacks"
    }
fi

work=$build/mq-layout$abi
mkdir -p "$work"

# The preprocessor's flags of the Makefile in directory $1. Of a copy: make would remake what it reads, and with it configure.
flags_of() {
    cp "$1/Makefile" "$1/mq-flags.mk"
    printf 'include mq-flags.mk\nmq-flags:\n\t@echo $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS)\n' |
        make -s -C "$1" -f - mq-flags || fail "cannot read the flags of $1/Makefile; remove $build and try again"
}

# Compiles $1.c of this directory to $work/$1.o, in the directory $2 with its flags. Every macro whose name matches $3
# and whose value is an integer becomes an enumerator, which the debug information keeps. Which of them have such a value is what
# the compiler says: lines with errors are taken out until there are none.
object() {
    flags="$(flags_of "$2") -I$source"
    [ -z "$abi" ] || flags="-DBUILD_MPI_ABI -I$source/src/binding/abi $flags"
    constants=$work/$1.h
    # Paths in the generated Makefile are relative to it; $flags is a list of words.
    cd "$2"
    # shellcheck disable=SC2086
    "$cc" -w $flags -dM -E "$here/$1.c" >"$work/macros" || fail "cannot read layouts/$1.c with the headers of $source"
    # Left out: parts of declarations, error messages, options of providers of libfabric.
    awk -v names="$3" '$1 == "#define" && NF > 2 && $2 ~ names && $2 ~ /^[A-Z0-9_]+[a-z]?$/ && $2 !~ /_(INCLUDED|H|DECL|FMT|DATATYPE)$/ &&
        $2 !~ /^(MPI_T|MPIR_(ERR|CVAR|T|DBG|FUNC|THREAD)|MPID_(DEV|THREAD)|MPIDI_(NM|SHM|DEV))_/ &&
        $2 !~ /^MPIDI_OFI_(ENABLE|MAX|NUM|SET|COUNTER|FETCH|MAJOR|MINOR)_/ { print "MQ(" $2 ")" }' "$work/macros" |
        LC_ALL=C sort -u >"$constants"
    for round in 1 2 3 4 5; do
        # Errors inside a macro are to be reported at its use.
        # shellcheck disable=SC2086
        "$cc" -w $flags -fsyntax-only -fmax-errors=0 -ftrack-macro-expansion=0 -DMQ_CONSTANTS="\"$constants\"" "$here/$1.c" \
            2>"$work/errors" && break
        sed -n "s|^$constants:\([0-9]*\):.*error:.*|\1|p" "$work/errors" | sort -un >"$work/bad"
        [ -s "$work/bad" ] && [ "$round" -lt 5 ] || fail "cannot compile layouts/$1.c with the headers of $source; see $work/errors"
        awk 'NR == FNR { bad[$1]; next } !(FNR in bad)' "$work/bad" "$constants" >"$work/good"
        mv "$work/good" "$constants"
    done
    # shellcheck disable=SC2086
    "$cc" -w $flags -g -fno-eliminate-unused-debug-types -DMQ_CONSTANTS="\"$constants\"" -c "$here/$1.c" -o "$work/$1.o" ||
        fail "cannot compile layouts/$1.c with the headers of $source"
}

set_objects=''
(object mpich "$build" '^(MPIX?|MPI[RID]|MPII|MPIDIG?|MPIDU|MPICH|HANDLE|REQUEST)_')
# MPI-IO has flags of its own, and may have been left out.
if [ -e "$build/src/mpi/romio/Makefile" ]; then
    (object mpich-io "$build/src/mpi/romio" '^ADIO_')
    set_objects=$work/mpich-io.o$newline
fi

# The lists of options have one word a line, which may contain spaces.
IFS=$newline
# shellcheck disable=SC2086
"$mpi_queues" layouts make "$work/mpich.o" $set_objects --name "$name" --implementation MPICH --mpi-version "$version" --device "$device" \
    $set_fits $set_sources --command "${command:-layouts/make-mpich.sh $arguments}" -o "$output"
