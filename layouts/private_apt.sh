# Sourced by scripts that fetch packages and source packages of one Debian suite: apt with lists, cache and sources of our own
# below $cache. Nothing is installed, and nothing of the system's apt is changed. Needs a directory in $cache, a Python in
# $python, and the project's directory as the current one.

# apt-get for the suite $1; the rest are its arguments.
private_apt() {
    root=$cache/apt-$1
    shift
    apt-get -qq \
        -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$root/sources.d" \
        -o Dir::State::Lists="$root/lists" -o Dir::Cache="$root/cache" -o Dir::State::status="$root/status" \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@"
}

# Makes that apt know what the suite $1 has.
update_private_apt() {
    mkdir -p "$cache/apt-$1/sources.d" "$cache/apt-$1/lists/partial" "$cache/apt-$1/cache/archives/partial"
    # What is installed here does not matter: as if nothing were.
    : >"$cache/apt-$1/status"
    "$python" layouts/debian_sources.py "$1" >"$cache/apt-$1/sources.d/debian.sources"
    private_apt "$1" update
}

# Fetches the source package $2 of the suite $1 (in the version $3) into the directory $4 and unpacks it into $4/source.
fetch_source() {
    mkdir -p "$4"
    (cd "$4" && private_apt "$1" source --download-only "$2=$3") || return 1
    # apt has checked the files against the signed index. An epoch is no part of the name of a file.
    dpkg-source --no-check -x "$4/${2}_${3#*:}.dsc" "$4/source" >"$4/unpack.log" 2>&1 || {
        echo "cannot unpack the source package $2 $3; see $4/unpack.log" >&2
        return 1
    }
}
