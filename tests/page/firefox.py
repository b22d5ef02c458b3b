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

#: A busy machine may take so many seconds for one answer.
_PATIENCE = 120.0


class Firefox:
    """A browser with one page."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(f"{address}/session", timeout=_PATIENCE, suppress_origin=True)
        self._numbers = itertools.count(1)
        #: What the page asked for, and what stands in the console.
        self.requests: List[str] = []
        self.complaints: List[str] = []
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
            self.complaints.append(str(parameters["text"]))
        elif not parameters["request"]["url"].startswith(("file:", "data:", "blob:", "about:")):
            self.requests.append(parameters["request"]["url"])

    def open(self, path: pathlib.Path) -> None:
        """Opens a file, and waits until its script has run."""
        self.ask("browsingContext.navigate", context=self.context, url=path.as_uri(), wait="complete")
        self.run(
            "new Promise((done) => { const look = () => document.documentElement.dataset.ready === 'yes'"
            " ? done(true) : setTimeout(look, 20); look(); })"
        )

    def run(self, expression: str) -> Any:
        """What an expression is: texts, numbers, lists of these."""
        told = self.ask("script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True)
        assert told["type"] == "success", told
        return _value(told["result"])

    def close(self) -> None:
        """Ends the browser."""
        with contextlib.suppress(Exception):
            self.ask("browser.close")
        self._socket.close()


def _value(told: Dict[str, Any]) -> Any:
    return [_value(one) for one in told["value"]] if told["type"] == "array" else told.get("value")


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """A browser of its own, with a new profile."""
    with tempfile.TemporaryDirectory(prefix="mpi-queues-firefox-") as profile:
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
