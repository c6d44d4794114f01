"""Experiments of every kind, with measurements that no trial was run for.

A *variant* sets sizes and draws; the same variant gives the same numbers whatever paper asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from hostile import hostile

from probatum.evidence import Arm, Budget, Dataset, Experiment, Metric, Row
from probatum.evidence.store import Record

__all__ = ["EXPERIMENTS", "Measured", "Recipe"]

HERE = "synthetic_trials"
STATUSES = ("raised", "timeout", "crashed", "out of memory", "bad result")
LICENCES = ("CC0", "CC-BY-4.0", "BSD-3-Clause", "public domain", "unknown")
BASELINES = (
    ("cross-validated", "scikit-learn 1.9.1"),
    ("half", "scikit-learn 1.9.1"),
    ("grid-search", "scikit-learn"),
    ("boosted", "imbalanced-learn 0.14.2"),
)
NAMES = ("mammography", "letters", "spam", "credit", "digits", "wines", "towns", "songs", "trees")
Role = Literal["method", "baseline", "control"]


@dataclass(frozen=True)
class Recipe:
    """Which draws, how large, and whether texts carry markup."""

    variant: int
    small: bool
    markup: bool
    seed: int

    def text(self, field: str, plain: str) -> str:
        """A text of that field, with markup in it where asked for."""
        if not self.markup:
            return plain
        return f"{plain} {hostile(field, sum(field.encode()) + self.variant)}"

    def case(self, plain: str) -> str:
        """A case, which is printable."""
        return "".join(c if c.isprintable() else " " for c in self.text("case", plain))

    def name(self, plain: str) -> str:
        """A name that is a slug, with every character that a slug may have where asked for."""
        return f"{plain}.A+b_c" if self.markup else plain

    def rng(self, experiment: str) -> np.random.Generator:
        """Draws of one experiment."""
        return np.random.default_rng([self.seed, self.variant, *experiment.encode()])

    @property
    def replicates(self) -> int:
        """Replicates of stochastic experiments."""
        return 12 if self.small else (30, 40, 60)[self.variant % 3]

    def datasets(self, most: int) -> tuple[Dataset, ...]:
        """Some data sets."""
        count = min(2 if self.small else 9 - self.variant % 3, most)
        return tuple(
            Dataset(
                self.name(NAMES[at]),
                f"{HERE}:load",
                self.text("licence", LICENCES[at % len(LICENCES)]),
                {"rows": 100 + at},
                title=self.text("dataset title", f"{100 + at} rows on {NAMES[at]}"),
            )
            for at in range(count)
        )

    def arms(self, baselines: int = 4, control: bool = True) -> tuple[Arm, ...]:
        """The method, baselines and a control."""

        def arm(name: str, role: Role, library: str = "") -> Arm:
            said = self.text("library", library) if library or self.markup else ""
            title = self.text("arm title", f"the {role} {name}, set up as its users would")
            own = {"strength": 1.0}
            return Arm(self.name(name), f"{HERE}:Method", role, said, own, title=title)

        own = [arm("method", "method")]
        own += [arm(name, "baseline", library) for name, library in BASELINES[:baselines]]
        return (*own, arm("shuffled", "control")) if control else tuple(own)

    def budgets(self, replicates: int, **settings: Any) -> dict[str, Budget]:
        """Budgets of the profiles."""
        size = {"rows": 1000, self.text("size", "draws"): (10, 30)}
        return {
            "smoke": Budget(2, {"rows": 10}, 10.0, 1.0),
            "standard": Budget(replicates, size, **{"seconds": 60.0, "memory_gb": 2.0, **settings}),
        }


@dataclass(frozen=True)
class Measured:
    """An experiment and its trials, in the order in which they are shipped."""

    experiment: Experiment
    records: tuple[Record, ...]
    replicates: int


def _experiment(recipe: Recipe, name: str, replicates: int, **settings: Any) -> Experiment:
    return Experiment(
        **{
            "id": recipe.name(name),
            "trial": f"{HERE}:trial",
            "arms": recipe.arms(),
            "datasets": recipe.datasets(9),
            "budgets": recipe.budgets(replicates),
            **settings,
        }
    )


def _measured(
    experiment: Experiment,
    replicates: int,
    rows: Callable[[int, int, int], tuple[Row, ...]],
    fate: Callable[[int, int, int], str] = lambda arm, dataset, replicate: "ok",
) -> Measured:
    """Records of all cells: ``rows`` and ``fate`` are asked by arm, data set and replicate."""

    def cells() -> Iterator[Record]:
        for d, dataset in enumerate(experiment.datasets):
            for r in range(replicates):
                for a, arm in enumerate(experiment.arms):
                    status = fate(a, d, r)
                    found = rows(a, d, r) if status == "ok" else ()
                    yield Record("", "", experiment.id, arm.id, dataset.id, r, status, found)

    records = sorted(cells(), key=lambda r: (r.dataset, r.replicate, r.arm))
    return Measured(experiment, tuple(records), replicates)


def _levels(
    recipe: Recipe, experiment: Experiment, replicates: int, gap: float, sd: float = 0.02
) -> np.ndarray:
    """Scores by arm, data set and replicate: the first arm is better by about ``gap``."""
    rng = recipe.rng(experiment.id)
    arms, datasets = len(experiment.arms), len(experiment.datasets)
    level = 0.62 + 0.25 * rng.random((1, datasets, 1))
    worse = gap * np.linspace(0.8, 1.6, arms)[:, None, None]
    worse[0] = 0.0
    # On the last data set the method is not better but worse.
    shift = np.zeros((arms, datasets, 1))
    shift[1:, -1] = 2.5 * gap if datasets > 3 else 0.0
    shared = rng.normal(0, 2 * sd, (1, datasets, replicates))
    own = rng.normal(0, sd, (arms, datasets, replicates))
    scores: np.ndarray = np.clip(level - worse + shift + shared + own, 0.001, 0.999)
    return scores


def scores(recipe: Recipe) -> Measured:
    """A method, four baselines and a control on up to nine data sets; a rival fails at times."""
    n = recipe.replicates
    f1, loss = recipe.text("metric", "f1"), recipe.text("second metric", "loss")
    experiment = _experiment(
        recipe,
        "scores",
        n,
        metrics={f1: Metric("higher", (0.0, 1.0)), loss: Metric("lower")},
        data_slot=f"{HERE}:slot",
        arm_interface=f"{HERE}:Interface",
    )
    found = _levels(recipe, experiment, n, 0.05).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        score = found[a][d][r]
        return (Row(experiment.arms[a].id, values={f1: score, loss: 1.2 - score}),)

    def fate(a: int, d: int, r: int) -> str:
        return STATUSES[(d + r) % 5] if a == 2 and (7 * r + d) % 41 == 3 else "ok"

    return _measured(experiment, n, rows, fate)


def curves(recipe: Recipe) -> Measured:
    """Errors that fall with the size, all arms of a block in one trial."""
    n = min(recipe.replicates, 30)
    error, cost = recipe.text("metric", "error"), recipe.text("second metric", "cost")
    experiment = _experiment(
        recipe,
        "curves",
        n,
        metrics={error: Metric("lower"), cost: Metric("lower")},
        arms=recipe.arms(2),
        datasets=recipe.datasets(2),
        together=True,
    )
    sizes = np.array([10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0])
    exponents = np.array([-0.5, -0.35, -0.3, -0.05])[:, None, None, None]
    shape = (len(experiment.arms), len(experiment.datasets), n, len(sizes))
    noise = np.exp(recipe.rng("curves").normal(0, 0.35, shape))
    errors = (2.0 * sizes**exponents * noise).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        arm = experiment.arms[a].id
        pairs = zip(sizes.tolist(), errors[a][d][r], strict=True)
        return tuple(Row(arm, "", x, {error: y, cost: x * x}) for x, y in pairs)

    return _measured(
        experiment, n, rows, lambda a, d, r: "raised" if (a, d, r) == (1, 0, 4) else "ok"
    )


def counts(recipe: Recipe) -> Measured:
    """Successes among tries."""
    n = recipe.replicates
    covered = recipe.text("metric", "covered")
    experiment = _experiment(
        recipe,
        "counts",
        n,
        metrics={covered: Metric("higher", (0.0, 1.0))},
        arms=recipe.arms(1),
        datasets=recipe.datasets(2),
    )
    shape = (n, len(experiment.datasets), len(experiment.arms))
    hits = recipe.rng("counts").binomial(40, [0.96, 0.9, 0.5], shape).T.tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        return (Row(experiment.arms[a].id, counts={covered: (hits[a][d][r], 40)}),)

    return _measured(experiment, n, rows)


def cases(recipe: Recipe) -> Measured:
    """Cases of an inequality; in some variants one of them breaks."""
    n, gap = 10, recipe.text("metric", "gap")
    experiment = _experiment(
        recipe,
        "cases",
        n,
        metrics={gap: Metric("lower")},
        arms=recipe.arms(0),
        datasets=recipe.datasets(3),
    )
    shape = (len(experiment.arms), len(experiment.datasets), n, 6)
    gaps = -recipe.rng("cases").random(shape)
    if recipe.variant % 2:
        gaps[0, 0, 3, 2] = 1e-3
    found = gaps.tolist()
    names = [recipe.case(f"case {at}") for at in range(6)]

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        arm = experiment.arms[a].id
        pairs = zip(names, found[a][d][r], strict=True)
        return tuple(Row(arm, case, None, {gap: value}) for case, value in pairs)

    return _measured(experiment, n, rows)


def published(recipe: Recipe) -> Measured:
    """A table of a paper in which one arm lacks some cases."""
    score = recipe.text("metric", "accuracy")
    experiment = _experiment(
        recipe,
        "published",
        1,
        metrics={score: Metric("higher", (0.0, 100.0))},
        arms=recipe.arms(2, control=False),
        datasets=recipe.datasets(1),
        source="recorded",
    )
    table = 70 + 20 * recipe.rng("published").random((3, 12))
    table[0] += 4.0
    found = np.round(table, 1).tolist()
    names = [recipe.case(f'Table 3, row {at}, "as printed"') for at in range(12)]

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        arm = experiment.arms[a].id
        listed = zip(names, found[a], strict=True)
        kept = [pair for at, pair in enumerate(listed) if a != 2 or at % 4]
        return tuple(Row(arm, case, None, {score: value}) for case, value in kept)

    return _measured(experiment, 1, rows)


def numbers(recipe: Recipe) -> Measured:
    """Nothing random: one run on each data set."""
    bits = recipe.text("metric", "bits")
    experiment = _experiment(
        recipe,
        "numbers",
        1,
        metrics={bits: Metric("lower")},
        arms=recipe.arms(1),
        datasets=recipe.datasets(5),
        source="deterministic",
        together=True,
    )
    sizes = np.array([[4.0], [4.6], [6.0]])
    draws = recipe.rng("numbers").random((3, len(experiment.datasets)))
    found = np.round(sizes + draws / 4, 3).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        return (Row(experiment.arms[a].id, values={bits: found[a][d]}),)

    return _measured(experiment, 1, rows)


def timings(recipe: Recipe) -> Measured:
    """Seconds, alone on the host."""
    n = min(recipe.replicates, 30)
    seconds = recipe.text("metric", "seconds")
    experiment = _experiment(
        recipe,
        "timings",
        n,
        metrics={seconds: Metric("lower")},
        arms=recipe.arms(1, control=False),
        datasets=recipe.datasets(1),
        exclusive=True,
    )
    noise = recipe.rng("timings").normal(0, 0.1, (2, n))
    found = np.exp(np.log([[0.01], [0.019]]) + noise).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        return (Row(experiment.arms[a].id, values={seconds: found[a][r]}),)

    return _measured(experiment, n, rows)


def prepared(recipe: Recipe) -> Measured:
    """Something made once for all arms, on a machine with a GPU."""
    n = recipe.replicates
    kept = recipe.text("metric", "accuracy")
    experiment = _experiment(
        recipe,
        "prepared",
        n,
        metrics={kept: Metric("higher", (0.0, 1.0))},
        arms=recipe.arms(1),
        datasets=recipe.datasets(3),
        prepare=f"{HERE}:prepare",
        budgets=recipe.budgets(n, gpu=True, memory_gb=40.0, threads=8),
    )
    found = _levels(recipe, experiment, n, 0.4).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        return (Row(experiment.arms[a].id, values={kept: found[a][d][r]}),)

    return _measured(experiment, n, rows)


def fragile(recipe: Recipe) -> Measured:
    """The method fails in every way that there is, and its metric has no bounds."""
    n = recipe.replicates
    regret = recipe.text("metric", "regret")
    experiment = _experiment(
        recipe,
        "fragile",
        n,
        metrics={regret: Metric("lower")},
        arms=recipe.arms(1),
        datasets=recipe.datasets(4),
    )
    found = (100 * (1 - _levels(recipe, experiment, n, 0.2))).tolist()

    def rows(a: int, d: int, r: int) -> tuple[Row, ...]:
        return (Row(experiment.arms[a].id, values={regret: found[a][d][r]}),)

    def fate(a: int, d: int, r: int) -> str:
        if a == len(experiment.arms) - 1 and d == 1 and r < len(STATUSES):
            return STATUSES[r]
        return STATUSES[r % 5] if a == 0 and d == 0 and r % 6 == 1 else "ok"

    return _measured(experiment, n, rows, fate)


EXPERIMENTS: dict[str, Callable[[Recipe], Measured]] = {
    "scores": scores,
    "curves": curves,
    "counts": counts,
    "cases": cases,
    "published": published,
    "numbers": numbers,
    "timings": timings,
    "prepared": prepared,
    "fragile": fragile,
}
