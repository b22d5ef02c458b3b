"""Options and words of a debugger command: ``-name VALUE``, ``--name=VALUE``, quoting as in a shell."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from ..errors import UsageError

#: An option at the beginning of a text; what an expression of C or Fortran begins with is none.
_LEADING = re.compile(r"--?([A-Za-z][A-Za-z-]*)(=\S*)?(?:\s+|\Z)")


@dataclass(frozen=True)
class Option:
    """One option. Without ``value`` (the word that stands for it in the help) it is a switch."""

    name: str
    help: str
    value: Optional[str] = None
    choices: Tuple[str, ...] = ()
    #: A prefix that a value may also start with, where ``choices`` is not all (``plugin=PATH``).
    also: Optional[str] = None
    #: One letter, for debuggers whose options have one.
    short: str = ""

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"-{self.name} {self.value}" if self.value else f"-{self.name}"


@dataclass
class Arguments:
    """What was typed after a command."""

    values: Dict[str, str] = field(default_factory=dict)
    switches: Dict[str, bool] = field(default_factory=dict)
    words: List[str] = field(default_factory=list)

    def get(self, name: str) -> Optional[str]:
        """The value of an option, None where it was not given."""
        return self.values.get(name)

    def has(self, name: str) -> bool:
        """Whether a switch was given."""
        return self.switches.get(name, False)


def parse(text: str, options: Sequence[Option], *, words: int, command: str) -> Arguments:
    """Takes apart what was typed after ``command``; at most ``words`` plain words.

    Raises:
        UsageError: with the options there are.
    """
    help_line = f"type: help {command}"
    try:
        tokens = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{command}: {str(error).lower()} in: {text}", help=help_line) from None
    known = {option.name: option for option in options}
    found = Arguments()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == "--":
            found.words += tokens[at:]
            break
        if len(token) < 2 or not token.startswith("-"):
            found.words.append(token)
            continue
        name, equals, value = token.lstrip("-").partition("=")
        option = _option(name, known, command, help_line)
        if option.value is None:
            if equals:
                raise UsageError(f"{command}: -{option.name} takes no value", help=help_line)
            found.switches[option.name] = True
            continue
        if not equals:
            if at == len(tokens):
                raise UsageError(f"{command}: -{option.name} needs a value: {option.usage}", help=help_line)
            value = tokens[at]
            at += 1
        found.values[option.name] = value
    return checked(found, options, words=words, command=command)


def leading(text: str, options: Sequence[Option], *, command: str) -> Tuple[Arguments, str]:
    """Takes the options, of which values are single words, off the beginning of ``text``; the rest is as it was typed.

    Raises:
        UsageError: with the options there are.
    """
    known = {option.name: option for option in options}
    typed: List[str] = []
    rest = text.strip()
    match = _LEADING.match(rest)
    while match is not None:
        typed.append(match[0])
        rest = rest[match.end() :]
        if _option(match[1], known, command, f"type: help {command}").value is not None and match[2] is None:
            value, _, rest = rest.partition(" ")
            typed.append(value)
        rest = rest.lstrip()
        match = _LEADING.match(rest)
    if rest == "--" or rest.startswith("-- "):
        rest = rest[2:].lstrip()
    return parse(" ".join(typed), options, words=0, command=command), rest


def checked(found: Arguments, options: Sequence[Option], *, words: int, command: str) -> Arguments:
    """The arguments, where options have values that they take and there are not too many words.

    Raises:
        UsageError: where not.
    """
    help_line = f"type: help {command}"
    for option in options:
        value = found.get(option.name)
        if value is None or not option.choices or value in option.choices:
            continue
        if not (option.also and value.startswith(option.also)):
            raise UsageError(
                f"{command}: -{option.name} {value}: not one of {', '.join(option.choices)}", help=help_line
            )
    if len(found.words) > words:
        raise UsageError(f"{command}: does not take the argument {found.words[words]!r}", help=help_line)
    return found


def _option(name: str, known: Dict[str, Option], command: str, help_line: str) -> Option:
    """An option by its name or an unambiguous beginning of it, as gdb's own commands take them."""
    if name in known:
        return known[name]
    matching = [option for key, option in known.items() if name and key.startswith(name)]
    # Of -rank and -ranks the beginnings mean the shorter one, as they did when it was alone.
    shortest = min(matching, key=lambda option: len(option.name), default=None)
    if shortest is not None and all(option.name.startswith(shortest.name) for option in matching):
        return shortest
    if matching:
        among = ", ".join(f"-{option.name}" for option in matching)
        raise UsageError(f"{command}: -{name} may mean {among}", help=help_line)
    raise UsageError(f"{command}: there is no option -{name}", help=help_line)


def integer(arguments: Arguments, name: str, command: str) -> Optional[int]:
    """The value of an option as a whole number, None where it was not given."""
    value = arguments.get(name)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise UsageError(f"{command}: -{name} {value}: not a number", help=f"type: help {command}") from None


def complete(
    text: str, options: Sequence[Option], values: Callable[[Option], Sequence[str]], words: Sequence[str] = ()
) -> Tuple[str, List[str]]:
    """What may stand in place of the last, unfinished word of ``text``: that word, and whole candidates for it."""
    before, unfinished = split_unfinished(text)
    known = {option.name: option for option in options}
    if before:
        last = before[-1]
        option = None
        if last.startswith("-"):
            begun = [option for option in options if option.name.startswith(last.lstrip("-"))]
            option = known.get(last.lstrip("-"), begun[0] if len(begun) == 1 else None)
        if option is not None and option.value is not None:
            return unfinished, _matching(unfinished, values(option))
    if unfinished.startswith("-"):
        head, equals, _ = unfinished.partition("=")
        option = known.get(head.lstrip("-"))
        if equals and option is not None:
            return unfinished, [
                f"{head}={value}" for value in values(option) if f"{head}={value}".startswith(unfinished)
            ]
        dashes = "--" if unfinished.startswith("--") else "-"
        return unfinished, _matching(unfinished, [dashes + option.name for option in options])
    candidates = list(words) if unfinished or words else ["-" + option.name for option in options]
    return unfinished, _matching(unfinished, candidates)


def _matching(unfinished: str, candidates: Sequence[str]) -> List[str]:
    quoted = [quote(candidate) for candidate in candidates]
    bare = unfinished.lstrip("\"'")
    return [
        shown
        for shown, candidate in zip(quoted, candidates)
        if shown.startswith(unfinished) or (bare != unfinished and candidate.startswith(bare))
    ]


def quote(word: str) -> str:
    """A word as it must be typed."""
    if word and all(char.isalnum() or char in "_-=+./:,@%" for char in word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def split_unfinished(text: str) -> Tuple[List[str], str]:
    """The finished words of ``text`` and the last one, as far as it is typed (with its opening quote)."""
    words: List[str] = []
    start: Optional[int] = None
    open_quote = ""
    escaped = False
    for at, char in enumerate(text):
        if start is None:
            if char.isspace():
                continue
            start = at
        if escaped:
            escaped = False
        elif char == "\\" and open_quote != "'":
            escaped = True
        elif open_quote:
            if char == open_quote:
                open_quote = ""
        elif char in "\"'":
            open_quote = char
        elif char.isspace():
            words.append(text[start:at])
            start = None
    return words, text[start:] if start is not None else ""
