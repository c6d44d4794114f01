"""Every paper of the catalog: thin, resolvable, decidable, and beside fresh evidence."""

from __future__ import annotations

import ast
import importlib.util
import json
import pkgutil
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum import catalog, cli
from probatum.evidence import Claim, Experiment, Paper, Tool
from probatum.evidence.decide import claim_alpha, controls, floor, replicates_budget
from probatum.evidence.extras import extras, missing_distributions
from probatum.evidence.keys import arm_groups, trial_key
from probatum.evidence.model import resolve
from probatum.evidence.run import execute
from probatum.evidence.shipped import SHIPPED, freshness, index, read_index, read_records
from probatum.evidence.shipped_index import CHECKSUMS, damaged
from probatum.evidence.store import Store

CATALOG = catalog.load()
PAPERS = [pytest.param(paper, id=paper.slug) for paper in CATALOG.papers]
EXPERIMENTS = [
    pytest.param(paper, experiment, id=f"{paper.slug}/{experiment.id}")
    for paper in CATALOG.papers
    for experiment in paper.experiments
]
STOCHASTIC = [
    pytest.param(paper, claim, id=f"{paper.slug}/{claim.id}")
    for paper in CATALOG.papers
    for claim in paper.claims
    if claim.stochastic
]
MODULES = [name for _, name, _ in pkgutil.iter_modules(catalog.__path__)]


def test_every_module_can_be_read() -> None:
    assert CATALOG.broken == {}
    assert len(CATALOG.papers) == len([name for name in MODULES if not name.startswith("_")])


@pytest.mark.parametrize("name", MODULES)
def test_a_catalog_module_imports_evidence_and_the_standard_library_only(name: str) -> None:
    assert list(foreign_imports(f"probatum.catalog.{name}")) == []


def foreign_imports(module_name: str) -> Iterator[str]:
    """What a catalog module imports, and the private modules that are part of it."""
    spec = importlib.util.find_spec(module_name)
    assert spec is not None
    tree = ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    for node in tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        for module in names:
            top = module.partition(".")[0]
            if module.startswith("probatum.catalog.") and module.split(".")[-1][0] == "_":
                yield from foreign_imports(module)
            elif module != "probatum.evidence" and top not in sys.stdlib_module_names:
                yield module


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_paper_names_is_there(paper: Paper) -> None:
    targets = [*paper.methods, *(tool.run for tool in paper.tools)]
    targets += [tool.make_example for tool in paper.tools if tool.make_example]
    for experiment in paper.experiments:
        targets += [experiment.trial, *(arm.make for arm in experiment.arms)]
        targets += [dataset.load for dataset in experiment.datasets]
        targets += [dataset.identity for dataset in experiment.datasets if dataset.identity]
        more = (experiment.prepare, experiment.arm_interface, experiment.data_slot)
        more += (experiment.arm_make,)
        targets += [target for target in more if target]
    for target in dict.fromkeys(targets):
        assert callable(resolve(target)), target
    assert set(paper.extras) <= set(extras())


