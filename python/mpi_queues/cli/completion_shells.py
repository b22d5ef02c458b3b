"""Scripts for shells. Each goes through the words before the cursor by the tables, and offers what may stand there."""

from __future__ import annotations

from typing import Callable, Dict, Iterator, List, Sequence, Tuple

from .completion_tables import Tables

#: What stands for files, directories and jobs in the scripts' tables; files of a kind stand there as ``<*.mpirec>``. No
#: value is called so.
_FILES, _DIRECTORIES, _JOBS = "<files>", "<directories>", "<jobs>"


def _quoted(text: str) -> str:
    """In single quotes, for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _key(place: Tuple[str, str]) -> str:
    """A command and an option of it as one word of a table."""
    return ":".join(place)


def _values(tables: Tables) -> Iterator[Tuple[List[str], List[str]]]:
    """The places that have the same values, and these."""
    for values, places in tables.by_values().items():
        marks = {_FILES: values.files, _DIRECTORIES: values.directories, _JOBS: values.jobs}
        words = [*values.words, *(mark for mark, stands in marks.items() if stands)]
        yield [_key(place) for place in places], [*words, *(f"<{pattern}>" for pattern in values.patterns)]


def _cases(rows: Sequence[Tuple[List[str], str]], indent: str = "        ") -> str:
    """Branches of a ``case`` of bash and zsh."""
    return "".join(f"{indent}{'|'.join(map(_quoted, keys))}) {does} ;;\n" for keys, does in rows)


_BASH = """\
# Completion of mpi-queues for bash: eval "$(mpi-queues completion bash)"
_mpi_queues_values() {
    case $1 in
@VALUES@        *) return 1 ;;
    esac
}
_mpi_queues_commands() {
    case $1 in
@COMMANDS@    esac
}
_mpi_queues_options() {
    case $1 in
@OPTIONS@    esac
}
_mpi_queues_jobs() {
    local job
    while IFS=$'\\t' read -r job _; do
        [[ $job != "$1$2"* ]] || echo "${job#"$1"}"
    done < <(command mpi-queues completion --jobs 2>/dev/null)
}
_mpi_queues_files() {
    local file
    while IFS= read -r file; do
        # What stands in the table is a pattern.
        # shellcheck disable=SC2053
        [[ ! -d $file && ${file##*/} != $1 ]] || echo "$file"
    done < <(compgen -f -- "$2")
}
_mpi_queues() {
    local path='' option='' word current=${COMP_WORDS[COMP_CWORD]} found='' number last=$COMP_CWORD before=''
    local -a marks
    COMPREPLY=()
    # slurm:42 is three words, and the last of them is completed.
    if [[ $current == ':' ]]; then
        before="${COMP_WORDS[COMP_CWORD - 1]}:" current='' last=$((COMP_CWORD - 1))
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == ':' ]]; then
        before="${COMP_WORDS[COMP_CWORD - 2]}:" last=$((COMP_CWORD - 2))
    fi
    for ((number = 1; number < last; number++)); do
        word=${COMP_WORDS[number]}
        if [[ -n $option ]]; then
            # --format=json is three words.
            [[ $word == '=' ]] || option=''
        elif [[ $word == -* ]]; then
            ! _mpi_queues_values "$path:$word" >/dev/null || option=$word
        elif [[ " $(_mpi_queues_commands "$path") " == *" $word "* ]]; then
            path="${path:+$path }$word"
        fi
    done
    [[ $current != '=' ]] || current=''
    if [[ -n $option ]]; then
        found=$(_mpi_queues_values "$path:$option")
    elif [[ $current == -* ]]; then
        found=$(_mpi_queues_options "$path")
    else
        found="$(_mpi_queues_commands "$path") $(_mpi_queues_values "$path:")"
    fi
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(
        [[ -n $before ]] || compgen -W "${found//<*>/}" -- "$current"
        [[ $found != *'<files>'* ]] || compgen -f -- "$current"
        [[ $found != *'<directories>'* ]] || compgen -d -- "$current"
        [[ $found != *'<jobs>'* ]] || _mpi_queues_jobs "$before" "$current"
    )
    read -ra marks <<<"$found"
    for word in "${marks[@]}"; do
        [[ $word == '<'*'*'*'>' ]] || continue
        while IFS= read -r number; do
            [[ " ${COMPREPLY[*]} " == *" $number "* ]] || COMPREPLY+=("$number")
        done < <(_mpi_queues_files "${word:1:-1}" "$current")
    done
    # Files may be called otherwise.
    if [[ ${#COMPREPLY[@]} == 0 && $found == *'*'* ]]; then
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -f -- "$current")
    fi
    # What names a file gets quotes and slashes, and a value that goes on no blank.
    [[ $found != *'<'* || " ${COMPREPLY[*]}" =~ \\ (slurm|flux|pbs|lsf): ]] || compopt -o filenames 2>/dev/null
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _mpi_queues mpi-queues
"""


def bash(tables: Tables) -> str:
    """The script for bash 4 and later."""

    def echo(words: Sequence[str]) -> str:
        return f"echo {_quoted(' '.join(words))}"

    return (
        _BASH.replace("@VALUES@", _cases([(keys, echo(words)) for keys, words in _values(tables)]))
        .replace("@COMMANDS@", _cases([([path], echo([n for n, _ in rows])) for path, rows in tables.commands.items()]))
        .replace("@OPTIONS@", _cases([([path], echo([n for n, _ in rows])) for path, rows in tables.options.items()]))
    )


_ZSH = """\
#compdef mpi-queues
# Completion of mpi-queues for zsh: mpi-queues completion zsh > ~/.zfunc/_mpi-queues
_mpi_queues_values() {
    case $1 in
@VALUES@        *) return 1 ;;
    esac
}
_mpi_queues_commands() {
    case $1 in
@COMMANDS@    esac
}
_mpi_queues_options() {
    case $1 in
@OPTIONS@    esac
}
_mpi_queues_jobs() {
    local -a jobs
    jobs=(${(f)"$(command mpi-queues completion --jobs 2>/dev/null)"})
    jobs=("${(@)jobs//:/\\\\:}")
    jobs=("${(@)jobs/$'\\t'/:}")
    (( ! $#jobs )) || _describe job jobs
}
_mpi_queues() {
    local path_of_command='' option='' word number
    local -a reply patterns
    for ((number = 2; number < CURRENT; number++)); do
        word=$words[number]
        if [[ -n $option ]]; then
            option=''
        elif [[ $word == -* ]]; then
            reply=()
            ! _mpi_queues_values "$path_of_command:$word" || option=$word
        else
            reply=()
            _mpi_queues_commands "$path_of_command"
            [[ -z ${(M)reply:#$word:*} ]] || path_of_command="${path_of_command:+$path_of_command }$word"
        fi
    done
    reply=()
    if [[ -z $option && $PREFIX == --*=* ]]; then
        option=${PREFIX%%=*}
        compset -P '*='
    fi
    if [[ -n $option ]]; then
        _mpi_queues_values "$path_of_command:$option"
    elif [[ $PREFIX == -* ]]; then
        _mpi_queues_options "$path_of_command"
        _describe option reply
        return
    else
        _mpi_queues_commands "$path_of_command"
        (( ! $#reply )) || _describe command reply
        reply=()
        _mpi_queues_values "$path_of_command:"
    fi
    [[ -z ${(M)reply:#'<files>'} ]] || _files
    [[ -z ${(M)reply:#'<directories>'} ]] || _files -/
    [[ -z ${(M)reply:#'<jobs>'} ]] || _mpi_queues_jobs
    patterns=(${${(M)reply:#'<'*'*'*'>'}//[<>]/})
    (( ! $#patterns )) || _files -g "${(j: :)patterns}"
    reply=(${reply:#<*>})
    (( ! $#reply )) || compadd -a reply
}
# Loaded from $fpath it is called; by eval it is made known.
if [[ $funcstack[1] == _mpi-queues ]]; then
    _mpi_queues "$@"
else
    compdef _mpi_queues mpi-queues
fi
"""


def zsh(tables: Tables) -> str:
    """The script for zsh."""

    def reply(words: Sequence[str]) -> str:
        return f"reply=({' '.join(map(_quoted, words))})"

    def described(rows: Sequence[Tuple[str, str]]) -> str:
        return reply([f"{name}:{said}" for name, said in rows])

    return (
        _ZSH.replace("@VALUES@", _cases([(keys, reply(words)) for keys, words in _values(tables)]))
        .replace("@COMMANDS@", _cases([([path], described(rows)) for path, rows in tables.commands.items()]))
        .replace("@OPTIONS@", _cases([([path], described(rows)) for path, rows in tables.options.items()]))
    )


_FISH = """\
# Completion of mpi-queues for fish: mpi-queues completion fish > ~/.config/fish/completions/mpi-queues.fish
function __mpi_queues_values
    switch $argv[1]
@VALUES@        case '*'
            return 1
    end
end
function __mpi_queues_commands
    switch $argv[1]
@COMMANDS@    end
end
function __mpi_queues_options
    switch $argv[1]
@OPTIONS@    end
end
function __mpi_queues_files
    set -l others
    set -l fitting
    test (count $argv) -gt 1; or return
    for path in (__fish_complete_path $argv[1])
        set -l name (string split -m 1 \\t -- $path)[1]
        set -l is_fitting (string match -q -- '*/' $name; and echo yes)
        for kind in $argv[2..-1]
            string match -q -- $kind (string replace -r '.*/' '' -- $name); and set is_fitting yes
        end
        test -n "$is_fitting"; and set fitting $fitting $path; or set others $others $path
    end
    # Files may be called otherwise.
    test (count $fitting) -gt 0; or set fitting $others
    test (count $fitting) -eq 0; or printf '%s\\n' $fitting
end
function __mpi_queues
    set -l path ''
    set -l option ''
    set -l current (commandline -ct)
    set -l before ''
    for word in (commandline -opc)[2..-1]
        if test -n "$option"
            set option ''
        else if string match -q -- '-*' $word
            __mpi_queues_values "$path:$word" >/dev/null; and set option $word
        else if string match -q -- "$word"\\t'*' (__mpi_queues_commands "$path")
            set path (string trim "$path $word")
        end
    end
    if test -z "$option"; and string match -q -- '--*=*' $current
        set -l parts (string split -m 1 = -- $current)
        set option $parts[1]
        set before "$option="
        set current $parts[2]
    end
    set -l found
    if test -n "$option"
        set found (__mpi_queues_values "$path:$option")
    else if string match -q -- '-*' $current
        __mpi_queues_options "$path"
        return
    else
        __mpi_queues_commands "$path"
        set found (__mpi_queues_values "$path:")
    end
    set -l kinds
    for word in $found
        switch $word
            case '<jobs>'
                for job in (command mpi-queues completion --jobs 2>/dev/null)
                    echo "$before$job"
                end
            case '<files>'
                printf "$before%s\\n" (__fish_complete_path $current)
            case '<directories>'
                printf "$before%s\\n" (__fish_complete_directories $current '')
            case '<*>'
                set kinds $kinds (string trim -c '<>' -- $word)
            case '*'
                echo "$before$word"
        end
    end
    __mpi_queues_files "$current" $kinds | while read -l path
        echo "$before$path"
    end
end
complete -c mpi-queues -f -a '(__mpi_queues)'
"""


def fish(tables: Tables) -> str:
    """The script for fish 3 and later."""

    def rows(cases: Sequence[Tuple[List[str], Sequence[str]]]) -> str:
        lines = []
        for keys, words in cases:
            lines.append(f"        case {' '.join(map(_quoted_for_fish, keys))}")
            if words:
                lines.append(f"            printf '%s\\n' {' '.join(map(_quoted_for_fish, words))}")
        return "".join(f"{line}\n" for line in lines)

    def described(table: Dict[str, List[Tuple[str, str]]]) -> str:
        return rows([([path], [f"{name}\t{said}" for name, said in found]) for path, found in table.items()])

    return (
        _FISH.replace("@VALUES@", rows(list(_values(tables))))
        .replace("@COMMANDS@", described(tables.commands))
        .replace("@OPTIONS@", described(tables.options))
    )


SHELLS: Dict[str, Callable[[Tables], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
