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
from typing import Literal, TypeAlias

from probatum.catalog.anchored_fixed_point._lp_claims import LP_CLAIMS, TOOLS
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
    Stat,
    Within,
)

Role: TypeAlias = Literal["method", "baseline", "control"]
HERE = "probatum.catalog.anchored_fixed_point"
PROBLEMS, RIVALS, RATES = f"{HERE}.problems", f"{HERE}.rivals", f"{HERE}.rates"
QUERIES, WORST, CONSENSUS = f"{HERE}.queries", f"{HERE}.worst_case", f"{HERE}.consensus"
LOWER = Metric("lower")

# Residuals of order 1/k have a ratio of 1 from decade to decade, those of order k^-1/2 one of 3.2.
BOUNDED, BOUNDED_ROOT = 1.15, 1.3
# In evaluations of the operator: what a guarantee may cost on problems that do not need it.
COST = 1.5


def _family(name: str, kind: str) -> Dataset:
    return Dataset(name, f"{PROBLEMS}:{kind}", "generated", {"name": name})


MAPS = tuple(
    _family(name, "maps")
    for name in ("rotation", "projections", "reflections", "douglas-rachford", "long-gradient-step")
)
EQUATIONS = tuple(
    _family(name, "equations") for name in ("log-spectrum", "rotation-convex", "skew")
)


def _table(name: str, licence: str) -> Dataset:
    return Dataset(
        name,
        f"{CONSENSUS}:sites",
        licence,
        {"name": name, "rows": 40, "count": 8},
        f"{CONSENSUS}:identity_of_sites",
    )


def _ours(method: str, role: Role = "baseline") -> Arm:
    return Arm(method, f"{RIVALS}:Ours", role, params={"method": method})


def _form(form: str, role: Role = "baseline") -> Arm:
    return Arm(form, f"{RIVALS}:Textbook", role, params={"form": form})


same_sequence = Experiment(
    id="same-sequence",
    trial=f"{RATES}:same_sequence",
    arms=(
        Arm("picard-regularised", f"{RIVALS}:Recipe", "method"),
        Arm("anchor-outside", f"{RIVALS}:MapForm", "control", params={"form": "anchor-outside"}),
    ),
    datasets=MAPS,
    metrics={"apart": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 200}, 60),
        "quick": Budget(10, {"steps": 200}, 60),
    },
)

map_rates = Experiment(
    id="map-rates",
    trial=f"{RATES}:map_rates",
    arms=(
        Arm("halpern", f"{RIVALS}:Recipe", "method"),
        Arm("krasnoselskii-mann", f"{RIVALS}:MapForm", params={"form": "krasnoselskii-mann"}),
        Arm("no-anchor", f"{RIVALS}:Recipe", "control", params={"schedule": "none"}),
        Arm("constant-weight", f"{RIVALS}:Recipe", "control", params={"schedule": 0.01}),
    ),
    datasets=MAPS,
    metrics={"scaled": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 500}, 60),
        "quick": Budget(10, {"steps": 1000}, 60),
        "standard": Budget(10, {"steps": 10_000}, 120),
    },
)

forward_rate = Experiment(
    id="forward-rate",
    trial=f"{RATES}:equation_rates",
    arms=(
        _ours("rfs", "method"),
        _form("unanchored-forward", "control"),
    ),
    datasets=EQUATIONS,
    metrics={"r1": LOWER, "r_half": LOWER, "shrink": LOWER, "constant": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 2000}, 60),
        "quick": Budget(1, {"steps": 50_000}, 120),
        "standard": Budget(10, {"steps": 50_000}, 120),
    },
    arm_interface=f"{RIVALS}:MonotoneSolver",
    arm_make=f"{RIVALS}:Readers",
)

equation_rates = Experiment(
    id="equation-rates",
    trial=f"{RATES}:equation_rates",
    arms=(
        _ours("reg", "method"),
        _ours("rpeg", "method"),
        _form("eag"),
        _form("feg"),
        _form("graal"),
        _form("anchor-dropped", "control"),
        _form("constant-weight", "control"),
    ),
    datasets=EQUATIONS,
    metrics={"r1": LOWER, "r_half": LOWER, "shrink": LOWER, "constant": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 2000}, 60),
        "quick": Budget(1, {"steps": 50_000}, 120),
        "standard": Budget(10, {"steps": 50_000}, 120),
    },
    arm_interface=f"{RIVALS}:MonotoneSolver",
    arm_make=f"{RIVALS}:Readers",
)

