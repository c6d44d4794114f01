"""What all best-arm policies share: counts, ask and tell, stopping, saving."""

from __future__ import annotations

import json
import math
from abc import ABC
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probatum.bandits.rules import UNION, next_arm, settle
from probatum.sequential.glr import THRESHOLDS, mixture_constant
from probatum.sequential.policy import BAIResult, generator_from_state, generator_state

__all__ = ["BAIPolicy", "State"]

RandomState = int | np.random.Generator | np.random.SeedSequence | None
FORMAT = 1


class State(NamedTuple):
    """Where the evidence stands: leader, whether it is alone, its GLR and the threshold."""

    leader: int
    alone: bool
    glr: float
    threshold: float


class BAIPolicy(ABC):
    """Best-arm identification on Bernoulli arms at fixed confidence, by ask and tell.

    Concrete policies say which compiled rule they are. `ask` gives the same arm until an outcome
    is told; `tell` takes the outcome of any arm, asked for or not.

    Attributes
    ----------
    n_arms : int
    delta : float
    log_inv_delta : float
        ln(1/delta), nats.
    max_pulls : int or None
    """

    rules: ClassVar[dict[str, int]]
    """Variants by name, and their compiled rules; the name is the option `tracking`."""
    thresholds: ClassVar[tuple[str, ...]] = ("mixture", "heuristic", "uncorrected")
    certified: ClassVar[bool] = True
    """Whether it stops when the GLR exceeds the threshold."""

    def __init__(
        self,
        n_arms: int,
        delta: float = 0.05,
        *,
        log_inv_delta: float | None = None,
        threshold: str = "mixture",
        tracking: str | None = None,
        prior: tuple[float, float] = (1.0, 1.0),
        max_pulls: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_arms = _whole("n_arms", n_arms, 2)
        if log_inv_delta is None:
            if not 0 < delta < 1:
                raise ValueError(f"delta must lie between 0 and 1, got {delta!r}")
            log_inv_delta = -math.log(delta)
        if not 0 < log_inv_delta < math.inf:
            raise ValueError(f"log_inv_delta must be positive and finite, got {log_inv_delta!r}")
        self.log_inv_delta = float(log_inv_delta)
        self.delta = math.exp(-self.log_inv_delta)
        if threshold not in self.thresholds:
            known = ", ".join(self.thresholds)
            raise ValueError(f"threshold must be one of {known}, got {threshold!r}")
        self.threshold = threshold
        self.threshold_code = UNION if threshold == "union" else THRESHOLDS[threshold]
        tracking = next(iter(self.rules)) if tracking is None else tracking
        if tracking not in self.rules:
            raise ValueError(f"tracking must be one of {', '.join(self.rules)}, got {tracking!r}")
        self.tracking, self.rule = tracking, self.rules[tracking]
        if len(prior) != 2 or not all(0 < p < math.inf for p in prior):
            raise ValueError(f"prior must be two positive numbers (a, b) of a Beta, got {prior!r}")
        self.prior = (float(prior[0]), float(prior[1]))
        self.max_pulls = None if max_pulls is None else _whole("max_pulls", max_pulls, 1)
        self._rng = np.random.default_rng(random_state)
        self._pulls = np.zeros(self.n_arms, dtype=np.int64)
        self._successes = np.zeros(self.n_arms, dtype=np.int64)
        self._memory = np.zeros(self.n_arms)
        self._constant = mixture_constant(self.n_arms, self.log_inv_delta)
        self._asked: int | None = None
        self._identified = False
        self._state = State(0, False, 0.0, math.inf)

    def __repr__(self) -> str:
        name, spent = type(self).__name__, int(self._pulls.sum())
        return f"{name}(n_arms={self.n_arms}, delta={self.delta:.4g}), {spent} pulls"

    # --- ask and tell ---------------------------------------------------------------------------

    @property
    def stopped(self) -> bool:
        """Whether the best arm is identified, or `max_pulls` are spent."""
        spent = self.max_pulls is not None and int(self._pulls.sum()) >= self.max_pulls
        return self._identified or spent

    @property
    def identified(self) -> bool:
        """Whether it stopped with an answer."""
        return self._identified

    def ask(self) -> int:
        """Arm to pull next, from 0 on.

        Raises
        ------
        RuntimeError
            If the policy has stopped.
        """
        self._still_running("ask")
        if self._asked is None:
            self._asked = int(
                next_arm(
                    self.rule,
                    self._rng,
                    self._pulls,
                    self._successes,
                    self._memory,
                    np.asarray(self.prior),
                    self.threshold_code,
                    self.log_inv_delta,
                )
            )
        return self._asked

    def tell(self, arm: int, reward: float, *, binarize: bool = False) -> None:
        """Take in the outcome of a pull.

        Parameters
        ----------
        arm : int
            From 0 on; need not be the one asked for.
        reward : {0, 1} or bool
        binarize : bool, default=False
            Also take a reward in [0, 1], and draw success with that probability: the mean is kept.

        Raises
        ------
        ValueError
            If the arm or the reward is not one.
        RuntimeError
            If the policy has stopped.
        """
        self._still_running("tell")
        arm = self._arm(arm)
        value = float(reward)
        if binarize:
            if not 0 <= value <= 1:
                raise ValueError(f"reward must lie in [0, 1], got {reward!r}")
            value = float(self._rng.random() < value)
        elif value not in (0.0, 1.0):
            raise ValueError(f"reward must be 0 or 1, got {reward!r} (or see binarize=True)")
        self._pulls[arm] += 1
        self._successes[arm] += int(value)
        self._settle()

    def tell_counts(self, successes: ArrayLike, pulls: ArrayLike) -> None:
        """Take in many outcomes at once, as counts per arm.

        Parameters
        ----------
        successes, pulls : array-like of int, shape (K,)

        Raises
        ------
        ValueError
            If the counts are not counts.
        """
        self._still_running("tell")
        s, n = np.asarray(successes, dtype=float), np.asarray(pulls, dtype=float)
        if s.shape != (self.n_arms,) or n.shape != (self.n_arms,):
            raise ValueError(
                f"counts must have {self.n_arms} arms, got shapes {s.shape}, {n.shape}"
            )
        if not (np.isfinite(s) & np.isfinite(n) & (s == np.floor(s)) & (n == np.floor(n))).all():
            raise ValueError("counts must be whole numbers")
        if (s < 0).any() or (s > n).any():
            raise ValueError(f"successes must lie between 0 and pulls, got {s} and {n}")
        self._pulls += n.astype(np.int64)
        self._successes += s.astype(np.int64)
        self._settle()

    def _still_running(self, what: str) -> None:
        if self.stopped:
            why = "the best arm is identified" if self._identified else "max_pulls are spent"
            raise RuntimeError(f"{what} after the stop: {why}; see result()")

    def _arm(self, arm: int) -> int:
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer):
            raise TypeError(f"arm must be a whole number, got {arm!r}")
        if not 0 <= arm < self.n_arms:
            raise ValueError(f"arm must lie between 0 and {self.n_arms - 1}, got {arm}")
        return int(arm)

    def _settle(self) -> None:
        self._asked = None
        stop, leader, alone, glr, threshold = settle(
            self.rule,
            self._pulls,
            self._successes,
            self._memory,
            self.threshold_code,
            self.log_inv_delta,
            self._constant,
        )
        self._identified = bool(stop)
        self._state = State(int(leader), bool(alone), float(glr), float(threshold))

    # --- what is known --------------------------------------------------------------------------

    @property
    def best_arm_(self) -> int | None:
        """The answer; None before it is identified."""
        return self._state.leader if self._identified else None

    @property
    def n_pulls_(self) -> NDArray[np.int64]:
        """Pulls of each arm, shape (K,)."""
        return self._pulls.copy()

    @property
    def glr_(self) -> float:
        """Evidence for the leader against its hardest challenger, in nats."""
        return self._state.glr

    def state(self) -> State:
        """Where the evidence stands."""
        return self._state

    def result(self) -> BAIResult:
        """What is known so far."""
        return BAIResult(
            best_arm=self.best_arm_,
            leader=self._state.leader if self._state.alone else None,
            stopped=self.stopped,
            verdict="identified" if self._identified else "undecided",
            n_pulls=tuple(self._pulls.tolist()),
            successes=tuple(self._successes.tolist()),
            glr=self._state.glr,
            threshold=self._state.threshold if self.certified else None,
            delta=self.delta,
        )

    # --- saving ---------------------------------------------------------------------------------

    def _options(self) -> dict[str, Any]:
        return {
            "n_arms": self.n_arms,
            "log_inv_delta": self.log_inv_delta,
            "threshold": self.threshold,
            "tracking": self.tracking,
            "prior": list(self.prior),
            "max_pulls": self.max_pulls,
        }

    @classmethod
    def _made(cls, options: dict[str, Any], random_state: RandomState) -> Self:
        """A policy with these options; the constructors of some take fewer of them."""
        policy = cls.__new__(cls)
        BAIPolicy.__init__(
            policy,
            **{**options, "prior": tuple(options["prior"])},
            random_state=random_state,
        )
        return policy

    def fresh(self, random_state: RandomState) -> Self:
        """A policy with the same options that knows nothing yet."""
        return self._made(self._options(), random_state)

    def to_json(self) -> str:
        """The whole state as JSON, random draws to come included."""
        return json.dumps(
            {
                "policy": type(self).__name__,
                "format": FORMAT,
                "options": self._options(),
                "pulls": self._pulls.tolist(),
                "successes": self._successes.tolist(),
                "memory": self._memory.tolist(),
                "asked": self._asked,
                "rng": generator_state(self._rng),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The policy that `to_json` wrote; it goes on exactly as the other would have.

        Raises
        ------
        ValueError
            If the text is not one of these.
        """
        try:
            found = json.loads(text)
        except (TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"not a saved policy: {error}") from error
        if not isinstance(found, dict) or found.get("policy") != cls.__name__:
            kind = found.get("policy") if isinstance(found, dict) else None
            raise ValueError(f"not a saved {cls.__name__}: it says {kind!r}")
        if found.get("format") != FORMAT:
            raise ValueError(f"saved in format {found.get('format')!r}, known is {FORMAT}")
        try:
            policy = cls._made(found["options"], generator_from_state(found["rng"]))
            if any(found["pulls"]):
                policy.tell_counts(found["successes"], found["pulls"])
            memory = np.asarray(found["memory"], dtype=np.float64)
            asked = None if found["asked"] is None else policy._arm(found["asked"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"a damaged {cls.__name__}: {error!r}") from error
        if memory.shape != (policy.n_arms,) or not np.isfinite(memory).all():
            raise ValueError(f"a damaged {cls.__name__}: memory is {found['memory']!r}")
        policy._memory[:] = memory
        # Racing puts arms out by its memory, so that its verdict is read once that is back.
        if any(found["pulls"]):
            policy._settle()
        policy._asked = asked
        return policy


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)
