"""The check for sequential policies finds what it should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from probatum.bandits import PosteriorTracking, Uniform
from probatum.sequential import SequentialPolicy, check_sequential
from probatum.sequential.policy import generator_from_state, generator_state


class Broken:
    """A good policy with one thing changed."""

    def __init__(self, seed: int, **changed: Any) -> None:
        self.inner = PosteriorTracking(3, delta=0.1, threshold="heuristic", random_state=seed)
        self.changed = changed

    @property
    def stopped(self) -> bool:
        return self.inner.stopped

    def ask(self) -> Any:
        return self.changed["ask"](self.inner) if "ask" in self.changed else self.inner.ask()

    def tell(self, arm: int, reward: float) -> None:
        if "tell" in self.changed:
            self.changed["tell"](self.inner, arm, reward)
        else:
            self.inner.tell(arm, reward)

    def result(self) -> Any:
        return self.inner.result()

    def to_json(self) -> str:
        return self.inner.to_json()

    @classmethod
    def from_json(cls, text: str) -> Broken:
        made = cls(0)
        made.inner = PosteriorTracking.from_json(text)
        return made


def test_a_good_policy_passes_in_disguise() -> None:
    check_sequential(Broken)
    assert isinstance(Broken(0), SequentialPolicy)


def _forgiving(policy: PosteriorTracking, arm: int, reward: float) -> None:
    if 0 <= arm < 3 and reward in (0, 1):
        policy.tell(arm, reward)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"ask": lambda p: p.ask() + 3}, "arms are 0 to 2"),
        ({"ask": lambda p: float(p.ask())}, "not an int"),
        ({"ask": lambda p: int(np.random.default_rng().integers(3))}, "again before telling"),
        ({"tell": _forgiving}, "raised neither"),
        ({"ask": lambda p: 0 if p.stopped else p.ask()}, "ask after the stop"),
    ],
)
def test_a_broken_policy_is_found(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_sequential(lambda seed: Broken(seed, **changed))


def test_a_policy_that_lacks_methods_is_no_policy() -> None:
    with pytest.raises(AssertionError, match="has ask, tell"):
        check_sequential(lambda seed: object())


def test_a_policy_that_forgets_its_generator_is_found() -> None:
    class Forgetful(Broken):
        @classmethod
        def from_json(cls, text: str) -> Broken:
            made = super().from_json(text)
            made.inner._rng = np.random.default_rng(99)
            return made

    with pytest.raises(AssertionError, match="goes on differently"):
        check_sequential(Forgetful)


def test_a_simulation_that_disagrees_is_found() -> None:
    with pytest.raises(AssertionError, match="batch simulation"):
        check_sequential(
            lambda seed: Uniform(3, random_state=seed),
            simulate=lambda means, tape, seed, most: np.zeros(3, dtype=np.int64),
        )


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_survive_json(bits: str) -> None:
    rng = np.random.Generator(getattr(np.random, bits)(7))
    rng.random(3)
    rng.integers(2**31, dtype=np.int32)
    twin = generator_from_state(generator_state(rng))
    assert twin.random(5).tolist() == rng.random(5).tolist()


@pytest.mark.parametrize("state", [{}, {"bit_generator": "os"}, {"bit_generator": "PCG64"}, 3])
def test_no_generator_no_state(state: Any) -> None:
    with pytest.raises(ValueError, match=r"generator|state"):
        generator_from_state(state)
