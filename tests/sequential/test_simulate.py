"""Tapes, tracking rules and the compiled functions' cache."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.sequential import RewardTape, run_seeds
from probatum.sequential.compiled import _stamp
from probatum.sequential.simulate import tape_uniform
from probatum.sequential.tracking import draw_arm, forced_arm, lift_weights, most_behind


def test_a_tape_does_not_depend_on_the_order_of_asking() -> None:
    one, two = RewardTape([0.5, 0.3], 11), RewardTape([0.5, 0.3], 11)
    in_turn = [[one.pull(a) for _ in range(200)] for a in (0, 1)]
    mixed: list[list[int]] = [[], []]
    for arm in np.random.default_rng(0).permutation([0] * 200 + [1] * 200):
        mixed[arm].append(two.pull(int(arm)))
    assert mixed == in_turn
    assert in_turn[0] != in_turn[1]


def test_tape_is_split_mix_64() -> None:
    """The first outputs for state 0 are published with the generator."""
    mask = 2**64 - 1

    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    golden = 0x9E3779B97F4A7C15
    assert mix(golden) == 0xE220A8397B1DCDAF
    for tape, arm, pull in ((0, 0, 0), (7, 2, 41), (2**64 - 1, 1, 10**6)):
        stream = mix((mix((tape + golden) & mask) + golden * (arm + 1)) & mask)
        expected = (mix((stream + golden * (pull + 1)) & mask) >> 11) * 2.0**-53
        assert tape_uniform(np.uint64(tape), arm, pull) == expected


def test_tapes_are_uniform_and_unrelated() -> None:
    tapes, policies = run_seeds(0, 40)
    assert np.unique(np.concatenate([tapes, policies])).size == 80
    draws = np.array([[tape_uniform(t, a, i) for i in range(500)] for t in tapes for a in range(3)])
    assert draws.mean() == pytest.approx(0.5, abs=4 * 0.2887 / draws.size**0.5)
    assert draws.var() == pytest.approx(1 / 12, rel=0.02)
    related = np.corrcoef(draws)
    np.fill_diagonal(related, 0)
    assert np.abs(related).max() < 5 / 500**0.5


def test_run_seeds_are_a_prefix_of_nothing_else() -> None:
    assert run_seeds(3, 5)[0].tolist() == run_seeds(3, 5)[0].tolist()
    assert run_seeds(3, 5)[0].tolist() != run_seeds(4, 5)[0].tolist()
    with pytest.raises(ValueError, match="at least 1"):
        run_seeds(0, 0)


@pytest.mark.parametrize("bad", [[0.5, 2.0], [[0.5]], [float("nan")]])
def test_tapes_have_means_in_the_unit_interval(bad: list[float]) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        RewardTape(bad, 0)


def test_draw_arm_follows_the_allocation() -> None:
    weights = np.array([0.2, 0.0, 0.5, 0.3])
    uniform = (np.arange(1000) + 0.5) / 1000
    drawn = np.bincount([draw_arm(weights, u) for u in uniform], minlength=4)
    assert drawn.tolist() == [200, 0, 500, 300]
    assert draw_arm(np.array([0.5, 0.5 - 1e-16, 0.0]), 1 - 1e-17) == 1


def test_tracking_pulls_what_lags() -> None:
    pulls = np.array([5, 2, 3])
    assert most_behind(np.array([0.3, 0.3, 0.4]), 10.0, pulls) == 1
    assert forced_arm(np.array([50, 1, 49]), 100) == 1
    assert forced_arm(np.array([50, 40, 10]), 100) == -1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0.001, 0.1))
def test_lifted_weights_are_the_nearest_allocation_above_the_floor(
    raw: list[float], floor: float
) -> None:
    if sum(raw) == 0:
        return
    weights = np.array(raw) / sum(raw)
    lifted = weights.copy()
    lift_weights(lifted, floor)
    assert lifted.sum() == pytest.approx(1, abs=1e-9)
    assert (lifted >= floor - 1e-12).all()
    # No allocation above the floor is nearer: what is lifted must come from those above it.
    deficit = np.maximum(floor - weights, 0)
    above = weights > floor
    least = max(deficit.max(), deficit.sum() / max(above.sum(), 1))
    assert np.abs(lifted - weights).max() >= least - 1e-9
    if above.any():
        cut = np.max(weights[above] - lifted[above])
        kept = lifted[above] > floor + 1e-9
        assert np.allclose((weights - lifted)[above][kept], cut, atol=1e-9)


def test_cached_machine_code_follows_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba alone would go on with the old callee, whose file it doesn't look at."""
    package = tmp_path / "stale_kernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    head = "from probatum.sequential.compiled import kernel\n"
    (package / "caller.py").write_text(
        f"{head}from stale_kernels.callee import callee\n\n"
        "@kernel\ndef caller(x: float) -> float:\n    return callee(x) + 1.0\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    for factor in (2.0, 3.0):
        (package / "callee.py").write_text(
            f"{head}\n@kernel\ndef callee(x: float) -> float:\n    return {factor} * x\n"
        )
        for name in [name for name in sys.modules if name.startswith("stale_kernels")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        _stamp.cache_clear()
        found.append(importlib.import_module("stale_kernels.caller").caller(10.0))
    assert found == [21.0, 31.0]
    assert list((package / "__pycache__").glob("*.nbc"))
