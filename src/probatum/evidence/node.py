"""What a node of a cluster does with a trial: runs it in a limited process of the engine's own.

This runs in a process that Ray gives us on the node. Time and memory limits, crashes and all other
fates are those of :class:`~probatum.evidence.executors.LocalExecutor`, which works below it. A node
on which the trial would be another one (other code, other data, a missing library) is unfit: that
is said, and is no outcome.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from probatum.evidence.executors import LocalExecutor
from probatum.evidence.extras import install_line, missing_distributions
from probatum.evidence.fingerprint import fingerprint
from probatum.evidence.keys import PROTOCOL
from probatum.evidence.model import resolve
from probatum.evidence.prepared import folder_for, is_ready
from probatum.evidence.trial import ATTEMPTS, Outcome, Task

__all__ = ["Unfit", "ground", "identity_of", "run_on_node", "terms_here"]

_IDENTITY = ".identity"
# Which devices a process sees is settled when it starts, and Ray settles it for each trial.
_DEVICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")


@dataclass(frozen=True)
class Unfit:
    """Comes back in the place of an outcome from a node that can't run the trial as it is meant."""

    why: str


class _Unfit(Exception):
    pass


def _version() -> str:
    try:
        return metadata.version("probatum")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def terms_here(extras: tuple[str, ...] = ()) -> bytes:
    """What a node must have or take over to run trials as this process would.

    Plain JSON, so that nodes with another version can read it and say so.
    """
    variables = {name: v for name, v in os.environ.items() if name.startswith("PROBATUM_")}
    return json.dumps(
        {
            "version": [_version(), PROTOCOL],
            "extras": list(extras),
            "path": [os.path.abspath(entry) for entry in sys.path],
            "folder": os.getcwd(),
            "variables": variables,
        }
    ).encode()


def ground(task: Task) -> str:
    """What a trial rests on: the code that it reaches and the content of its data.

    The key of a trial says so too, but can't be computed from a task.
    """
    made = [target for arm in task.arms for target in (arm.make, arm.own) if target]
    prepare = [task.prepare] if task.prepare else []
    targets = [task.target, task.dataset.load, *prepare, *made]
    code = [fingerprint(targets), *(_there(target) for target in targets)]
    dataset = task.dataset
    content = resolve(dataset.identity)(**dataset.params) if dataset.identity else ""
    return hashlib.sha256(json.dumps([code, str(content)]).encode()).hexdigest()[:32]


def _there(target: str) -> bool:
    """Whether a target's package is there; those that are installed have no fingerprint."""
    return importlib.util.find_spec(target.partition(":")[0].partition(".")[0]) is not None


