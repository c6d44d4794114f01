"""``probatum show``: a paper, its claims and how they are decided."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from probatum import catalog
from probatum.cli.exits import DONE
from probatum.cli.options import AsJson
from probatum.cli.output import console, print_json, warn_broken
from probatum.evidence.described import paper_facts

__all__ = ["show"]


def show(
    name: Annotated[str, typer.Argument(metavar="SLUG[/CLAIM]", help="A paper, or one claim.")],
    as_json: AsJson = False,
) -> int:
    """Show a paper: methods, claims, and the rule, arms and data that decide each."""
    loaded = catalog.load()
    try:
        selection = catalog.select(loaded, [name])
    except catalog.UnknownName:
        warn_broken(loaded)
        raise
    facts = paper_facts(selection[0][0], [claim for _, claim in selection])
    if as_json:
        print_json(facts)
    else:
        _print_paper(facts)
    return DONE


_OPEN = {"data": "your data (--data FILE)", "arm": "your method (--arm NAME=MODULE:ATTR)"}


def _print_paper(facts: dict[str, Any]) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(facts["title"], style="bold"))
    out.print(f"{facts['slug']}; {facts['domain']}; from the {facts['fidelity']}")
    told = [facts[name] for name in ("summary", "audience") if facts[name]]
    if told:
        out.print(Text("\n" + "\n".join(told)))
    lines = [
        ("import", ", ".join(method.replace(":", ".") for method in facts["methods"])),
        ("extras", ", ".join(facts["extras"])),
        *[("use", f"probatum use {t['name']} {t['example']}") for t in facts["tools"]],
    ]
    out.print(_grid(lines))
    before: list[tuple[str, str]] = []
    for claim in facts["claims"]:
        out.print()
        out.print(Text(claim["id"], style="bold"), Text(f"({claim['scope']})", style="dim"))
        trials = _trial_lines(claim)
        # Claims often share an experiment; said once is enough.
        shown = [("trials", "as above")] if trials == before and claim["arms"] else trials
        out.print(_grid([*_claim_lines(claim), *shown]))
        before = trials
    out.print(f"\nTry it: probatum check {facts['slug']}")


def _claim_lines(claim: dict[str, Any]) -> list[tuple[str, str]]:
    criterion = claim["criterion"]
    return [
        ("claim", claim["statement"]),
        ("holds if", criterion["words"] if criterion else ""),
        ("needs", claim["needs"]),
    ]


def _trial_lines(claim: dict[str, Any]) -> list[tuple[str, str]]:
    profiles = ", ".join(
        f"{name} {budget['replicates']}" for name, budget in claim["profiles"].items()
    )
    return [
        ("arms", "; ".join(_arm_words(arm) for arm in claim["arms"])),
        ("controls", ", ".join(claim["control"])),
        ("data", "; ".join(f"{d['name']} ({d['licence']})" for d in claim["datasets"])),
        ("replicates", profiles),
        ("open to", " and ".join(_OPEN[name] for name, is_so in claim["open"].items() if is_so)),
    ]


def _arm_words(arm: dict[str, str]) -> str:
    library = " ".join(part for part in (arm["library"], arm["version"]) if part)
    said = arm["role"] + (f", {library}" if library else "")
    return f"{arm['name']} ({said})"


def _grid(lines: list[tuple[str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(min_width=10, style="dim")
    grid.add_column(ratio=1, overflow="fold")
    for name, value in lines:
        if value:
            grid.add_row(f"  {name}", Text(value))
    return grid
