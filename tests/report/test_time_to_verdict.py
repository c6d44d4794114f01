"""How soon claims are decided: the fixed design beside it, and the figures in the prose."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from probatum.report.calibration import explained

TOOL = Path(__file__).parents[2] / "tools" / "time_to_verdict.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("time_to_verdict", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    command = [sys.executable, str(TOOL), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    object_: dict[str, Any] = json.loads(done.stdout)
    return object_


@pytest.mark.parametrize(("effect", "edge", "alpha"), [(0.5, 0.0, 0.05), (-1.2, -0.2, 0.005)])
def test_the_fixed_t_test_has_its_power_and_one_replicate_less_has_not(
    tool: ModuleType, effect: float, edge: float, alpha: float
) -> None:
    n = tool.fixed_n_mean(effect, 1.0, edge, alpha)
    rng = np.random.default_rng(0)

    def power(size: int) -> float:
        z = rng.normal(effect, 1.0, (40_000, size))
        t = np.abs(z.mean(axis=1) - edge) / z.std(axis=1, ddof=1) * np.sqrt(size)
        return float((t >= stats.t.ppf(1 - alpha / 2, size - 1)).mean())

    assert power(n) > 0.9 - 0.005
    assert power(n - 1) < 0.9 + 0.005


@pytest.mark.parametrize(
    ("rate", "edge", "alpha"), [(0.02, 0.05, 0.05), (0.99, 0.9, 0.01), (0.3, 0.6, 0.001)]
)
def test_the_fixed_test_of_a_rate_is_exact(
    tool: ModuleType, rate: float, edge: float, alpha: float
) -> None:
    """Tries against the test of SciPy, whose p-value on one side is at most half the level."""
    n = tool.fixed_n_rate(rate, edge, alpha)
    side = "less" if rate < edge else "greater"

    def power(size: int) -> float:
        chances = stats.binom.pmf(np.arange(size + 1), size, rate)
        refused = [
            stats.binomtest(k, size, edge, alternative=side).pvalue <= alpha / 2
            for k in range(size + 1)
        ]
        return float(chances[refused].sum())

    assert power(n) >= 0.9 > power(n - 1)


def test_an_effect_on_the_edge_is_never_decided_and_one_without_spread_at_once(
    tool: ModuleType,
) -> None:
    assert tool.fixed_n_mean(0.2, 1.0, 0.2, 0.05) is None
    assert tool.fixed_n_rate(0.2, 0.2, 0.05) is None
    assert tool.fixed_n_mean(0.5, 0.0, 0.2, 0.05) == 2
    assert tool.fixed_n_mean(1e20, 1.0, 0.2, 0.05) == 2


def test_every_stochastic_claim_that_is_shipped_has_a_line(found: dict[str, Any]) -> None:
    from probatum import catalog
    from probatum.evidence.shipped_index import read_index

    index = read_index()
    wanted = {
        (paper.slug, claim.id): index[paper.slug][claim.id]["verdict"]
        for paper in catalog.load().papers
        for claim in paper.claims
        if claim.stochastic and claim.id in index.get(paper.slug, {})
    }
    lines = {(line["paper"], line["claim"]): line["verdict"] for line in found["lines"]}
    assert lines == wanted
    assert found["claims"] == len(wanted)


def test_the_prose_gives_the_figures_of_the_tool(found: dict[str, Any]) -> None:
    prose = " ".join(explained().partition("**Time to a verdict.**")[2].split())
    for said in (
        f"Of the {found['claims']} shipped claims",
        f"{found['first_look']} were decided at the first look",
        f"they took {found['median_ratio']} times as many at the median",
        f"{found['median_ratio_later']} times those decided at a later look",
        f"{found['used']} replicates beside {found['fixed']}",
    ):
        assert said in prose
