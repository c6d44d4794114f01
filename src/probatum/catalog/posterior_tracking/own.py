"""A reader's own policy beside the paper's, and a reader's own log in the place of its data."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from probatum.bandits.logs import read_log
from probatum.catalog.posterior_tracking.contenders import Runs
from probatum.evidence import Dataset
from probatum.evidence.model import resolve
from probatum.sequential import RewardTape, play, run_seeds

# Arms with fewer trials have a success rate that nobody knows yet.
LEAST_TRIALS, MOST_ARMS = 20, 50
# A policy that errs once in ten runs is wrong in more than 7 of 20 once in two thousand times.
REHEARSALS, EASY, MOST_WRONG = 20, 20_000, 7


class BestArmPolicy(Protocol):
    """A best-arm policy: ``Policy(n_arms, delta, random_state)`` with ask and tell.

    Its attribute ``stopped`` says when it is done and ``best_arm_`` what it answers; arms count
    from 0, rewards are 0 or 1.
    """

    def ask(self) -> int: ...
    def tell(self, arm: int, reward: float, /) -> None: ...


@dataclass(frozen=True)
class AskTell:
    """A reader's own class as an arm, run by ask and tell on the rewards that all arms get."""

    make: str
    again: bool = False

    def probe(self) -> Any:
        """One object of the reader's class, once it has done well on a problem that is easy.

        Trials measure pulls, and a policy that answers blindly needs few: 20 runs are played on
        arms that succeed with probability .9, .1 and .1, in any order; one in ten may err.
        """
        wrong = 0
        for run, (tape, own) in enumerate(zip(*run_seeds(0, REHEARSALS), strict=True)):
            means = np.roll([0.9, 0.1, 0.1], run)
            policy = self._policy(3, 0.1, int(own))
            pulls = int(play(_Checked(self.make, policy), RewardTape(means, int(tape)), EASY).sum())
            if not policy.stopped:
                raise ValueError(
                    f"{self.make} has not stopped after {EASY} pulls of arms with success rates "
                    ".9, .1 and .1; `stopped` must become true when it knows the best"
                )
            if not pulls:
                raise ValueError(f"{self.make} has stopped before its first pull")
            wrong += policy.best_arm_ != int(means.argmax())
        if wrong > MOST_WRONG:
            raise ValueError(
                f"{self.make} gave a wrong `best_arm_` in {wrong} of {REHEARSALS} runs on arms "
                "with success rates .9, .1 and .1, at delta = .1"
            )
        return self._policy(3, 0.1, 0)

    def _policy(self, n_arms: int, delta: float, random_state: int) -> Any:
        policy = resolve(self.make)(n_arms=n_arms, delta=delta, random_state=random_state)
        for name in ("stopped", "best_arm_"):
            if not hasattr(policy, name):
                raise ValueError(f"{self.make} has no attribute {name!r}")
            if callable(getattr(policy, name)):
                raise ValueError(f"{self.make}: {name!r} is a method; it must be a plain value")
        return policy

    def identify(
        self,
        means: NDArray[np.float64],
        log_inv_delta: float,
        n_runs: int,
        seed: int,
        max_pulls: int,
    ) -> Runs:
        """Runs by ask and tell; one that has not stopped after `max_pulls` counts as wrong."""
        tapes, seeds = run_seeds(seed, n_runs)
        pulls, correct = [], []
        for tape, own in zip(tapes, seeds, strict=True):
            policy = self._policy(means.size, math.exp(-log_inv_delta), int(own))
            checked = _Checked(self.make, policy)
            pulls.append(int(play(checked, RewardTape(means, int(tape)), max_pulls).sum()))
            correct.append(bool(policy.stopped) and policy.best_arm_ == int(means.argmax()))
        return Runs(np.array(pulls), np.array(correct), np.full(n_runs, np.nan))


class _Checked:
    """A reader's policy whose answers are looked at."""

    def __init__(self, make: str, policy: Any) -> None:
        self.make = make
        self.policy = policy

    @property
    def stopped(self) -> bool:
        return bool(self.policy.stopped)

    def ask(self) -> int:
        arm = self.policy.ask()
        if not isinstance(arm, int | np.integer):
            raise ValueError(f"{self.make}: ask must give the number of an arm, gave {arm!r}")
        return int(arm)

    def tell(self, arm: int, reward: float, /) -> None:
        self.policy.tell(arm, reward)


def own_log(
    file: Path,
    *,
    arm: str | None = None,
    outcome: str | None = None,
    successes: str | None = None,
    trials: str | None = None,
) -> Dataset:
    """A reader's log as a problem: Bernoulli arms with the log's success rates.

    Parameters
    ----------
    file : Path
        Rows of (arm, outcome), or of (arm, successes, trials).
    arm, outcome, successes, trials : str, optional
        Columns; see `probatum.bandits.logs.read_log`.

    Raises
    ------
    ValueError
        If the file is no such table, an arm has fewer than 20 trials, there are fewer than 2 arms
        or more than 50, or the best is not alone.
    OSError
        If the file can't be read.
    """
    counts = read_log(file, arm=arm, outcome=outcome, successes=successes, trials=trials)
    if not 2 <= len(counts.arms) <= MOST_ARMS:
        raise ValueError(f"{file} has {len(counts.arms)} arms; accepted are 2 to {MOST_ARMS}")
    least = int(np.argmin(counts.pulls))
    if counts.pulls[least] < LEAST_TRIALS:
        raise ValueError(
            f"{file}: arm {counts.arms[least]!r} has {counts.pulls[least]} trials; "
            f"{LEAST_TRIALS} are needed to know a rate to replay"
        )
    rates = counts.successes / counts.pulls
    top = np.flatnonzero(rates == rates.max())
    if top.size > 1:
        first, second = (counts.arms[a] for a in top[:2])
        raise ValueError(f"{file}: {first!r} and {second!r} share the best rate; no rule finds one")
    slug = re.sub(r"[^a-z0-9]+", "-", Path(file).name.split(".")[0].lower()).strip("-")
    params = {"successes": counts.successes.tolist(), "trials": counts.pulls.tolist()}
    return Dataset(
        f"own-{slug or 'log'}",
        f"{__name__}:rates",
        "the reader's own",
        params,
        f"{__name__}:rates_identity",
    )


def rates(successes: list[int], trials: list[int]) -> NDArray[np.float64]:
    """Success rates of a data set that `own_log` made."""
    return np.asarray(np.divide(successes, trials), dtype=float)


def rates_identity(successes: list[int], trials: list[int]) -> str:
    """Hash of the counts."""
    stated = json.dumps([list(successes), list(trials)])
    return hashlib.sha256(stated.encode()).hexdigest()[:16]
