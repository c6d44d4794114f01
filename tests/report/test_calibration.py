"""Tables and plots of how often verdicts err, and the page of the documentation made of them."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probatum.report.calibration import EDGES, explained, figures, read, said, tables

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "verdicts.md"
TOOL = ROOT / "tools" / "calibrate_verdicts.py"


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return read()


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every plain value in a specification, with the way to it."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*at, key))
    else:
        yield at, value


def test_the_page_is_written_from_what_the_report_shows(tmp_path: Path) -> None:
    command = [sys.executable, str(TOOL), "--render-only", "--out", str(tmp_path)]
    subprocess.run(command, check=True, timeout=120)
    assert (tmp_path / "verdicts.md").read_text(encoding="utf-8") == PAGE.read_text(
        encoding="utf-8"
    ), "run python tools/calibrate_verdicts.py --render-only"
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.md"]


def test_the_prose_stands_in_the_page_and_leads_nowhere_that_is_not_there() -> None:
    prose = explained()
    assert prose in PAGE.read_text(encoding="utf-8")
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]*)\)", prose))


def test_every_simulated_number_is_in_the_tables(result: dict[str, Any]) -> None:
    shown = tables(result)
    errors = [line for table in shown[:3] for line in table.lines]
    assert [line[2:7] for line in errors] == [
        tuple(str(row[edge]) for edge in EDGES) for row in result["errors"]
    ]
    assert [line[0] for line in errors] == [row["law"] for row in result["errors"]]
    assert [len(table.lines) for table in shown[3:]] == [
        len(result["power"]),
        len(result["forecast"]),
    ]
    assert all(len(line) == len(table.head) for table in shown for line in table.lines)


def test_what_was_promised_was_kept(result: dict[str, Any]) -> None:
    limit = result["limit"] * result["claims"]
    kept = [row for row in result["errors"] if row["judged"]]
    assert len(kept) > 20
    most = max(max(row[edge] for edge in EDGES) for row in kept)
    assert most <= limit
    assert f"at most {limit:.0f} may hold" in said(result)
    assert f"the most there are {most}," in said(result)


def test_what_was_never_reached_is_said(result: dict[str, Any]) -> None:
    changed = copy.deepcopy(result)
    changed["power"][0] |= {"median": None, "quartiles": [80.0, None]}
    changed["forecast"][0] |= {"quartiles": [0.5, None]}
    *_, power, forecasts = tables(changed)
    assert power.lines[0][3:5] == ("more than 2,000", "80 to more than 2,000")
    assert forecasts.lines[0][-1] == "0.50 to infinite"
    drawn = figures(changed)[1].specs[0]["data"]["values"]
    assert len(drawn) == len(figures(result)[1].specs[0]["data"]["values"]) - 1


def test_plots_hold_the_worst_edge_of_each_law(result: dict[str, Any]) -> None:
    drawn = [row for spec in figures(result)[0].specs for row in spec["data"]["values"]]
    worst = [max(row[edge] for edge in EDGES) / result["claims"] for row in result["errors"]]
    assert [row["share"] for row in drawn] == worst
    assert [row["promised"] == "yes" for row in drawn] == [r["judged"] for r in result["errors"]]


def test_plots_name_no_colour_and_are_plain(result: dict[str, Any]) -> None:
    for figure in figures(result):
        assert figure.caption
        for spec in figure.specs:
            assert json.loads(json.dumps(spec, allow_nan=False)) == spec
            for at, value in leaves(spec):
                assert at[-1] not in ("fill", "stroke", "color", "url", "href")
                assert not (isinstance(value, str) and re.match(r"#[0-9a-f]{3,}|rgb|hsl", value))