@pytest.mark.parametrize(
    ("paper", "tool"),
    [pytest.param(paper, tool, id=tool.name) for paper in CATALOG.papers for tool in paper.tools],
)
def test_the_example_of_a_tool_runs(
    paper: Paper,
    tool: Tool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lacking = [extra for extra in paper.extras if missing_distributions(extra)]
    if lacking:
        pytest.skip(f"{paper.slug} needs the extras {', '.join(lacking)}")
    monkeypatch.chdir(tmp_path)
    if tool.make_example:
        resolve(tool.make_example)(tmp_path)
    assert cli.main(["use", tool.name, *shlex.split(tool.example), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tool"] == tool.name
    assert found["values"]
    assert all((tmp_path / file).exists() for file in found["files"])


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_says_what_it_claims(paper: Paper) -> None:
    assert paper.title
    assert paper.summary.endswith(".")
    assert paper.audience.endswith(".")
    assert paper.audience != paper.summary
    assert paper.methods
    assert any(claim.experiment is not None for claim in paper.claims)
    for claim in paper.claims:
        assert claim.id == claim.id.lower()
        assert claim.statement.endswith("."), claim.id
        assert len(claim.statement.split()) >= 4, claim.id
        assert bool(claim.missing) == (claim.experiment is None), claim.id
        assert claim.scope != "target" or claim.experiment is None, claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_a_claim_meets_data_that_nobody_here_generated(paper: Paper) -> None:
    licences = [dataset.licence for e in paper.experiments for dataset in e.datasets]
    assert [name for name in licences if not name.startswith(("generated", "none"))]


@pytest.mark.parametrize(("paper", "experiment"), EXPERIMENTS)
def test_an_experiment_is_whole(paper: Paper, experiment: Experiment) -> None:
    roles = [arm.role for arm in experiment.arms]
    assert "method" in roles
    assert all(dataset.licence for dataset in experiment.datasets)
    for entry in (*experiment.arms, *experiment.datasets):
        assert entry.title, entry.id
        assert not entry.title.endswith("."), entry.title
    for name, metric in experiment.metrics.items():
        assert metric.title, name
        assert not metric.title.endswith("."), metric.title
    assert "smoke" in experiment.budgets
    for budget in experiment.budgets.values():
        keys = {
            trial_key(paper.slug, experiment, arms, dataset, 0, budget)
            for arms in arm_groups(experiment)
            for dataset in experiment.datasets
        }
        assert len(keys) == len(arm_groups(experiment)) * len(experiment.datasets)


@pytest.mark.parametrize(("paper", "claim"), STOCHASTIC)
def test_a_claim_can_be_decided_and_has_a_negative_control(paper: Paper, claim: Claim) -> None:
    assert claim.experiment is not None
    budget = claim.experiment.budget("standard")
    planned = replicates_budget(claim.experiment, budget.replicates)
    assert planned >= floor(claim, claim_alpha(paper))
    assert controls(claim) or claim.experiment.exclusive


@pytest.mark.parametrize("paper", PAPERS)
def test_shipped_evidence_stands_beside_the_code_it_was_made_with(paper: Paper) -> None:
    if not (SHIPPED / f"{paper.slug}.csv").exists():
        pytest.skip(f"nothing is shipped for {paper.slug} yet")
    fresh = freshness(paper)
    tried = {claim.id for claim in paper.claims if claim.experiment is not None}
    assert {claim for claim, is_fresh in fresh.items() if is_fresh} == tried


@pytest.mark.parametrize("paper", PAPERS)
def test_an_experiment_says_what_the_x_of_its_rows_counts(paper: Paper) -> None:
    if not (SHIPPED / f"{paper.slug}.csv").exists():
        pytest.skip(f"nothing is shipped for {paper.slug} yet")
    with_x = {
        record.experiment
        for record in read_records(paper.slug)
        if any(row.x is not None for row in record.rows)
    }
    said = {experiment.id for experiment in paper.experiments if experiment.abscissa}
    assert said == with_x
    # Rules say "against ABSCISSA", and axes are titled with it.
    for experiment in paper.experiments:
        assert not experiment.abscissa.endswith("."), experiment.abscissa
        assert not experiment.abscissa.startswith(("a ", "an ", "the ")), experiment.abscissa


def test_the_index_follows_from_the_shipped_evidence() -> None:
    if not any(SHIPPED.glob("*.csv")):
        pytest.skip("nothing is shipped yet")
    assert read_index() == index(CATALOG.papers)
    known = {f"{paper.slug}.{end}" for paper in CATALOG.papers for end in ("csv", "json")}
    known |= {"index.json", CHECKSUMS, "__pycache__"}
    assert {path.name for path in SHIPPED.iterdir()} <= known
    assert damaged() == []


@pytest.mark.parametrize("paper", PAPERS)
def test_the_smoke_profile_runs(paper: Paper, tmp_path: Path) -> None:
    lacking = [extra for extra in paper.extras if missing_distributions(extra)]
    if lacking:
        pytest.skip(f"{paper.slug} needs the extras {', '.join(lacking)}")
    with Store(f"sqlite:///{tmp_path}/e.db") as store:
        report = execute(
            [(paper, claim) for claim in paper.claims], store=store, profile="smoke", jobs=2
        )
        failed = [
            f"{r.experiment}, {r.arm} on {r.dataset}: {r.message}"
            for r in store.records()
            if r.status != "ok"
        ]
    assert failed == []
    assert report.problems == []
    assert sum(report.statuses.values()) == report.statuses["ok"] > 0
