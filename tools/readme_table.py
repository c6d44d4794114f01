"""Write README's catalog table and docs/evidence.md from the catalog and the shipped evidence.

Run ``python tools/readme_table.py``; ``--check`` writes nothing and exits 1 if it is out of date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from probatum import catalog
from probatum.evidence.shipped_index import read_index

ROOT = Path(__file__).resolve().parent.parent
README, EVIDENCE = ROOT / "README.md", ROOT / "docs" / "evidence.md"
START = "<!-- catalog: written by tools/readme_table.py -->"
END = "<!-- end of catalog -->"
VERDICTS = ("holds", "fails", "undecided", "untested")


def paper_table() -> str:
    """One line a paper, as Markdown."""
    index = read_index()
    lines = [
        "| paper | domain | methods | " + " | ".join(VERDICTS) + " |",
        "| --- | --- | --- |" + " ---: |" * len(VERDICTS),
    ]
    for paper in catalog.load().papers:
        verdicts = [
            index.get(paper.slug, {}).get(claim.id, {}).get("verdict", "untested")
            for claim in paper.claims
        ]
        methods = ", ".join(f"`{method.partition(':')[2]}`" for method in paper.methods)
        counts = " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS)
        lines.append(f"| `{paper.slug}` | {paper.domain} | {methods} | {counts} |")
    return "\n".join(lines)


def evidence_page() -> str:
    """Every claim with its shipped verdict, as a Markdown page."""
    index = read_index()
    lines = [
        "# Shipped evidence",
        "",
        "Written by `tools/readme_table.py` from `src/probatum/shipped/`. How to read a verdict:",
        "[verdicts.md](verdicts.md). To recompute a line: `probatum check PAPER/CLAIM --profile",
        "standard`.",
    ]
    for paper in catalog.load().papers:
        lines += [
            "",
            f"## {paper.slug}",
            "",
            f"{paper.title} (rebuilt from: {paper.fidelity}).",
            "",
        ]
        lines += ["| claim | scope | verdict | effect | interval | n | remarks |"]
        lines += ["| --- | --- | --- | ---: | --- | ---: | --- |"]
        for claim in paper.claims:
            entry = index.get(paper.slug, {}).get(claim.id)
            if entry is None:
                remark = f"needs {claim.missing}" if claim.missing else "not shipped yet"
                cells = ["untested", "", "", "", remark]
            else:
                n = f"{entry['n']} {entry['unit']}"
                effect, interval = _number(entry["effect"]), _interval(entry)
                cells = [entry["verdict"], effect, interval, n, _remark(entry)]
            lines.append("| " + " | ".join([f"`{claim.id}`", claim.scope, *cells]) + " |")
    return "\n".join(lines) + "\n"


def _remark(entry: dict[str, Any]) -> str:
    said = [entry["reason"]] if entry["reason"] else []
    if entry["exceptions"]:
        said.append(f"outside the region: {', '.join(entry['exceptions'])}")
    return "; ".join(said).replace("|", "/")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _interval(entry: dict[str, Any]) -> str:
    low, high = entry["low"], entry["high"]
    if not isinstance(low, float) or not isinstance(high, float) or low == high:
        return ""
    return f"[{low:.3g}, {high:.3g}]"


def main() -> int:
    """Write or check; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if out of date")
    wanted_check = parser.parse_args().check
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    fresh = {
        README: f"{before}{START}\n{paper_table()}\n{END}{after}",
        EVIDENCE: evidence_page(),
    }
    if wanted_check:
        kept = {path: path.read_text(encoding="utf-8") if path.exists() else "" for path in fresh}
        return int(kept != fresh)
    for path, page in fresh.items():
        path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
