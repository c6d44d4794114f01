"""The experiments on real tables of the linear-fractional entry."""

from __future__ import annotations

from typing import Literal, TypeAlias

from probatum.evidence import Arm, Budget, Dataset, Experiment, Metric

__all__ = [
    "REAL_TABLES",
    "SWEEP",
    "TUNED",
    "TUNERS",
    "other_metrics",
    "permuted_labels",
    "pool_size",
    "real_tables",
    "real_trees",
    "threshold_spread",
]

Role: TypeAlias = Literal["method", "baseline", "control"]
TABLES = "probatum.catalog.linear_fractional.tables"
OWN = "probatum.catalog.linear_fractional.own"
SKLEARN = "scikit-learn 1.9.1"


def _score(title: str) -> Metric:
    return Metric("higher", (0.0, 1.0), f"{title} on test rows")


F1 = _score("F1")


def _table(name: str, title: str, licence: str = "CC BY 4.0") -> Dataset:
    identity, params = "probatum.data:identity", {"name": name}
    return Dataset(name, "probatum.data:load", licence, params, identity, title=title)


def _plug_in(name: str, title: str, role: Role = "baseline", **params: object) -> Arm:
    return Arm(name, f"{TABLES}:PlugIn", role, params=params, title=title)


def _rival(name: str, make: str, title: str, library: str = SKLEARN, **params: object) -> Arm:
    return Arm(name, f"{TABLES}:{make}", library=library, params=params, title=title)


PLUG_IN = _plug_in("plug-in", "calibrated scores, threshold from unlabelled rows", "method")
BALANCED = _plug_in(
    "plug-in-distorted",
    "the method on scores distorted by class weights and not calibrated",
    "control",
    balanced=True,
    calibration=None,
)
HALF = _rival("threshold-half", "Half", "a threshold of one half")
TUNED = _rival("tuned-cv", "TunedCV", "five-fold search over 100 thresholds")
TUNED_FINE = _rival(
    "tuned-cv-400", "TunedCV", "five-fold search over 400 thresholds", thresholds=400
)
SWEEP = _rival("out-of-fold-sweep", "Sweep", "best of all cuts of pooled out-of-fold scores")
HOLD_OUT = _rival("hold-out", "Sweep", "best of all cuts on 30 % of the rows", hold_out=True)
TUNERS = (TUNED.id, SWEEP.id, HOLD_OUT.id)

REAL_TABLES = (
    _table("abalone9-18", "shells with 9 or 18 rings"),
    _table("yeast4", "where proteins of yeast are found"),
    _table("page-blocks0", "blocks of scanned pages that are not text"),
    _table("winequality-red-4", "red wines that were graded 4"),
    _table(
        "caravan",
        "customers of an insurer who bought a caravan policy",
        "CC BY 4.0 (UCI), BSD-3-Clause (ISLP)",
    ),
    _table("credit-data", "applicants for credit who paid badly", "MIT (modeldata)"),
    _table("attrition", "employees who left, made up", "MIT (modeldata); fictional data"),
    _table(
        "default",
        "holders of credit cards who defaulted, simulated",
        "BSD-3-Clause (ISLP); simulated data",
    ),
    _table("digits_8", "scanned digits that are an 8"),
)

permuted_labels = Experiment(
    id="permuted-labels",
    trial=f"{TABLES}:permuted_labels",
    arms=(
        Arm(
            "plug-in",
            f"{TABLES}:PlugInThreshold",
            "method",
            title="threshold from unlabelled rows, given a fitted classifier",
        ),
        Arm(
            "validated",
            f"{TABLES}:ValidatedThreshold",
            "control",
            SKLEARN,
            title="best of all cuts on labelled rows",
        ),
    ),
    datasets=REAL_TABLES,
    metrics={
        "shift": Metric("lower", title="how far permuted labels move the threshold (a probability)")
    },
    budgets={
        name: Budget(replicates, {"n_train": 1000}, 60)
        for name, replicates in (("smoke", 1), ("quick", 5), ("standard", 30))
    },
)

