"""A paper that takes neither data nor methods of a reader."""

from probatum.evidence import (
    Arm,
    Budget,
    Claim,
    Dataset,
    Experiment,
    Metric,
    Paper,
    Stat,
    Within,
)

OPENABLE = "toy_open.openable"

PAPER = Paper(
    slug="plain",
    title="Plain",
    domain="evaluation",
    fidelity="abstract",
    methods=(f"{OPENABLE}:Skilled",),
    summary="Is closed.",
    claims=(
        Claim(
            "high",
            "It throws above one.",
            "paper",
            Experiment(
                "plain",
                trial=f"{OPENABLE}:trial",
                arms=(Arm("skilled", f"{OPENABLE}:Skilled", "method"),),
                datasets=(Dataset("one", f"{OPENABLE}:level", "CC0", {"value": 1.0}),),
                metrics={"height": Metric("higher")},
                budgets={"smoke": Budget(10)},
            ),
            Within(Stat("height"), "skilled", scale="absolute", low=1.1),
        ),
    ),
)
