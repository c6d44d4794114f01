"""Take the pictures of the report that README shows.

Run ``python tools/report_pictures.py [SITE]``; it needs Chromium and playwright. The site is built
from shipped evidence alone, unless one is named.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from probatum import catalog
from probatum.report import build

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "img"
PAPER = "posterior-tracking"
CLAIM = "saves-on-captions"


def _settled(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function(
        "[...document.querySelectorAll('figure.plot .chart')].every(c => c.querySelector('svg'))"
    )


def take(site: Path) -> None:
    """Write the pictures of a site."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("pictures need Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        # The pages forbid what waiting for them needs.
        size = {"width": 1100, "height": 760}
        page = browser.new_page(viewport=size, bypass_csp=True)
        _settled(page, (site / "index.html").as_uri())
        page.screenshot(path=PICTURES / "report-index.png")
        _settled(page, (site / "papers" / f"{PAPER}.html").as_uri())
        page.locator(f"#{CLAIM}").screenshot(path=PICTURES / "report-claim.png")
        browser.close()


def main() -> int:
    """Build where no site is named, and take the pictures."""
    if len(sys.argv) > 1:
        take(Path(sys.argv[1]).resolve())
        return 0
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), catalog.load().papers)
        take(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
