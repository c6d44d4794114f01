"""Trials on laws that are known: the optimal rule, its threshold, its excess risk, its rates."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probatum.evidence import Block, Row
from probatum.supervised import (
    LinearFractional,
    ThresholdRule,
    expected_score,
    optimal_threshold,
    regret,
    regret_parts,
)

Array = NDArray[np.float64]
F1 = LinearFractional.f1()


def generated(law: str = "") -> str:
    """Loader of a law that trials draw from: its name."""
    return law


# --- the optimal rule against every rule --------------------------------------------------------


class FixedPointRule:
    """The rule under test: side and threshold from the root of h."""

    def __call__(self, eta: Array, mass: Array, metric: LinearFractional) -> NDArray[np.bool_]:
        return self.rule(eta, mass, metric)(eta)

    def rule(self, eta: Array, mass: Array, metric: LinearFractional) -> ThresholdRule:
        with warnings.catch_warnings():
            # Half of the metrics reward errors, which is warned of.
            warnings.simplefilter("ignore")
            return metric.rule(optimal_threshold(eta, metric, sample_weight=mass).score)


class SideIgnored(FixedPointRule):
    """Control: the same threshold, always predicting positive above it."""

    def __call__(self, eta: Array, mass: Array, metric: LinearFractional) -> NDArray[np.bool_]:
        return eta > self.rule(eta, mass, metric).threshold


class HalfRule:
    """Control: the rule that is best for accuracy."""

    def __call__(self, eta: Array, mass: Array, metric: LinearFractional) -> NDArray[np.bool_]:
        return eta > 0.5


def random_metric(rng: np.random.Generator) -> LinearFractional:
    """A ratio with a positive denominator; about half of them reward errors."""
    cells = ("TP", "FP", "FN", "TN")
    num = dict(zip(cells, rng.normal(size=4), strict=True))
    den = dict(zip(cells, rng.uniform(0.1, 1.0, size=4), strict=True))
    return LinearFractional(num, den)


def every_score(eta: Array, mass: Array, rules: Array, metric: LinearFractional) -> Array:
    """Score of each row of rules, from the four cells as the metric is defined."""
    positive, rest = rules @ mass, 1 - rules @ mass
    tp = rules @ (mass * eta)
    fn = mass @ eta - tp
    cells = {"TP": tp, "FP": positive - tp, "FN": fn, "TN": rest - fn}
    top = sum(metric.num[name] * cell for name, cell in cells.items())
    return np.asarray(top / sum(metric.den[name] * cell for name, cell in cells.items()))


def brute_force(block: Block) -> list[Row]:
    """Gap between the best of all 256 rules on eight atoms and the arm's rule."""
    rng = block.rng("problems")
    rule = block.arms[0].build()
    rules = np.array(list(itertools.product((0.0, 1.0), repeat=8)))
    rows = []
    for case in range(block.size["problems"]):
        eta, mass = rng.random(8), rng.dirichlet(np.ones(8))
        metric = random_metric(rng)
        best = float(every_score(eta, mass, rules, metric).max())
        chosen = rule(eta, mass, metric)
        own = expected_score(eta, chosen, metric, sample_weight=mass)
        by_identity = regret(eta, chosen, metric, sample_weight=mass)
        values = {"gap": best - own, "identity_error": abs(by_identity - (best - own))}
        rows.append(Row(block.arms[0].id, case=f"metric {case}", values=values))
    return rows


# --- the threshold from the marginal law alone --------------------------------------------------


def quantiles(law: str, u: Any) -> Any:
    """Quantile function of eta(X): uniform, the square of a uniform, Beta(1, 4)."""
    if law == "uniform":
        return u
    return u**2 if law == "square" else 1 - (1 - u) ** 0.25


