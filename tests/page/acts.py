"""What a person does with a page and sees of it, in whichever browser."""

from __future__ import annotations

import abc
import pathlib
import time
from typing import Any, List

import axe_core_python

#: Keys as WebDriver sends them; others are what they write.
KEYS = {"Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Escape": "\ue00c"}

#: The first words of a call that only a test makes: whether the page's script has run.
READY = "return document.documentElement.dataset.ready === 'yes'"


class Page(abc.ABC):
    """An open page."""

    @abc.abstractmethod
    def load(self, path: pathlib.Path) -> None:
        """Opens a file."""

    @abc.abstractmethod
    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of a function says, which may be a promise."""

    @abc.abstractmethod
    def requests(self) -> List[str]:
        """What pages of files have asked for since this was last asked, without themselves and what they hold."""

    @abc.abstractmethod
    def complaints(self) -> List[str]:
        """What stands in the console since this was last asked."""

    @abc.abstractmethod
    def keys(self, selector: str, *keys: str) -> None:
        """Types keys where an element is, by their names in WebDriver (``Enter``)."""

    @abc.abstractmethod
    def drag(self, selector: str, x: int, y: int) -> None:
        """Presses in the middle of an element, which is in sight, moves so many pixels and lets go."""

    def open(self, path: pathlib.Path, *, script: bool = True) -> None:
        """Opens a file, and waits until its script has run."""
        self.load(path)
        if script:
            self.until(READY)

    def until(self, script: str, *arguments: Any, seconds: float = 60.0) -> None:
        """Waits until a script says that it is so."""
        deadline = time.monotonic() + seconds
        while not self.run(script, *arguments):
            assert time.monotonic() < deadline, script
            time.sleep(0.02)

    def texts(self, selector: str) -> List[str]:
        """The texts of all elements."""
        found: List[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim())", selector
        )
        return found

    def rows(self, view: str) -> List[List[str]]:
        """The cells of the table in a view."""
        found: List[List[str]] = self.run(
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
            ".map((row) => [...row.children].map((cell) => cell.textContent.trim()))",
            view,
        )
        return found

    def press(self, selector: str, at: int = 0) -> None:
        """Clicks an element as a person does, of a drawing as well."""
        self.run(
            "const one = document.querySelectorAll(arguments[0])[arguments[1]];"
            "one.dispatchEvent(new MouseEvent('click', {bubbles: true}));",
            selector,
            at,
        )

    def point(self, selector: str, at: int = 0) -> None:
        """Moves the pointer over an element."""
        self.run(
            "const one = document.querySelectorAll(arguments[0])[arguments[1]];"
            "one.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));",
            selector,
            at,
        )

    def search(self, text: str) -> None:
        """Types into the search over all views."""
        self.run(
            "const input = document.getElementById('search'); input.value = arguments[0];"
            "input.dispatchEvent(new Event('input', {bubbles: true}));",
            text,
        )

    def fill(self, view: str, label: str, value: str) -> None:
        """Types into the field of that label in a view, or chooses there."""
        self.run(
            "const label = [...document.querySelectorAll(arguments[0] + ' label')]"
            ".find((one) => one.firstChild.textContent === arguments[1]);"
            "const input = label.querySelector('input, select');"
            "if (input.type === 'checkbox') input.checked = arguments[2] === 'yes'; else input.value = arguments[2];"
            "const name = input.tagName === 'SELECT' || input.type === 'checkbox' ? 'change' : 'input';"
            "input.dispatchEvent(new Event(name, {bubbles: true}));",
            view,
            label,
            value,
        )

    def faults(self) -> List[str]:
        """What axe-core finds: rule, and the elements that break it."""
        script = pathlib.Path(axe_core_python.__file__).with_name("axe.min.js").read_text("utf-8")
        self.run(script)
        told = self.run(
            "return axe.run(document, {}).then((found) => found.violations.map((one) =>"
            " [one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html).join(' ')]))"
        )
        return [": ".join(one) for one in told]
