"""Debian's Firefox, asked by WebDriver BiDi (https://w3c.github.io/webdriver-bidi), which it speaks itself."""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import re
import subprocess
import tempfile
from typing import Any, Dict, Iterator, List

import websocket

from .acts import KEYS, Page

#: A busy machine may take so many seconds for one answer.
_PATIENCE = 120.0


#: Without a screen no window is in front, and elements would not be told that they have the focus: this lets a page ask
#: for it.
_SETTINGS = 'user_pref("focusmanager.testmode", true);\nuser_pref("dom.disable_window_flip", false);\n'


class Firefox(Page):
    """A browser with one page."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(f"{address}/session", timeout=_PATIENCE, suppress_origin=True)
        self._numbers = itertools.count(1)
        #: What the page asked for, and what stands in the console.
        self._requests: List[str] = []
        self._complaints: List[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Dict[str, Any]:
        """What it answers; what it tells of by itself meanwhile is kept."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told: Dict[str, Any] = json.loads(self._socket.recv())
            if told.get("type") == "event":
                self._keep(told["method"], told["params"])
            elif told.get("id") == number:
                assert told["type"] == "success", told
                result: Dict[str, Any] = told["result"]
                return result

    def _keep(self, event: str, parameters: Dict[str, Any]) -> None:
        if event == "log.entryAdded":
            self._complaints.append(str(parameters["text"]))
        elif not parameters["request"]["url"].startswith(("file:", "data:", "blob:", "about:")):
            self._requests.append(parameters["request"]["url"])

    def load(self, path: pathlib.Path) -> None:
        self.ask("browsingContext.navigate", context=self.context, url=path.as_uri(), wait="complete")
        self.run("window.focus()")

    def run(self, script: str, *arguments: Any) -> Any:
        body = f"(async function () {{ {script} \n}})(...{json.dumps(arguments)})"
        told = self.ask(
            "script.evaluate",
            expression=f"{body}.then((found) => JSON.stringify(found === undefined ? null : found))",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def keys(self, selector: str, *keys: str) -> None:
        self.run("document.querySelector(arguments[0]).focus()", selector)
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask(
            "input.performActions",
            context=self.context,
            actions=[{"type": "key", "id": "keyboard", "actions": actions}],
        )

    def drag(self, selector: str, x: int, y: int) -> None:
        at = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]",
            selector,
        )
        moves = [{"type": "pointerMove", "x": at[0] + x * n // 2, "y": at[1] + y * n // 2} for n in range(3)]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.ask(
            "input.performActions",
            context=self.context,
            actions=[{"type": "pointer", "id": "mouse", "actions": [moves[0], down, *moves[1:], up]}],
        )

    def requests(self) -> List[str]:
        found, self._requests = self._requests, []
        return found

    def complaints(self) -> List[str]:
        # Whatever was told before this answer is here then.
        self.ask("browsingContext.getTree")
        found, self._complaints = self._complaints, []
        return found

    def close(self) -> None:
        """Ends the browser."""
        with contextlib.suppress(Exception):
            self.ask("browser.close")
        self._socket.close()


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """A browser of its own, with a new profile."""
    with tempfile.TemporaryDirectory(prefix="mpi-queues-firefox-") as profile:
        pathlib.Path(profile, "user.js").write_text(_SETTINGS, encoding="ascii")
        command = ["firefox-esr", "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stderr is not None
                line = next(line for line in process.stderr if "WebDriver BiDi listening on" in line)
                found = re.search(r"ws://\S+", line)
                assert found is not None, line
                browser = Firefox(found[0])
                yield browser
                browser.close()
            finally:
                process.kill()