def true_threshold(law: str) -> float:
    """Root of theta pi = E(eta - theta)_+ under a law, by quadrature."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    pi = quad(lambda u: quantiles(law, u), 0, 1)[0]

    def gap(theta: float) -> float:
        crossing = brentq(lambda u: quantiles(law, u) - theta, 0, 1)
        return float(quad(lambda u: quantiles(law, u) - theta, crossing, 1)[0] - theta * pi)

    return float(brentq(gap, 1e-9, 1 - 1e-9, xtol=1e-14))


class FromMarginal:
    """Unlabelled scores drawn from the marginal law, or from a tilted one (the control)."""

    def __init__(self, tilt: float = 1.0) -> None:
        self.tilt = tilt

    def __call__(self, law: str, u: Array) -> Array:
        return np.asarray(quantiles(law, u**self.tilt))


def sample_size(block: Block) -> list[Row]:
    """Root mean square error of the threshold against the size of the unlabelled sample."""
    law, draw, rng = block.dataset.open(), block.arms[0].build(), block.rng("unlabelled")
    target, rows = true_threshold(law), []
    for n in block.size["n"]:
        errors = [
            optimal_threshold(draw(law, rng.random(n)), F1).threshold - target
            for _ in range(block.size["draws"])
        ]
        error = float(np.sqrt(np.mean(np.square(errors))))
        rows.append(Row(block.arms[0].id, x=float(n), values={"error": error}))
    return rows


# --- where the excess risk comes from -----------------------------------------------------------


def kernel_regression(x: Array, y: Array, bandwidth: float, bins: int) -> Array:
    """Triangular-kernel estimate of E[Y | X] at the centres of equal bins of [0, 1]."""
    from scipy.ndimage import convolve1d

    at = np.minimum((x * bins).astype(int), bins - 1)
    count = np.bincount(at, minlength=bins).astype(float)
    hits = np.bincount(at, weights=y, minlength=bins)
    width = max(int(bins * bandwidth), 1)
    kernel = 1 - np.abs(np.arange(-width, width + 1)) / (width + 1)
    top = convolve1d(hits, kernel, mode="constant")
    bottom = convolve1d(count, kernel, mode="constant")
    mean = float(y.mean())
    estimate = np.divide(top, bottom, out=np.full(bins, mean), where=bottom > 0)
    return np.asarray(np.clip(estimate, 0.0, 1.0))


class UnlabelledSample:
    """How many unlabelled rows the threshold is found on: all given, or a few (the control)."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def __call__(self, rows: Array) -> Array:
        return rows[: self.most]


def decomposition(block: Block) -> list[Row]:
    """Excess risk of plug-in rules and its parts, along training size and unlabelled size.

    X is uniform, eta(x) = x^2. ``excess`` is how far the total exceeds the sum of the parts at
    most; ``bias`` and ``sampling`` are the two parts of the threshold's error.
    """
    size, arm, bins = block.size, block.arms[0], block.size["bins"]
    keep = arm.build()
    eta = ((np.arange(bins) + 0.5) / bins) ** 2
    best = optimal_threshold(eta, F1).threshold
    settings = [("training", n, size["unlabelled"][-1]) for n in size["n"]]
    settings += [("unlabelled", size["n"][-1], m) for m in size["unlabelled"]]
    rows = []
    for case, n, m in settings:
        rng = block.rng(f"{case} {n} {m}")
        x = rng.random(n)
        y = (rng.random(n) < x**2).astype(float)
        estimate = kernel_regression(x, y, n ** (-1 / 3), bins)
        limit = optimal_threshold(estimate, F1).threshold
        worst, sampling = -np.inf, []
        for u in rng.random((size["draws"], m)):
            scores = estimate[np.minimum((keep(u) * bins).astype(int), bins - 1)]
            theta = optimal_threshold(scores, F1).threshold
            parts = regret_parts(eta, estimate, theta, F1)
            worst = max(worst, parts.total - parts.regression - parts.bias - parts.sampling)
            sampling.append(abs(theta - limit))
        values = {
            "excess": float(worst),
            "regression": float(np.abs(estimate - eta).mean()),
            "bias": abs(limit - best),
            "sampling": float(np.mean(sampling)),
        }
        rows.append(Row(arm.id, case, float(n if case == "training" else m), values))
    return rows


