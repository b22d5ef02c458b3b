"""What may be typed where, taken from the parsers: the tables that scripts of shells are made of."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from ..handle_types import KINDS
from ..targets.reading import VIA
from .options import SOURCES

#: What stands for a value in the help says what it is.
_FILES, _DIRECTORIES, _JOBS = ("FILE", "EXE", "OBJECT"), ("DIR",), ("JOB", "TARGET")
_WORDS = {"KIND": (*KINDS, "all"), "SOURCE": (*SOURCES, "plugin="), "auto|native": VIA}

#: How files of a kind are called, by the option that takes them; TARGET takes all of them.
_RECORDINGS, _CORES = ("*.mpirec", "*.html"), ("core*",)
_PATTERNS = {
    ("", "--recording"): _RECORDINGS,
    ("recording info", ""): ("*.mpirec",),
    ("report", ""): (*_RECORDINGS, *_CORES, "*.json"),
    ("", "--core"): _CORES,
}


@dataclass(frozen=True)
class Values:
    """What a value may be."""

    words: Tuple[str, ...] = ()
    files: bool = False
    directories: bool = False
    #: The launchers that run.
    jobs: bool = False
    #: Files that are called so; any, where there are none.
    patterns: Tuple[str, ...] = ()


@dataclass
class Tables:
    """By the words of a command, such as ``layouts check``; the empty one is the program itself."""

    #: Commands below it, and options, each with what it does.
    commands: Dict[str, List[Tuple[str, str]]] = field(default_factory=dict)
    options: Dict[str, List[Tuple[str, str]]] = field(default_factory=dict)
    #: By command and option, those of options that take a value; without an option: of words that are none.
    values: Dict[Tuple[str, str], Values] = field(default_factory=dict)

    def by_values(self) -> Dict[Values, List[Tuple[str, str]]]:
        """The same, alike ones together."""
        found: Dict[Values, List[Tuple[str, str]]] = {}
        for place, values in self.values.items():
            found.setdefault(values, []).append(place)
        return found


def tables(parser: argparse.ArgumentParser) -> Tables:
    """The tables of a parser and all below it."""
    found = Tables()
    _add(found, "", parser)
    return found


def _add(found: Tables, path: str, parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            said = {choice.dest: choice.help for choice in action._choices_actions}
            for name, below in action.choices.items():
                found.commands.setdefault(path, []).append((name, _in_a_line(said.get(name))))
                _add(found, f"{path} {name}".strip(), below)
        elif action.option_strings:
            for flag in action.option_strings if action.help != argparse.SUPPRESS else ():
                found.options.setdefault(path, []).append((flag, _in_a_line(action.help)))
                if action.nargs != 0:
                    found.values[path, flag] = _values(action, path, flag)
        elif action.nargs != argparse.REMAINDER:
            # Whichever of several words it is: few commands have more than one.
            found.values.setdefault((path, ""), _values(action, path, ""))
            if path == "help":
                # Added last, when all others are there.
                found.values[path, ""] = Values(tuple(name for name, _ in found.commands[""]))


def _values(action: argparse.Action, path: str, flag: str) -> Values:
    metavar = str(action.metavar or action.dest.upper())
    words = tuple(map(str, action.choices or ())) or _WORDS.get(metavar, ())
    usual = (*_RECORDINGS, *_CORES) if metavar == "TARGET" else ()
    patterns = _PATTERNS.get((path, flag)) or _PATTERNS.get(("", flag)) or usual
    return Values(words, metavar in _FILES and not patterns, metavar in _DIRECTORIES, metavar in _JOBS, patterns)


def _in_a_line(text: Optional[str]) -> str:
    return " ".join((text or "").split())
