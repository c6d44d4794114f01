"""Executors: whatever a trial does to its process is an outcome of that trial and of no other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path

import psutil
import pytest
from fates import FATES, TRIALS, task

from probatum.evidence.executors import InlineExecutor, LocalExecutor
from probatum.evidence.trial import Outcome, Task

HERE = Path(__file__).parent


def run(executor: InlineExecutor | LocalExecutor, *tasks: Task) -> dict[str, Outcome]:
    for one in tasks:
        executor.submit(one)
    return {done.key: outcome for done, outcome in executor.finished()}


@pytest.fixture(autouse=True, scope="module")
def _trials_importable() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        yield


@pytest.fixture(scope="module")
def fates() -> dict[str, Outcome]:
    """All misbehaviours in one pool, with well-behaved trials between them."""
    tasks = [
        task(trial, seconds=1.5 if "hangs" in trial else 60.0, memory_gb=0.2) for trial in FATES
    ]
    others = [task("ok", f"between {i}", replicate=i) for i in range(len(tasks))]
    with LocalExecutor(2) as executor:
        return run(executor, *(t for pair in zip(tasks, others, strict=True) for t in pair))


@pytest.mark.parametrize("trial", FATES)
def test_each_fate_is_told(fates: dict[str, Outcome], trial: str) -> None:
    status, message, transient = FATES[trial]
    outcome = fates[trial]
    assert outcome.status == status, outcome
    assert message in outcome.message
    assert outcome.transient is transient
    assert bool(outcome.rows) is (status == "ok")
    assert abs(outcome.started - time.time()) < 120
    assert 0 < outcome.seconds < 20


def test_others_go_on(fates: dict[str, Outcome]) -> None:
    others = [outcome for key, outcome in fates.items() if key.startswith("between")]
    assert len(others) == len(FATES)
    assert {outcome.status for outcome in others} == {"ok"}


@pytest.mark.parametrize("trial", ["raises", "hangs", "hangs_in_c", "segfaults", "aborts"])
def test_the_line_of_the_trial_is_kept(fates: dict[str, Outcome], trial: str) -> None:
    trace = fates[trial].traceback
    assert f"{TRIALS}.py" in trace
    assert trial in trace
    assert "pebble" not in trace


def test_peak_memory_is_of_the_trial_alone() -> None:
    with LocalExecutor(1) as executor:
        outcomes = run(
            executor,
            task("noop", "before"),
            task("uses_memory", size={"megabytes": 150}),
            task("noop", "after"),
        )
    before, during, after = (outcomes[k].peak_mb for k in ("before", "uses_memory", "after"))
    assert before is not None
    assert during is not None
    assert after is not None
    # Zeroed pages count only once touched, but 150 MB minus slack were.
    assert during > before + 100
    assert after < before + 60


def test_inline_and_local_agree() -> None:
    tasks = [task("ok", str(i), replicate=i) for i in range(12)]
    with InlineExecutor() as inline, LocalExecutor(2) as local:
        here, there = run(inline, *tasks), run(local, *tasks)
    assert {k: o.rows for k, o in here.items()} == {k: o.rows for k, o in there.items()}
    assert len({o.rows[0].values["m"] for o in here.values()}) == 12


def test_large_results_arrive() -> None:
    with LocalExecutor(2) as executor:
        outcomes = run(executor, task("many_rows"), task("ok"))
    assert len(outcomes["many_rows"].rows) == 100_000
    assert outcomes["ok"].status == "ok"


@pytest.mark.parametrize("make", [InlineExecutor, lambda: LocalExecutor(1)])
def test_threads_are_as_declared(make: type[InlineExecutor]) -> None:
    with make() as executor:
        outcomes = run(
            executor,
            task("threads", "two", threads=2),
            task("threads", "one", threads=1),
            task("threads", "two again", threads=2),
        )
    seen = {key: outcome.rows[0].values["m"] for key, outcome in outcomes.items()}
    assert seen == {"two": 2.0, "one": 1.0, "two again": 2.0}


def test_a_task_that_cannot_be_sent_is_told() -> None:
    bad = replace(task("ok", "bad"), size={"made here": lambda: 1})
    with LocalExecutor(1) as executor:
        outcomes = run(executor, bad, task("ok"))
    assert outcomes["bad"].status == "raised"
    assert "cannot be sent to a worker" in outcomes["bad"].message
    assert outcomes["ok"].status == "ok"


def test_more_can_be_submitted_while_iterating() -> None:
    with LocalExecutor(2) as executor:
        executor.submit(task("ok", "0"))
        seen = []
        for done, _ in executor.finished():
            seen.append(done.key)
            if len(seen) < 5:
                executor.submit(task("ok", str(len(seen))))
        assert seen == ["0", "1", "2", "3", "4"]
        assert executor.pending == 0
        assert list(executor.finished()) == []


def test_iteration_can_be_left_and_resumed() -> None:
    with LocalExecutor(2) as executor:
        for i in range(6):
            executor.submit(task("ok", str(i)))
        first = next(executor.finished())[0].key
        rest = [done.key for done, _ in executor.finished()]
    assert sorted([first, *rest]) == list("012345")


def test_a_worker_killed_between_trials_is_replaced(tmp_path: Path) -> None:
    log = tmp_path / "pids"
    with LocalExecutor(1) as executor:
        run(executor, task("tells_pid", size={"file": str(log)}))
        os.kill(int(log.read_text()), signal.SIGKILL)
        outcomes = run(executor, *(task("ok", str(i)) for i in range(4)))
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 4


def test_a_killed_server_is_replaced(tmp_path: Path) -> None:
    log = tmp_path / "pids"
    with LocalExecutor(1) as executor:
        run(executor, task("tells_pid", size={"file": str(log)}))
        worker = psutil.Process(int(log.read_text()))
        server = worker.parent()
        assert server is not None
        server.kill()
        assert gone([worker.pid], within=5)
        outcomes = run(executor, *(task("ok", str(i)) for i in range(3)))
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 3


def test_stop_is_quick_and_leaves_nobody(tmp_path: Path) -> None:
    child_file = tmp_path / "pids"
    others = descendants(os.getpid())  # such as a database server of other tests
    executor = LocalExecutor(2)
    executor.submit(task("starts_a_child", size={"file": str(child_file)}))
    for i in range(20):
        executor.submit(task("hangs_in_c", str(i)))
    pids = [int(pid) for pid in written(child_file).split()]
    tracker = resource_tracker._resource_tracker._pid  # Python's own, ends with its parent
    children = descendants(os.getpid()) - {tracker} - others
    started = time.monotonic()
    executor.stop()
    assert time.monotonic() - started < 2
    assert gone([*pids, *children], within=2)
    assert list(executor.finished()) == []
    executor.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        executor.submit(task("ok"))


def test_stop_from_another_thread_ends_the_iteration() -> None:
    with LocalExecutor(1) as executor:
        executor.submit(task("hangs"))
        threading.Timer(1.0, executor.stop).start()
        started = time.monotonic()
        assert list(executor.finished()) == []
        assert time.monotonic() - started < 4


def test_jobs_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        LocalExecutor(0)


def test_workers_that_cannot_start_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr("multiprocessing.spawn._python_exe", b"/bin/false")
    with LocalExecutor(1) as executor, pytest.raises((RuntimeError, OSError, EOFError)):
        run(executor, task("ok"))


# In this process


def test_inline_time_limit_and_what_it_restores() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    old = signal.setitimer(signal.ITIMER_REAL, 50.0)
    try:
        with InlineExecutor() as executor:
            outcomes = run(executor, task("hangs", seconds=0.3), task("ok"))
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert outcomes["hangs"].status == "timeout"
        assert "limit of 0.3 s" in outcomes["hangs"].message
        assert outcomes["hangs"].transient
        assert outcomes["ok"].status == "ok"
        assert 40 < left < 50
        os.kill(os.getpid(), signal.SIGALRM)
        assert rung == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, *old)
        signal.signal(signal.SIGALRM, before)


def test_inline_lets_the_keyboard_interrupt() -> None:
    with InlineExecutor() as executor, pytest.raises(KeyboardInterrupt):
        run(executor, task("raises_interrupt"))


@pytest.mark.parametrize(
    "trial", ["raises", "nan", "calls_sys_exit", "raises_unspeakable", "eats_numpy_memory"]
)
def test_inline_tells_the_same_fates(trial: str) -> None:
    with InlineExecutor() as executor:
        outcome = run(executor, task(trial))[trial]
    assert (outcome.status, outcome.transient) == (FATES[trial][0], FATES[trial][2])


def test_inline_in_a_thread_runs_without_alarm() -> None:
    found: dict[str, Outcome] = {}

    def use() -> None:
        with InlineExecutor() as executor:
            found.update(run(executor, task("ok")))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found["ok"].status == "ok"


@pytest.mark.parametrize("make", ["InlineExecutor()", "LocalExecutor(1)"])
def test_prints_stay_off_standard_output(make: str) -> None:
    done = script(f"""
        with {make} as executor:
            executor.submit(task("prints"))
            statuses = [outcome.status for _, outcome in executor.finished()]
        print(json.dumps(statuses))
    """)
    assert json.loads(done.communicate(timeout=60)[0]) == ["ok"]


# The caller's process

SCRIPT = f"""
import json, os, signal, sys, time
sys.path.insert(0, {str(HERE)!r})
from probatum.evidence import Arm, Dataset, Metric
from probatum.evidence.executors import InlineExecutor, LocalExecutor
from probatum.evidence.trial import Task

