"""From stored rows to the numbers a criterion asks for."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from probatum.evidence.model import Every, Experiment, Rate, Row, Stat, Within
from probatum.evidence.store import Record

__all__ = ["Evidence", "Unmeasurable", "case_contrasts", "contrast", "stat_value"]


class Unmeasurable(ValueError):
    """The rows of a trial do not give what a criterion asks for."""


Cell = tuple[str, str, int]
"""Arm, dataset, replicate."""


@dataclass
class Evidence:
    """The finished trials of one experiment: rows of each cell, or how it failed."""

    experiment: Experiment
    rows: dict[Cell, tuple[Row, ...]] = field(default_factory=dict)
    failed: dict[Cell, str] = field(default_factory=dict)
    _scalars: dict[tuple[Stat, Cell], float | None] = field(default_factory=dict, repr=False)

    def scalar(self, stat: Stat, cell: Cell) -> float | None:
        """The scalar of one cell, computed once; None where its trial gives none."""
        key = (stat, cell)
        if key not in self._scalars:
            try:
                self._scalars[key] = stat_value(stat, self.rows[cell])
            except (KeyError, Unmeasurable):
                self._scalars[key] = None
        return self._scalars[key]

    def add(self, record: Record) -> None:
        """Take in one final record; a joint trial's rows go to their arms."""
        joint = record.arm == "*"
        arms = [arm.id for arm in self.experiment.arms] if joint else [record.arm]
        for arm in arms:
            cell = (arm, record.dataset, record.replicate)
            own = tuple(row for row in record.rows if row.arm == arm)
            if self._scalars and (cell in self.rows or cell in self.failed):
                self._scalars.clear()
            if record.status == "ok" and not any(row.failed for row in own):
                self.rows[cell] = own
            else:
                self.failed[cell] = "raised" if record.status == "ok" else record.status

    def done(self, arm: str, dataset: str, replicate: int) -> bool:
        """Whether the cell's trial has ended, well or not."""
        cell = (arm, dataset, replicate)
        return cell in self.rows or cell in self.failed

    def complete(self, arms: Sequence[str], budget: int) -> int:
        """Length of the longest prefix of replicates in which every cell of the arms is done."""
        datasets = [dataset.id for dataset in self.experiment.datasets]
        for replicate in range(budget):
            if not all(self.done(a, d, replicate) for a in arms for d in datasets):
                return replicate
        return budget

    def failures(self, arms: Iterable[str], replicates: int) -> int:
        """Failed trials of the arms among the first replicates."""
        wanted = set(arms)
        return sum(arm in wanted and r < replicates for arm, _, r in self.failed)

    def replicates_agree(self) -> bool:
        """Whether replicates 0 and 1 gave the same rows in every arm that has both."""
        arms, datasets = self.experiment.arms, self.experiment.datasets
        cells = [(arm.id, dataset.id) for arm in arms for dataset in datasets]
        pairs = [(self.rows.get((*cell, 0)), self.rows.get((*cell, 1))) for cell in cells]
        both = [(one, two) for one, two in pairs if one is not None and two is not None]
        return bool(both) and all(one == two for one, two in both)


def _pairs(rows: Iterable[Row], stat: Stat) -> tuple[list[float], list[float]]:
    xs, ys = [], []
    for row in rows:
        if stat.of not in row.values or (stat.case is not None and row.case != stat.case):
            continue
        x = row.x if stat.against == "x" else row.values.get(stat.against)
        if x is not None:
            xs.append(x)
            ys.append(row.values[stat.of])
    return xs, ys


def _levels(rows: Iterable[Row], of: str, case: str | None) -> list[float]:
    return [r.values[of] for r in rows if of in r.values and case in (None, r.case)]


def stat_value(stat: Stat, rows: Iterable[Row]) -> float:
    """The scalar of one trial.

    Raises
    ------
    Unmeasurable
        Where the rows are too few, or a logarithm has nothing to work on.

    Examples
    --------
    >>> rows = [Row("m", x=x, values={"err": 3 * x**-0.5}) for x in (10.0, 100.0, 1000.0)]
    >>> round(stat_value(Stat("err", "loglog"), rows), 6)
    -0.5
    """
    rows = tuple(rows)
    if stat.per_case:
        cases: dict[str, list[Row]] = {}
        for row in rows:
            if stat.of in row.values:
                cases.setdefault(row.case, []).append(row)
        if not cases:
            raise Unmeasurable(f"no value of {stat.of}")
        each = [stat_value(replace(stat, per_case=False), of) for of in cases.values()]
        return math.fsum(each) / len(each)
    if stat.is_level:
        levels = _levels(rows, stat.of, stat.case)
        if not levels:
            case = f" in case {stat.case!r}" if stat.case is not None else ""
            raise Unmeasurable(f"no value of {stat.of}{case}")
        return max(levels) if stat.how == "max" else math.fsum(levels) / len(levels)
    xs, ys = _pairs(rows, stat)
    if stat.tail < 1 and xs:
        keep = sorted(range(len(xs)), key=lambda i: xs[i])[
            -max(2, math.ceil(stat.tail * len(xs))) :
        ]
        xs, ys = [xs[i] for i in keep], [ys[i] for i in keep]
    if len(set(xs)) < 2:
        raise Unmeasurable(f"a {stat.how} of {stat.of} needs at least two abscissae")
    if stat.how in ("spearman", "kendall"):
        from scipy.stats import kendalltau, rankdata

        if len(set(ys)) < 2:
            raise Unmeasurable(f"no rank correlation: {stat.of} is constant")
        if stat.how == "spearman":
            # What spearmanr gives, without the test that takes most of its time.
            return float(np.corrcoef(rankdata([xs, ys], axis=1))[0, 1])
        return float(kendalltau(xs, ys).statistic)
    if stat.how == "loglog":
        if min(xs) <= 0 or min(ys) <= 0:
            raise Unmeasurable(f"a log-log slope of {stat.of} needs positive numbers")
        xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    return float(np.polyfit(xs, ys, 1)[0])


