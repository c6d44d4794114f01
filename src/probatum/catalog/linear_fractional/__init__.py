"""Plug-in classification for F-score, Jaccard and every linear-fractional metric.

How the rules came about. The margins of 0.02 F1, of half the spread and of 0.15 around 1 + a were
given beforehand. The regions of ``parts-vanish``, ``fast-rates-learned`` and
``small-pools-suffice`` and the margin exponents of the learned rates were set after pilot runs of
the same trials, so their verdicts confirm what a pilot suggested. ``labels-unused``,
``regret-identity`` and ``risk-decomposition`` are statements that a correct implementation can't
break: they test the code, not the world.
"""

from __future__ import annotations

import math

from probatum.catalog.linear_fractional._real_tables import (
    SWEEP,
    TUNED,
    TUNERS,
    other_metrics,
    permuted_labels,
    pool_size,
    real_tables,
    real_trees,
    threshold_spread,
)
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
    Tool,
    Within,
)

THEORY = "probatum.catalog.linear_fractional.theory"
TOOL = "probatum.catalog.linear_fractional.tool"
# Not worse by more than this many points of the score: what is worth a validation set.
MARGIN = 0.02


def _risk(title: str) -> Metric:
    return Metric("lower", title=title)


LAWS = {
    "eight-atoms": "random probabilities on eight points",
    "uniform": "probabilities of the class spread evenly from 0 to 1",
    "square": "probabilities of the class like the square of a uniform number",
    "beta": "probabilities of the class from Beta(1, 4)",
    "cloud-and-atoms": "a cloud around the threshold and atoms at 0 and 0.9",
}


def _law(name: str) -> Dataset:
    return Dataset(name, f"{THEORY}:generated", "generated", {"law": name}, title=LAWS[name])


brute_force = Experiment(
    id="brute-force",
    trial=f"{THEORY}:brute_force",
    source="deterministic",
    arms=(
        Arm(
            "fixed-point",
            f"{THEORY}:FixedPointRule",
            "method",
            title="side and threshold from the root of the fixed-point equation",
        ),
        Arm(
            "threshold-half",
            f"{THEORY}:HalfRule",
            "control",
            title="a threshold of one half, best for accuracy",
        ),
        Arm(
            "side-ignored",
            f"{THEORY}:SideIgnored",
            "control",
            title="the method's threshold, always positive above it",
        ),
    ),
    datasets=(_law("eight-atoms"),),
    metrics={
        "gap": _risk("score of the best of all 256 rules less that of this one"),
        "identity_error": _risk("distance of the excess risk by the identity from the gap"),
    },
    budgets={"smoke": Budget(1, {"problems": 400}, 120)},
)

unlabelled_sample = Experiment(
    id="unlabelled-sample",
    trial=f"{THEORY}:sample_size",
    arms=(
        Arm(
            "plug-in",
            f"{THEORY}:FromMarginal",
            "method",
            title="threshold from unlabelled scores of the law itself",
        ),
        Arm(
            "shifted-marginal",
            f"{THEORY}:FromMarginal",
            "control",
            params={"tilt": 1.5},
            title="threshold from unlabelled scores of a tilted law",
        ),
    ),
    datasets=(_law("uniform"), _law("square"), _law("beta")),
    metrics={"error": _risk("root mean square error of the threshold (a probability)")},
    abscissa="number of unlabelled scores",
    budgets={
        "smoke": Budget(10, {"n": (100, 1000, 10_000), "draws": 10}, 60),
        "quick": Budget(60, {"n": (100, 1000, 10_000), "draws": 10}, 60),
        "standard": Budget(120, {"n": (100, 1000, 10_000, 100_000, 1_000_000), "draws": 10}, 120),
    },
)

SMALL = {"n": (200, 2000, 20_000), "unlabelled": (100, 1000, 10_000), "draws": 3, "bins": 4096}
excess_risk = Experiment(
    id="excess-risk",
    trial=f"{THEORY}:decomposition",
    arms=(
        Arm(
            "plug-in",
            f"{THEORY}:UnlabelledSample",
            "method",
            title="threshold from all unlabelled rows",
        ),
        Arm(
            "thirty-unlabelled",
            f"{THEORY}:UnlabelledSample",
            "control",
            params={"most": 30},
            title="threshold from the first 30 unlabelled rows",
        ),
    ),
    datasets=(_law("square"),),
    metrics={
        "excess": _risk("excess risk (F1) less the sum of its three parts, largest over draws"),
        "regression": _risk("mean absolute error of the estimated probability of the class"),
        "bias": _risk(
            "distance from the optimal threshold (a probability), were unlabelled rows unlimited"
        ),
        "sampling": _risk(
            "mean distance from the threshold (a probability) of unlimited unlabelled rows"
        ),
    },
    abscissa="rows of the kind that the case names",
    budgets={
        "smoke": Budget(10, SMALL, 60),
        "quick": Budget(60, SMALL, 60),
        "standard": Budget(
            120,
            {
                "n": (200, 2000, 20_000, 200_000),
                "unlabelled": (100, 1000, 10_000, 100_000),
                "draws": 5,
                "bins": 20_000,
            },
            120,
        ),
    },
)

