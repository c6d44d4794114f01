"""What all tests share: a browser, and real data where the environment says so."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from browser import Visits, launched, why_none  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Where a run decides whether a change is good, it must not depend on luck or load; elsewhere
# hypothesis looks for new examples each time.
settings.register_profile("ci", derandomize=True, deadline=None)
# As many cases as tests/fuzz asks for, and new ones each time.
settings.register_profile("deep", deadline=None, print_blob=True)
if os.environ.get("PROBATUM_HYPOTHESIS"):
    settings.load_profile(os.environ["PROBATUM_HYPOTHESIS"])
elif os.environ.get("PROBATUM_REQUIRE_DATA") == "1":
    settings.load_profile("ci")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts tests in the background makes them, and what they start, deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a data-backed test that was skipped, if PROBATUM_REQUIRE_DATA is set."""
    report = yield
    required = os.environ.get("PROBATUM_REQUIRE_DATA") == "1"
    if required and report.skipped and item.get_closest_marker("data") is not None:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: its data is required here but missing: {report.longrepr}"
    return report


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
