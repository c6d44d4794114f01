"""Install the wheel alone in an empty virtual environment, and use it from an empty folder.

    python tools/try_wheel.py [WHEEL]

Without a wheel one is built, by ``tools/build_twice.py``. Only the core dependencies are installed,
with pip as it is configured here. Every command must end as expected, without a traceback; a tool
that needs more must say which extra. Prints a line per command; exits 1 where one went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
NAME DIET
ROWS
 N COST
 G ENERGY
COLUMNS
 BREAD COST 1 ENERGY 2
 MILK COST 2 ENERGY 5
RHS
 RHS ENERGY 10
ENDATA
""".lstrip()


@dataclass(frozen=True)
class Step:
    """A command, the exit code that it must have, and words that must stand in what it prints."""

    words: tuple[str, ...]
    code: int
    says: tuple[str, ...] = ()


STEPS = (
    Step(("--version",), 0, ("probatum ",)),
    Step(("list", "--json"), 0, ('"papers"', "linear-fractional")),
    Step(("status", "--json"), 0, ('"stale": []', '"missing": []')),
    Step(("show", "linear-fractional"), 0, ("holds if",)),
    Step(("doctor", "--json"), 0, ('"python"', '"optimize": false')),
    Step(("export", "--shipped", "--what", "decisions", "-o", "d.json"), 0),
    Step(("export", "--shipped", "--what", "citations", "-o", "cite.bib"), 0),
    Step(("check", "linear-fractional", "--plan"), 3, ("pip install 'probatum[supervised]'",)),
    Step(("report", "--out", "site"), 0, ("pages in site",)),
    Step(("use",), 0, ("linear-fractional", "posterior-tracking", "anchored-fixed-point")),
    Step(("use", "linear-fractional", "my.csv", "--target", "y"), 0, ("threshold",)),
    Step(("use", "posterior-tracking", "log.csv"), 3, ("pip install 'probatum[bandits]'",)),
    Step(("use", "anchored-fixed-point", "diet.mps"), 3, ("pip install 'probatum[optimize]'",)),
    Step(("check", "anchored-fixed-point"), 3, ("pip install 'probatum[optimize]'",)),
    Step(("export", "--shipped", "-o", "t.parquet"), 3, ("pip install 'probatum[parquet]'",)),
)


def write_files(folder: Path) -> None:
    """What the tools read: a table, a log of pulls, a linear program."""
    lines = [f"{i % 7},{i % 5},{(i * i) % 3 % 2}" for i in range(200)]
    (folder / "my.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    pulls = [f"{'ab'[i % 2]},{int(i % 4 == 0)}" for i in range(40)]
    (folder / "log.csv").write_text("\n".join(["arm,reward", *pulls]) + "\n")
    (folder / "diet.mps").write_text(PROGRAM)


def wrong(step: Step, done: subprocess.CompletedProcess[str]) -> Iterator[str]:
    """What is not as it should be."""
    printed = done.stdout + done.stderr
    if done.returncode != step.code:
        yield f"exit {done.returncode}, not {step.code}"
    if "Traceback" in printed:
        yield "a traceback"
    for words in step.says:
        if words not in printed:
            yield f"does not say {words}"
    if "--json" in step.words and not is_object(done.stdout):
        yield "no JSON object"


def is_object(text: str) -> bool:
    """Whether a text is one JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def install(wheel: Path, home: Path) -> Path:
    """An environment with the wheel and its core dependencies; the folder of its programs."""
    venv.create(home, with_pip=True)
    bin_ = home / "bin"
    pip = [str(bin_ / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True)
    return bin_


def main() -> int:
    """Install, try, print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory(prefix="probatum-wheel-") as temporary:
        if wheel is None:
            dist = Path(temporary, "dist")
            subprocess.run(
                [sys.executable, str(ROOT / "tools" / "build_twice.py"), "--out", str(dist)],
                check=True,
            )
            wheel = next(dist.glob("*.whl"))
        bin_ = install(wheel.resolve(), Path(temporary, "venv"))
        work = Path(temporary, "work")
        work.mkdir()
        write_files(work)
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))
        }
        failed = 0
        for step in STEPS:
            command = [str(bin_ / "probatum"), *step.words]
            done = subprocess.run(
                command, cwd=work, env=environment, capture_output=True, text=True, timeout=300
            )
            problems = list(wrong(step, done))
            failed += bool(problems)
            said = f"WRONG: {', '.join(problems)}" if problems else "as it should be"
            print(f"probatum {' '.join(step.words)}: {said}", flush=True)
            if problems:
                print(done.stdout[-2000:] + done.stderr[-2000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