oracle_rates = Experiment(
    id="oracle-rates",
    trial=f"{THEORY}:oracle_rate",
    source="deterministic",
    arms=(
        Arm(
            "margin",
            f"{THEORY}:Margin",
            "method",
            title="a law with the margin exponent that the case names",
        ),
        Arm(
            "mass-at-threshold",
            f"{THEORY}:Margin",
            "control",
            params={"exponent": 0.1},
            title="a law with much mass at the threshold (margin exponent 0.1)",
        ),
    ),
    datasets=(_law("cloud-and-atoms"),),
    metrics={"regret": _risk("F1 lost against the optimal rule (excess risk)")},
    abscissa="error of the regression (delta)",
    budgets={
        "smoke": Budget(
            1,
            {
                "margins": (0.5, 1, 2),
                "deltas": (0.1, 0.05, 0.025, 0.0125, 0.00625),
                "atoms": 200_000,
            },
            60,
        )
    },
)

learned_rates = Experiment(
    id="learned-rates",
    trial=f"{THEORY}:learned_rate",
    arms=(
        Arm(
            "margin-1",
            f"{THEORY}:Margin",
            "method",
            params={"exponent": 1.0},
            title="plug-in rule under a margin of exponent 1",
        ),
        Arm(
            "margin-third",
            f"{THEORY}:Margin",
            params={"exponent": 1 / 3},
            title="plug-in rule under a margin of exponent 1/3",
        ),
        Arm(
            "margin-tenth",
            f"{THEORY}:Margin",
            "control",
            params={"exponent": 0.1},
            title="plug-in rule under a margin of exponent 1/10",
        ),
    ),
    datasets=(_law("cloud-and-atoms"),),
    metrics={"regret": _risk("F1 lost against the optimal rule (excess risk), mean over draws")},
    abscissa="number of training rows",
    budgets={
        "smoke": Budget(10, {"n": (600, 2000, 6000), "draws": 5, "bins": 1024}, 60),
        "quick": Budget(60, {"n": (600, 2000, 6000, 20_000), "draws": 10, "bins": 2048}, 60),
        "standard": Budget(
            120, {"n": (600, 2000, 6000, 20_000, 60_000, 200_000), "draws": 20, "bins": 8192}, 300
        ),
    },
)


def _not_worse(metric: str) -> Within:
    return Within(Stat(metric), "plug-in", to=TUNERS, low=-MARGIN)


def _oracle_slope(margin: float) -> Within:
    return Within(
        Stat("regret", "loglog", case=f"margin {margin}"),
        "margin",
        scale="absolute",
        low=1 + margin - 0.15,
        high=1 + margin + 0.15,
    )