def task(trial, key="", **changes):
    given = dict(
        key=key or trial, target="{TRIALS}:" + trial, experiment="e",
        arms=(Arm("a", make="builtins:dict"),), replicate=0, size={{}},
        dataset=Dataset("d", load="builtins:dict", licence="none"),
        metrics={{"m": Metric("higher")}}, seconds=30.0, memory_gb=1.0,
    )
    return Task(**{{**given, **changes}})

print("main runs", file=sys.stderr)
"""


def script(body: str, how: str = "-c") -> subprocess.Popen[str]:
    """Start Python on an unguarded script, given as ``-c``, a path or standard input."""
    text = SCRIPT + textwrap.dedent(body)
    feed = how == "-"
    if how not in ("-c", "-"):
        Path(how).write_text(text)
    process = subprocess.Popen(
        [sys.executable, *(["-c", text] if how == "-c" else [how])],
        stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if feed:
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
        process.stdin = None
    return process


@pytest.mark.parametrize("how", ["-c", "-", "file"])
def test_an_unguarded_main_is_run_once(how: str, tmp_path: Path) -> None:
    process = script(
        """
        with LocalExecutor(2) as executor:
            for i, trial in enumerate(["ok", "segfaults", "ok", "ok"]):
                executor.submit(task(trial, str(i)))
            print(sorted(outcome.status for _, outcome in executor.finished()))
        """,
        str(tmp_path / "unguarded.py") if how == "file" else how,
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == "['crashed', 'ok', 'ok', 'ok']\n"
    assert err == "main runs\n"


BUSY = """
    signal.signal(signal.SIGTERM, HANDLER)
    executor = LocalExecutor(2)
    executor.submit(task("starts_a_child", size={"file": FILE}))
    for i in range(8):
        executor.submit(task("hangs_in_c" if i % 2 else "hangs", str(i)))
    if STRAY:
        time.sleep(2)
        raise SystemExit(0)
    with executor:
        for _ in executor.finished():
            pass
