"""Every kind of verdict, from numbers drawn in microseconds."""

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
    Rate,
    Stat,
    Within,
)

LEVELS = {"good": 0.7, "fair": 0.5, "random": 0.5}


class Thing:
    """What arms build."""


def load():
    """Nothing to load."""


def trial(block):
    """One noisy score around the arm's level."""
    from probatum.evidence import Row

    arm = block.arms[0].id
    score = LEVELS[arm] + 0.02 * float(block.rng(arm).normal())
    hits = int(block.rng("hits").binomial(50, LEVELS[arm]))
    return [Row(arm, values={"score": score, "gap": 0.0}, counts={"hit": (hits, 50)})]


TOSSES = Experiment(
    "tosses",
    trial="toy_papers.coins:trial",
    arms=(
        Arm("good", "toy_papers.coins:Thing", "method"),
        Arm(
            "fair",
            "toy_papers.coins:Thing",
            "baseline",
            library="scikit-learn 1.9",
            title="a fair [coin]",
        ),
        Arm("random", "toy_papers.coins:Thing", "control", library="numpy"),
    ),
    datasets=(
        Dataset("heads", "toy_papers.coins:load", "CC0"),
        Dataset("tails", "toy_papers.coins:load", "CC0"),
    ),
    metrics={
        "score": Metric("higher", (0, 1), "score of a [coin]"),
        "gap": Metric("lower"),
        "hit": Metric("higher", (0, 1)),
    },
    budgets={"smoke": Budget(10), "quick": Budget(20), "standard": Budget(30)},
)

PAPER = Paper(
    slug="coins",
    title="Coins [bold]that[/bold] know better: a paper whose title is long enough to be wrapped",
    domain="evaluation",
    fidelity="abstract",
    methods=("toy_papers.coins:Thing",),
    summary="Tosses coins.",
    audience="People who toss [coins].",
    claims=(
        Claim(
            "better",
            "The good coin beats the fair one, which takes a rather long sentence to say in full.",
            "paper",
            TOSSES,
            Within(Stat("score"), "good", to=("fair",), low=0.05),
        ),
        Claim(
            "far-better",
            "The good coin is half a unit better.",
            "paper",
            TOSSES,
            Within(Stat("score"), "good", to=("fair", "random"), low=0.5, over="each"),
        ),
        Claim(
            "knife-edge",
            "Nobody can tell.",
            "proxy",
            TOSSES,
            Within(Stat("score"), "good", to=("fair",), low=0.2),
        ),
        Claim("often", "It mostly hits.", "paper", TOSSES, Rate("hit", "good", low=0.5)),
        Claim(
            "both",
            "It has no gap and mostly hits.",
            "paper",
            TOSSES,
            AllOf((Every("gap", "good", high=0.0, at_least=5), Rate("hit", "good", low=0.5))),
        ),
        Claim("in-space", "It works in space.", "target", missing="a rocket"),
    ),
)
