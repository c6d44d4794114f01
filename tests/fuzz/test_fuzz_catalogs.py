"""Catalog entries of whatever values: refused when they are made, or shown everywhere."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from fuzzing import HERE, NUMBERS, TEXTS, cases
from hypothesis import given
from hypothesis import strategies as st

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
    Stat,
    Tool,
    Within,
)
from probatum.evidence.citations import bibtex, jsonld, jsonld_text
from probatum.evidence.decide import claim_alpha, control_decisions, decide, floor, untested
from probatum.evidence.described import paper_facts, paper_summary
from probatum.evidence.measure import Evidence
from probatum.evidence.model import PROFILES
from probatum.evidence.run import open_runs
from probatum.report.content import paper_content

SLUGS = st.sampled_from(["a", "b", "good", "poor", "a-b", "x" * 40]) | TEXTS
REAL = st.floats(-2, 2) | st.sampled_from([-math.inf, math.inf, math.nan, 0.0, 1.0, 1e308])
TARGETS = st.sampled_from([f"{HERE}:load", f"{HERE}:Thing", f"{HERE}:trial"]) | TEXTS
FEW = st.integers(1, 3) | NUMBERS


def ours(usual: st.SearchStrategy[Any], strange: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly the usual, so that a whole paper is not always refused for one of its many parts."""
    return st.integers(0, 19).flatmap(lambda at: strange if at == 0 else usual)


ARMS = st.builds(
    Arm,
    ours(st.sampled_from(["good", "poor", "dropped"]), SLUGS),
    ours(st.just(f"{HERE}:Thing"), TARGETS),
    ours(st.sampled_from(["method", "baseline", "control"]), TEXTS),
    TEXTS,
    title=TEXTS,
)
DATASETS = st.builds(
    Dataset,
    ours(st.sampled_from(["d", "e"]), SLUGS),
    ours(st.just(f"{HERE}:load"), TARGETS),
    TEXTS,
    title=TEXTS,
)
METRICS = st.builds(
    Metric,
    ours(st.sampled_from(["higher", "lower"]), TEXTS),
    ours(st.none() | st.just((0.0, 1.0)), st.tuples(REAL, REAL)),
    TEXTS,
)
BUDGETS = st.builds(
    Budget, ours(st.integers(1, 40), FEW), st.dictionaries(TEXTS, NUMBERS, max_size=2)
)
STATS = st.builds(
    Stat,
    ours(st.just("score"), TEXTS),
    ours(st.sampled_from(["mean", "slope", "loglog", "spearman", "kendall", "max"]), TEXTS),
    ours(st.just("x"), TEXTS),
    ours(st.just(1.0), REAL),
    ours(st.none(), TEXTS),
    st.booleans(),
)
NAMES = ours(st.sampled_from(["good", "poor"]), SLUGS)
RIVALS = ours(st.just(("poor",)), st.lists(NAMES, max_size=2).map(tuple))
EDGE = st.sampled_from([-1.5, -0.3, 0.2, 1.0])


def regions(strange: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, float]]:
    """Both ends of a region, mostly one that is one."""
    open_above = EDGE.map(lambda edge: {"low": edge, "high": math.inf})
    open_below = EDGE.map(lambda edge: {"low": -math.inf, "high": edge})
    return ours(open_above | open_below, st.fixed_dictionaries({"low": strange, "high": strange}))


def within(scale: str, to: tuple[str, ...], region: dict[str, float], **given: Any) -> Within:
    """A comparison, which names rivals where its scale has some."""
    return Within(given.pop("stat"), given.pop("arm"), to, scale, **region, **given)  # type: ignore[arg-type]


PARTS = st.one_of(
    st.builds(
        within,
        st.sampled_from(["difference", "log-ratio"]) | ours(st.just("difference"), TEXTS),
        RIVALS,
        regions(REAL),
        stat=STATS,
        arm=NAMES,
        over=st.sampled_from(["average", "each"]),
    ),
    st.builds(
        within,
        st.just("absolute"),
        ours(st.just(()), RIVALS),
        regions(REAL),
        stat=STATS,
        arm=NAMES,
    ),
    st.builds(
        lambda of, arm, low, independent: Rate(of, arm, low=low, independent=independent),
        ours(st.just("score"), TEXTS),
        NAMES,
        ours(st.just(0.5), REAL),
        st.booleans(),
    ),
    st.builds(
        Every,
        ours(st.just("score"), TEXTS),
        NAMES,
        REAL,
        ours(st.just(1e-9), REAL),
        ours(st.integers(1, 3), NUMBERS),
    ),
)


