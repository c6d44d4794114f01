"""``probatum status``: how shipped evidence stands beside the code."""

from __future__ import annotations

from typing import Any

from probatum import catalog
from probatum.cli.exits import DONE, UNAVAILABLE
from probatum.cli.options import AsJson
from probatum.cli.output import console, counted, print_json, verdict_text, warn, warn_broken
from probatum.evidence import shipped_index
from probatum.evidence.described import shipped_standing

__all__ = ["status"]


def status(as_json: AsJson = False) -> int:
    """Show shipped evidence: verdicts, and whether the code has changed since."""
    loaded = catalog.load()
    standing, problems = shipped_standing(loaded.papers, shipped_index.SHIPPED)
    if as_json:
        print_json(standing)
    else:
        _print_standing(standing)
    warn_broken(loaded)
    for problem in problems:
        warn(problem)
    return UNAVAILABLE if problems or loaded.broken else DONE


def _print_standing(standing: dict[str, Any]) -> None:
    from rich.table import Table

    out = console()
    if standing["rows"]:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("claim", overflow="fold", ratio=1)
        table.add_column("scope")
        table.add_column("verdict")
        table.add_column("n", justify="right")
        table.add_column("code")
        for row in standing["rows"]:
            table.add_row(
                f"{row['paper']}/{row['claim']}",
                row["scope"],
                verdict_text(row["verdict"]),
                str(row["n"]),
                "fresh" if row["fresh"] else "changed since",
            )
        out.print(table)
        out.print()
    stale, missing = standing["stale"], standing["missing"]
    rest = standing["claims"] - len(standing["rows"]) - len(missing)
    out.print(
        f"{counted(standing['papers'], 'paper')}, {counted(standing['claims'], 'claim')}: "
        f"{standing['fresh']} fresh, {len(stale)} stale, {len(missing)} not shipped, "
        f"{rest} untested (nothing here can try them)"
    )
    again = sorted({name.partition("/")[0] for name in (*stale, *missing)})
    if again:
        out.print(f"Bring up to date: probatum check --ship {' '.join(again)}", soft_wrap=True)
