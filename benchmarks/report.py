"""Speed and size of `probatum.report` on 76 synthetic papers with 8 claims each.

    python benchmarks/report.py [--json] [--repeats 1] [--papers 76] [--claims 8]

There is no peer that builds such a site: a build that has less to do is compared with the full one,
the full one with two of half the size, and a size with what it would be without sharing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from _side_by_side import arguments, record, seconds, show

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "report"))

from synthetic import crowd, make

from probatum import __version__
from probatum.evidence import Paper
from probatum.report import build

PAPER = "report"
CROWD = 1000


def kilobytes(path: Path) -> float:
    """Size of a file."""
    return path.stat().st_size / 1000


def one_measurement_less(shipped: Path, paper: Paper) -> Callable[[], None]:
    """A change that one paper's page has to follow: each call takes a line from its table."""
    table = shipped / f"{paper.slug}.csv"

    def change() -> None:
        lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
        table.write_text("".join(lines[:-1]), encoding="utf-8")

    return change


def time_lines(folder: Path, papers: tuple[Paper, ...], repeats: int) -> Iterator[dict[str, Any]]:
    """Building anew, again, and after one paper changed."""
    shipped, site = folder / "shipped", folder / "site"
    half = papers[: len(papers) // 2]
    size = {"papers": len(papers), "claims": sum(len(paper.claims) for paper in papers)}

    def anew(some: tuple[Paper, ...]) -> None:
        shutil.rmtree(site, ignore_errors=True)
        build(site, some, shipped=shipped)

    anew(papers[:1])  # What is imported and read once is no part of it.
    by_halves, full = seconds([lambda: anew(half), lambda: anew(papers)], repeats)
    pair = (full, by_halves * len(papers) / len(half))
    yield record(PAPER, "build", "half the papers, twice", __version__, size, pair)
    build(site, papers, shipped=shipped)
    (same,) = seconds([lambda: build(site, papers, shipped=shipped)], max(repeats, 3))
    yield record(PAPER, "build, nothing changed", "full build", __version__, size, (same, full))
    change = one_measurement_less(shipped, papers[0])
    changing, changed = seconds([change, lambda: build(site, papers, shipped=shipped)], repeats)
    assert changing < full
    yield record(
        PAPER, "build, one paper changed", "full build", __version__, size, (changed, full)
    )
    largest = max((site / "papers").glob("*.html"), key=kilobytes)
    alone = kilobytes(largest) + sum(
        kilobytes(site / "assets" / n) for n in ("vega.js", "report.js")
    )
    pair = (kilobytes(largest), alone)
    yield record(PAPER, "largest page", "its scripts inside", __version__, size, pair, "kB")


def size_lines(folder: Path, papers: int) -> Iterator[dict[str, Any]]:
    """How large the catalog's page becomes."""
    found = {}
    for count in (papers, CROWD):
        shipped, site = folder / f"crowd-{count}", folder / f"site-{count}"
        build(site, crowd(shipped, count), shipped=shipped)
        found[count] = kilobytes(site / "index.html")
    pair = (found[CROWD], found[papers] * CROWD / papers)
    what = f"index.html of {papers} papers, in proportion"
    yield record(PAPER, "index.html", what, __version__, {"papers": CROWD}, pair, "kB")


def lines(options: argparse.Namespace) -> Iterator[Iterator[dict[str, Any]]]:
    """All groups of lines, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        papers = make(folder / "shipped", options.papers, options.claims)
        yield time_lines(folder, papers, options.repeats)
        yield size_lines(folder, options.papers)


if __name__ == "__main__":
    parser = arguments(str(__doc__), repeats=1)
    parser.add_argument("--papers", type=int, default=76, help="how many, at least 2")
    parser.add_argument("--claims", type=int, default=8, help="of each paper")
    options = parser.parse_args()
    show(lines(options), options.json)
