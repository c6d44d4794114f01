"""Trials that print on standard output what would spoil a JSON object."""

import os
import sys

from probatum.evidence import Arm, Budget, Claim, Dataset, Every, Experiment, Metric, Paper


class Thing:
    """What arms build."""


def load():
    """Nothing to load."""


def trial(block):
    """Print through Python and past it."""
    from probatum.evidence import Row

    print('{"garbage": ', flush=True)
    os.write(1, b"more garbage\n")
    sys.stdout.flush()
    value = float(block.rng("v").uniform())
    return [Row(arm.id, values={"loss": value}) for arm in block.arms]


PAPER = Paper(
    slug="noisy",
    title="Noise",
    domain="evaluation",
    fidelity="paper text",
    methods=("toy_papers.noisy:Thing",),
    claims=(
        Claim(
            "bounded",
            "The loss is at most one.",
            "paper",
            Experiment(
                "shouts",
                trial="toy_papers.noisy:trial",
                arms=(
                    Arm("loud", "toy_papers.noisy:Thing", "method"),
                    Arm("louder", "toy_papers.noisy:Thing"),
                ),
                datasets=(Dataset("air", "toy_papers.noisy:load", "CC0"),),
                metrics={"loss": Metric("lower", (0, 1))},
                budgets={"quick": Budget(6)},
                together=True,
            ),
            Every("loss", "loud", high=1.0, at_least=5),
        ),
    ),
)
