"""What may be typed where, taken from the parsers: the tables that scripts of shells are made of."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from ..handle_types import KINDS
from ..targets.reading import VIA

#: What stands for a value in the help says what it is.
_FILES, _DIRECTORIES = ("FILE", "CORE", "EXE", "OBJECT"), ("DIR",)
_WORDS = {"KIND": (*KINDS, "all"), "SOURCE": ("auto", "builtin", "plugin", "plugin="), "auto|native": VIA}


@dataclass(frozen=True)
class Values:
    """What a value may be."""

    words: Tuple[str, ...] = ()
    files: bool = False
    directories: bool = False


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
            for flag in action.option_strings:
                found.options.setdefault(path, []).append((flag, _in_a_line(action.help)))
                if action.nargs != 0:
                    found.values[path, flag] = _values(action)
        elif action.nargs != argparse.REMAINDER:
            # Whichever of several words it is: few commands have more than one.
            found.values.setdefault((path, ""), _values(action))


def _values(action: argparse.Action) -> Values:
    metavar = str(action.metavar or action.dest.upper())
    words = tuple(map(str, action.choices or ())) or _WORDS.get(metavar, ())
    return Values(words, metavar in _FILES, metavar in _DIRECTORIES)


def _in_a_line(text: Optional[str]) -> str:
    return " ".join((text or "").split())
