"""``probatum use posterior-tracking``: which variant to try next, or which is best, from a log."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from probatum.bandits import BAIPolicy, PosteriorTracking, TrackAndStop, Uniform, simulate_bai
from probatum.bandits.logs import PullCounts, read_log
from probatum.evidence import Answer, Progress
from probatum.evidence.tool import silent
from probatum.files import check_output, whole_file
from probatum.sequential import bernoulli_kl, oracle_weights, stopping_threshold

Threshold = Literal["mixture", "heuristic"]

MOST_ARMS = 10_000
# A plan is simulated with about this many pulls in all, which takes some seconds.
PULLS_TO_SIMULATE, MOST_RUNS, LEAST_RUNS = 3_000_000, 200, 10
CHUNK = 10
# Below this (nats) the gap between the best two is mostly luck, and so would be a forecast.
LEAST_EVIDENCE = 2.0


def next_trial(
    log: Annotated[Path | None, "table of trials: an arm and an outcome a row, or counts"] = None,
    *,
    delta: Annotated[float, "allowed probability of a wrong answer"] = 0.05,
    arms: Annotated[str, "all arms, ARM,ARM (default: those of the log)"] = "",
    arm: Annotated[str | None, "column of arms (default: found by its name)"] = None,
    outcome: Annotated[str | None, "column of outcomes, 0/1, true/false or yes/no"] = None,
    successes: Annotated[str | None, "column of counts of successes, with --trials"] = None,
    trials: Annotated[str | None, "column of counts of trials"] = None,
    threshold: Annotated[
        Threshold, "mixture has a proof, heuristic needs fewer trials"
    ] = "mixture",
    plan: Annotated[str, "success rates to expect, P,P,...: how many trials it would take"] = "",
    seed: Annotated[int, "of the posterior draw and of simulations"] = 0,
    output: Annotated[
        Path | None,
        "where to write answer and state (.json); in Python "
        "PosteriorTracking.from_json(json.dumps(saved['policy'])) goes on from there",
    ] = None,
    progress: Progress = silent,
) -> Answer:
    """Say which arm to try next or, when that is decided, which one is best.

    Trials may have been chosen in any way: the evidence is as good. The same log and seed give the
    same next arm; another trial in the log gives a fresh draw.

    Returns
    -------
    Answer
        Verdict, next arm or best arm, evidence and threshold (nats), the arms with trials,
        successes and posterior mean, and which columns were read; with a plan, expected trials of
        three rules and the bound.

    Raises
    ------
    ValueError
        If an option or the log is not what it should be; says which and what is accepted.
    OSError
        If a file can't be read or written.
    """
    if not 0 < delta < 1:
        raise ValueError(f"--delta must lie between 0 and 1, got {delta!r}")
    if threshold not in ("mixture", "heuristic"):
        raise ValueError(f"--threshold must be mixture or heuristic, got {threshold!r}")
    if not 0 <= seed < 2**63:
        raise ValueError(f"--seed must lie from 0 to {2**63 - 1}, got {seed}")
    if log is None and not plan:
        raise ValueError("give a log of trials, or --plan with the success rates to expect")
    if output is not None:
        check_output("--output", output, (".json",), (log,), "the log")
    expected = _rates(plan) if plan else None
    lines: list[str] = []
    warnings: list[str] = []
    values: dict[str, Any] = {"delta": delta, "threshold_kind": threshold}
    state = None
    if log is not None:
        counts = read_log(log, arm=arm, outcome=outcome, successes=successes, trials=trials)
        policy = _told(counts, arms, delta, threshold, seed)
        state = json.loads(policy[0].to_json())
        values |= _known(policy[0], policy[1])
        values["columns"] = dict(counts.columns)
        lines += _said(values)
        read = ", ".join(f"{role} from {name!r}" for role, name in counts.columns.items())
        lines.append(f"read from {log.name}: {read}")
    if expected is not None:
        values["plan"] = _planned(expected, delta, threshold, seed, progress)
        lines += _plan_lines(values["plan"], delta)
        warnings += values["plan"].pop("warnings")
    if threshold == "heuristic":
        warnings.append(
            "no proof says that this threshold keeps the error; --threshold mixture has"
        )
    files = []
    if output is not None:
        with whole_file(output) as draft:
            text = json.dumps({"answer": values, "policy": state}, indent=1, allow_nan=False)
            draft.write_text(text + "\n", encoding="utf-8")
        files.append(output)
    return Answer(tuple(lines), values, tuple(files), tuple(warnings))


# --- from a log to the next trial ----------------------------------------------------------------


def _told(
    counts: PullCounts, arms: str, delta: float, threshold: Threshold, seed: int
) -> tuple[PosteriorTracking, PullCounts]:
    named = tuple(name.strip() for name in arms.split(",")) if arms.strip() else counts.arms
    if "" in named or len(set(named)) < len(named):
        raise ValueError(f"--arms must name each arm once, ARM,ARM, got {arms!r}")
    if not 2 <= len(named) <= MOST_ARMS:
        raise ValueError(
            f"there must be 2 to {MOST_ARMS} arms, got {len(named)} ({', '.join(named[:5])}); "
            "name those that were not tried yet with --arms"
        )
    counts = counts.among(named)
    # A fresh draw for each new trial, and the same one for the same log.
    rng = np.random.SeedSequence([seed, int(counts.pulls.sum())])
    policy = PosteriorTracking(len(named), delta, threshold=threshold, random_state=rng)
    policy.tell_counts(counts.successes, counts.pulls)
    return policy, counts


def _known(policy: PosteriorTracking, counts: PullCounts) -> dict[str, Any]:
    found = policy.result()
    tried = counts.pulls > 0
    means = (1 + counts.successes) / (2 + counts.pulls)
    shown = found.threshold is not None and math.isfinite(found.threshold)
    values: dict[str, Any] = {
        "verdict": found.verdict,
        "best_arm": None if found.best_arm is None else counts.arms[found.best_arm],
        "next_arm": None if policy.stopped else counts.arms[policy.ask()],
        "leader": counts.arms[found.leader] if found.leader is not None and tried.all() else None,
        "evidence": found.glr,
        "threshold": found.threshold if shown else None,
        "trials": int(counts.pulls.sum()),
        "arms": [
            {"arm": name, "trials": int(n), "successes": int(s), "posterior_mean": float(mean)}
            for name, n, s, mean in zip(
                counts.arms, counts.pulls, counts.successes, means, strict=True
            )
        ],
        "expected_more": None,
    }
    if not policy.stopped and shown and found.glr >= LEAST_EVIDENCE:
        assert found.threshold is not None
        more = oracle_weights(means)[1] * found.threshold - values["trials"]
        values["expected_more"] = max(math.ceil(more), 1) if math.isfinite(more) else None
    return values


def _said(values: dict[str, Any]) -> list[str]:
    evidence, threshold = values["evidence"], values["threshold"]
    lines = []
    if values["best_arm"] is not None:
        lines.append(
            f"best: {values['best_arm']} (wrong with probability at most {values['delta']:g}: "
            f"evidence {evidence:.2f} exceeds {threshold:.2f})"
        )
    else:
        lines.append(f"next trial: {values['next_arm']}")
        if values["leader"] is None:
            untried = [one["arm"] for one in values["arms"] if not one["trials"]]
            tie = f"not tried yet: {', '.join(untried)}" if untried else "no single best so far"
            lines.append(f"undecided: {tie}")
        else:
            more = values["expected_more"]
            about = f"; about {more} more trials if rates are as they look" if more else ""
            lines.append(
                f"undecided: {values['leader']} leads, evidence {evidence:.2f} of "
                f"{threshold:.2f}{about}"
            )
    width = max(len(one["arm"]) for one in values["arms"])
    lines += [
        f"  {one['arm']:{width}}  {one['successes']} of {one['trials']}, "
        f"posterior mean {one['posterior_mean']:.3f}"
        for one in values["arms"]
    ]
    return lines


# --- a plan --------------------------------------------------------------------------------------


def _rates(text: str) -> tuple[float, ...]:
    try:
        rates = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--plan must be numbers, P,P,..., got {text!r}") from None
    if len(rates) < 2 or not all(0 <= rate <= 1 for rate in rates):
        raise ValueError(f"--plan must be at least 2 success rates in [0, 1], got {text!r}")
    if sorted(rates)[-1] == sorted(rates)[-2]:
        raise ValueError(f"--plan: two arms share the best rate {max(rates)}; no rule tells them")
    return rates


def _planned(
    rates: tuple[float, ...], delta: float, threshold: Threshold, seed: int, progress: Progress
) -> dict[str, Any]:
    weights, time = oracle_weights(rates)
    best = int(np.argmax(rates))
    rival = max((a for a in range(len(rates)) if a != best), key=lambda a: rates[a])
    bound = time * bernoulli_kl(delta, 1 - delta) if delta < 0.5 else 0.0
    # What the threshold will be like when it is passed.
    level = stopping_threshold(
        threshold, [max(time * 10 / len(rates), 2)] * len(rates), best, rival, -math.log(delta)
    )
    guess = max(time * level, 1.0)
    found: dict[str, Any] = {
        "rates": list(rates),
        "lower_bound": bound,
        "characteristic_time": time,
        "oracle_weights": weights.tolist(),
        "rules": [],
        "warnings": [],
    }
    runs = int(min(MOST_RUNS, PULLS_TO_SIMULATE / (3 * guess)))
    if runs < LEAST_RUNS:
        found["warnings"].append(
            f"about {guess:.0f} trials are too many to simulate here; only the bound is given"
        )
        return found
    k = len(rates)
    rules: tuple[tuple[str, BAIPolicy], ...] = (
        ("posterior tracking", PosteriorTracking(k, delta, threshold=threshold)),
        ("track-and-stop", TrackAndStop(k, delta, threshold=threshold)),
        ("every arm in turn", Uniform(k, delta, threshold=threshold)),
    )
    total, done, threads = runs * len(rules), 0, min(os.cpu_count() or 1, 4)
    for name, policy in rules:
        pulls: list[int] = []
        for start in range(0, runs, CHUNK):
            progress(done + start, total, f"simulating {name}")
            part = min(CHUNK, runs - start)
            chunk = simulate_bai(policy, rates, part, seed + start, n_jobs=threads)
            pulls += chunk["n_pulls"].tolist()
        done += runs
        error = float(np.std(pulls, ddof=1) / math.sqrt(runs))
        mean = float(np.mean(pulls))
        found["rules"].append({"rule": name, "trials": mean, "standard_error": error, "runs": runs})
    progress(total, total, "done")
    return found


def _plan_lines(plan: dict[str, Any], delta: float) -> list[str]:
    rates = ", ".join(f"{rate:g}" for rate in plan["rates"])
    lines = [f"plan for rates {rates} at delta {delta:g}: expected trials"]
    lines += [
        f"  {one['rule']:20} {one['trials']:10.0f} +- {one['standard_error']:.0f} "
        f"({one['runs']} simulated runs)"
        for one in plan["rules"]
    ]
    shares = ", ".join(f"{weight:.3f}" for weight in plan["oracle_weights"])
    lines.append(f"  {'no rule needs less':20} {plan['lower_bound']:10.0f}")
    lines.append(f"  best shares of trials: {shares}")
    return lines


# --- the example ---------------------------------------------------------------------------------


def example_files(folder: Path) -> None:
    """Three colours of a button, made up: ``log.csv`` with who clicked."""
    rng = np.random.default_rng(0)
    rates = {"red": 0.2, "green": 0.35, "blue": 0.25}
    shown = [str(name) for name in rng.choice(list(rates), 240)]
    rows = [f"{name},{'yes' if rng.random() < rates[name] else 'no'}" for name in shown]
    (folder / "log.csv").write_text("\n".join(["arm,clicked", *rows]) + "\n", encoding="utf-8")
