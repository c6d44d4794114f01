"""``probatum list``: the catalog, with what shipped evidence says."""

from __future__ import annotations

from typing import Any

from probatum import catalog
from probatum.cli.exits import DONE, UNAVAILABLE
from probatum.cli.options import AsJson
from probatum.cli.output import (
    broken_modules,
    console,
    counted,
    print_json,
    verdict_text,
    warn,
    warn_broken,
)
from probatum.evidence import shipped_index
from probatum.evidence.described import paper_summary

__all__ = ["list_papers"]


def list_papers(as_json: AsJson = False) -> int:
    """List the papers: title, domain, and how their claims stand in shipped evidence."""
    loaded = catalog.load()
    index, problem = {}, ""
    try:
        index = shipped_index.read_index(shipped_index.SHIPPED)
    except shipped_index.ShippedError as error:
        problem = str(error)
    papers = [paper_summary(paper, index) for paper in loaded.papers]
    if as_json:
        print_json({"papers": papers, "broken": broken_modules(loaded)})
    else:
        _print_table(papers)
    warn_broken(loaded)
    if problem:
        warn(problem)
    return UNAVAILABLE if loaded.broken or problem else DONE


def _print_table(papers: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("paper", overflow="fold")
    table.add_column("domain")
    table.add_column("title", ratio=1)
    table.add_column("claims")
    for paper in papers:
        verdicts = Text("\n").join(
            Text(f"{count} ").append_text(verdict_text(verdict))
            for verdict, count in paper["verdicts"].items()
            if count
        )
        if paper["not_shipped"]:
            verdicts.append("\n" if verdicts else "")
            verdicts.append(f"{paper['not_shipped']} not shipped", style="dim")
        table.add_row(paper["slug"], paper["domain"], Text(paper["title"]), verdicts)
    out = console()
    out.print(table)
    claims = sum(paper["claims"] for paper in papers)
    out.print(
        f"\n{counted(len(papers), 'paper')}, {counted(claims, 'claim')}. More: probatum show PAPER"
    )
