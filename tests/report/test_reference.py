"""Interfaces are read from sources, and the examples that pages show run."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import catalog
from probatum.report.content import paper_content, pasteable
from probatum.report.reference import describe, inline

PAPERS = catalog.load().papers
METHODS = [method for paper in PAPERS for method in paper.methods]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_catalog_is_described(method):
    found = describe(method)
    assert not found.problem
    assert found.summary.endswith(".")
    assert found.signature.startswith(found.name)
    assert getattr(importlib.import_module(found.module), found.name)
    if found.kind == "function":
        assert found.parameters
    # What a reader calls, not what Python passes.
    assert "(self" not in found.signature


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.slug)
def test_the_example_on_a_page_runs(paper):
    shown = paper_content(paper, None, None)["example"]
    assert shown.startswith("from probatum.")
    exec(compile(shown, paper.slug, "exec"), {})


@pytest.mark.parametrize("method", [m for m in METHODS if describe(m).example])
def test_the_example_of_every_method_can_be_pasted(method):
    """Its docstring's own test checks what comes out; here nothing but the import stands before."""
    namespace = {}
    exec(compile(pasteable(describe(method)), method, "exec"), namespace)
    assert method.partition(":")[2] in namespace


def test_members_are_those_of_the_project():
    names = [member.signature for member in describe("probatum.bandits:PosteriorTracking").members]
    assert any(name.startswith("ask()") for name in names)
    assert any(name.startswith("tell(") for name in names)
    assert not any(name.startswith("_") for name in names)


@pytest.mark.parametrize(
    "target", ["no_such_package.of_mine:Thing", "probatum.bandits:NoSuchName", "json:dumps"]
)
def test_what_cannot_be_read_says_so_or_is_described(target):
    found = describe(target)
    assert found.name == target.partition(":")[2]
    assert found.problem or found.signature


@given(st.text())
def test_text_of_a_docstring_never_becomes_markup(text):
    left = str(inline(text)).replace("<code>", "").replace("</code>", "")
    assert "<" not in left
    assert ">" not in left
