"""The parser of the command line: words in any order, errors that name what was meant, the command as it was typed."""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import re
import shlex
import shutil
import sys
from typing import Any, Iterator, List, NoReturn, Optional, Sequence, Tuple

from ..launchers.programs import has_name_of_launcher
from ..nodes.engines import PREFIXES
from ..report.words import WIDTH, fitted
from ..system import advice, files
from ..system.paths import shown

#: The exit status of bad usage.
USAGE = 2

#: Options and words that say what is read, by their names among the parsed ones.
_TARGETS = ("pid", "core", "exe", "recording", "job", "named")

#: What a word that names a target is made to on its way through argparse, which takes words at one place only, but
#: options at any.
TARGET = "--target"

#: What argparse takes for a value all the same.
_NEGATIVE = re.compile(r"^-\d+$|^-\d*\.\d+$")

#: A word with the option that it is, or whose value it is; None: it stands for itself.
_Word = Tuple[str, Optional[argparse.Action]]


class Help(argparse.RawDescriptionHelpFormatter):
    """Lines as they are written, and none wider than the terminal or than reports are."""

    def __init__(self, prog: str) -> None:
        # Two columns fewer than the terminal has, as argparse does.
        super().__init__(prog, width=min(WIDTH, max(40, shutil.get_terminal_size().columns - 2)))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "".join(indent + line + "\n" for line in fitted(text, WIDTH - len(indent)).splitlines())


