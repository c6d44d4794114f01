"""One trial: what a worker is asked, what it sees and what it answers."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import tempfile
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from probatum.evidence.model import Arm, Dataset, Metric, Params, Row, resolve

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "ATTEMPTS",
    "STATUSES",
    "BadResult",
    "Outcome",
    "Status",
    "Task",
    "TrialBlock",
    "checked_row",
    "lacking",
    "run_task",
    "stream_seed",
]

Status = Literal["ok", "raised", "timeout", "crashed", "out of memory", "bad result"]
STATUSES: tuple[Status, ...] = get_args(Status)
TRANSIENT: frozenset[Status] = frozenset({"timeout", "crashed", "out of memory"})
MOST_ROWS = 100_000
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
ATTEMPTS = 2
"""How often a trial is tried whose failure may pass."""


class BadResult(ValueError):
    """A trial returned something that is not a measurement."""


@dataclass(frozen=True)
class Task:
    """Everything a worker needs for one trial (or one ``prepare``); plain data, sent by value.

    ``prepare`` names what makes the folder ``prepared``, for where it isn't there.
    """

    key: str
    target: str
    experiment: str
    arms: tuple[Arm, ...]
    dataset: Dataset
    replicate: int
    size: Params
    metrics: Mapping[str, Metric]
    seconds: float
    memory_gb: float
    threads: int = 1
    gpu: bool = False
    prepared: Path | None = None
    prepare: str = ""
    kind: Literal["trial", "prepare"] = "trial"
    attempt: int = 1

    @property
    def arm(self) -> str:
        """The arm's id, or ``*`` where all arms run together."""
        return self.arms[0].id if len(self.arms) == 1 else "*"

    def preparing(self) -> Task:
        """What makes the folder that this trial reads, as a task of its own."""
        assert self.prepared is not None
        assert self.prepare
        key = self.prepared.name
        return replace(self, key=key, kind="prepare", target=self.prepare, attempt=1)


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended, with its rows where it went well.

    ``unavailable`` says what would mend it where data, an extra or room on the disk is missing:
    such a trial was not run, and is no result.
    ``unavailable`` says what would mend it where data or an extra is missing: such a trial was
    not run, and is no result. ``environment`` is the machine with its versions, where that is not
    the one that stores the outcome.
    """

    status: Status
    rows: tuple[Row, ...] = ()
    message: str = ""
    traceback: str = ""
    seconds: float = 0.0
    peak_mb: float | None = None
    started: float = field(default_factory=time.time)
    transient: bool = False
    unavailable: str = ""
    environment: Mapping[str, Any] | None = None


def stream_seed(experiment: str, dataset: str, replicate: int, stream: str) -> int:
    """Seed of a random stream: no arm and no profile in it, so that arms share their draws.

    Examples
    --------
    >>> stream_seed("a/b", "d", 0, "split") == stream_seed("a/b", "d", 0, "split")
    True
    >>> stream_seed("a/b", "d", 0, "split") == stream_seed("a/b", "d", 1, "split")
    False
    """
    name = json.dumps([experiment, dataset, replicate, stream])
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")


@dataclass(frozen=True)
class TrialBlock:
    """The :class:`~probatum.evidence.Block` that trials are given."""

    experiment: str
    arms: tuple[Arm, ...]
    dataset: Dataset
    size: Params
    replicate: int
    prepared: Path | None = None

    def rng(self, stream: str) -> np.random.Generator:
        """Generator seeded by experiment, dataset, replicate and stream."""
        import numpy as np

        seed = stream_seed(self.experiment, self.dataset.id, self.replicate, stream)
        return np.random.default_rng(seed)


def run_task(task: Task) -> Outcome:
    """Run a trial here and now and describe how it went; never raises an ``Exception``."""
    block = TrialBlock(
        task.experiment, task.arms, task.dataset, task.size, task.replicate, task.prepared
    )
    started, clock = time.time(), time.perf_counter()

    def ended(status: Status, error: BaseException | None = None, rows: Any = ()) -> Outcome:
        return Outcome(
            status=status,
            rows=tuple(rows),
            message="" if error is None else f"{type(error).__name__}: {_said(error)}",
            traceback="" if error is None else "".join(traceback.format_exception(error)),
            seconds=time.perf_counter() - clock,
            started=started,
            transient=status in TRANSIENT or isinstance(error, OSError),
            unavailable="" if error is None else lacking(error, task.prepared),
        )

    try:
        if task.kind == "prepare":
            resolve(task.target)(block, task.prepared)
            return ended("ok")
        return ended("ok", rows=checked_rows(resolve(task.target)(block), task))
    except BadResult as error:
        return ended("bad result", error)
    except MemoryError as error:
        return ended("out of memory", error)
    except Exception as error:
        return ended("raised", error)


def lacking(error: BaseException, folder: Path | None = None) -> str:
    """What must be mended before a trial that ended so can be run at all; empty if nothing.

    A disk without room, be it that of the folder it was given, is no fault of what was tried.
    """
    # Loaders say with a `remedy` how to get what is missing.
    if getattr(error, "remedy", ""):
        return _said(error)
    if not isinstance(error, OSError):
        return ""
    if error.errno in _NO_ROOM:
        return f"{os.strerror(error.errno)}{f': {error.filename}' if error.filename else ''}"
    if error.errno is None:
        # Raised by a library that tells how many bytes it wrote, and no more.
        for place in (folder, Path(), tempfile.gettempdir()):
            if place is not None and _is_full(place):
                return f"{os.strerror(errno.ENOSPC)}: {_said(error)}"
    return ""


def _is_full(folder: str | Path) -> bool:
    with contextlib.suppress(OSError, AttributeError):
        return os.statvfs(folder).f_bavail == 0
    return False


def _said(error: BaseException | None) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message can't be shown)"


def checked_rows(rows: object, task: Task) -> list[Row]:
    """The rows with plain numbers in them, or :class:`BadResult` saying what is wrong."""
    if isinstance(rows, Row):
        rows = [rows]
    if not isinstance(rows, Iterable):
        raise BadResult(f"a trial returns rows, got {type(rows).__name__}")
    arms = {arm.id for arm in task.arms}
    clean = []
    for row in rows:
        if not isinstance(row, Row):
            raise BadResult(f"a trial returns Row objects, got {type(row).__name__}")
        if row.arm not in arms:
            raise BadResult(f"row of arm {row.arm!r} in a trial of {', '.join(sorted(arms))}")
        if row.failed and len(arms) == 1:
            raise BadResult(f"{row.arm} failed: {row.failed} (an arm that runs alone raises)")
        clean.append(checked_row(row, task.metrics))
        if len(clean) > MOST_ROWS:
            raise BadResult(f"more than {MOST_ROWS} rows in one trial")
    for row in clean:
        if row.failed and sum(other.arm == row.arm for other in clean) > 1:
            raise BadResult(f"{row.arm} failed ({row.failed}), and has other rows beside it")
    missing = sorted(arms - {row.arm for row in clean})
    if missing:
        raise BadResult(f"no row for arm {', '.join(missing)}")
    return clean


def checked_row(row: Row, metrics: Mapping[str, Metric]) -> Row:
    """The row with plain numbers in it, or :class:`BadResult` saying what is wrong."""
    for name in (*row.values, *row.counts):
        if name not in metrics:
            raise BadResult(f"unknown metric {name!r}, known are {', '.join(metrics)}")
    if row.failed:
        if row.values or row.counts:
            raise BadResult(f"a row of {row.arm} that failed has no values or counts")
        return Row(row.arm, failed=" ".join(str(row.failed).split()))
    if not row.values and not row.counts:
        raise BadResult(f"a row of {row.arm} without values or counts")
    values = {name: _number(name, value) for name, value in row.values.items()}
    for name, value in values.items():
        bounds = metrics[name].bounds
        if bounds is not None and not bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9:
            raise BadResult(f"{name} = {value} lies outside its bounds {bounds}")
    counts = {}
    for name, (k, n) in row.counts.items():
        if int(k) != k or int(n) != n or not 0 <= k <= n:
            raise BadResult(f"{name}: counts must satisfy 0 <= k <= n, got {k} of {n}")
        counts[name] = (int(k), int(n))
    x = None if row.x is None else _number("x", row.x)
    case = str(row.case)
    if not case.isprintable():
        raise BadResult(f"a case is printable text on one line, got {case!r}")
    return Row(row.arm, case, x, values, counts)


def _number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadResult(f"{name} is not a number: {value!r}") from None
    if not math.isfinite(number):
        raise BadResult(f"{name} is {number}, a finite number was expected")
    return number