# --- rates under a margin ------------------------------------------------------------------------


THETA, WIDTH, CLOUD, HIGH = 0.4, 0.2, 0.4, 0.9


class Margin:
    """Mass near the threshold: P(|eta - theta*| <= t) grows like t to this power.

    A cloud of mass 0.4 around theta* = 0.4, on which eta = 0.4 + 0.2 s |s|^(1/a - 1) with s
    uniform on [-1, 1], and atoms at 0 and 0.9 whose masses put the root of
    theta pi = E(eta - theta)_+ exactly at 0.4.
    """

    def __init__(self, exponent: float | None = None) -> None:
        self.exponent = exponent

    def eta(self, s: Array, exponent: float) -> Array:
        """Regression function on the cloud."""
        return np.asarray(THETA + WIDTH * np.sign(s) * np.abs(s) ** (1 / exponent))

    def high_mass(self, exponent: float) -> float:
        """Mass at 0.9 that solves the fixed-point equation; the rest lies at 0."""
        above = 0.5 * WIDTH / (1 + 1 / exponent)
        return CLOUD * (THETA**2 - above) / (HIGH - THETA - THETA * HIGH)

    def law(self, exponent: float, atoms: int) -> tuple[Array, Array]:
        """Values of eta and their masses, the cloud on an even grid of s."""
        s = (np.arange(atoms) + 0.5) / atoms * 2 - 1
        high = self.high_mass(exponent)
        eta = np.concatenate([self.eta(s, exponent), [HIGH, 0.0]])
        return eta, np.concatenate([np.full(atoms, CLOUD / atoms), [high, 1 - CLOUD - high]])


def oracle_rate(block: Block) -> list[Row]:
    """Regret when the regression is off by delta, delta halved four times, per margin."""
    margin, rows = block.arms[0].build(), []
    for nominal in block.size["margins"]:
        eta, mass = margin.law(margin.exponent or nominal, block.size["atoms"])
        for delta in block.size["deltas"]:
            # Wrong by delta in the direction that moves each point across the threshold.
            estimate = np.clip(eta + delta * np.where(eta <= THETA, 1.0, -1.0), 0, 1)
            value = regret(eta, estimate > THETA, F1, sample_weight=mass)
            rows.append(Row(block.arms[0].id, f"margin {nominal}", delta, {"regret": value}))
    return rows


def learned_rate(block: Block) -> list[Row]:
    """Regret of a plug-in rule against the size of the training sample.

    On the cloud the regression is learned by a kernel of bandwidth n^(-1/3), at the atoms by the
    mean. The threshold comes from the same estimate on the training rows; regret is taken on the
    law itself.
    """
    margin, bins = block.arms[0].build(), block.size["bins"]
    eta, mass = margin.law(margin.exponent, bins)
    rows = []
    for n in block.size["n"]:
        values = []
        for draw in range(block.size["draws"]):
            rng = block.rng(f"train {n} {draw}")
            cloud, high, zero = rng.multinomial(n, [CLOUD, mass[-2], mass[-1]])
            x = rng.random(cloud)
            y = (rng.random(cloud) < margin.eta(2 * x - 1, margin.exponent)).astype(float)
            curve = kernel_regression(x, y, cloud ** (-1 / 3), bins)
            top = rng.binomial(high, HIGH) / max(high, 1)
            estimate = np.concatenate([curve, [top, 0.0]])
            at = np.minimum((x * bins).astype(int), bins - 1)
            weight = np.concatenate([np.bincount(at, minlength=bins), [high, zero]])
            theta = optimal_threshold(estimate, F1, sample_weight=weight).threshold
            values.append(regret(eta, estimate > theta, F1, sample_weight=mass))
        rows.append(Row(block.arms[0].id, x=float(n), values={"regret": float(np.mean(values))}))
    return rows
