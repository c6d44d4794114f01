"""A run to be killed: ``python run_to_be_killed.py STORE-URL JOBS``.

Writes a dot on standard output for each trial that ends, and the decisions as JSON at the end.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path

from trials_for_engine import arm, experiment, noisy, paper, prepare, selection

from probatum.evidence import Block, Budget, Claim, Every, Metric, Paper, Row, Stat, Within
from probatum.evidence.run import Silent, execute
from probatum.evidence.store import Store


def slowly(block: Block) -> list[Row]:
    """A score, after a moment."""
    time.sleep(0.005)
    assert block.prepared is None or (block.prepared / "base.txt").exists()
    return noisy(block)


def slow_prepare(block: Block, folder: Path) -> None:
    """A folder that is half filled for a moment."""
    (folder / "inner").mkdir()
    (folder / "inner" / "half.txt").write_text("half")
    time.sleep(0.01)
    prepare(block, folder)


def catalog(*, crashing: bool) -> Paper:
    """Three claims on one experiment, which end at different n, and one on another.

    Trials that crash their process would end a run that has no other.
    """
    crashes = dict.fromkeys((14, 31), "segfaults") | dict.fromkeys((2, 7, 23), "once:$FLAGS")
    crashes = crashes if crashing else dict.fromkeys((14, 31), "raises")
    arms = (
        arm("good", "method", mean=0.5, sd=0.3),
        arm("frail", sd=0.3, fate=crashes),
        arm("near", mean=0.35, sd=0.3, fate={19: "raises"}),
    )
    scores = experiment(
        arms,
        metrics={"m": Metric("higher", (-4.0, 4.0))},
        budgets={"quick": Budget(40, {"log": "$FLAGS/log"}, seconds=20, memory_gb=1)},
        prepare="run_to_be_killed:slow_prepare",
        prepare_per="replicate",
    )
    scores = dataclasses.replace(scores, trial="run_to_be_killed:slowly")
    plain = dataclasses.replace(scores, id="plain", arms=arms[:1], prepare=None)
    return paper(
        Claim("early", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=-0.6)),
        Claim("late", "It is.", "paper", scores, Within(Stat("m"), "good", ("near",), low=0.15)),
        Claim("false", "It is.", "paper", scores, Within(Stat("m"), "good", ("frail",), low=2.0)),
        Claim("every", "It is.", "paper", plain, Every("m", "good", high=9.0, at_least=70)),
    )


class Ticking(Silent):
    """Says when a trial has ended."""

    def finished(self, *_: object) -> None:
        sys.stdout.write(".")
        sys.stdout.flush()


def main(url: str, jobs: int) -> None:
    """Run it all."""
    with Store(url) as store:
        report = execute(
            selection(catalog(crashing=jobs > 0)), store=store, jobs=jobs, watcher=Ticking()
        )
    print(json.dumps([dataclasses.asdict(decision) for decision in report.decisions]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
