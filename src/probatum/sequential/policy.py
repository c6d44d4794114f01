"""The interface of sequential algorithms: ask for an action, tell what came of it.

A policy is a value: it can be written as JSON at any time and read back, and then goes on exactly
as it would have gone on, random draws included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np

__all__ = ["BAIResult", "SequentialPolicy", "generator_from_state", "generator_state"]


@runtime_checkable
class SequentialPolicy(Protocol):
    """What every sequential algorithm offers.

    `ask` gives the same action until an outcome is told. `tell` takes the outcome of any action,
    asked for or not. After `stopped`, both raise RuntimeError.
    """

    @property
    def stopped(self) -> bool:
        """Whether there is nothing more to try."""

    def ask(self) -> int:
        """Action to try next, from 0 on."""

    def tell(self, arm: int, reward: float) -> None:
        """Take in what an action gave."""

    def result(self) -> Any:
        """What is known so far."""

    def to_json(self) -> str:
        """The whole state, random draws to come included."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The policy that `to_json` wrote."""


@dataclass(frozen=True)
class BAIResult:
    """What a best-arm policy knows.

    Attributes
    ----------
    best_arm : int or None
        The answer; None before it is identified.
    leader : int or None
        Arm with the highest empirical mean; None where the best is not alone.
    stopped : bool
        Whether the policy stopped, with an answer or because its pulls are spent.
    verdict : {"identified", "undecided"}
    n_pulls, successes : tuple of int, length K
    glr : float
        Evidence for the leader against its hardest challenger, in nats.
    threshold : float or None
        What `glr` must exceed; None for a policy that stops by another rule.
    delta : float
        Allowed probability of a wrong answer; 0.0 where ln(1/delta) is beyond floats.
    """

    best_arm: int | None
    leader: int | None
    stopped: bool
    verdict: Literal["identified", "undecided"]
    n_pulls: tuple[int, ...]
    successes: tuple[int, ...]
    glr: float
    threshold: float | None
    delta: float

    @property
    def total(self) -> int:
        """Pulls of all arms."""
        return sum(self.n_pulls)

    @property
    def means(self) -> tuple[float, ...]:
        """Empirical means; NaN for an arm that was never pulled."""
        pairs = zip(self.successes, self.n_pulls, strict=True)
        return tuple(s / n if n else float("nan") for s, n in pairs)


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """State of a generator as plain JSON values.

    Examples
    --------
    >>> rng = np.random.default_rng(5)
    >>> _ = rng.random(7)
    >>> twin = generator_from_state(generator_state(rng))
    >>> bool(twin.random() == rng.random())
    True
    """
    return _plain(dict(rng.bit_generator.state))  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "values": value.tolist()}
    return value.item() if isinstance(value, np.generic) else value


def _rich(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"dtype", "values"}:
        return np.array(value["values"], dtype=value["dtype"])
    if isinstance(value, dict):
        return {name: _rich(inner) for name, inner in value.items()}
    return value


BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def generator_from_state(state: dict[str, Any]) -> np.random.Generator:
    """The generator that `generator_state` describes.

    Raises
    ------
    ValueError
        If it describes none.
    """
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if name not in BIT_GENERATORS:
        raise ValueError(f"no generator state: its kind is {name!r}, not one of {BIT_GENERATORS}")
    bits = getattr(np.random, str(name))()
    try:
        bits.state = _rich(state)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"no valid state of a {name} generator: {error!r}") from error
    return np.random.Generator(bits)
