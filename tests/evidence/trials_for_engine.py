"""Cheap trials of every kind that papers need, importable in worker processes.

An arm's parameters say what it does: ``mean`` and ``sd`` of its score, ``fate`` by replicate.
"""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path
from typing import Any

from probatum.evidence import Arm, Block, Budget, Claim, Dataset, Experiment, Metric, Paper, Row

HERE = "trials_for_engine"


class NotHere(Exception):
    remedy = "fetch it"


def load() -> None:
    """Nothing to load."""


def content(file: str) -> str:
    """Identity of a dataset in a file."""
    path = Path(file)
    if not path.exists():
        raise NotHere(f"{path.name} is not available")
    return path.read_text()


def _score(block: Block, arm: Arm) -> float:
    p = arm.params
    shared = float(block.rng("shared").normal()) * p.get("shared", 0.0)
    own = float(block.rng(f"own {arm.id}").normal()) * p.get("sd", 0.1)
    shift = p.get("on", {}).get(block.dataset.id, 0.0)
    return float(p.get("mean", 0.0)) + shift + shared + own


def noisy(block: Block) -> list[Row]:
    """A score per arm, around its mean."""
    for arm in block.arms:
        _meet(arm.params.get("fate", {}).get(block.replicate), block)
    return [Row(arm.id, values={"m": _score(block, arm)}) for arm in block.arms]


def _meet(fate: str | None, block: Block) -> None:
    if fate is None:
        return
    if fate == "raises":
        raise ZeroDivisionError("on purpose")
    if fate == "hangs":
        time.sleep(600)
    if fate == "segfaults":
        ctypes.string_at(0)
    if fate == "eats memory":
        pieces = []
        while True:
            pieces.append(bytearray(16 * 2**20))
    if fate == "absent":
        raise NotHere("moon data are not available: set PROBATUM_DATA")
    if fate == "surrogate":
        raise ValueError("bad file name \udc80 and \0 in it")
    if fate.startswith("once:"):
        flag = (
            Path(os.path.expandvars(fate.removeprefix("once:")))
            / f"{block.arms[0].id}-{block.replicate}"
        )
        if not flag.exists():
            flag.touch()
            os._exit(7)


def fated(block: Block) -> Any:
    """Ends as the arm's id says."""
    arm = block.arms[0]
    name = arm.id.replace("-", " ")
    if name == "nan":
        return Row(arm.id, values={"m": float("nan")})
    if name == "unknown metric":
        return Row(arm.id, values={"other": 1.0})
    _meet(name if name != "ok" else None, block)
    return Row(arm.id, values={"m": _score(block, arm)})


def curve(block: Block) -> list[Row]:
    """An error that falls as a power of the size, with noise."""
    rows = []
    for arm in block.arms:
        rng = block.rng(f"curve {arm.id}")
        for n in block.size["n"]:
            noise = float(rng.normal()) * 0.02
            error = 2.0 * n ** arm.params["exponent"] * (1 + noise)
            rows.append(Row(arm.id, x=float(n), values={"err": error, "cost": float(n) ** 2}))
    return rows


def counts(block: Block) -> list[Row]:
    """Successes among tries, where one in ``silent`` rows lacks the count."""
    arm = block.arms[0]
    _meet(arm.params.get("fate", {}).get(block.replicate), block)
    tries = int(arm.params.get("tries", 40))
    rng = block.rng(f"tries {arm.id}")
    hits = int(rng.binomial(tries, arm.params["rate"]))
    extra = float(rng.random())
    if block.replicate in arm.params.get("silent", ()):
        return [Row(arm.id, values={"m": extra})]
    return [Row(arm.id, values={"m": extra}, counts={"hit": (hits, tries)})]


def gaps(block: Block) -> list[Row]:
    """Cases of an inequality; one of them breaks where the arm's parameters say."""
    arm = block.arms[0]
    _meet(arm.params.get("fate", {}).get(block.replicate), block)
    rng = block.rng(f"gaps {arm.id}")
    breaks = arm.params.get("breaks", -1) == block.replicate
    return [
        Row(arm.id, case=f"c{i}", values={"gap": 1e-3 if breaks and i == 2 else -rng.random()})
        for i in range(4)
    ]


def forgets(block: Block) -> list[Row]:
    """Rows of the first arm only."""
    return [Row(block.arms[0].id, values={"m": _score(block, block.arms[0])})]


def cased(block: Block) -> Row:
    """A case of that name."""
    return Row(block.arms[0].id, block.size["case"], values={"m": 1.0})


def same(block: Block) -> list[Row]:
    """Nothing random."""
    return [Row(arm.id, values={"m": float(arm.params["mean"])}) for arm in block.arms]


def published(block: Block) -> list[Row]:
    """A table of a paper: some cases lack an arm."""
    _meet(block.arms[0].params.get("fate", {}).get(0), block)
    table = block.arms[0].params["table"]
    return [Row(block.arms[0].id, case=c, values={"m": v}) for c, v in table.items()]


def timed(block: Block) -> list[Row]:
    """Timings side by side."""
    from probatum.evidence.timing import interleaved

    calls = {arm.id: (lambda k=arm.params["work"]: sum(range(k))) for arm in block.arms}
    seconds = interleaved(calls, repeats=3, min_seconds=0.0005)
    return [Row(arm, values={"seconds": min(times)}) for arm, times in seconds.items()]


def prepared(block: Block) -> list[Row]:
    """Reads what was prepared."""
    assert block.prepared is not None
    base = float((block.prepared / "base.txt").read_text())
    return [Row(arm.id, values={"m": base + _score(block, arm)}) for arm in block.arms]


def prepare(block: Block, folder: Path) -> None:
    """Leaves a number, and a line in a log of its own."""
    size = block.size
    file = os.path.expandvars(size["log"])
    with open(file, "a") as log:
        log.write(f"{block.dataset.id} {block.replicate}\n")
    fate = size.get("prepare")
    if fate == "raises" and block.dataset.id == "d2":
        raise ZeroDivisionError("no set-up")
    if fate == "once":
        flag = Path(f"{file}.flag")
        if not flag.exists():
            flag.touch()
            raise OSError("a passing trouble")
    if fate == "absent":
        raise NotHere("the model is not available")
    (folder / "base.txt").write_text(str(float(block.rng("base").random())))


METRICS = {"m": Metric("higher", (-50.0, 50.0))}


def experiment(arms: tuple[Arm, ...], trial: str = "noisy", **changes: Any) -> Experiment:
    """An experiment on two datasets with twenty replicates."""
    settings: dict[str, Any] = {
        "id": "e",
        "trial": f"{HERE}:{trial}",
        "arms": arms,
        "datasets": (dataset("d1"), dataset("d2")),
        "metrics": METRICS,
        "budgets": {"quick": Budget(20, seconds=20, memory_gb=1)},
        **changes,
    }
    return Experiment(**settings)


def dataset(name: str) -> Dataset:
    return Dataset(name, f"{HERE}:load", "CC0")


def arm(name: str, role: str = "baseline", **params: Any) -> Arm:
    return Arm(name, "builtins:dict", role, params=params)  # type: ignore[arg-type]


def paper(*claims: Claim, slug: str = "toy") -> Paper:
    return Paper(slug, "Toy", "evaluation", "abstract", ("builtins:dict",), claims)


def selection(*papers: Paper) -> list[tuple[Paper, Claim]]:
    return [(one, claim) for one in papers for claim in one.claims]
