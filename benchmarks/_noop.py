"""A trial that does nothing, and a paper whose claim needs all of its trials."""

from __future__ import annotations

from probatum.evidence import (
    Arm,
    Block,
    Budget,
    Claim,
    Dataset,
    Experiment,
    Metric,
    Paper,
    Row,
    Stat,
    Within,
)

ARMS, DATASETS = 5, 10


class Idle:
    """What an arm builds."""


def trial(block: Block) -> list[Row]:
    """One number, so that there is something to decide."""
    return [Row(block.arms[0].id, values={"m": float(block.rng("x").normal())})]


def load() -> None:
    """Nothing to load."""


def paper(replicates: int) -> Paper:
    """A paper of ``50 * replicates`` trials; its claim stays undecided to the end."""
    arms = [Arm(f"a{at}", "_noop:Idle", "method" if at == 0 else "baseline") for at in range(ARMS)]
    idle = Experiment(
        "idle",
        "_noop:trial",
        tuple(arms),
        tuple(Dataset(f"d{at}", "_noop:load", "none") for at in range(DATASETS)),
        {"m": Metric("higher")},
        {"quick": Budget(replicates)},
    )
    within = Within(Stat("m"), "a0", to=tuple(arm.id for arm in arms[1:]), low=-1e-9, high=1e-9)
    return Paper(
        "noop", "No-op", "evaluation", "abstract", (), (Claim("c", "s", "paper", idle, within),)
    )
