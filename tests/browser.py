"""A real browser on pages of a folder, watched: what it asks for, what it complains about."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

__all__ = [
    "DESKTOP",
    "PHONE",
    "Visits",
    "axe",
    "browser_path",
    "launched",
    "no_sideways_scroll",
    "why_none",
]

PHONE = (390, 844)
DESKTOP = (1280, 900)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A violation is an event of the document in which it happens: a binding outlives the document.
WATCH = """
document.addEventListener('securitypolicyviolation', e => window.probatumViolated(
    `${e.violatedDirective} blocked ${e.blockedURI} (${e.sourceFile}:${e.lineNumber}) ${e.sample}`
));
"""

SIDEWAYS = """width => {
    const room = Math.min(document.documentElement.clientWidth, width);
    const wide = document.documentElement.scrollWidth;
    if (wide <= room) return '';
    // What scrolls inside a box of its own does not make the page wider.
    const boxed = e => {
        for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
            if (getComputedStyle(p).overflowX !== 'visible') return true;
        return false;
    };
    let worst = null, right = 0;
    for (const e of document.body.querySelectorAll('*')) {
        const edge = e.getBoundingClientRect().right + window.scrollX;
        if (edge > right && !boxed(e)) { worst = e; right = edge; }
    }
    const named = worst && worst.cloneNode(false).outerHTML.slice(0, 200);
    return `the page is ${wide} px wide in ${room} px: ${named} ends at ${Math.round(right)} px`;
}"""


def browser_path() -> str | None:
    """Chromium, as ``PROBATUM_CHROMIUM`` or the search path names it."""
    named = os.environ.get("PROBATUM_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def why_none() -> str:
    """Why there is no browser to test with; empty where there is one."""
    try:
        import axe_playwright_python  # noqa: F401
        import playwright.sync_api  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed: pip install 'probatum[test]'"
    if browser_path() is None:
        return "no Chromium on this machine: install it, or name one in PROBATUM_CHROMIUM"
    return ""


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path())
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visits:
    """Pages opened in one test; :meth:`close` gives what went wrong on any of them."""

    browser: Browser
    requests: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def open(
        self,
        site: Path,
        page: str = "index.html",
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        scripts: bool = True,
        calm: bool = False,
    ) -> Page:
        """A page of a site, in a profile of its own.

        Parameters
        ----------
        site : Path
            The folder that holds it; nothing outside may be asked for.
        page : str
            Relative to the folder, with a fragment where wanted.
        size : (int, int)
            ``PHONE`` or ``DESKTOP``.
        dark : bool
            Prefers dark colours.
        scripts : bool
            Whether scripts run.
        calm : bool
            Prefers reduced motion.
        """
        phone = size == PHONE
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=2 if phone else 1,
            is_mobile=phone,
            has_touch=phone,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if calm else "no-preference",
            java_script_enabled=scripts,
        )
        self._contexts.append(context)
        context.set_default_timeout(10_000)
        if scripts:
            context.expose_binding("probatumViolated", self._violated)
            context.add_init_script(WATCH)
        opened = context.new_page()
        self._watch(opened, site.resolve().as_uri() + "/")
        opened.goto(f"{site.resolve().as_uri()}/{page}")
        return opened

    def _violated(self, source: Any, said: str) -> None:
        self.wrong.append(f"content security policy: {said}")

    def _watch(self, page: Page, inside: str) -> None:
        def asked(url: str) -> None:
            self.requests.append(url)
            if not url.startswith((inside, "data:")):
                self.wrong.append(f"asked for {url}, outside of {inside}")

        def failed(request: Any) -> None:
            # Who follows a link stops what the page before was still asking for.
            if request.failure != "net::ERR_ABORTED":
                self.wrong.append(f"no answer from {request.url}: {request.failure}")

        def answered(dialog: Any) -> None:
            self.wrong.append(f"a dialog: {dialog.message}")
            dialog.dismiss()

        def said(message: Any) -> None:
            if message.type in ("error", "warning"):
                self.wrong.append(f"console {message.type}: {message.text} {message.location}")

        page.on("request", lambda request: asked(request.url))
        page.on("requestfailed", failed)
        page.on("dialog", answered)
        page.on("console", said)
        page.on("pageerror", lambda error: self.wrong.append(f"uncaught: {error}"))

    def close(self) -> list[str]:
        """Close all pages; one line for each thing that went wrong."""
        for context in self._contexts:
            context.close()
        return list(dict.fromkeys(self.wrong))


@cache
def _axe_source() -> str:
    import axe_playwright_python

    folder = Path(str(axe_playwright_python.__file__)).parent
    return (folder / "axe.min.js").read_text(encoding="utf-8")


def axe(page: Page) -> list[str]:
    """What axe-core finds of serious or critical impact, one line for each element.

    The source is evaluated by the debugger, so that the page's own policy stays in force; style
    sheets are not fetched again, which the policy would refuse.
    """
    if not page.evaluate("() => typeof window.axe === 'object'"):
        page.evaluate(_axe_source() + "; undefined")
    found = page.evaluate(
        "() => axe.run(document, {preload: false, iframes: false, resultTypes: ['violations']})"
    )
    return [
        f"{violation['impact']} {violation['id']}: {node['target']} {node['html'][:200]} "
        f"({' '.join(node['failureSummary'].split())[:300]})"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def no_sideways_scroll(page: Page) -> None:
    """Fail where the page is wider than its window, and name what makes it so."""
    size = page.viewport_size
    assert size is not None
    said = page.evaluate(SIDEWAYS, size["width"])
    assert not said, f"{page.url}: {said}"
