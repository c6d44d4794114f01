"""A browser for the pages, and sites of synthetic papers to look at with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from browser import Visits, launched, why_none  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all; where there is none tests skip, or fail where nothing may be missing."""
    why = why_none()
    if why and os.environ.get("PROBATUM_REQUIRE_DATA") == "1":
        pytest.fail(f"pages must be tested in a browser here, but {why}")
    if why:
        pytest.skip(why)
    with launched() as browser:
        yield browser


@pytest.fixture
def visits(chromium: Browser) -> Iterator[Visits]:
    """Opens pages, and fails at the end if any of them complained or asked for what it may not."""
    opened = Visits(chromium)
    yield opened
    wrong = opened.close()
    assert not wrong, "\n".join(wrong[:20])
