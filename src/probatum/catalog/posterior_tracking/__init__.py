"""Best-arm identification in Bernoulli bandits by posterior draws, without forced exploration.

How the rules came about. That errors stay below delta, the band of 5 % around 1 for slopes and
rates, the exponents below -1 and the factor 4/5 on real data were set beforehand. The problems and
times at which exponents are fitted were chosen after pilot runs, so that there is something to
count, and so were what counts as lagging (2 ln t), the 2 % of starved arms, and how many runs and
replicates are spent. The price at moderate delta was first thought to
be about 1.3, from few runs; it is claimed to be no more than that, after a pilot that gave 1.1.

Thresholds. The abstract does not say which one it stops at: delta-correctness is claimed for one
that has a proof, and separately for the customary one that has none.
"""

from __future__ import annotations

import math

from probatum.evidence import (
    AllOf,
    Arm,
    Budget,
    Claim,
    Dataset,
    Experiment,
    Metric,
    Paper,
    Rate,
    Stat,
    Tool,
    Within,
)

HERE = "probatum.catalog.posterior_tracking"
ARMS, TRIALS, OWN = f"{HERE}.contenders", f"{HERE}.trials", f"{HERE}.own"

PULLS = Metric("lower", title="mean pulls of a run until it stops")
WRONG = Metric(
    "lower",
    (0.0, 1.0),
    title="share of runs that answer wrong, or reach the limit of pulls",
)
TIME = "time t (pulls of all arms)"

# Slopes and rates within 5 % of the lower bound's.
BAND = 0.05
# At moderate delta randomness costs at most this factor against Track-and-Stop.
PRICE = 1.3
# On real captions at most this share of the pulls that equal allocation takes.
SAVED = 0.8


def _problem(*means: float) -> Dataset:
    name = "means-" + "-".join(f"{mean:g}" for mean in means)
    title = "variants that succeed at rates of " + ", ".join(f"{mean:g}" for mean in means)
    return Dataset(name, f"{TRIALS}:instance", "generated", {"means": means}, title=title)


PROBLEMS = {
    "near-tie": (0.55, 0.5),
    "three": (0.8, 0.6, 0.5),
    "four": (0.5, 0.4, 0.36, 0.3),
    "rare": (0.1, 0.03, 0.02, 0.02),
}
DELTAS = (0.1, 0.05)
FOUR = Dataset(
    "four-problems",
    f"{TRIALS}:instances",
    "generated",
    dict(PROBLEMS),
    title="four problems with two to four variants",
)
EASY, HARD = _problem(0.8, 0.6, 0.5), _problem(0.5, 0.45, 0.43, 0.4)


def _contest(number: int) -> Dataset:
    return Dataset(
        f"captions-{number}",
        "probatum.data.captions:top_captions",
        "CC BY 4.0",
        {"contest": number, "top": 10, "least_votes": 100},
        "probatum.data.captions:captions_identity",
        title=f"the ten best captions of cartoon contest {number}, by their votes",
    )


METHOD = "draws from the posterior, then from the best proportions for that draw"
POSTERIOR = Arm("posterior-tracking", f"{ARMS}:posterior", "method", title=METHOD)
TRACK_D = Arm(
    "track-and-stop-d",
    f"{ARMS}:track_and_stop",
    library="probatum",
    title="Track-and-Stop, D-tracking, forced exploration",
)
TRACK_C = Arm(
    "track-and-stop-c",
    f"{ARMS}:track_and_stop",
    "baseline",
    "probatum",
    {"tracking": "C"},
    title="Track-and-Stop, C-tracking, forced exploration",
)
TOP_TWO = Arm(
    "top-two-t3c", f"{ARMS}:top_two", library="probatum", title="T3C, a leader and a challenger"
)
RACING = Arm(
    "chernoff-racing", f"{ARMS}:racing", library="probatum", title="drops variants that have lost"
)
IN_TURN = "every variant in turn"
UNIFORM = Arm("uniform", f"{ARMS}:uniform", library="probatum", title=IN_TURN)
EQUAL = Arm("uniform-control", f"{ARMS}:uniform", "control", "probatum", title=IN_TURN)
STUCK = Arm(
    "plug-in-unforced",
    f"{ARMS}:track_and_stop",
    "control",
    "",
    {"tracking": "unforced"},
    title="the best proportions for the estimates: no posterior draw, nothing forced",
)
WEAK = Arm(
    "quarter-threshold",
    f"{ARMS}:posterior_weakened",
    "control",
    title="the method, stopped at a quarter of ln(1/delta)",
)

