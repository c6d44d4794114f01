"""Simulate the verdicts' error rates, power and forecasts, and write them into the documentation.

    python tools/calibrate_verdicts.py [--claims 2000] [--jobs 2]
    python tools/calibrate_verdicts.py --render-only

Every claim is null, at the edge of its region, and is looked at on the schedule up to 200
replicates. The numbers go into ``src/probatum/report/calibration.json``; ``docs/verdicts.md`` is
written from these and from the prose in ``src/probatum/report/text/verdicts.md``, with a plot in
``docs/img``. With ``--render-only`` nothing is simulated and only the page is written. Seeds are
fixed: a second run on the same versions writes the same files. Needs numpy, scipy, matplotlib and
probatum.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betaln, xlogy

from probatum.evidence.procedures import (
    ALPHA,
    FIRST_T_LOOK,
    MODAL_LIMIT,
    Procedure,
    Region,
    decide_mean,
    decide_rate,
    look_schedule,
)
from probatum.files import whole_file
from probatum.report.calibration import EDGES, explained, read, said, tables
from probatum.report.content import Table
from probatum.stats import anytime_t_half_width
from probatum.stats.beta_binomial import PRIOR
from probatum.stats.betting import FRACTIONS, WEIGHTS

REPLICATES = 200
LIMIT = 0.04
"""Largest share of false ``holds`` tolerated where the guarantee says so: 80 of 2,000."""
BONFERRONI = ALPHA / 8
ROOT = Path(__file__).resolve().parent.parent
NUMBERS = ROOT / "src" / "probatum" / "report" / "calibration.json"
GENERATED = (
    "<!-- Written by tools/calibrate_verdicts.py from src/probatum/report/text/verdicts.md and"
    " src/probatum/report/calibration.json. -->"
)

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]


@dataclass(frozen=True)
class Law:
    """Law of one replicate: how to draw it, its mean, and its bounds where it has some."""

    name: str
    draw: Draw
    mean: float
    sd: float
    bounds: tuple[float, float] | None = None


def _coins(p: float, q: float) -> Draw:
    return lambda rng, size: (rng.random(size) < p) * 1.0 - (rng.random(size) < q)


def _two_points(high: float, low: float, p: float) -> Draw:
    return lambda rng, size: np.where(rng.random(size) < p, high, low)


def _noisy_losses(rng: np.random.Generator, size: tuple[int, int]) -> Array:
    small = 0.01 + rng.uniform(-0.005, 0.005, size)
    return np.where(rng.random(size) < 0.99, small, -1.0)


def _two_point_law(name: str, high: float, low: float, p: float) -> Law:
    mean = p * high + (1 - p) * low
    return Law(name, _two_points(high, low, p), mean, (high - low) * math.sqrt(p * (1 - p)), UNIT)


UNIT = (-1.0, 1.0)
ROOT_E = math.exp(0.5)
LAWS = (
    Law("normal", lambda rng, size: rng.normal(0, 1, size), 0.0, 1.0),
    Law("Student t, 3 degrees", lambda rng, size: rng.standard_t(3, size), 0.0, math.sqrt(3)),
    Law("exponential", lambda rng, size: rng.exponential(1, size), 1.0, 1.0),
    Law("lognormal", lambda rng, size: rng.lognormal(0, 1, size), ROOT_E, 2.1612),
    Law("normal, rounded to sd", lambda rng, size: np.round(rng.normal(0.3, 1, size)), 0.3, 1.04),
    Law("uniform", lambda rng, size: rng.uniform(-0.4, 0.6, size), 0.1, math.sqrt(1 / 12), UNIT),
    Law("beta(2, 5)", lambda rng, size: rng.beta(2, 5, size), 2 / 7, 0.1597, UNIT),
    Law("beta(0.3, 0.3)", lambda rng, size: rng.beta(0.3, 0.3, size), 0.5, 0.3953, UNIT),
    _two_point_law("two points, ±0.1", 0.1, -0.1, 0.5),
    _two_point_law("two points, ±1", 1.0, -1.0, 0.5),
    Law("coin differences, 0.5 and 0.5", _coins(0.5, 0.5), 0.0, math.sqrt(0.5), UNIT),
    Law("coin differences, 0.9 and 0.9", _coins(0.9, 0.9), 0.0, math.sqrt(0.18), UNIT),
    Law(
        "scores on 100 items, difference",
        lambda rng, size: (rng.binomial(100, 0.9, size) - rng.binomial(100, 0.9, size)) / 100,
        0.0,
        math.sqrt(0.0018),
        UNIT,
    ),
    _two_point_law("rare loss: 0.01, but -1 in 1 of 100", 0.01, -1.0, 0.99),
    _two_point_law("rare loss: 0.05, but -1 in 1 of 20", 0.05, -1.0, 0.95),
    Law("rare loss as the first, with noise", _noisy_losses, -0.0001, 0.1005, UNIT),
    Law("identical arms", lambda rng, size: np.zeros(size), 0.0, 0.0, UNIT),
)
T_JUDGED = ("normal", "Student t, 3 degrees")


def looks_at(budget: int, first: int) -> list[int]:
    return list(look_schedule(budget, first))


def _first_decision(holds: NDArray[np.bool_], fails: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Verdict (1 holds, -1 fails, 0 undecided) and index of the first decisive look."""
    decided = holds | fails
    first = np.where(decided.any(axis=1), decided.argmax(axis=1), -1)
    rows = np.arange(len(first))
    verdict = np.where(first < 0, 0, np.where(holds[rows, first], 1, -1))
    return verdict, first