real_tables = Experiment(
    id="real-tables",
    trial=f"{TABLES}:scores",
    arms=(
        PLUG_IN,
        _plug_in(
            "plug-in-cross-fitted",
            "the method with out-of-fold scores of the training rows for unlabelled ones",
            unlabeled=False,
        ),
        _plug_in("plug-in-uncalibrated", "the method without calibration", calibration=None),
        BALANCED,
        HALF,
        _rival("class-weights", "Half", "class weights, a threshold of one half", balanced=True),
        _rival(
            "smote",
            "Smote",
            "synthetic rows of the rare class, a threshold of one half",
            "imbalanced-learn 0.14.2",
        ),
        TUNED,
        TUNED_FINE,
        SWEEP,
        HOLD_OUT,
    ),
    datasets=REAL_TABLES,
    metrics={"f1": F1},
    budgets={
        "smoke": Budget(1, {"n_train": (300,), "learners": ("logistic",), "metrics": ("f1",)}, 120),
        "quick": Budget(
            20, {"n_train": (300,), "learners": ("logistic",), "metrics": ("f1",)}, 120
        ),
        "standard": Budget(
            60, {"n_train": (100, 300, 1000), "learners": ("logistic",), "metrics": ("f1",)}, 300
        ),
        "full": Budget(
            120,
            {
                "n_train": (100, 300, 1000, 1_000_000),
                "learners": ("logistic", "forest", "boosting"),
                "metrics": ("f1",),
            },
            3600,
        ),
    },
    data_slot=f"{OWN}:own_table",
    arm_interface=f"{OWN}:ClassifierLike",
    arm_make=f"{OWN}:OwnClassifier",
)

real_trees = Experiment(
    id="real-tables-trees",
    trial=f"{TABLES}:scores",
    arms=(PLUG_IN, BALANCED, HALF, TUNED, SWEEP, HOLD_OUT),
    datasets=tuple(
        d for d in REAL_TABLES if d.id in ("page-blocks0", "credit-data", "attrition", "default")
    ),
    metrics={"f1": F1},
    budgets={
        "smoke": Budget(1, {"n_train": (300,), "learners": ("boosting",), "metrics": ("f1",)}, 120),
        "standard": Budget(
            60, {"n_train": (1000,), "learners": ("forest", "boosting"), "metrics": ("f1",)}, 300
        ),
    },
    data_slot=f"{OWN}:own_table",
    arm_interface=f"{OWN}:ClassifierLike",
    arm_make=f"{OWN}:OwnClassifier",
)

threshold_spread = Experiment(
    id="threshold-spread",
    trial=f"{TABLES}:spread",
    arms=(
        _plug_in(
            "plug-in", "threshold from unlabelled rows, no calibration", "method", calibration=None
        ),
        Arm(
            "hold-out-control",
            f"{TABLES}:Sweep",
            "control",
            SKLEARN,
            {"hold_out": True},
            title="best of all cuts on 30 % of the rows",
        ),
        TUNED,
        SWEEP,
    ),
    datasets=REAL_TABLES,
    metrics={
        "threshold_sd": Metric(
            "lower",
            title="standard deviation of the threshold (a probability) over training samples",
        )
    },
    budgets={
        "smoke": Budget(1, {"n_train": 300, "samples": 3}, 120),
        "standard": Budget(60, {"n_train": 300, "samples": 8}, 300),
    },
    data_slot=f"{OWN}:own_table",
)

other_metrics = Experiment(
    id="other-metrics",
    trial=f"{TABLES}:scores",
    arms=(PLUG_IN, BALANCED, HALF, TUNED, SWEEP, HOLD_OUT),
    datasets=REAL_TABLES,
    metrics={
        "jaccard": _score("Jaccard index"),
        "tversky": _score("Tversky index TP / (TP + 0.3 FP + 0.7 FN)"),
        "with-negatives": _score("(TP + 0.1 TN) / (TP + FP + FN + 0.1 TN)"),
    },
    budgets={
        name: Budget(
            replicates,
            {
                "n_train": (300,),
                "learners": ("logistic",),
                "metrics": ("jaccard", "tversky", "with-negatives"),
            },
            300,
        )
        for name, replicates in (("smoke", 1), ("standard", 60))
    },
    data_slot=f"{OWN}:own_table",
    arm_interface=f"{OWN}:ClassifierLike",
    arm_make=f"{OWN}:OwnClassifier",
)


def _pool(name: str, title: str, role: Role = "baseline", **params: float) -> Arm:
    return Arm(name, f"{TABLES}:PoolSize", role, params=params, title=title)


pool_size = Experiment(
    id="pool-size",
    trial=f"{TABLES}:unlabelled_rows",
    arms=(
        _pool("as-many-as-labelled", "as many unlabelled rows as labelled ones", "method"),
        _pool("hundred-times", "a hundred times as many unlabelled rows", times=100.0),
        _pool("tenth", "a tenth as many unlabelled rows", times=0.1),
        _pool("five-rows", "five unlabelled rows", "control", rows=5),
    ),
    datasets=REAL_TABLES,
    metrics={"f1": F1},
    budgets={
        "smoke": Budget(1, {"n_train": 300}, 60),
        "standard": Budget(60, {"n_train": 300}, 120),
    },
    data_slot=f"{OWN}:own_table",
)