READER, READER_MAKE = f"{OWN}:BestArmPolicy", f"{OWN}:AskTell"

# Runs that have not stopped by then count as wrong; those of the library's arms all stop.
GUARD = 2_000_000


def _error_budgets(runs: int, quick: int, standard: int, full: int) -> dict[str, Budget]:
    size = {"runs": runs, "deltas": DELTAS, "max_pulls": GUARD}
    return {
        "smoke": Budget(2, {**size, "runs": 2}, 300),
        "quick": Budget(quick, size, 300),
        "standard": Budget(standard, size, 300),
        "full": Budget(full, size, 300),
    }


proven_errors = Experiment(
    id="errors-proven-threshold",
    trial=f"{TRIALS}:errors",
    arms=(
        Arm(
            "posterior-tracking",
            f"{ARMS}:posterior",
            "method",
            params={"threshold": "mixture"},
            title=f"{METHOD}; proven threshold",
        ),
        WEAK,
    ),
    datasets=(FOUR,),
    metrics={"wrong": WRONG, "pulls": PULLS},
    budgets=_error_budgets(15, 5, 30, 200),
)

customary_errors = Experiment(
    id="errors-customary-threshold",
    trial=f"{TRIALS}:errors",
    arms=(POSTERIOR, TRACK_D, WEAK),
    datasets=(FOUR,),
    metrics={"wrong": WRONG, "pulls": PULLS},
    budgets=_error_budgets(20, 10, 60, 400),
    arm_interface=READER,
    arm_make=READER_MAKE,
)

tiny_delta = Experiment(
    id="tiny-delta",
    trial=f"{TRIALS}:small_delta",
    arms=(POSTERIOR, TRACK_D, TOP_TWO, EQUAL),
    datasets=(EASY,),
    metrics={
        "scaled_pulls": Metric(
            "lower", title="mean pulls of a run until it stops, over the characteristic time T*"
        ),
        "ratio": Metric("lower", title="mean pulls of a run until it stops, over T* ln(1/delta)"),
        "per_threshold": Metric(
            "lower", title="mean pulls per unit of the threshold at the stop, over T*"
        ),
    },
    abscissa="ln(1/delta)",
    budgets={
        "smoke": Budget(2, {"runs": 1, "decades": (10, 30), "max_pulls": GUARD}, 300),
        "quick": Budget(10, {"runs": 1, "decades": (30, 100, 200), "max_pulls": GUARD}, 300),
        "standard": Budget(40, {"runs": 2, "decades": (30, 100, 300), "max_pulls": GUARD}, 300),
    },
)

EARLY = (100, 178, 316, 562, 1000)
log_exploration = Experiment(
    id="log-exploration",
    trial=f"{TRIALS}:exploration",
    arms=(POSTERIOR, TRACK_D, TOP_TWO, STUCK),
    datasets=(HARD,),
    metrics={
        "lagging": Metric(
            "lower",
            (0.0, 1.0),
            title="share of runs with an arm below 2 ln t pulls at time t, half a run added",
        ),
        "least": Metric("higher", title="fewest pulls of any arm in any run at time t, over ln t"),
        "starved": Metric(
            "lower",
            (0.0, 1.0),
            title="share of runs with an arm below ln(t)/2 pulls at the last time t",
        ),
    },
    abscissa=TIME,
    budgets={
        "smoke": Budget(2, {"runs": 10, "times": (100, 300), "early": 300}, 300),
        "quick": Budget(10, {"runs": 50, "times": (100, 178, 316, 562), "early": 562}, 300),
        "standard": Budget(30, {"runs": 100, "times": EARLY, "early": 562}, 300),
        "full": Budget(60, {"runs": 100, "times": (*EARLY, 10_000, 100_000), "early": 562}, 1800),
    },
)