def _value(
    evidence: Evidence, within: Within, arm: str, dataset: str, replicate: int, *, rival: bool
) -> float | None:
    """An arm's scalar; a failed trial counts at the worst bound, a rival's at the best."""
    cell = (arm, dataset, replicate)
    if cell in evidence.rows:
        value = evidence.scalar(within.stat, cell)
        if value is not None:
            return value
    if not within.stat.is_level:
        return None
    metric = evidence.experiment.metrics[within.stat.of]
    return metric.best if rival else metric.worst


def contrast(
    evidence: Evidence, within: Within, rival: str | None, dataset: str, replicate: int
) -> float | None:
    """One replicate's effect on one dataset; None where a failure leaves it open."""
    own = _value(evidence, within, within.arm, dataset, replicate, rival=False)
    if rival is None or own is None:
        return own
    other = _value(evidence, within, rival, dataset, replicate, rival=True)
    return None if other is None else _compare(evidence.experiment, within, own, other)


def _compare(experiment: Experiment, within: Within, own: float, other: float) -> float | None:
    lower_is_better = experiment.metrics[within.stat.of].better == "lower"
    sign = -1.0 if within.stat.is_level and lower_is_better else 1.0
    if within.scale == "difference":
        return sign * (own - other)
    if own <= 0 or other <= 0:
        return None
    return sign * (math.log(own) - math.log(other))


def case_contrasts(
    evidence: Evidence, within: Within, rival: str | None, datasets: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Effects per case of a recorded experiment, for cases that both arms report."""

    def by_case(arm: str) -> dict[str, float]:
        cases: dict[str, list[Row]] = {}
        for dataset in datasets:
            for row in evidence.rows.get((arm, dataset, 0), ()):
                cases.setdefault(f"{dataset}/{row.case}" if row.case else dataset, []).append(row)
        found = {}
        for case, rows in cases.items():
            with contextlib.suppress(Unmeasurable):
                found[case] = stat_value(within.stat, rows)
        return found

    own = by_case(within.arm)
    if rival is None:
        yield from own.items()
        return
    other = by_case(rival)
    for case, value in own.items():
        if case in other:
            effect = _compare(evidence.experiment, within, value, other[case])
            if effect is not None:
                yield case, effect


def case_values(
    evidence: Evidence, part: Every, replicates: int
) -> tuple[list[tuple[str, int, str, float]], list[int]]:
    """Dataset, replicate, case and value of everything an ``Every`` looks at.

    Beside them the replicates of trials that failed or lack the value, one for each such trial.
    """
    found, lost = [], []
    for replicate in range(replicates):
        for dataset in evidence.experiment.datasets:
            rows = evidence.rows.get((part.arm, dataset.id, replicate), ())
            values = [
                (dataset.id, replicate, row.case, row.values[part.of])
                for row in rows
                if part.of in row.values and part.case in (None, row.case)
            ]
            found += values
            if not values:
                lost.append(replicate)
    return found, lost


def replicate_counts(
    evidence: Evidence, part: Rate, replicates: int
) -> list[list[tuple[int, int]]]:
    """Per replicate the successes and tries on each dataset.

    A trial that failed, or lacks the count, went wrong in as many tries as the most that the arm
    had on that dataset so far, at least one.
    """
    worst_is_success = evidence.experiment.metrics[part.of].better == "lower"
    most: dict[str, int] = {}
    found = []
    for replicate in range(replicates):
        counts = []
        for dataset in evidence.experiment.datasets:
            rows = evidence.rows.get((part.arm, dataset.id, replicate), ())
            seen = [
                row.counts[part.of]
                for row in rows
                if part.of in row.counts and part.case in (None, row.case)
            ]
            k, n = sum(k for k, _ in seen), sum(n for _, n in seen)
            most[dataset.id] = max(most.get(dataset.id, 1), n)
            if not seen:
                n = most[dataset.id]
                k = n if worst_is_success else 0
            counts.append((k, n))
        found.append(counts)
    return found
