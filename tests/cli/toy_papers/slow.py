"""Trials that take a while, to be stopped in."""

import time

from probatum.evidence import Arm, Budget, Claim, Dataset, Every, Experiment, Metric, Paper


class Thing:
    """What arms build."""


def load():
    """Nothing to load."""


def trial(block):
    """Sleep as long as the size says."""
    from probatum.evidence import Row

    time.sleep(block.size["nap"] if block.replicate else 0.0)
    return [Row(block.arms[0].id, values={"loss": float(block.rng("v").uniform())})]


PAPER = Paper(
    slug="slow",
    title="Slowness",
    domain="evaluation",
    fidelity="official code",
    methods=("toy_papers.slow:Thing",),
    claims=(
        Claim(
            "bounded",
            "The loss is at most one.",
            "paper",
            Experiment(
                "naps",
                trial="toy_papers.slow:trial",
                arms=(Arm("sleeper", "toy_papers.slow:Thing", "method"),),
                datasets=(Dataset("bed", "toy_papers.slow:load", "CC0"),),
                metrics={"loss": Metric("lower", (0, 1))},
                budgets={
                    "smoke": Budget(4, size={"nap": 0.01}),
                    "quick": Budget(8, size={"nap": 0.3}),
                },
            ),
            Every("loss", "sleeper", high=1.0, at_least=8),
        ),
    ),
)
