"""The two browsers of the distribution."""

from __future__ import annotations

from typing import Iterator

import pytest
from page.acts import Page
from page.browser import chromium
from page.firefox import firefox

BROWSERS = {"chromium": chromium, "firefox": firefox}


@pytest.fixture(scope="module", params=list(BROWSERS))
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    """A browser, for all tests of a module."""
    with BROWSERS[request.param]() as found:
        yield found