class Parser(argparse.ArgumentParser):
    """Errors name the thing and the next command, with status 2."""

    def __init__(self, **arguments: Any) -> None:
        arguments.setdefault("formatter_class", Help)
        arguments.setdefault("allow_abbrev", False)
        super().__init__(**arguments)

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nTry: {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but nothing is left over: words may stand anywhere, and what is not known is an error of this
        very command."""
        given = list(sys.argv[1:] if args is None else args)
        words = list(self._words(given))
        options = itertools.takewhile(lambda word: word[0] != "--", words)
        unknown = next((word for word, action in options if action is None and self._is_option(word)), None)
        if unknown is not None:
            self._refuse_option(unknown, given)
        if self.has_targets:
            given = [f"{TARGET}={word}" if action is None else word for word, action in words if word != "--"]
        parsed, left = super().parse_known_args(given, namespace)
        self._take(parsed, left)
        if self._commands is None:
            parsed.line = self._line(words)
        return parsed, []

    @property
    def has_targets(self) -> bool:
        """Whether any number of words that stand for themselves name targets."""
        return TARGET in self._option_string_actions

    @property
    def names(self) -> List[str]:
        """Its options that people type."""
        return [name for name, action in self._option_string_actions.items() if action.help != argparse.SUPPRESS]

    def below(self, word: str) -> Parser:
        """The parser of a command of its own.

        Raises:
            SystemExit: where there is none of that name.
        """
        commands = self._commands
        if commands is None:
            self.error(f"{shown(word)}: it has no subcommands")
        if word not in commands.choices:
            self.refuse_command(word, list(commands.choices))
        found: Parser = commands.choices[word]
        return found

    @property
    def _commands(self) -> Optional[argparse._SubParsersAction[Parser]]:
        return next((one for one in self._actions if isinstance(one, argparse._SubParsersAction)), None)

    @property
    def _is_program(self) -> bool:
        return len(self.prog.split()) == 1

    @property
    def _words_of_others(self) -> bool:
        """Whether words from the first that stands for itself on are read by others."""
        return self._commands is not None or any(one.nargs == argparse.REMAINDER for one in self._actions)

    def _words(self, given: Sequence[str]) -> Iterator[_Word]:
        value_of: Optional[argparse.Action] = None
        for number, word in enumerate(given):
            if word == "--":
                yield from ((one, None) for one in given[number:])
                return
            if not self._is_option(word):
                yield word, value_of
                if value_of is None and self._words_of_others:
                    return
                value_of = None
                continue
            action = self._action_of(word)
            yield word, action
            value_of = action if action is not None and action.nargs is None and self._is_whole(word) else None
            if action is None and self._words_of_others:
                return

    def _is_option(self, word: str) -> bool:
        if not word.startswith("-") or word in ("-", "--"):
            return False
        return self._action_of(word) is not None or (" " not in word and not _NEGATIVE.match(word))

    def _is_whole(self, word: str) -> bool:
        """Whether it has no value in it."""
        return word in self._option_string_actions

    def _action_of(self, word: str) -> Optional[argparse.Action]:
        actions = self._option_string_actions
        name = word.partition("=")[0]
        return actions.get(word) or actions.get(name) or (None if word.startswith("--") else actions.get(word[:2]))

    def _take(self, parsed: argparse.Namespace, left: Sequence[str]) -> None:
        """Words that argparse has left over, to where any number of them may stand."""
        words = [word for word in left if word != "--"]
        unknown = next(filter(self._is_option, words), None)
        if unknown is not None:
            self._refuse_option(unknown, words)
        rest = next((one for one in self._actions if not one.option_strings and one.nargs in ("*", "+")), None)
        if words and rest is None:
            self.error(f"{shown(words[0])}: one argument too many for this command")
        if words and rest is not None:
            setattr(parsed, rest.dest, [*(getattr(parsed, rest.dest) or ()), *words])

    def _refuse_option(self, word: str, given: Sequence[str]) -> NoReturn:
        name = word.partition("=")[0]
        below = self._commands
        if below is not None and self._is_program:
            names = {one for parser in below.choices.values() for one in parser.names}
            if name in names.difference(self.names):
                self._refuse_early(name, given, list(below.choices))
        self.error(f"{shown(name)}: no such option{self._meant(name, self.names, 0.75)}")

    def _refuse_early(self, name: str, given: Sequence[str], commands: Sequence[str]) -> NoReturn:
        """An option that stands before the command."""
        command = next((word for word in given if word in commands), "diagnose")
        others = [word for word in given if word != command]
        self.exit(
            USAGE,
            f"{self.prog}: {name}: it belongs after a command\n"
            f"Type: {self.prog} {command} {shown(shlex.join(others))}\n",
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.refuse_command(str(value), list(action.choices))
        super()._check_value(action, value)

    def refuse_command(self, word: str, commands: Sequence[str]) -> NoReturn:
        """The error of a word that is no command; targets are what people have in mind who type no command.

        Raises:
            SystemExit: always.
        """
        names_job = word.isdecimal() or has_name_of_launcher(word) or word.startswith(PREFIXES)
        meant = "" if names_job else self._meant(word, commands)
        if self._is_program and not meant and (names_job or files.is_there(word)):
            self.exit(
                USAGE,
                f"{self.prog}: {shown(word)}: no such command\n"
                f"To see why it is stuck, type: {self.prog} diagnose {shown(shlex.quote(word))}\n",
            )
        self.error(f"{shown(word)}: no such command{meant}")

    def _meant(self, word: str, names: Sequence[str], like: float = 0.6) -> str:
        """``; did you mean --version?`` for what is ``like`` a name, up to 1; all options have their hyphens."""
        close = difflib.get_close_matches(word, names, 1, like)
        if not close and len(word) == 2:
            # -p for --pid.
            begin = [name for name in names if name.startswith(f"-{word}")]
            close = begin if len(begin) == 1 else []
        return f"; did you mean {close[0]}?" if close else ""

    def _line(self, words: Sequence[_Word]) -> advice.Line:
        targets = {one.dest for one in self._actions}.intersection(_TARGETS)
        names_job = any(one.dest == "job" and not one.option_strings for one in self._actions)
        others = [
            word
            for word, action in words
            if not ((action is None and (names_job or self.has_targets)) or (action and action.dest in targets))
        ]
        return advice.Line(
            self.prog,
            tuple(word for word, _ in words),
            tuple(others),
            takes_words=names_job or self.has_targets,
            takes_pids="pid" in targets,
            program=_program(),
        )


def _program() -> str:
    """The program as root can name it, whose ``PATH`` has none of the user's directories."""
    name = sys.argv[0] if sys.argv else ""
    if os.path.basename(name) != "mpi-queues":
        return "mpi-queues"
    return os.path.abspath(name) if os.sep in name else shutil.which(name) or name