stable_leader = Experiment(
    id="stable-leader",
    trial=f"{TRIALS}:stabilisation",
    arms=(POSTERIOR, TRACK_D, STUCK),
    datasets=(_problem(0.5, 0.4, 0.36, 0.3),),
    metrics={
        "unstable": Metric(
            "lower",
            (0.0, 1.0),
            title="share of runs where the best arm leads for good only after t, half a run added",
        ),
        "stable_after": Metric(
            "lower",
            title="last time at which the best arm does not lead alone, in pulls, mean of runs",
        ),
    },
    abscissa=TIME,
    budgets={
        "smoke": Budget(2, {"runs": 10, "horizon": 300, "times": (50, 100)}, 300),
        "quick": Budget(10, {"runs": 50, "horizon": 3000, "times": (100, 200, 400, 800)}, 300),
        "standard": Budget(20, {"runs": 50, "horizon": 3000, "times": (100, 200, 400, 800)}, 300),
    },
)

glr_growth = Experiment(
    id="glr-growth",
    trial=f"{TRIALS}:growth",
    arms=(POSTERIOR, TRACK_D, EQUAL),
    datasets=(EASY,),
    metrics={
        "rate": Metric(
            "higher",
            title="likelihood ratio statistic per pull, over the fastest rate 1/T*, mean of runs",
        )
    },
    abscissa=TIME,
    budgets={
        "smoke": Budget(2, {"runs": 1, "times": (1000, 3000)}, 300),
        "quick": Budget(10, {"runs": 1, "times": (10_000, 30_000)}, 300),
        "standard": Budget(20, {"runs": 2, "times": (10_000, 30_000, 100_000)}, 300),
    },
)

moderate_delta = Experiment(
    id="moderate-delta",
    trial=f"{TRIALS}:cost",
    arms=(POSTERIOR, TRACK_D, TRACK_C, TOP_TWO, RACING, EQUAL),
    datasets=(HARD,),
    metrics={"pulls": PULLS, "wrong": WRONG},
    budgets={
        "smoke": Budget(2, {"runs": 2, "delta": 0.1, "max_pulls": GUARD}, 300),
        "quick": Budget(10, {"runs": 10, "delta": 0.1, "max_pulls": GUARD}, 300),
        "standard": Budget(30, {"runs": 20, "delta": 0.1, "max_pulls": GUARD}, 300),
    },
    arm_interface=READER,
    arm_make=READER_MAKE,
)

captions = Experiment(
    id="captions",
    trial=f"{TRIALS}:cost",
    arms=(
        POSTERIOR,
        TRACK_D,
        TOP_TWO,
        RACING,
        Arm("kl-lucb", f"{ARMS}:lucb", library="probatum", title="KL-LUCB"),
        Arm("lil-ucb", f"{ARMS}:lil_ucb", library="probatum", title="lil'UCB"),
        UNIFORM,
        Arm(
            "uniform-again",
            f"{ARMS}:uniform",
            "control",
            "probatum",
            {"again": True},
            title=f"{IN_TURN}, on outcomes of its own",
        ),
    ),
    datasets=(_contest(527), _contest(530)),
    metrics={"pulls": PULLS, "wrong": WRONG},
    budgets={
        "smoke": Budget(1, {"runs": 1, "delta": 0.1, "max_pulls": GUARD}, 300),
        "quick": Budget(10, {"runs": 1, "delta": 0.1, "max_pulls": GUARD}, 300),
        "standard": Budget(15, {"runs": 2, "delta": 0.1, "max_pulls": GUARD}, 300),
    },
    data_slot=f"{OWN}:own_log",
    arm_interface=READER,
    arm_make=READER_MAKE,
)


def _below_delta(problem: str, delta: float) -> Rate:
    return Rate(
        "wrong", "posterior-tracking", high=delta, case=f"{problem} {delta}", independent=True
    )


NEVER_WRONG_TOO_OFTEN = AllOf(tuple(_below_delta(name, d) for name in PROBLEMS for d in DELTAS))


def _near_one(stat: Stat) -> Within:
    return Within(stat, "posterior-tracking", scale="absolute", low=1 - BAND, high=1 + BAND)


