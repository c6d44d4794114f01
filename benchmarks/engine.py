"""The engine's own cost: no-op trials from schedule to durable commit, beside benchopt.

``benchopt`` is looked for in this environment and on PATH (or named by ``--benchopt``); without it
its lines are left out. Files go into a temporary folder, or below ``--folder``: a folder on another
disk shows what its commits cost.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import sqlalchemy as sa  # noqa: E402
from _noop import ARMS, DATASETS, paper  # noqa: E402
from _side_by_side import Record, arguments, record, show  # noqa: E402

from probatum.evidence.run import Silent, execute, open_runs  # noqa: E402
from probatum.evidence.store import Store, _trials  # noqa: E402

REPLICATES = 100
BENCHOPT = {
    "objective.py": """
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "idle"
    sampling_strategy = "run_once"

    def set_data(self, x):
        self.x = x

    def get_objective(self):
        return dict(x=self.x)

    def evaluate_result(self, value):
        return dict(value=value)

    def get_one_result(self):
        return dict(value=0.0)
""",
    "datasets/data.py": f"""
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "data"
    parameters = {{"at": {list(range(DATASETS))}}}

    def get_data(self):
        return dict(x=self.at)
""",
    "solvers/idle.py": f"""
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "idle"
    sampling_strategy = "run_once"
    parameters = {{"at": {list(range(ARMS))}}}

    def set_objective(self, x):
        self.x = x

    def run(self, _):
        self.value = 0.0

    def get_result(self):
        return dict(value=self.value)
""",
}


def ours(folder: Path, replicates: int, jobs: int) -> tuple[int, float, float]:
    """Trials run, seconds that took, and seconds for the same once more."""
    of = paper(replicates)
    times, ran = [], 0
    for _ in range(2):
        with Store(f"sqlite:///{folder / f'{replicates}.db'}") as store:
            start = time.perf_counter()
            report = execute([(of, of.claims[0])], store=store, jobs=jobs)
            times.append(time.perf_counter() - start)
            ran = max(ran, sum(report.statuses.values()))
    return ran, times[0], times[1]


def theirs(program: str, folder: Path, jobs: int) -> float:
    """Seconds that benchopt takes for the grid, less those for its smallest part."""
    for name, text in BENCHOPT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def run(repetitions: int, *filters: str) -> float:
        command = [program, "run", str(folder), "-n", "1", "-r", str(repetitions), "-j", str(jobs)]
        quiet = ["--no-plot", "--no-display", "--no-html", "--no-cache"]
        start = time.perf_counter()
        subprocess.run([*command, *quiet, *filters], check=True, capture_output=True)
        return time.perf_counter() - start

    start_up = run(1, "-s", "idle[at=0]", "-d", "data[at=0]")
    return run(REPLICATES) - start_up


def version_of(program: str) -> str:
    """What the program says of itself."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.strip().split()[-1] if said.stdout.strip() else ""


def crowded(folder: Path, trials: int) -> Path:
    """A store with many trials of other papers beside those of the no-op paper."""
    path = folder / "crowded.db"
    shutil.copyfile(folder / f"{REPLICATES}.db", path)
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        pattern = dict(connection.execute(sa.select(_trials).limit(1)).one()._mapping)
        del pattern["id"]
        for first in range(0, trials, 20_000):
            rows = [
                {**pattern, "paper": f"other-{at % 75}", "key": f"{at:032d}"}
                for at in range(first, min(first + 20_000, trials))
            ]
            connection.execute(_trials.insert(), rows)
    engine.dispose()
    return path


def look(path: Path) -> float:
    """Seconds to load and decide one claim from a store."""
    of = paper(REPLICATES)
    with Store(f"sqlite:///{path}") as store:
        start = time.perf_counter()
        (run,) = open_runs([(of, of.claims[0])], "quick")
        run.load(store)
        run.settle(Silent())
        return time.perf_counter() - start


def command(arguments: list[str], folder: Path) -> float:
    """Least of three times of a command of ours, in a folder."""
    times, program = [], [sys.executable, "-m", "probatum", *arguments]
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(program, cwd=folder, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mb(folder: Path, replicates: int) -> float:
    """Peak memory of the process that drives a run."""
    code = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path;"
        "from engine import ours; ours(Path(sys.argv[2]), int(sys.argv[3]), 2);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    into = folder / f"memory-{replicates}"
    into.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(HERE), str(into), str(replicates)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout.split()[-1])


def lines(options: argparse.Namespace) -> Iterator[Iterator[Record]]:
    """All groups of lines, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        yield trial_lines(Path(name), options.benchopt)
        yield crowded_lines(Path(name), options.trials)
        yield memory_lines(Path(name))


def trial_lines(folder: Path, benchopt: str | None) -> Iterator[Record]:
    """What a trial costs, and a run that has nothing left to do."""
    ran, first, again = ours(folder, REPLICATES, 2)
    per_trial, size = 1000 * first / ran, {"trials": ran, "workers": 2}
    yield record("engine", "a no-op trial", "goal", "", size, (per_trial, 1.0), "ms")
    if benchopt:
        their = 1000 * theirs(benchopt, folder / "benchopt", 2) / ran
        version = version_of(benchopt)
        yield record("engine", "a no-op trial", "benchopt", version, size, (per_trial, their), "ms")
    yield record("engine", "resuming a finished run", "goal", "", size, (again, 1.0))


def crowded_lines(folder: Path, trials: int) -> Iterator[Record]:
    """What does not depend on how much a store holds."""
    many = {"trials": trials}
    path = crowded(folder, trials)
    yield record("engine", "a look at one claim", "goal", "", many, (look(path), 1.0))
    (folder / ".probatum").mkdir()
    path.rename(folder / ".probatum" / "evidence.db")
    (folder / "empty").mkdir()
    for verb in ("list", "status"):
        pair = (command([verb], folder), command([verb], folder / "empty"))
        yield record("engine", verb, "without a store", "", many, pair)


def memory_lines(folder: Path) -> Iterator[Record]:
    """Peak memory of the driver, for four times as many trials."""
    pair = (peak_mb(folder, 4 * REPLICATES), peak_mb(folder, REPLICATES))
    size = {"trials": 4 * REPLICATES * ARMS * DATASETS}
    yield record("engine", "peak memory", "a quarter of the trials", "", size, pair, "MB")


if __name__ == "__main__":
    parser = arguments(str(__doc__), repeats=1)
    parser.add_argument("--benchopt", default=shutil.which("benchopt"), help="its program")
    parser.add_argument("--folder", type=Path, help="where files go")
    parser.add_argument("--trials", type=int, default=1_000_000, help="in the crowded store")
    options = parser.parse_args()
    show(lines(options), options.json)
