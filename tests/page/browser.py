"""Debian's Chromium, driven by its own driver."""

from __future__ import annotations

import contextlib
import json
import pathlib
import tempfile
from typing import Any, Dict, Iterator, List

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

from .acts import KEYS, Page

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


class Chromium(Page):
    """Chromium with its driver."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        # Without a screen no window is in front, and elements would not be told that they have the focus.
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def load(self, path: pathlib.Path) -> None:
        self.driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        # A promise that the body returns is waited for.
        return self.driver.execute_script(script, *arguments)

    def keys(self, selector: str, *keys: str) -> None:
        self.run("document.querySelector(arguments[0]).focus()", selector)
        for key in keys:
            self.driver.switch_to.active_element.send_keys(KEYS.get(key, key))

    def drag(self, selector: str, x: int, y: int) -> None:
        one = self.driver.find_element("css selector", selector)
        ActionChains(self.driver).click_and_hold(one).move_by_offset(x // 2, y // 2).move_by_offset(
            x - x // 2, y - y // 2
        ).release().perform()

    def requests(self) -> List[str]:
        found: List[str] = []
        for entry in self.driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message: Dict[str, Any] = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url, of = message["params"]["request"]["url"], message["params"]["documentURL"]
                # Not the browser's own pages (chrome://new-tab-page, and what that has in it: chrome-untrusted://).
                if not of.startswith(("chrome:", "chrome-")) and not url.startswith(("file:", "data:", "blob:")):
                    found.append(url)
        return found

    def complaints(self) -> List[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def chromium(*arguments: str, width: int = 1280, height: int = 900) -> Iterator[Chromium]:
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
            yield Chromium(driver)
        finally:
            driver.quit()
