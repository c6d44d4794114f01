"""Anchoring as operator-side Tikhonov regularisation: Halpern, extragradient and Popov variants.

How the rules came about. The abstract gives rates and no constants. These were set before the
trials here were written: k times the residual grows by at most 15 % in the last decade of k
(sqrt(k) times it by 30 %, with k times it at least doubling), the recurrence's constant is at most
1, the slopes of the worst case over N = 8, ..., 20 at the iterate x_N. These were set after pilots:
50 000 iterations (at 5000 the growth was still 1.3 to 1.4, at 20 000 within the rules but for
little), that k r_k may grow by half in a decade (a factor log k would give a third), and the rules,
tables and arms of the shared regressions, where a pilot had shown plain extragradient to need about
half of the evaluations. The worst case of Popov's variant is near its limit: measured at the
point where it asks, not at x_N, its slope was -0.799.

``recipe-is-halpern``, ``anchor-placement`` and ``halpern-rate`` are statements that a correct
implementation can't break: they test the code, not the world.
"""

from __future__ import annotations

import math

from probatum.catalog.anchored_fixed_point._experiments import (
    RECURRENT,
    equation_rates,
    forward_rate,
    map_rates,
    placements,
    plain_methods,
    recurrence,
    same_sequence,
    shared_regression,
    worst_cases,
)
from probatum.catalog.anchored_fixed_point._lp_claims import LP_CLAIMS, TOOLS
from probatum.evidence import AllOf, Claim, Every, Paper, Stat, Within

# Residuals of order 1/k have a ratio of 1 from decade to decade, those of order k^-1/2 one of 3.2.
BOUNDED, BOUNDED_ROOT = 1.15, 1.3
# In evaluations of the operator: what a guarantee may cost on problems that do not need it.
COST = 1.5


def _bounded(arm: str) -> Every:
    return Every("r1", arm, high=BOUNDED, at_least=30)


def _slope(arm: str, low: float = -math.inf, high: float = math.inf) -> Within:
    return Within(Stat("norm", "loglog"), arm, scale="absolute", low=low, high=high)


