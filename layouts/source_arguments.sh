# Read by make-libfabric.sh and make-ucx.sh, which make a profile from the source of a network library: what they are given.
#
# Before it the script sets `needed` (a file that such a source has) and `library` (its name), and defines own_option, which is
# shown an option and its value and returns 1 for one that is none of the script's; an option without a value stands in
# `own_switches`. Afterwards are set: source, version, output, series, command, and fits: lists of arguments, one a line.
here=$(cd "$(dirname "$0")" && pwd)
mpi_queues=${MPI_QUEUES:-$here/../.venv/bin/mpi-queues}
cc=${CC:-gcc}
script=$(basename "$0")

fail() {
    echo "$script: $*" >&2
    exit 1
}

source='' version='' output='' fits='' command="layouts/$script $*"
newline='
'
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" && exit 0 ;;
    esac
    case " $own_switches " in
        *" $1 "*) own_option "$1" '' && shift && continue ;;
    esac
    [ $# -gt 1 ] || fail "$1 needs a value; see layouts/$script --help"
    case $1 in
        --source) source=$2 ;;
        --version) version=$2 ;;
        --command) command=$2 ;;
        --fits) fits="$fits--fits$newline$2$newline" ;;
        -o | --output) output=$2 ;;
        *) own_option "$1" "$2" || fail "unknown option $1; see layouts/$script --help" ;;
    esac
    shift 2
done
[ -n "$source" ] && [ -n "$version" ] && [ -n "$output" ] || fail "--source, --version and -o are needed"
[ -f "$source/$needed" ] || fail "$source is no source of $library: $needed is missing"
series=${version%.*}
[ -n "$fits" ] || fits="--fits$newline$series$newline"
