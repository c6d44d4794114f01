"""The tests of the pages can fail: each thing that they watch for is seen where it happens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import browser
import pytest
from browser import PHONE, Visits, axe, no_sideways_scroll

if TYPE_CHECKING:
    from playwright.sync_api import Browser

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"


@pytest.fixture
def seen(chromium: Browser, tmp_path: Path) -> Visits:
    """Visits whose complaints the test looks at itself."""
    return Visits(chromium)


def page(folder: Path, body: str) -> Path:
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>t</title>'
    text = f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
    (folder / "index.html").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<script>window.injected = 1</script>", "content security policy: script-src"),
        ('<p style="color: red">red</p>', "content security policy: style-src"),
        ('<img src="https://example.org/a.png" alt="">', "content security policy: img-src"),
        ('<script src="missing.js"></script>', "no answer from file://"),
        ('<script src="bad.js"></script>', "uncaught: "),
        ('<script src="loud.js"></script>', "console error: no"),
        ('<script src="asks.js"></script>', "a dialog: hello"),
        ('<img src="../outside.png" alt="">', "outside of file://"),
    ],
)
def test_what_a_page_does_wrong_is_seen(seen: Visits, tmp_path: Path, body: str, said: str) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "bad.js").write_text("throw new Error('on purpose')")
    (folder / "loud.js").write_text("console.error('no')")
    (folder / "asks.js").write_text("alert('hello')")
    opened = seen.open(page(folder, body))
    opened.wait_for_timeout(100)
    wrong = seen.close()
    assert any(line.startswith(said) or said in line for line in wrong), wrong


def test_a_good_page_is_not_complained_of(seen: Visits, tmp_path: Path) -> None:
    site = page(tmp_path, "<main><h1>Title</h1><p>Words</p></main>")
    for scripts in (True, False):
        opened = seen.open(site, scripts=scripts)
        no_sideways_scroll(opened)
    assert axe(seen.open(site)) == []
    assert seen.close() == []
    assert {url.rpartition("/")[2] for url in seen.requests} == {"index.html"}


def test_the_element_that_makes_a_page_too_wide_is_named(visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "wide.css").write_text(
        "#box { overflow-x: auto } #box p, #wide { width: 700px } #wide { background: #eee }"
    )
    link = '<link rel="stylesheet" href="wide.css">'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = f'{link}{viewport}<div id="box"><p>in a box</p></div>'
    no_sideways_scroll(visits.open(page(tmp_path, body), size=PHONE))
    opened = visits.open(page(tmp_path, f'{body}<p id="wide">not</p>'), size=PHONE)
    with pytest.raises(AssertionError, match=r'id="wide".* ends at 70'):
        no_sideways_scroll(opened)


def test_what_can_t_be_read_is_found(visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "pale.css").write_text("p { color: #ddd; background: #fff }")
    body = '<link rel="stylesheet" href="pale.css"><main><h1>T</h1><p>pale</p><input></main>'
    found = axe(visits.open(page(tmp_path, body)))
    assert any("color-contrast" in line for line in found)
    assert any("label" in line for line in found)


def test_without_a_browser_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PROBATUM_CHROMIUM", raising=False)
    pytest.importorskip("playwright")
    assert "PROBATUM_CHROMIUM" in browser.why_none()
    monkeypatch.setenv("PROBATUM_CHROMIUM", "/opt/browser")
    assert browser.browser_path() == "/opt/browser"
    assert browser.why_none() == ""
