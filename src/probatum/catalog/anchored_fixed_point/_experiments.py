"""The experiments of the anchored fixed-point entry but for those on linear programs."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from probatum.evidence import Arm, Budget, Dataset, Experiment, Metric

__all__ = [
    "RECURRENT",
    "equation_rates",
    "forward_rate",
    "map_rates",
    "placements",
    "plain_methods",
    "recurrence",
    "same_sequence",
    "shared_regression",
    "worst_cases",
]

Role: TypeAlias = Literal["method", "baseline", "control"]
HERE = "probatum.catalog.anchored_fixed_point"
PROBLEMS, RIVALS, RATES = f"{HERE}.problems", f"{HERE}.rivals", f"{HERE}.rates"
QUERIES, WORST, CONSENSUS = f"{HERE}.queries", f"{HERE}.worst_case", f"{HERE}.consensus"


def _lower(title: str) -> Metric:
    return Metric("lower", title=title)


# Of residuals along k = 1, 2, ...; a decade is a factor of ten in k.
GROWTH = "largest in the last decade of k over largest in the one before"
RATES_MEASURED = {
    "r1": _lower(f"k times the residual: {GROWTH}"),
    "r_half": _lower(f"sqrt(k) times the residual: {GROWTH}"),
    "shrink": _lower("k times the residual: largest in the decade before the last over the last"),
    "constant": _lower("k times the residual: largest in the last decade of k, over L |x0 - x*|"),
}


def _family(name: str, kind: str, title: str) -> Dataset:
    return Dataset(name, f"{PROBLEMS}:{kind}", "generated", {"name": name}, title=title)


MAPS = (
    _family("rotation", "maps", "plane rotations by small to large angles"),
    _family("projections", "maps", "projections onto three sets in turn"),
    _family("reflections", "maps", "reflections at two sets in turn"),
    _family("douglas-rachford", "maps", "Douglas-Rachford for a subspace and a ball"),
    _family("long-gradient-step", "maps", "gradient steps of length 2/L on a convex quadratic"),
)
EQUATIONS = (
    _family("log-spectrum", "equations", "bilinear saddle points, spectrum over three decades"),
    _family("rotation-convex", "equations", "rotations plus the gradient of a convex function"),
    _family("skew", "equations", "skew matrices plus a convex part of low rank"),
)


def _table(name: str, licence: str, title: str) -> Dataset:
    return Dataset(
        name,
        f"{CONSENSUS}:sites",
        licence,
        {"name": name, "rows": 40, "count": 8},
        f"{CONSENSUS}:identity_of_sites",
        title=title,
    )


METHODS = {
    "rfs": "regularised forward steps",
    "reg": "regularised extragradient",
    "rpeg": "regularised Popov method",
    "eg": "plain extragradient",
    "popov": "plain Popov method",
    "eag": "EAG, extragradient with an anchor placed by hand",
    "feg": "FEG, fast extragradient with an anchor placed by hand",
    "graal": "golden ratio algorithm, constant step",
    "anchor-dropped": "regularised extragradient, no anchor in its second query",
    "constant-weight": "regularised extragradient, a weight that doesn't vanish",
    "unanchored-forward": "forward steps of vanishing size, no anchor",
}


def _ours(method: str, role: Role = "baseline") -> Arm:
    params = {"method": method}
    return Arm(method, f"{RIVALS}:Ours", role, params=params, title=METHODS[method])


def _form(form: str, role: Role = "baseline") -> Arm:
    return Arm(form, f"{RIVALS}:Textbook", role, params={"form": form}, title=METHODS[form])


same_sequence = Experiment(
    id="same-sequence",
    trial=f"{RATES}:same_sequence",
    arms=(
        Arm(
            "picard-regularised",
            f"{RIVALS}:Recipe",
            "method",
            title="Picard's iteration on the regularised map",
        ),
        Arm(
            "anchor-outside",
            f"{RIVALS}:MapForm",
            "control",
            params={"form": "anchor-outside"},
            title="the anchor mixed in before the map, not after",
        ),
    ),
    datasets=MAPS,
    metrics={"apart": _lower("largest distance from Halpern's iterates, over |x0 - x*|")},
    budgets={
        "smoke": Budget(1, {"steps": 200}, 60),
        "quick": Budget(10, {"steps": 200}, 60),
    },
)

map_rates = Experiment(
    id="map-rates",
    trial=f"{RATES}:map_rates",
    arms=(
        Arm("halpern", f"{RIVALS}:Recipe", "method", title="Picard's on the regularised map"),
        Arm(
            "krasnoselskii-mann",
            f"{RIVALS}:MapForm",
            params={"form": "krasnoselskii-mann"},
            title="Krasnoselskii-Mann, halfway to the map's value",
        ),
        Arm(
            "no-anchor",
            f"{RIVALS}:Recipe",
            "control",
            params={"schedule": "none"},
            title="the plain iteration, no anchor",
        ),
        Arm(
            "constant-weight",
            f"{RIVALS}:Recipe",
            "control",
            params={"schedule": 0.01},
            title="a weight of the anchor that doesn't vanish",
        ),
    ),
    datasets=MAPS,
    metrics={"scaled": _lower("largest (k + 1) |x_k - T(x_k)| / |x0 - x*| over all k")},
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
    metrics=RATES_MEASURED,
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
    metrics=RATES_MEASURED,
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
    metrics=RATES_MEASURED,
    budgets={
        "smoke": Budget(1, {"steps": 2000}, 60),
        "quick": Budget(10, {"steps": 5000}, 60),
        "standard": Budget(20, {"steps": 20_000}, 120),
    },
    arm_interface=f"{RIVALS}:MonotoneSolver",
    arm_make=f"{RIVALS}:Readers",
)


def _asks(method: str, role: Role = "baseline") -> Arm:
    params = {"method": method}
    return Arm(method, f"{QUERIES}:OursAsks", role, params=params, title=METHODS[method])


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
            title=METHODS["anchor-dropped"],
        ),
    ),
    datasets=(
        Dataset(
            "all-monotone-1-lipschitz",
            f"{WORST}:operators",
            "none: a class of maps",
            title="every monotone operator with Lipschitz constant 1",
        ),
    ),
    metrics={
        "norm": _lower("upper bound on |F(x_N)| for L = 1 and |x0 - x*| at most 1"),
        "scaled": _lower("N times that bound"),
    },
    abscissa="number of iterations (N)",
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
        title=METHODS[method] if role == "control" else f"{method} made anchored by the recipe",
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
    datasets=(
        Dataset(
            "unit-vectors",
            f"{WORST}:operators",
            "none: a class of maps",
            title="an operator that answers with a new unit vector each time",
        ),
    ),
    metrics={
        "off": _lower(
            "largest difference from the coefficients that the base method's queries give"
        ),
        "anchor": Metric("higher", title="coefficient of the anchor in the method's line"),
    },
    budgets={"smoke": Budget(1, {}, 60)},
)


def _recurrence(arm: str, base: str, role: Role = "method", **params: float | bool) -> Arm:
    return Arm(
        arm,
        f"{RATES}:Recurrence",
        role,
        params={"base": base, **params},
        title="plain extragradient" if role == "control" else f"{base} made anchored",
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
    metrics={
        "constant": _lower("smallest C with which the recurrence holds at every k"),
        "r1": _lower(f"k times the norm r_k of the recurrence: {GROWTH}"),
    },
    budgets={
        "smoke": Budget(1, {"steps": 1000}, 60),
        "quick": Budget(2, {"steps": 10_000}, 120),
        "standard": Budget(10, {"steps": 10_000}, 120),
    },
)


def _counted(method: str) -> Arm:
    params = {"method": method}
    return Arm(method, f"{CONSENSUS}:Counted", params=params, title=METHODS[method])


shared_regression = Experiment(
    id="shared-regression",
    trial=f"{CONSENSUS}:evaluations",
    arms=(
        Arm(
            "reg-restarted",
            f"{CONSENSUS}:Counted",
            "method",
            params={"method": "reg", "restart": math.exp(-1)},
            title="regularised extragradient with restarts",
        ),
        _counted("reg"),
        _counted("eg"),
        _counted("popov"),
        Arm(
            "graal",
            f"{CONSENSUS}:CountedForm",
            params={"form": "graal", "per": 1},
            title=METHODS["graal"],
        ),
        Arm(
            "constant-weight",
            f"{CONSENSUS}:CountedForm",
            "control",
            params={"form": "constant-weight", "per": 2},
            title=METHODS["constant-weight"],
        ),
    ),
    datasets=(
        _table("breast_cancer", "CC BY 4.0", "breast masses, shared by eight sites"),
        _table(
            "caravan",
            "CC BY 4.0 (UCI), BSD-3-Clause (ISLP)",
            "customers of an insurer, shared by eight sites",
        ),
    ),
    metrics={
        "evaluations": _lower(
            "evaluations of F until its norm is a set share of the first (the limit, if later)"
        )
    },
    budgets={
        "smoke": Budget(1, {"share": 0.03, "limit": 10_000}, 60),
        "quick": Budget(10, {"share": 0.03, "limit": 10_000}, 60),
        "standard": Budget(10, {"share": 1e-4, "limit": 10_000}, 120),
    },
)