PAPER = Paper(
    slug="posterior-tracking",
    title="Posterior tracking: best-arm identification without forced exploration",
    domain="bandits",
    fidelity="abstract",
    summary=(
        "Finds which of several variants succeeds most often, at a stated confidence and with few "
        "trials, by drawing what to try next from the posterior."
    ),
    audience=(
        "People who test several variants and pay for every trial, where each ends in success or "
        "failure and the next can be chosen by what came before: which is best, soon and surely."
    ),
    methods=(
        "probatum.bandits:PosteriorTracking",
        "probatum.sequential:oracle_weights",
        "probatum.bandits:simulate_bai",
    ),
    extras=("bandits",),
    tools=(
        Tool(
            "posterior-tracking",
            f"{HERE}.tool:next_trial",
            "Says which variant to try next, or which is best and how sure that is, from a log.",
            "log.csv --delta 0.05 --arms red,green,blue,grey",
            f"{HERE}.tool:example_files",
        ),
    ),
    claims=(
        Claim(
            "delta-correct",
            "The procedure is delta-correct: stopped at a threshold with a proof, it errs with "
            "probability at most delta, on each of four problems and at delta 0.1 and 0.05.",
            "paper",
            proven_errors,
            NEVER_WRONG_TOO_OFTEN,
        ),
        Claim(
            "delta-correct-customary",
            "The same with the customary threshold ln((1 + ln t)/delta), which has no proof.",
            "proxy",
            customary_errors,
            NEVER_WRONG_TOO_OFTEN,
        ),
        Claim(
            "asymptotically-optimal",
            "As delta goes to 0, expected pulls grow at T* per ln(1/delta), the least possible: "
            f"slope, and ratio at the smallest delta tried (1e-300), within {BAND:.0%} of 1.",
            "paper",
            tiny_delta,
            AllOf(
                (
                    _near_one(Stat("scaled_pulls", "slope")),
                    _near_one(Stat("ratio", case="smallest")),
                )
            ),
        ),
        Claim(
            "asymptotically-optimal-proven",
            "The same with the provable threshold: pulls per unit of threshold are T* there, "
            f"within {BAND:.0%} (that threshold itself is 8 % above ln(1/delta) there).",
            "paper",
            tiny_delta,
            _near_one(Stat("per_threshold", case="mixture")),
        ),
        Claim(
            "explores-unforced",
            "Posterior randomness alone samples every arm at least logarithmically often, with "
            "summable tails: the share of runs with an arm below 2 ln t falls faster than 1/t, "
            "and an arm below ln(t)/2 at the end is rare.",
            "paper",
            log_exploration,
            AllOf(
                (
                    Within(
                        Stat("lagging", "loglog"),
                        "posterior-tracking",
                        scale="absolute",
                        high=-1.0,
                    ),
                    Rate("starved", "posterior-tracking", high=0.02, case="end", independent=True),
                )
            ),
        ),
        Claim(
            "stabilises",
            "The time after which the best arm stays in the lead is integrable: its tail falls "
            "faster than 1/t.",
            "paper",
            stable_leader,
            Within(
                Stat("unstable", "loglog", case="tail"),
                "posterior-tracking",
                scale="absolute",
                high=-1.0,
            ),
        ),
        Claim(
            "glr-rate",
            "The likelihood ratio statistic then grows linearly at the rate of the lower bound, "
            f"1/T* per pull, within {BAND:.0%} after 100 000 pulls.",
            "paper",
            glr_growth,
            _near_one(Stat("rate", case="end")),
        ),
        Claim(
            "price-of-randomness",
            "At delta = 0.1 on a hard problem it takes at most "
            f"{PRICE} times the pulls of Track-and-Stop, which forces exploration (our question).",
            "proxy",
            moderate_delta,
            Within(
                Stat("pulls"),
                "posterior-tracking",
                to=("track-and-stop-d",),
                scale="log-ratio",
                low=-math.log(PRICE),
            ),
        ),
        Claim(
            "saves-on-captions",
            "On the ten best captions of two real contests, replayed at their shares of votes, it "
            f"takes at most {SAVED:.0%} of the pulls of equal allocation, at delta = 0.1.",
            "proxy",
            captions,
            Within(
                Stat("pulls"),
                "posterior-tracking",
                to=("uniform",),
                scale="log-ratio",
                low=-math.log(SAVED),
            ),
        ),
        Claim(
            "published-constants",
            "The constants of the exploration bound, and of the tail of the stabilisation time, "
            "are those of the proof.",
            "target",
            missing="the full text: constants, exponents and the threshold that the proof uses",
        ),
        Claim(
            "published-experiments",
            "The paper's own experiments, if there are any, come out as published.",
            "target",
            missing="the full text: problems, confidence levels, rivals and figures",
        ),
    ),
)