PAPER = Paper(
    slug="linear-fractional",
    title="Binary classification under linear-fractional performance metrics",
    domain="supervised",
    fidelity="abstract",
    summary=(
        "Turns any probabilistic classifier into one for F-score, Jaccard or another ratio of "
        "confusion cells, by computing the threshold from unlabelled rows."
    ),
    audience=(
        "People who predict a rare class and are judged by F1, Jaccard or the like: a threshold "
        "for the model that they have, without rows set aside to tune it on."
    ),
    methods=(
        "probatum.supervised:LinearFractionalClassifier",
        "probatum.supervised:LinearFractional",
        "probatum.supervised:optimal_threshold",
    ),
    extras=("supervised",),
    tools=(
        Tool(
            "linear-fractional",
            f"{TOOL}:classify",
            "Fits a classifier for F1, F-beta, Jaccard or Tversky to your table and predicts.",
            "customers.csv --target left --predict new.csv -o predicted.csv",
            f"{TOOL}:example_files",
        ),
    ),
    claims=(
        Claim(
            "threshold-form",
            "The optimal classifier thresholds the regression function, for every "
            "linear-fractional metric: it attains the best of all 256 rules on eight atoms.",
            "paper",
            brute_force,
            Every("gap", "fixed-point", high=0.0, slack=1e-12, at_least=400),
        ),
        Claim(
            "regret-identity",
            "The excess risk is |a1 - u* b1| E[|eta - theta*|; the rules differ] / D, exactly "
            "(our derivation of the identity behind the bounds).",
            "proxy",
            brute_force,
            AllOf(
                tuple(
                    Every("identity_error", arm, high=0.0, slack=1e-10, at_least=400)
                    for arm in ("fixed-point", "threshold-half", "side-ignored")
                )
            ),
        ),
        Claim(
            "fixed-point-rate",
            "The threshold solves a fixed-point equation in the marginal distribution, and its "
            "estimate from N unlabelled scores converges at the rate N^(-1/2).",
            "paper",
            unlabelled_sample,
            Within(Stat("error", "loglog"), "plug-in", scale="absolute", low=-0.55, high=-0.45),
        ),
        Claim(
            "labels-unused",
            "Given the regression estimate, the threshold depends on unlabelled data only: "
            "permuting all labels does not move it.",
            "paper",
            permuted_labels,
            Every("shift", "plug-in", high=0.0, slack=1e-12, at_least=45),
        ),
        Claim(
            "risk-decomposition",
            "The excess risk is bounded by the sum of a regression, a threshold and a sampling "
            "part, in every run and for every rule (the control's too).",
            "paper",
            excess_risk,
            Every("excess", "plug-in", high=0.0, slack=1e-10, at_least=300),
        ),
        Claim(
            "parts-vanish",
            "Each part vanishes along its own axis: regression error and threshold bias with the "
            "training size, sampling error with the unlabelled size.",
            "paper",
            excess_risk,
            AllOf(
                (
                    Within(
                        Stat("regression", "loglog", case="training"),
                        "plug-in",
                        scale="absolute",
                        high=-0.2,
                    ),
                    Within(
                        Stat("bias", "loglog", case="training"),
                        "plug-in",
                        scale="absolute",
                        high=-0.2,
                    ),
                    Within(
                        Stat("sampling", "loglog", case="unlabelled"),
                        "plug-in",
                        scale="absolute",
                        high=-0.35,
                    ),
                )
            ),
        ),
        Claim(
            "fast-rates-oracle",
            "Under a margin of exponent a, a regression error of delta costs an excess risk of "
            "order delta^(1+a).",
            "paper",
            oracle_rates,
            AllOf((_oracle_slope(0.5), _oracle_slope(1), _oracle_slope(2))),
        ),
        Claim(
            "fast-rates-learned",
            "With a learned regression, a larger margin exponent gives a faster rate, and a "
            "margin of exponent 1 one faster than n^(-1/2).",
            "proxy",
            learned_rates,
            AllOf(
                (
                    Within(Stat("regret", "loglog"), "margin-1", scale="absolute", high=-0.5),
                    Within(Stat("regret", "loglog"), "margin-1", to=("margin-third",), high=-0.1),
                )
            ),
        ),
        Claim(
            "no-validation",
            "Validation can be avoided: with a threshold from unlabelled rows, F1 on real tables "
            f"is not worse by more than {MARGIN} than with any of three tuned thresholds.",
            "proxy",
            real_tables,
            _not_worse("f1"),
        ),
        Claim(
            "no-validation-trees",
            "The same for forests and boosted trees, with calibrated scores.",
            "proxy",
            real_trees,
            _not_worse("f1"),
        ),
        Claim(
            "steadier-threshold",
            "The threshold varies at most half as much between training samples as a tuned one.",
            "proxy",
            threshold_spread,
            Within(
                Stat("threshold_sd"),
                "plug-in",
                to=(TUNED.id, SWEEP.id),
                scale="log-ratio",
                low=math.log(2),
            ),
        ),
        Claim(
            "beyond-f",
            "The framework reaches beyond the F-score: the same holds for Jaccard, Tversky and a "
            "ratio with true negatives.",
            "proxy",
            other_metrics,
            AllOf(tuple(_not_worse(m) for m in ("jaccard", "tversky", "with-negatives"))),
        ),
        Claim(
            "small-pools-suffice",
            "As many unlabelled rows as labelled ones are enough: a hundred times as many gain "
            "less than 0.01 F1.",
            "proxy",
            pool_size,
            Within(Stat("f1"), "as-many-as-labelled", to=("hundred-times",), low=-0.01),
        ),
        Claim(
            "published-experiments",
            "The paper's own synthetic and real experiments support its theory.",
            "target",
            missing="the full text: which data sets, regression estimators and sizes were used",
        ),
        Claim(
            "published-constants",
            "The finite-sample bounds hold with the paper's constants.",
            "target",
            missing="the full text: the theorems' constants and assumptions",
        ),
    ),
)
