"""What fuzz tests share: how many cases there are, hostile values, and a paper to try them on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from probatum.evidence import (
    AllOf,
    Arm,
    Budget,
    Claim,
    Dataset,
    Every,
    Experiment,
    Metric,
    Paper,
    Rate,
    Row,
    Stat,
    Tool,
    Within,
)

__all__ = ["JSON", "NUMBERS", "PAPER", "TEXTS", "cases", "mutated", "trial"]

HERE = "fuzzing"


def cases(few: int, many: int) -> Callable[[Any], Any]:
    """Settings of a fuzz test: a few cases in the suite, many in the profile ``deep``."""
    deep = settings.get_current_profile_name() == "deep"
    return settings(
        max_examples=many if deep else few,
        deadline=None,
        # A case takes milliseconds, and to find a smaller one that fails takes thousands of them.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        *(
            "",
            "\0",
            "\ud800",
            "\x1b[31m",
            "\u202e",
            "é",
            "a\nb",
            "\r\n",
            "a" * 3000,
            "[bold]",
            "{{x}}",
        ),
        *(
            "<script>alert(1)</script>",
            "</script>",
            "'; drop table trials; --",
            "=1+1",
            "%s",
            "../x",
        ),
        *(
            "nan",
            "inf",
            "-1",
            "1e400",
            "0x1",
            "1_0",
            "９",
            "true",
            "null",
            "None",
            "*",
            "good",
            "score",
        ),
    ]
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([0, -1, 2**31, 2**63, -(2**63), 10**400, 1e308, 5e-324, -0.0, 1e17]),
)
JSON: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    if isinstance(value, dict):
        for name, inner in value.items():
            found += _places(inner, (*at, name))
    elif isinstance(value, list):
        for i, inner in enumerate(value[:4]):
            found += _places(inner, (*at, i))
    return found


@st.composite
def mutated(draw: st.DrawFn, good: str) -> str:
    """A JSON text in which some values are others, are gone or stand under other names."""
    if draw(st.integers(0, 9)) == 0:
        return draw(_broken(good))
    value = json.loads(good)
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(_places(value)))
        put = draw(JSON)
        if not where:
            value = put
            continue
        at = value
        for step in where[:-1]:
            at = at[step]
        kind = draw(st.sampled_from(["put", "put", "put", "drop", "rename"]))
        if kind == "put":
            at[where[-1]] = put
        elif kind == "drop":
            del at[where[-1]]
        elif isinstance(at, dict):
            at[draw(TEXTS)] = at.pop(where[-1])
    return json.dumps(value)


def _broken(good: str) -> SearchStrategy[str]:
    cut = st.integers(0, len(good)).map(lambda at: good[:at])
    spliced = st.tuples(st.integers(0, len(good)), st.text(max_size=4)).map(
        lambda put: good[: put[0]] + put[1] + good[put[0] :]
    )
    return st.one_of(
        cut,
        spliced,
        st.sampled_from(["", "[" * 100_000, '{"a":' * 50_000, "NaN", "1" * 5000, "\ufeff{}"]),
        st.text(max_size=20),
    )


# --- a paper with every kind of claim ------------------------------------------------------------


class Thing:
    """What arms build."""


def load() -> None:
    """Nothing to load."""


LEVELS = {"good": 0.8, "poor": 0.4, "dropped": 0.4}


def trial(block: Any) -> list[Row]:
    """A noisy score, counts, and a curve."""
    found = []
    for arm in block.arms:
        rng = block.rng(arm.id)
        level = LEVELS[arm.id]
        score = min(max(level + 0.05 * float(rng.normal()), 0.0), 1.0)
        found.append(
            Row(arm.id, values={"score": score}, counts={"hit": (int(rng.binomial(9, level)), 9)})
        )
        found += [
            Row(arm.id, "curve", x, {"err": float(3 * x**-0.5 * rng.uniform(0.9, 1.1))})
            for x in (1.0, 10.0, 100.0)
        ]
    return found


ARMS = (
    Arm("good", f"{HERE}:Thing", "method"),
    Arm("poor", f"{HERE}:Thing", library="numpy"),
    Arm("dropped", f"{HERE}:Thing", "control"),
)


def experiment(name: str, **changes: Any) -> Experiment:
    """An experiment of the paper."""
    given: dict[str, Any] = {
        "trial": f"{HERE}:trial",
        "arms": ARMS,
        "datasets": tuple(Dataset(d, f"{HERE}:load", "CC0") for d in ("heads", "tails")),
        "metrics": {
            "score": Metric("higher", (0, 1)),
            "hit": Metric("higher", (0, 1)),
            "err": Metric("lower"),
        },
        "budgets": {"quick": Budget(10), "standard": Budget(10)},
    }
    return Experiment(name, **{**given, **changes})


SCORES, JOINT, ONCE = (
    experiment("scores"),
    experiment("joint", together=True),
    experiment("once", source="deterministic"),
)
BETTER = Within(Stat("score"), "good", ("poor",), low=0.1)
PAPER = Paper(
    "fuzzed",
    "A fuzzed paper",
    "evaluation",
    "abstract",
    (f"{HERE}:Thing",),
    (
        Claim("better", "It is better.", "paper", SCORES, BETTER),
        Claim("often", "It hits.", "proxy", SCORES, Rate("hit", "good", low=0.5, independent=True)),
        Claim("mostly", "It hits.", "proxy", SCORES, Rate("hit", "good", low=0.5)),
        Claim("never", "It stays.", "paper", SCORES, Every("score", "good", high=1.0)),
        Claim(
            "slope",
            "It falls.",
            "paper",
            JOINT,
            AllOf((Within(Stat("err", "loglog"), "good", (), "absolute", high=-0.2), BETTER)),
        ),
        Claim("once", "It is better.", "paper", ONCE, BETTER),
        Claim("space", "It flies.", "target", missing="a rocket"),
    ),
    tools=(Tool("fuzzed", f"{HERE}:load", "Does nothing.", "x.csv"),),
)


def written(path: Path, text: str) -> None:
    """Write a text as it is, lone surrogates too."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