def decide_t(
    z: Array, region: Region, alpha: float, first: int = FIRST_T_LOOK, modal: bool = True
) -> tuple[Array, Array]:
    """Verdicts of the anytime-valid t on many claims, one a row."""
    holds, fails = [], []
    for n in looks_at(z.shape[1], first):
        seen = z[:, :n]
        half = anytime_t_half_width(n, alpha) * seen.std(axis=1, ddof=1)
        low, high = seen.mean(axis=1) - half, seen.mean(axis=1) + half
        usable = np.ones(len(z), dtype=bool)
        if modal:
            largest = np.abs(seen).max(axis=1, keepdims=True)
            ordered = np.sort(np.round(seen / np.where(largest > 0, largest, 1), 9), axis=1)
            # A value that fills more than half of a sorted row fills its middle.
            usable = (ordered == ordered[:, n // 2, None]).mean(axis=1) <= MODAL_LIMIT
        holds.append(usable & (low >= region.low) & (high <= region.high))
        fails.append(usable & ((high < region.low) | (low > region.high)))
    return _first_decision(np.array(holds).T, np.array(fails).T)


def _wealth_reaches(unit: Array, m: float, looks: list[int], target: float) -> NDArray[np.bool_]:
    """Whether the bet that the mean exceeds ``m`` has won enough, per claim and look."""
    if m <= 0:
        return np.ones((len(unit), len(looks)), dtype=bool)
    total = np.zeros((len(unit), len(looks)))
    for fraction, weight in zip(FRACTIONS, WEIGHTS, strict=True):
        with np.errstate(divide="ignore"):
            paths = np.log1p(fraction * (unit / m - 1)).cumsum(axis=1)
        total += weight * np.exp(np.minimum(paths[:, np.array(looks) - 1], 600))
    return total >= math.exp(target)


def decide_exact(
    z: Array, region: Region, alpha: float, bounds: tuple[float, float]
) -> tuple[Array, Array]:
    """Verdicts of the betting confidence sequence on many claims, one a row."""
    a, b = bounds
    unit, looks, target = (z - a) / (b - a), looks_at(z.shape[1], 1), math.log(2 / alpha)
    holds = np.ones((len(z), len(looks)), dtype=bool)
    fails = np.zeros_like(holds)
    if math.isfinite(region.low):
        m = (region.low - a) / (b - a)
        holds &= _wealth_reaches(unit, m, looks, target)
        fails |= _wealth_reaches(1 - unit, 1 - m, looks, target)
    if math.isfinite(region.high):
        m = (region.high - a) / (b - a)
        holds &= _wealth_reaches(1 - unit, 1 - m, looks, target)
        fails |= _wealth_reaches(unit, m, looks, target)
    return _first_decision(holds, fails)


def decide_rates(k: Array, per: int, region: Region, alpha: float) -> tuple[Array, Array]:
    """Verdicts of the beta-binomial confidence sequence on many claims, one a row."""
    looks = np.array(looks_at(k.shape[1], 1))
    successes, trials = k.cumsum(axis=1)[:, looks - 1], per * looks[None, :]
    mixture = betaln(successes + PRIOR, trials - successes + PRIOR) - betaln(PRIOR, PRIOR)

    def excluded(p: float) -> NDArray[np.bool_]:
        likelihood = xlogy(successes, p) + xlogy(trials - successes, 1 - p)
        return mixture - likelihood >= -math.log(alpha)

    above, below = successes / trials > region.low, successes / trials < region.high
    low, high = math.isfinite(region.low), math.isfinite(region.high)
    holds, fails = np.ones_like(mixture, dtype=bool), np.zeros_like(mixture, dtype=bool)
    if low:
        holds, fails = holds & above & excluded(region.low), fails | ~above & excluded(region.low)
    if high:
        holds &= below & excluded(region.high)
        fails |= ~below & excluded(region.high)
    return _first_decision(holds, fails)


def rng_for(*parts: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def _holds(decided: tuple[Array, Array]) -> int:
    return int((decided[0] == 1).sum())


def _at_edges(
    decide: Callable[[Region, float], tuple[Array, Array]], edge: float, width: float
) -> dict[str, int]:
    low, high, band = Region(low=edge), Region(high=edge), Region(edge - width, edge)
    cases = ((low, ALPHA), (high, ALPHA), (band, ALPHA), (low, BONFERRONI), (high, BONFERRONI))
    return {name: _holds(decide(*case)) for name, case in zip(EDGES, cases, strict=True)}


def false_holds_of_mean(name: str, claims: int) -> list[dict[str, object]]:
    """False ``holds`` of both procedures under one law, at each edge."""
    law = next(law for law in LAWS if law.name == name)
    z = law.draw(rng_for("null", name), (claims, REPLICATES))
    counts = _at_edges(lambda region, alpha: decide_t(z, region, alpha), law.mean, 2 * law.sd)
    unguarded = {}
    for label, first, modal in (("5", 5, True), ("no modal", 10, False), ("neither", 5, False)):
        sides = Region(low=law.mean), Region(high=law.mean)
        unguarded[label] = max(_holds(decide_t(z, side, ALPHA, first, modal)) for side in sides)
    judged = name in T_JUDGED
    row = {"procedure": "t", "law": name, **counts, "unguarded": unguarded, "judged": judged}
    if law.bounds is None:
        return [row]
    bounds = law.bounds
    counts = _at_edges(
        lambda region, alpha: decide_exact(z, region, alpha, bounds), law.mean, 2 * law.sd
    )
    return [row, {"procedure": "exact", "law": name, **counts, "judged": True}]


RATES: tuple[tuple[str, float, int, str], ...] = (
    *((f"p = {p}, {per} a replicate", p, per, "same")
      for p in (0.01, 0.1, 0.5, 0.9, 0.99) for per in (1, 10)),
    ("10 tasks of rates 0.05 to 0.95", 0.5, 10, "spread"),
    ("10 tasks of rates 0 or 1, one of 0.5", 0.55, 10, "fixed"),
    ("luck shared: 10 trials with one beta(5, 5) rate", 0.5, 10, "beta"),
    ("luck shared: 10 trials all alike", 0.5, 10, "alike"),
)  # fmt: skip


def draw_counts(rng: np.random.Generator, claims: int, p: float, per: int, kind: str) -> Array:
    """Successes per replicate for one of the :data:`RATES`."""
    size = (claims, REPLICATES)
    if kind == "spread":
        return sum((rng.random(size) < q) * 1.0 for q in np.linspace(0.05, 0.95, per))
    if kind == "fixed":
        return 5.0 + (rng.random(size) < 0.5)
    if kind == "beta":
        return rng.binomial(per, rng.beta(5, 5, size)) * 1.0
    if kind == "alike":
        return per * (rng.random(size) < p) * 1.0
    return rng.binomial(per, p, size) * 1.0


def false_holds_of_rate(name: str, claims: int) -> list[dict[str, object]]:
    """False ``holds`` of the beta-binomial procedure under one law of counts."""
    _, p, per, kind = next(rate for rate in RATES if rate[0] == name)
    k = draw_counts(rng_for("rate", name), claims, p, per, kind)
    counts = _at_edges(
        lambda region, alpha: decide_rates(k, per, region, alpha), p, min(0.2, p - 0.001)
    )
    judged = kind not in ("beta", "alike")
    return [{"procedure": "rate", "law": name, **counts, "judged": judged}]


def fixed_n(effect: float, power: float) -> int:
    """Pairs that a two-sided fixed-n t-test at 0.05 needs for a power."""
    for n in range(3, 10_000):
        cut = stats.t.ppf(1 - ALPHA / 2, n - 1)
        if stats.nct.sf(cut, n - 1, effect * math.sqrt(n)) >= power:
            return n
    raise AssertionError("no sample size found")


POWER = (
    ("t", "normal", 1.0),
    ("exact", "uniform, sd 0.05", 0.05),
    ("exact", "uniform, sd 0.25", 0.25),
)


def power_row(procedure: str, law: str, sd: float, effect: float, claims: int) -> dict[str, object]:
    """Replicates to ``holds`` of a superiority claim ``low = 0``."""
    rng, budget = rng_for("power", procedure, sd, effect), 2000
    width = math.sqrt(3) * sd
    if procedure == "t":
        z = rng.normal(effect * sd, sd, (claims, budget))
        decided, first = decide_t(z, Region(low=0), ALPHA)
        looks = np.array(looks_at(budget, FIRST_T_LOOK))
    else:
        z = effect * sd + rng.uniform(-width, width, (claims, budget))
        decided, first = decide_exact(z, Region(low=0), ALPHA, UNIT)
        looks = np.array(looks_at(budget, 1))
    n = np.where(decided == 1, looks[first], np.inf)
    q25, median, q75 = np.quantile(n, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
    row = {"procedure": procedure, "law": law, "effect": effect, "median": median}
    row |= {"quartiles": [q25, q75], "by 200": float((n <= REPLICATES).mean())}
    fixed = {"50%": fixed_n(effect, 0.5), "80%": fixed_n(effect, 0.8)}
    return {**row, "fixed-n t-test": fixed}


FORECASTS: tuple[tuple[str, str, float, int], ...] = (
    *(("t", "normal", effect, n) for effect in (0.25, 0.5, 1.0) for n in (10, 20)),
    *(("t", "exponential", effect, n) for effect in (0.25, 0.5) for n in (10, 20)),
    *(("exact", "uniform, sd 0.25", effect, n) for effect in (0.25, 0.5, 1.0) for n in (10, 20)),
    *(("rate", "p - edge", gap, n) for gap in (0.1, 0.2) for n in (20, 50)),
)


def _forecast_one(
    procedure: str, z: Array, region: Region, n: int
) -> tuple[float, float] | None:  # predicted and needed, if still undecided at n
    if procedure == "rate":
        at, end = (decide_rate(x.astype(int), np.ones(len(x), int), region) for x in (z[:n], z))
    else:
        kind: Procedure = "t" if procedure == "t" else "exact"
        bounds = None if procedure == "t" else UNIT
        at, end = (decide_mean(x, region, procedure=kind, bounds=bounds) for x in (z[:n], z))
    if at.verdict != "undecided" or end.verdict == "undecided":
        return None
    return n + (math.inf if at.more_needed is None else at.more_needed), end.n


def forecast_row(procedure: str, law: str, effect: float, n: int, claims: int) -> dict[str, object]:
    """Ratio of the replicates that ``more_needed`` predicts after ``n`` to those needed."""
    rng, size = rng_for("forecast", procedure, law, effect, n), (min(claims, 400), 3000)
    if law == "normal":
        z, region = rng.normal(effect, 1, size), Region(low=0)
    elif law == "exponential":
        z, region = rng.exponential(1, size) - 1 + effect, Region(low=0)
    elif procedure == "rate":
        z, region = (rng.random(size) < 0.8) * 1.0, Region(low=0.8 - effect)
    else:
        width = 0.25 * math.sqrt(3)
        z, region = 0.25 * effect + rng.uniform(-width, width, size), Region(low=0)
    pairs = [_forecast_one(procedure, row, region, n) for row in z]
    ratios = [pair[0] / pair[1] for pair in pairs if pair is not None]
    low, median, high = np.quantile(ratios, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
    row = {"procedure": procedure, "law": law, "effect": effect, "seen": n}
    return {**row, "undecided": len(ratios), "median": median, "quartiles": [low, high]}


def _run(task: tuple[str, tuple[object, ...]]) -> tuple[str, list[dict[str, object]]]:
    kind, arguments = task
    functions: dict[str, Callable[..., object]] = {
        "mean": false_holds_of_mean,
        "rate": false_holds_of_rate,
        "power": power_row,
        "forecast": forecast_row,
    }
    rows = functions[kind](*arguments)
    return kind, rows if isinstance(rows, list) else [rows]  # type: ignore[list-item]


def simulate(claims: int, jobs: int) -> dict[str, object]:
    """Run everything; deterministic whatever the number of jobs."""
    tasks: list[tuple[str, tuple[object, ...]]] = [
        *(("mean", (law.name, claims)) for law in LAWS),
        *(("rate", (rate[0], claims)) for rate in RATES),
        *(("power", (*row, effect, claims)) for row in POWER for effect in (0.5, 1.0, 2.0)),
        *(("forecast", (*row, claims)) for row in FORECASTS),
    ]
    result: dict[str, list[dict[str, object]]] = {"errors": [], "power": [], "forecast": []}
    began = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        for done, (kind, rows) in enumerate(pool.map(_run, tasks), 1):
            result["errors" if kind in ("mean", "rate") else kind] += rows
            print(f"{done}/{len(tasks)} {time.monotonic() - began:.0f} s", file=sys.stderr)
    order = {"exact": 0, "rate": 1, "t": 2}
    result["errors"].sort(key=lambda row: order[str(row["procedure"])])
    return {"claims": claims, "replicates": REPLICATES, "alpha": ALPHA, "limit": LIMIT, **result}


def _in_markdown(table: Table) -> str:
    lines = [table.head, ("---",) * len(table.head), *table.lines]
    rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([f"**{table.caption}**", rows, *table.notes])


def page(result: dict) -> str:
    """The page of the documentation: the prose, and the tables that the report has too."""
    parts = [GENERATED, explained().strip(), "## Simulated error rates, power and forecasts"]
    parts += ["![False holds and power](img/verdicts.png)", said(result)]
    return "\n\n".join([*parts, *map(_in_markdown, tables(result))]) + "\n"


def plot(result: dict, path: Path) -> None:
    """False ``holds`` per law beside the limit, and replicates to ``holds``."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    errors, claims = result["errors"], result["claims"]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 7.5), width_ratios=(3, 2), layout="constrained"
    )
    colours = {"exact": "#0072b2", "rate": "#009e73", "t": "#d55e00"}
    markers = {"exact": "o", "rate": "s", "t": "D"}
    for y, row in enumerate(errors):
        worst = max(row[edge] for edge in EDGES) / claims
        kind = row["procedure"]
        face = colours[kind] if row["judged"] else "white"
        left.plot(worst, y, markers[kind], color=colours[kind], markerfacecolor=face)
    left.set_yticks(range(len(errors)), [row["law"] for row in errors], fontsize=7)
    left.invert_yaxis()
    left.set_xscale("symlog", linthresh=0.01)
    left.set_xlim(-0.0005, 1.1)
    left.set_xticks([0, 0.01, LIMIT, 0.1, 1], ["0", "1 %", "4 %", "10 %", "100 %"])
    left.axvline(LIMIT, color="black", linestyle=":")
    left.set_title("False holds, worst edge (filled: promised at most 4 %)", fontsize=9)
    for kind, label in (("exact", "betting"), ("rate", "beta-binomial"), ("t", "anytime t")):
        left.plot([], [], markers[kind], color=colours[kind], label=label)
    left.legend(fontsize=8, loc="upper right")
    for procedure, law, _ in POWER:
        rows = [r for r in result["power"] if (r["procedure"], r["law"]) == (procedure, law)]
        x, y = [r["effect"] for r in rows], [r["median"] for r in rows]
        right.plot(x, y, marker=markers[procedure], label=f"{procedure}, {law}")
    fixed = [row["fixed-n t-test"]["80%"] for row in rows]
    right.plot(x, fixed, "k--", label="t-test at one fixed n, power 80 %")
    right.set(xscale="log", yscale="log", xlabel="effect / standard deviation")
    right.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
    right.set_yticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
    right.minorticks_off()
    right.set_title("Median replicates to holds", fontsize=9)
    right.legend(fontsize=8)
    figure.savefig(path, dpi=75, metadata={"Software": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claims", type=int, default=2000, help="null claims per law")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of verdicts.md")
    parser.add_argument("--numbers", type=Path, default=NUMBERS, help="the simulated numbers")
    parser.add_argument("--render-only", action="store_true", help="write verdicts.md from these")
    options = parser.parse_args()
    if not options.render_only:
        result = simulate(options.claims, options.jobs)
        (options.out / "img").mkdir(parents=True, exist_ok=True)
        plot(result, options.out / "img" / "verdicts.png")
        finite = json.dumps(result, indent=1, allow_nan=True).replace("Infinity", "null")
        with whole_file(options.numbers) as draft:
            draft.write_text(finite + "\n", encoding="utf-8")
    with whole_file(options.out / "verdicts.md") as draft:
        draft.write_text(page(read(options.numbers)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
