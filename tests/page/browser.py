"""Debian's Chromium, driven by its own driver: what a page looks like, asks for, and complains of."""

from __future__ import annotations

import contextlib
import json
import pathlib
import tempfile
from typing import Any, Dict, Iterator, List

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

#: What lets it run as root and without a screen, and ask nobody for anything.
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Page:
    """An open page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: pathlib.Path, *, script: bool = True) -> None:
        """Opens a file, and waits until its script has run."""
        self.driver.get(path.as_uri())
        if script:
            self.until("return document.documentElement.dataset.ready === 'yes'")

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script says."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, seconds: float = 60.0) -> None:
        """Waits until a script says that it is so."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, seconds, 0.02).until(lambda driver: driver.execute_script(script))

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

    def fill(self, view: str, label: str, value: str) -> None:
        """Types into the field of that label in a view, or chooses there."""
        self.run(
            "const label = [...document.querySelectorAll(arguments[0] + ' label')]"
            ".find((one) => one.firstChild.textContent === arguments[1]);"
            "const input = label.querySelector('input, select'); input.value = arguments[2];"
            "input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true}));",
            view,
            label,
            value,
        )

    def requests(self) -> List[str]:
        """What pages of files have asked for since this was last asked, without themselves and what they hold."""
        found: List[str] = []
        for entry in self.driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message: Dict[str, Any] = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url, of = message["params"]["request"]["url"], message["params"]["documentURL"]
                # Not the browser's own pages.
                if not of.startswith("chrome:") and not url.startswith(("file:", "data:", "blob:")):
                    found.append(url)
        return found

    def complaints(self) -> List[str]:
        """What stands in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def faults(self) -> List[str]:
        """What axe-core finds: rule, and the elements that break it."""
        import axe_core_python

        axe = pathlib.Path(axe_core_python.__file__).with_name("axe.min.js").read_text("utf-8")
        self.driver.execute_script(axe)
        told = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {}).then(done, (error) => done({error: String(error)}))"
        )
        assert "error" not in told, told
        return [
            f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']][:3]}" for one in told["violations"]
        ]


@contextlib.contextmanager
def chromium(*arguments: str, width: int = 1280, height: int = 900) -> Iterator[Page]:
    """A browser of its own, with a new profile."""
    with tempfile.TemporaryDirectory(prefix="mpi-queues-browser-") as profile:
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in (*_ARGUMENTS, f"--user-data-dir={profile}", f"--window-size={width},{height}", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        driver.set_page_load_timeout(240)
        driver.set_script_timeout(240)
        try:
            yield Page(driver)
        finally:
            driver.quit()