plain_methods = Experiment(
    id="plain-methods",
    trial=f"{RATES}:equation_rates",
    arms=(
        _ours("reg", "method"),
        _ours("rpeg", "method"),
        _ours("eg"),
        _ours("popov"),
        _form("anchor-dropped", "control"),
    ),
    datasets=EQUATIONS[:1],
    metrics={"r1": LOWER, "r_half": LOWER, "shrink": LOWER, "constant": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 2000}, 60),
        "quick": Budget(10, {"steps": 5000}, 60),
        "standard": Budget(20, {"steps": 20_000}, 120),
    },
    arm_interface=f"{RIVALS}:MonotoneSolver",
    arm_make=f"{RIVALS}:Readers",
)


def _asks(method: str, role: Role = "baseline") -> Arm:
    return Arm(method, f"{QUERIES}:OursAsks", role, params={"method": method})


worst_cases = Experiment(
    id="worst-cases",
    trial=f"{WORST}:worst_cases",
    source="deterministic",
    arms=(
        _asks("reg", "method"),
        _asks("rpeg", "method"),
        _asks("eg"),
        _asks("eag"),
        _asks("feg"),
        Arm(
            "anchor-dropped",
            f"{QUERIES}:TextbookAsks",
            "control",
            params={"form": "anchor-dropped"},
        ),
    ),
    datasets=(Dataset("all-monotone-1-lipschitz", f"{WORST}:operators", "none: a class of maps"),),
    metrics={"norm": LOWER, "scaled": LOWER},
    budgets={
        "smoke": Budget(1, {"N": (2, 4)}, 120),
        # Fewer steps would say the opposite: the order of methods turns near N = 12.
        "quick": Budget(1, {"N": (8, 12, 16, 20)}, 300),
        "full": Budget(1, {"N": (8, 12, 16, 20, 28)}, 3600),
    },
)


def _placed(method: str, role: Role = "baseline", **params: float) -> Arm:
    return Arm(
        method,
        f"{QUERIES}:Placement",
        role,
        params={"method": method, **params},
    )


placements = Experiment(
    id="placements",
    trial=f"{QUERIES}:placements",
    source="deterministic",
    arms=(
        _placed("picard", "method", eta=0.8),
        _placed("forward", "method"),
        _placed("extragradient", "method"),
        _placed("popov", "method"),
        _placed("eag", "control"),
        _placed("feg", "control"),
    ),
    datasets=(Dataset("unit-vectors", f"{WORST}:operators", "none: a class of maps"),),
    metrics={"off": LOWER, "anchor": Metric("higher")},
    budgets={"smoke": Budget(1, {}, 60)},
)


def _recurrence(arm: str, base: str, role: Role = "method", **params: float | bool) -> Arm:
    return Arm(
        arm,
        f"{RATES}:Recurrence",
        role,
        params={"base": base, **params},
    )


RECURRENT = ("halpern", "rfs", "reg", "rpeg")
recurrence = Experiment(
    id="recurrence",
    trial=f"{RATES}:recurrence",
    arms=(
        _recurrence("halpern", "picard"),
        _recurrence("rfs", "forward", c=3.0, k0=6.0, vanishing=True),
        _recurrence("reg", "extragradient", share=0.5),
        _recurrence("rpeg", "popov", share=0.3),
        _recurrence("extragradient", "extragradient", "control", share=0.5, anchored=False),
    ),
    datasets=tuple(d for d in EQUATIONS if d.id != "rotation-convex"),
    metrics={"constant": LOWER, "r1": LOWER},
    budgets={
        "smoke": Budget(1, {"steps": 1000}, 60),
        "quick": Budget(2, {"steps": 10_000}, 120),
        "standard": Budget(10, {"steps": 10_000}, 120),
    },
)

shared_regression = Experiment(
    id="shared-regression",
    trial=f"{CONSENSUS}:evaluations",
    arms=(
        Arm(
            "reg-restarted",
            f"{CONSENSUS}:Counted",
            "method",
            params={"method": "reg", "restart": math.exp(-1)},
        ),
        Arm("reg", f"{CONSENSUS}:Counted", params={"method": "reg"}),
        Arm("eg", f"{CONSENSUS}:Counted", params={"method": "eg"}),
        Arm("popov", f"{CONSENSUS}:Counted", params={"method": "popov"}),
        Arm("graal", f"{CONSENSUS}:CountedForm", params={"form": "graal", "per": 1}),
        Arm(
            "constant-weight",
            f"{CONSENSUS}:CountedForm",
            "control",
            params={"form": "constant-weight", "per": 2},
        ),
    ),
    datasets=(
        _table("breast_cancer", "CC BY 4.0"),
        _table("caravan", "CC BY 4.0 (UCI), BSD-3-Clause (ISLP)"),
    ),
    metrics={"evaluations": LOWER},
    budgets={
        "smoke": Budget(1, {"share": 0.03, "limit": 10_000}, 60),
        "quick": Budget(10, {"share": 0.03, "limit": 10_000}, 60),
        "standard": Budget(10, {"share": 1e-4, "limit": 10_000}, 120),
    },
)


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