TOOLS = st.builds(
    Tool, ours(st.just("t"), SLUGS), ours(st.just(f"{HERE}:load"), TARGETS), TEXTS, TEXTS
)


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    """A paper; ValueError or TypeError where one of its parts is refused."""
    experiment = Experiment(
        draw(ours(st.just("e"), SLUGS)),
        draw(ours(st.just(f"{HERE}:trial"), TARGETS)),
        (
            Arm("good", f"{HERE}:Thing", "method"),
            Arm("poor", f"{HERE}:Thing"),
            *draw(st.lists(ARMS.filter(lambda arm: arm.id not in ("good", "poor")), max_size=1)),
        ),
        tuple(draw(st.lists(DATASETS, min_size=1, max_size=2, unique_by=lambda d: d.id))),
        {"score": draw(METRICS), **draw(st.dictionaries(TEXTS, METRICS, max_size=1))},
        draw(
            st.dictionaries(ours(st.sampled_from(PROFILES), TEXTS), BUDGETS, min_size=1, max_size=2)
        ),
        draw(ours(st.sampled_from(["stochastic", "deterministic", "recorded"]), TEXTS)),
        together=draw(st.booleans()),
        abscissa=draw(TEXTS),
    )
    parts = tuple(draw(st.lists(PARTS, min_size=1, max_size=2)))
    claims = (
        Claim(
            draw(ours(st.just("c"), SLUGS)),
            draw(TEXTS),
            draw(ours(st.sampled_from(["paper", "proxy", "target"]), TEXTS)),
            experiment,
            parts[0] if len(parts) == 1 else AllOf(parts),
            procedure=draw(st.sampled_from(["t", "exact"])),
            analysis=draw(TEXTS),
        ),
        Claim("space", draw(TEXTS), "target", missing=draw(ours(st.just("a rocket"), TEXTS))),
    )
    return Paper(
        draw(ours(st.just("p"), SLUGS)),
        draw(TEXTS),
        draw(TEXTS),
        draw(ours(st.sampled_from(["official code", "paper text", "abstract"]), TEXTS)),
        tuple(draw(st.lists(ours(st.just(f"{HERE}:Thing"), TARGETS), max_size=1))),
        claims,
        tuple(draw(st.lists(TEXTS, max_size=1))),
        tuple(draw(st.lists(TOOLS, max_size=1))),
        draw(TEXTS),
        draw(TEXTS),
    )


REFUSED = (ValueError, TypeError)


def test_a_paper_is_refused_or_shown_everywhere() -> None:
    seen = {"refused": 0, "shown": 0}

    @cases(150, 20_000)
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        try:
            paper = data.draw(papers())
        except REFUSED as error:
            # Whoever writes a catalog has to find the place.
            assert str(error)  # noqa: PT017
            seen["refused"] += 1
            return
        seen["shown"] += 1
        json.dumps(paper_facts(paper), default=str)
        paper_summary(paper, {})
        for claim in paper.claims:
            decision = untested(paper, claim)
            bibtex(paper, claim, decision)
            jsonld_text([jsonld(paper, claim, decision)])
            floor(claim, claim_alpha(paper))
            if claim.experiment is not None:
                evidence = Evidence(claim.experiment)
                assert decide(paper, claim, evidence, 10).verdict in ("undecided", "untested")
                control_decisions(paper, claim, evidence, 10)
        open_runs([(paper, claim) for claim in paper.claims], "quick")
        paper_content(paper, None, None)

    fuzz()
    # Both ends are tried, or the test says nothing.
    assert min(seen.values()) >= sum(seen.values()) / 10


@pytest.mark.parametrize("wrong", ["", "two words", "../up", "<b>", "ü", "a/b"])
def test_names_that_become_files_and_commands_are_plain(wrong: str) -> None:
    with pytest.raises(ValueError, match="slug"):
        Paper(wrong, "", "", "abstract", (), ())