def identity_of(folder: Path) -> str:
    """The identity of a folder for prepared files, given to it when it is first asked for.

    A node that finds the same under the same path sees the same folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _IDENTITY
    draft = folder / f"{_IDENTITY}-{os.urandom(8).hex()}"
    draft.write_text(os.urandom(16).hex())
    # A link is there whole or not at all, and the first one stays.
    with contextlib.suppress(FileExistsError):
        os.link(draft, file)
    draft.unlink()
    return file.read_text()


def run_on_node(payload: bytes, based_on: str, identity: str, terms: bytes) -> bytes:
    """Run a pickled task and return its pickled :class:`Outcome`, or :class:`Unfit`.

    Parameters
    ----------
    payload : bytes
        The task.
    based_on : str
        Its :func:`ground` where the run was started; empty if unknown.
    identity : str
        That of the folder with the run's prepared files; see :func:`identity_of`.
    terms : bytes
        See :func:`terms_here`.
    """
    try:
        _settle(terms)
        task: Task = pickle.loads(payload)
        _check_ground(task, based_on)
        outcome: Outcome | Unfit = replace(_run(task, identity), environment=_environment())
    except _Unfit as why:
        outcome = Unfit(f"node {socket.gethostname()} {why}")
    return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)


@cache
def _settle(terms: bytes) -> None:
    """Make this process see what the run sees where it was started; once per process."""
    asked = json.loads(terms)
    if asked["version"] != [_version(), PROTOCOL]:
        raise _Unfit(
            f"has probatum {_version()}, this run is one of {asked['version'][0]}: "
            "install the same version there"
        )
    known = [entry for entry in asked["path"] if os.path.exists(entry)]
    sys.path[:] = [*known, *(entry for entry in sys.path if entry not in known)]
    lacking = [extra for extra in asked["extras"] if missing_distributions(extra)]
    if lacking:
        raise _Unfit(f"lacks an extra: {install_line(*lacking)}")
    # A node knows best where its own data are.
    for name, value in asked["variables"].items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(OSError):
        os.chdir(asked["folder"])
    _put_sockets_with_rays()


def _put_sockets_with_rays() -> None:
    """Have this process's temporary files lie in the folder of the Ray session.

    Ray kills its processes in the end, which leaves nobody to remove them.
    """
    # No public name tells the folder. Where this one is gone, empty folders stay in /tmp.
    with contextlib.suppress(ImportError, AttributeError):
        from ray._private import worker

        session: Any = worker._global_node
        tempfile.tempdir = session.get_session_dir_path()


# Seen to be the same here; to look at each trial again would take longer than some trials.
_same: set[str] = set()


def _check_ground(task: Task, based_on: str) -> None:
    if not based_on or based_on in _same:
        return
    try:
        here = ground(task)
    except Exception as error:
        if getattr(error, "remedy", ""):
            raise _Unfit(f"lacks data: {error}") from None
        here = ""
    if here != based_on:
        data = f" or other content of {task.dataset.id}" if task.dataset.identity else ""
        raise _Unfit(
            f"has other code for {task.target}{data} than where the run was started: install the "
            "same there, or put what is yours into a folder that all nodes see"
        )
    _same.add(based_on)


def _run(task: Task, identity: str) -> Outcome:
    if task.prepared is None:
        return _attempt(task)
    if _sees(task.prepared.parent, identity):
        return _attempt(task) if task.kind == "prepare" else _with_folder(task)
    own = folder_for(_cache_folder(), task.prepared.name)
    with _turn(own):
        task = replace(task, prepared=own)
        if task.kind == "prepare":
            return _attempt(task)
        failure = _made(task)
    return failure or _attempt(task)


def _with_folder(task: Task) -> Outcome:
    """Run a trial whose folder is on a shared disk, where a node may see it a moment later."""
    return _made(task) or _attempt(task)


def _made(task: Task) -> Outcome | None:
    """Make a trial's folder if it is not there; how that failed, told of the trial."""
    assert task.prepared is not None
    if is_ready(task.prepared):
        return None
    for attempt in range(1, ATTEMPTS + 1):
        outcome = _attempt(replace(task.preparing(), attempt=attempt))
        if outcome.status == "ok":
            return None
        if not outcome.transient:
            break
    message = f"prepare failed: {outcome.message or outcome.status}"
    return replace(outcome, rows=(), message=message, transient=False)


def _sees(folder: Path, identity: str) -> bool:
    try:
        return (folder / _IDENTITY).read_text() == identity
    except OSError:
        return False


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "probatum" / "cluster"
    try:
        (folder / "prepared").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _Unfit(f"can't write prepared files ({error}): set XDG_CACHE_HOME there") from None
    return folder


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Wait until no other process of this node makes that folder."""
    file = os.open(folder.with_name(f".{folder.name}.turn"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


# Of this process, which serves one run: starting workers takes longer than most trials.
_executors: dict[tuple[str | None, ...], LocalExecutor] = {}


def _attempt(task: Task) -> Outcome:
    devices = tuple(os.environ.get(name) for name in _DEVICES)
    if devices not in _executors:
        _stop()
        _executors[devices] = LocalExecutor(1)
    executor = _executors[devices]
    executor.submit(task)
    try:
        return next(outcome for _, outcome in executor.finished())
    except RuntimeError as error:
        _stop()
        raise _Unfit(str(error)) from None
    except BaseException:
        # The run ends, and with it the trial and all that it started.
        _stop()
        raise


@atexit.register
def _stop() -> None:
    while _executors:
        _executors.popitem()[1].stop()


@cache
def _environment() -> Mapping[str, Any]:
    from probatum.evidence.store import environment

    return environment()