"""


def busy(file: Path, handler: str = "signal.SIG_DFL", stray: bool = False) -> subprocess.Popen[str]:
    body = BUSY.replace("FILE", repr(str(file))).replace("HANDLER", handler)
    return script(body.replace("STRAY", str(stray)))


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGTERM handled", "SIGKILL", "forgotten"])
def test_no_orphans_however_the_caller_ends(how: str, tmp_path: Path) -> None:
    file = tmp_path / "pids"
    handler = "lambda *_: sys.exit(9)" if how == "SIGTERM handled" else "signal.SIG_DFL"
    process = busy(file, handler, stray=how == "forgotten")
    pids = [int(pid) for pid in written(file).split()]
    children = descendants(process.pid)
    assert pids[0] in children
    if how in ("SIGKILL", "SIGTERM"):
        # Nobody is left to look for what a trial itself had started.
        os.kill(pids[1], signal.SIGKILL)
        children.discard(pids[1])
    if how != "forgotten":
        process.send_signal(getattr(signal, how.split()[0]))
    started = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - started < (6 if how == "forgotten" else 3)
    assert gone(children, within=4), err
    # One traceback, the caller's own, and none of a worker or the server.
    assert err.count("Traceback") == (how == "SIGINT"), err


def test_ctrl_c_reaches_the_parent_alone(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    process = busy(file)
    written(file)
    children = descendants(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert err.count("Traceback") == 1, err
    assert gone(children, within=4)


def written(file: Path) -> str:
    """What a file says as soon as it says something."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if file.exists() and (text := file.read_text()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{file} was not written")


def descendants(pid: int) -> set[int]:
    """All that a process started, directly or not."""
    return {child.pid for child in psutil.Process(pid).children(recursive=True)}


def gone(pids: set[int] | list[int], within: float) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        if not any(lives(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
