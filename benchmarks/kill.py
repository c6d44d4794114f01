"""Runs killed with their process group at random moments, beside one that nobody disturbs.

For each executor and store: so many kills, one run to the end, and the same keys, rows and
decisions must be there as without a kill, nothing twice, nothing left running. Exits with 1 if not.
Without ``--postgres URL`` (a database whose tables may be dropped) a server is started for it where
PostgreSQL is installed; where it is not, only SQLite is tried.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "evidence"))

import sqlalchemy as sa
from killing import (
    drafts_in,
    final_rows,
    finish,
    kill,
    left_running,
    sqlite_in,
    start,
)
from postgres import Server, why_none

from probatum.evidence.database import address


def tried(name: str, jobs: int, url: str, kills: int, seed: int) -> dict[str, Any]:
    """Kill a run so often and compare what is left with a run that was let alone."""
    rng = random.Random(seed)
    if url:
        emptied(url)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="k") as scratch, tempfile.TemporaryDirectory() as at:
        alone, often, short = Path(at, "alone"), Path(at, "often"), Path(scratch)
        expected = finish(start(alone, short, jobs))
        store = url or sqlite_in(often)
        killed, started = 0, 0
        while killed < kills and started < 3 * kills:
            started += 1
            killed += kill(start(often, short, jobs, store), rng)
        decisions = finish(start(often, short, jobs, store))
        same = final_rows(store) == final_rows(sqlite_in(alone))
        return {
            "what": name,
            "kills": killed,
            "runs": started,
            "same_decisions": decisions == expected,
            "same_trials": same,
            "drafts_left": len(drafts_in(often)),
            "left_running": len(left_running(short)),
            "seconds": round(time.monotonic() - began, 1),
        }


def emptied(url: str) -> None:
    """Drop what an earlier case has left in a database."""
    engine = sa.create_engine(address(url))
    with engine.begin() as connection:
        for name in sa.inspect(connection).get_table_names():
            connection.execute(sa.text(f'drop table "{name}"'))
    engine.dispose()


def cases(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every executor on every store."""
    stores = {"SQLite": "", **({"PostgreSQL": options.postgres} if options.postgres else {})}
    for at, (store, url) in enumerate(stores.items()):
        for jobs, executor in ((2, "local"), (0, "inline")):
            yield tried(f"{executor}, {store}", jobs, url, options.kills, options.seed + at)


def main() -> int:
    """Try every case; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="of each case")
    parser.add_argument(
        "--postgres",
        metavar="URL",
        help="a database for the second store, instead of a server of its own",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if not options.postgres and not why_none():
            options.postgres = stack.enter_context(contextlib.closing(Server())).new()
        right = tell(options)
    return 0 if right else 1


def tell(options: argparse.Namespace) -> bool:
    """Print a line per case; whether all is right."""
    right = True
    for case in cases(options):
        right &= case["same_decisions"] and case["same_trials"]
        right &= not case["drafts_left"] and not case["left_running"]
        said = json.dumps(case) if options.json else ", ".join(f"{k} {v}" for k, v in case.items())
        print(said, flush=True)
    return right


if __name__ == "__main__":
    sys.exit(main())
