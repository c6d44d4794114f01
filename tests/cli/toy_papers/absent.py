"""A paper whose data are not here."""

from probatum.evidence import Arm, Budget, Claim, Dataset, Every, Experiment, Metric, Paper


class Thing:
    """What arms build."""


class NotHere(Exception):
    """Says how to get what is missing."""

    remedy = "fetch it"


def load():
    """Nothing to load."""


def trial(block):
    """Miss the data."""
    raise NotHere("data set 'moon' is not available: set PROBATUM_DATA")


PAPER = Paper(
    slug="absent",
    title="Absence",
    domain="evaluation",
    fidelity="abstract",
    methods=("toy_papers.absent:Thing",),
    claims=(
        Claim(
            "there",
            "The moon is there.",
            "paper",
            Experiment(
                "look",
                trial="toy_papers.absent:trial",
                arms=(Arm("eye", "toy_papers.absent:Thing", "method"),),
                datasets=(Dataset("moon", "toy_papers.absent:load", "CC0"),),
                metrics={"loss": Metric("lower", (0, 1))},
                budgets={"quick": Budget(2)},
                source="deterministic",
            ),
            Every("loss", "eye", high=1.0),
        ),
    ),
)
