"""Which tests reach which lines of the code that is changed, and how long each takes."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from mutants import Mutant

__all__ = [
    "MODULES",
    "ROOT",
    "SOURCE",
    "Reached",
    "Recorder",
    "file_of",
    "read_reached",
    "write_reached",
]

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODULES = (
    *(f"evidence.{name}" for name in ("criteria", "decide", "pieces", "measure")),
    *(f"evidence.{name}" for name in ("keys", "fingerprint", "plan", "procedures")),
    *(f"stats.{name}" for name in ("anytime_t", "beta_binomial", "betting", "rates")),
)
TESTS = (
    *(f"evidence/test_{name}.py" for name in ("criteria", "model", "measure", "keys")),
    *(f"evidence/test_{name}.py" for name in ("key_contents", "fingerprint", "reach", "plan")),
    *(f"evidence/test_{name}.py" for name in ("decide", "parts", "pieces", "looks")),
    "evidence/test_procedures.py",
    "stats/test_confidence_sequences.py",
    "stats/test_interval_ends.py",
    "stats/test_rates.py",
)
LONGEST_TEST = 3.0
"""Seconds; a test that takes longer is left out."""
LONGEST_ALL = 6.0
"""Seconds that the tests of one mutant may take when none fails, quick ones first."""


@dataclass
class Reached:
    """What a run without any change showed: which tests reach which lines, and how long each takes.

    Lines are by module; the tests that start another process are named apart.
    """

    lines: dict[str, dict[str, list[int]]]
    seconds: dict[str, float]
    apart: list[str]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Tests that reach a mutant, quick ones first, as many as there is time for."""
        span = range(mutant.line, mutant.last_line + 1)
        found = [
            test
            for test, modules in self.lines.items()
            if test not in self.apart
            and self.seconds[test] <= LONGEST_TEST
            and mutant.module in modules
            # What lies outside of functions can matter to all of them.
            and (not mutant.in_body or not set(span).isdisjoint(modules[mutant.module]))
        ]
        found.sort(key=lambda test: (self.seconds[test], test))
        total, chosen = 0.0, []
        for test in found:
            total += self.seconds[test]
            if total > LONGEST_ALL:
                break
            chosen.append(test)
        return chosen

    def limits(self, tests: Sequence[str]) -> list[float]:
        """Seconds that each test may take: five times as many as usual, and some for a start."""
        return [5.0 + 5 * self.seconds[test] for test in tests]


def file_of(module: str) -> Path:
    """Source of one of our modules."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")


class Recorder:
    """Follows tests line by line through the modules that are changed."""

    def __init__(self) -> None:
        self.files = {str(file_of(f"probatum.{name}")): f"probatum.{name}" for name in MODULES}
        self.lines: dict[str, set[int]] = {}
        self.processes = 0
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: object) -> None:
        self.processes += event in ("subprocess.Popen", "os.fork", "os.posix_spawn")

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        module = self.files.get(frame.f_code.co_filename)
        if module is None:
            return None
        self.lines.setdefault(module, set()).add(frame.f_lineno)
        return self._trace

    def record(self, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """Run all tests; what each reaches, how long it takes, which start processes."""
        from _pytest.runner import runtestprotocol

        found: dict[str, Any] = {"lines": {}, "seconds": {}, "apart": []}
        for at, item in enumerate(items):
            following = items[at + 1] if at + 1 < len(items) else None
            self.lines, self.processes = {}, 0
            sys.settrace(self._trace)
            reports = runtestprotocol(item, log=False, nextitem=following)
            sys.settrace(None)
            if any(report.failed for report in reports):
                return {"failed": item.nodeid}
            found["seconds"][item.nodeid] = sum(report.duration for report in reports)
            found["lines"][item.nodeid] = {m: sorted(of) for m, of in self.lines.items()}
            if self.processes:
                found["apart"].append(item.nodeid)
        return found


def reached_files(folder: Path) -> dict[str, Path]:
    """Where what the tests of each file reach is kept, by sources and tests as they are."""
    sources = [file_of(f"probatum.{module}") for module in MODULES]
    support = [p for p in (ROOT / "tests" / "evidence").glob("*.py") if "test_" not in p.name]
    common = hashlib.sha256(b"".join(file.read_bytes() for file in sources + sorted(support)))
    found = {}
    for file in [ROOT / "tests" / name for name in TESTS] + sources:
        if file.exists():
            hashed = common.copy()
            hashed.update(file.read_bytes())
            name = f"{file.stem}-{hashed.hexdigest()[:12]}.json"
            found[str(file.relative_to(ROOT))] = folder / "mutation-reached" / name
    return found


def read_reached(folder: Path) -> Reached:
    """All that is known of the tests as they are."""
    known = Reached({}, {}, [])
    for file in reached_files(folder).values():
        if file.exists():
            part = Reached(**json.loads(file.read_text(encoding="utf-8")))
            known.lines |= part.lines
            known.seconds |= part.seconds
            known.apart += part.apart
    return known


def write_reached(found: Reached, folder: Path) -> None:
    """Keep what was seen, by file of tests."""
    for name, file in reached_files(folder).items():
        tests = [test for test in found.seconds if test.split("::")[0] == name]
        if tests:
            file.parent.mkdir(parents=True, exist_ok=True)
            part = Reached(
                {test: found.lines[test] for test in tests},
                {test: found.seconds[test] for test in tests},
                [test for test in found.apart if test in tests],
            )
            file.write_text(json.dumps(vars(part)), encoding="utf-8")