PAPER = Paper(
    slug="anchored-fixed-point",
    title="A unifying view of anchoring via operator-side Tikhonov regularization",
    domain="optimize",
    fidelity="abstract",
    summary=(
        "Solves fixed-point, saddle-point and monotone equations with a rate for the last iterate, "
        "by running a plain method on an operator tied to an anchor."
    ),
    audience=(
        "People who solve equilibria, minimax problems or large linear programs by cheap "
        "iterations, and need the last iterate to be good where plain methods circle or slow down."
    ),
    methods=(
        "probatum.optimize:fixed_point_anchored",
        "probatum.optimize:monotone_root",
        "probatum.optimize:tikhonov",
        "probatum.optimize:regularize",
    ),
    extras=("optimize",),
    tools=TOOLS,
    claims=(
        Claim(
            "recipe-is-halpern",
            "Picard's iteration on the regularised map is Halpern's iteration, to round-off, on "
            "five kinds of nonexpansive maps.",
            "paper",
            same_sequence,
            Every("apart", "picard-regularised", high=0.0, slack=1e-12, at_least=50),
        ),
        Claim(
            "halpern-rate",
            "Its residual is O(1/k): at most 2 |x0 - x*| / (k + 1) at every k, on maps on which "
            "the plain iteration circles.",
            "paper",
            map_rates,
            Every("scaled", "halpern", high=2.0, slack=1e-9, at_least=50),
        ),
        Claim(
            "forward-step-rate",
            "The regularised forward step has residual O(1/sqrt(k)), and not O(1/k): sqrt(k) times "
            "the residual grows by at most 30 % in the last decade of k, k times it at least "
            "doubles.",
            "paper",
            forward_rate,
            AllOf(
                (
                    Every("r_half", "rfs", high=BOUNDED_ROOT, at_least=30),
                    Every("shrink", "rfs", high=0.5, at_least=30),
                )
            ),
        ),
        Claim(
            "extragradient-rate",
            "The regularised extragradient has residual O(1/k): k times it grows by at most 15 % "
            "in the last decade of k, on every problem drawn.",
            "paper",
            equation_rates,
            _bounded("reg"),
        ),
        Claim(
            "popov-rate",
            "The regularised Popov method has residual O(1/k), by the same rule, with one value of "
            "the operator an iteration (measured where that value is taken).",
            "paper",
            equation_rates,
            _bounded("rpeg"),
        ),
        Claim(
            "plain-methods-lag",
            "Where the spectrum spreads over decades the plain methods lack that rate: from decade "
            "to decade k times their residual grows by a factor at least 1.2 above that of the "
            "anchored ones.",
            "proxy",
            plain_methods,
            AllOf(
                tuple(
                    Within(
                        Stat("r1"),
                        arm,
                        to=(rival,),
                        scale="log-ratio",
                        low=math.log(1.4 / BOUNDED),
                    )
                    for arm, rival in (("reg", "eg"), ("rpeg", "popov"))
                )
            ),
        ),
        Claim(
            "worst-case",
            "In the worst case over all monotone Lipschitz operators, bounded by performance "
            "estimation, the residual of both falls with exponent -0.8 or better over N = 8, ..., "
            "20 iterations; that of plain extragradient with about -0.5.",
            "paper",
            worst_cases,
            AllOf(
                (
                    _slope("reg", high=-0.8),
                    _slope("rpeg", high=-0.8),
                    _slope("eg", low=-0.65, high=-0.35),
                )
            ),
        ),
        Claim(
            "anchor-placement",
            "The anchor terms of the variants are those that the base method's queries inherit; "
            "EAG and FEG place theirs otherwise.",
            "paper",
            placements,
            AllOf(
                (
                    *(
                        Every("off", arm, high=0.0, slack=1e-12)
                        for arm in ("picard", "forward", "extragradient", "popov")
                    ),
                    *(
                        Within(Stat("off", "max"), arm, scale="absolute", low=0.01)
                        for arm in ("eag", "feg")
                    ),
                )
            ),
        ),
        Claim(
            "shared-recurrence",
            "One residual recurrence, r_k <= rho_k r_(k-1) + C (d_(k-1) - d_k) |x0 - x*| with "
            "C <= 1, holds at every k for the four methods, and k r_k stays bounded (our reading "
            "of what the analyses share; constants ours).",
            "proxy",
            recurrence,
            AllOf(
                (
                    *(Every("constant", arm, high=1.0, at_least=20) for arm in RECURRENT),
                    *(Every("r1", arm, high=1.5, at_least=20) for arm in RECURRENT),
                )
            ),
        ),
        Claim(
            "restart-pays-on-real-data",
            "On logistic regression shared by sites, restarts let the regularised extragradient "
            "reach 1e-4 of its first residual with at most half of the evaluations that it needs "
            "without (runs end at 10 000 evaluations and count as that many).",
            "proxy",
            shared_regression,
            Within(
                Stat("evaluations"),
                "reg-restarted",
                to=("reg",),
                scale="log-ratio",
                low=math.log(2.0),
            ),
        ),
        Claim(
            "cheap-on-real-data",
            "On logistic regression shared by sites, the restarted regularised extragradient needs "
            "at most 1.5 times the evaluations of plain extragradient and of Popov's method.",
            "proxy",
            shared_regression,
            Within(
                Stat("evaluations"),
                "reg-restarted",
                to=("eg", "popov"),
                scale="log-ratio",
                low=-math.log(COST),
            ),
            analysis=(
                "these regressions are strongly convex and well coupled, so the plain methods "
                "converge linearly and a guarantee for the worst case has its price"
            ),
        ),
        *LP_CLAIMS,
        Claim(
            "published-recurrence",
            "The recurrence that the four analyses share, its constants and step sizes are those "
            "of the paper.",
            "target",
            missing="the full text: the recurrence, schedules, step-size limits and constants",
        ),
    ),
)
