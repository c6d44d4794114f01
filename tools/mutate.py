"""Change the code that decides claims, one place at a time, and see whether the tests notice.

    python tools/mutate.py [--jobs 2] [--modules evidence.keys stats.rates] [--results FILE]
    python tools/mutate.py --again            # survivors only, after tests were written
    python tools/mutate.py --render-only      # docs/mutation.md from the results there are

``tools/mutants.py`` says what is changed. The tests are collected once; each mutant is a fork of
that process in which the code of one function is exchanged, and runs the tests that reach its
lines, quick ones first, until one fails. What survives that, and what lies outside of functions,
is tried once more in a process in which the changed module is the one that was imported in the
first place. So nothing counts as killed but by a test that fails, by one that runs into its time
limit, or by tests that can't even be collected with the change. Tests that start another process,
which would not see the change, and tests that take long have no part in it.

Results go line by line into ``build/mutation.jsonl``. A second run resumes: it leaves out what is
there already, by function and text of the change, as long as that function is as it was.
``docs/mutation.md`` is written from them, with the reasons in ``tools/mutation_reasons.json`` for
what survives. Exits with 1 where less than the share asked for is killed, or where a survivor
has no reason. ``PYTHONHASHSEED=0``, as ``make mutate`` sets it, makes a run repeatable. Needs a
POSIX system and what the tests need. It takes half an hour on two cores.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from mutants import Mutant, mutants_of, mutated
from mutation_forks import Forks, Outcome, in_fork, run_items, wait_for
from mutation_page import page, reasons_by_key, tally
from mutation_reach import (
    LONGEST_TEST,
    MODULES,
    ROOT,
    SOURCE,
    TESTS,
    Reached,
    Recorder,
    file_of,
    read_reached,
    write_reached,
)

RESULTS = ROOT / "build" / "mutation.jsonl"
REASONS = ROOT / "tools" / "mutation_reasons.json"
PAGE = ROOT / "docs" / "mutation.md"
ENOUGH = 0.85

# --- the first way: collected once, one function's code exchanged ------------------------------


def function_of(module: ModuleType, name: str) -> FunctionType | None:
    """The function that a qualified name stands for, below what wraps it."""
    found: Any = module
    for part in name.split("."):
        found = vars(found).get(part) if isinstance(found, type) else getattr(found, part, None)
    found = getattr(found, "fget", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found if isinstance(found, FunctionType) else None


def code_of(code: CodeType, name: str) -> CodeType | None:
    """The code of a function within its module's."""
    for inner in (c for c in code.co_consts if isinstance(c, CodeType)):
        if inner.co_qualname == name:
            return inner
        if name.startswith(f"{inner.co_qualname}."):
            return code_of(inner, name)
    return None


def exchange(mutant: Mutant) -> bool:
    """Put the changed code into the function that is loaded; False where that can't be done."""
    file = file_of(mutant.module)
    target = function_of(sys.modules[mutant.module], mutant.function)
    code = code_of(compile(mutated(mutant, file), str(file), "exec"), mutant.function)
    if target is None or code is None or code.co_freevars != target.__code__.co_freevars:
        return False
    target.__code__ = code
    return True


class Collected:
    """A pytest plugin whose run is the trial of all mutants of functions."""

    def __init__(self, forks: Forks, todo: Sequence[Mutant], folder: Path) -> None:
        self.forks, self.todo, self.folder = forks, todo, folder
        self.took: Callable[[Mutant, Outcome], None] = lambda mutant, outcome: None

    def reached(self, items: Sequence[pytest.Item]) -> Reached:
        """From an earlier run on the same sources and tests, or from a run now."""
        known = read_reached(self.folder)
        new = [item for item in items if item.nodeid not in known.seconds]
        if new:
            draft = self.forks.folder / "reached.json"
            pid = in_fork(lambda: Recorder().record(new), draft)
            if not wait_for(pid, 1800) or not draft.exists():
                raise SystemExit("the run without any change did not end")
            found = json.loads(draft.read_text(encoding="utf-8"))
            if "failed" in found:
                raise SystemExit(f"{found['failed']} fails without any change")
            write_reached(Reached(**found), self.folder)
        return read_reached(self.folder)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants instead of running the tests."""
        for module in MODULES:
            importlib.import_module(f"probatum.{module}")
        reached = self.reached(session.items)
        by_name = {item.nodeid: item for item in session.items}
        for mutant in self.todo:
            tests = reached.tests_of(mutant)
            items, limits = [by_name[test] for test in tests], reached.limits(tests)

            def work(
                mutant: Mutant = mutant,
                items: list[pytest.Item] = items,
                limits: list[float] = limits,
            ) -> str:
                return run_items(items, limits) if exchange(mutant) else ""

            def took(outcome: Outcome, mutant: Mutant = mutant) -> None:
                self.took(mutant, outcome)

            self.forks.start(work, 30 + sum(limits), took)
        self.forks.finish()
        return True


# --- the second way: the changed module is the one that is imported ----------------------------


class Changed(importlib.machinery.SourceFileLoader):
    """Finds one module, and loads it changed."""

    def __init__(self, mutant: Mutant | None) -> None:
        self.mutant = mutant
        if mutant is not None:
            super().__init__(mutant.module, str(file_of(mutant.module)))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if self.mutant is None or name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        assert self.mutant is not None
        file = file_of(self.mutant.module)
        return compile(mutated(self.mutant, file), str(file), "exec")


class Chosen:
    """A pytest plugin that runs some tests, in an order, until one fails."""

    def __init__(self, changed: Changed, tests: Sequence[str], limits: Sequence[float]) -> None:
        self.changed, self.tests, self.limits = changed, tests, limits
        self.killer = "(collection)"

    def pytest_sessionstart(self) -> None:
        """Stand before pytest's own importer, which would load the unchanged module."""
        sys.meta_path.insert(0, self.changed)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run them."""
        if session.testsfailed:
            return True
        by_name = {item.nodeid: item for item in session.items}
        # A test whose name depends on a value that is changed has another one now.
        there = [at for at, test in enumerate(self.tests) if test in by_name]
        items = [by_name[self.tests[at]] for at in there]
        self.killer = run_items(items, [self.limits[at] for at in there])
        return True


def imported_changed(mutant: Mutant | None, tests: Sequence[str], limits: Sequence[float]) -> str:
    """Collect and run tests with the changed module; the test that fails, or nothing."""
    changed = Changed(mutant)
    sys.meta_path.insert(0, changed)
    chosen = Chosen(changed, tests, limits)
    arguments(lambda options: pytest.main(options, plugins=[chosen]), tests)
    return chosen.killer


def arguments(main: Callable[[list[str]], Any], tests: Sequence[str] | None = None) -> Any:
    """Call pytest with the files of some tests, or with all that have a part in it."""
    if tests is None:
        files = [str(ROOT / "tests" / name) for name in TESTS if (ROOT / "tests" / name).exists()]
        files += [str(file_of(f"probatum.{module}")) for module in MODULES]
    else:
        files = [str(ROOT / name) for name in sorted({test.split("::")[0] for test in tests})]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return main([*options, "--rootdir", str(ROOT), "--hypothesis-profile", "mutation", *files])


# --- the whole ---------------------------------------------------------------------------------


class Results:
    """Outcomes, line by line in a file, of which the last of a change counts."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.rows: dict[str, dict[str, str]] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["key"]] = row

    def of(self, mutant: Mutant) -> str:
        """Outcome of a mutant of the function as it is now, or nothing."""
        row = self.rows.get(mutant.key)
        return row["outcome"] if row and row["function"] == digest_of(mutant) else ""

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep an outcome, at once."""
        row = {"key": mutant.key, "function": digest_of(mutant)}
        row |= {"outcome": outcome[0], "by": outcome[1]}
        self.rows[mutant.key] = row
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _digest_of(module: str, function: str) -> str:
    tree: ast.AST = ast.parse(file_of(module).read_text(encoding="utf-8"))
    for name in function.split(".") if function else ():
        kinds = ast.FunctionDef | ast.ClassDef
        inside = (n for n in ast.iter_child_nodes(tree) if isinstance(n, kinds))
        tree = next(n for n in inside if n.name == name)
    return _digest(ast.unparse(tree))


def digest_of(mutant: Mutant) -> str:
    """Hash of the function (or the module) that is changed, without comments and layout."""
    return _digest_of(mutant.module, mutant.function)


def prepare() -> None:
    """Load what no change reaches, so that forks have it, and settle what hypothesis does."""
    from hypothesis import HealthCheck, settings

    for name in ("numpy", "scipy.stats", "scipy.optimize", "pandas", "sqlalchemy", "jsonschema"):
        importlib.import_module(name)
    settings.register_profile(
        "mutation",
        derandomize=True,
        deadline=None,
        max_examples=50,
        suppress_health_check=list(HealthCheck),
    )
    sys.path.insert(0, str(SOURCE))
    os.environ["PYTHONPATH"] = str(SOURCE)
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PROBATUM_HYPOTHESIS", None)
    os.chdir(ROOT)


def by_exchange(todo: Sequence[Mutant], results: Results, jobs: int, folder: Path) -> None:
    """Try mutants the first way; those that survive have no result yet."""

    def all_of_them() -> str:
        plugin = Collected(Forks(jobs), todo, folder)

        def took(mutant: Mutant, outcome: Outcome) -> None:
            if outcome[0] != "survived":
                results.add(mutant, outcome)

        plugin.took = took
        code = arguments(lambda options: pytest.main(options, plugins=[plugin]))
        return (
            "" if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED) else f"pytest ended with {code}"
        )

    pid = os.fork()
    if not pid:
        code = 1
        try:
            why = all_of_them()
            code = bool(why)
        finally:
            os._exit(code)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("trying the changes ended early")


def by_import(todo: Sequence[Mutant], results: Results, jobs: int, reached: Reached) -> None:
    """Try mutants the second way."""
    forks = Forks(jobs)
    for mutant in todo:
        tests = reached.tests_of(mutant)
        if not tests:
            results.add(mutant, ("survived", "no test reaches it"))
            continue

        limits = reached.limits(tests)

        def work(
            mutant: Mutant = mutant, tests: list[str] = tests, limits: list[float] = limits
        ) -> str:
            return imported_changed(mutant, tests, limits)

        def took(outcome: Outcome, mutant: Mutant = mutant) -> None:
            results.add(mutant, outcome)

        forks.start(work, 60 + sum(limits), took)
    forks.finish()


def control(reached: Reached, jobs: int) -> None:
    """Both ways must let what is not changed survive."""
    tests = [t for t, s in reached.seconds.items() if s <= LONGEST_TEST and t not in reached.apart]
    tests.sort(key=lambda test: reached.seconds[test])
    found: list[Outcome] = []
    forks = Forks(jobs)
    limits = reached.limits(tests)
    forks.start(lambda: imported_changed(None, tests, limits), 900, found.append)
    forks.finish()
    if found != [("survived", "")]:
        raise SystemExit(f"without any change the tests give {found}")


def sizes_of(modules: Sequence[str]) -> dict[str, int]:
    """How many mutants the modules have."""
    return {m: len(mutants_of(f"probatum.{m}", file_of(f"probatum.{m}"))) for m in modules}


def chosen_mutants(options: argparse.Namespace) -> Iterator[Mutant]:
    """All mutants of the modules asked for, or a seeded share of each."""
    for module in options.modules:
        found = mutants_of(f"probatum.{module}", file_of(f"probatum.{module}"))
        if options.sample and len(found) > options.sample:
            # Drawn by a hash, so that it is the same sample with every version of Python.
            drawn = sorted(found, key=lambda m: _digest(f"{options.seed} {m.key}"))
            found = sorted(drawn[: options.sample], key=lambda m: m.line)
        yield from found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", nargs="+", default=MODULES, choices=MODULES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sample", type=int, help="so many mutants of each module, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="try survivors once more")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--render-only", action="store_true", help="write the page from results")
    options = parser.parse_args()
    prepare()
    mutants, results = list(chosen_mutants(options)), Results(options.results)
    again = {"survived"} if options.again else set()
    todo = [m for m in mutants if results.of(m) in {"", *again}]
    if todo and not options.render_only:
        folder = options.results.parent
        by_exchange([m for m in todo if m.in_body], results, options.jobs, folder)
        reached = read_reached(folder)
        control(reached, options.jobs)
        results = Results(options.results)
        left = [m for m in todo if results.of(m) in {"", *again}]
        by_import(left, results, options.jobs, reached)
    reasons = reasons_by_key(json.loads(REASONS.read_text(encoding="utf-8")))
    found = tally(mutants, results.of, reasons)
    if tuple(options.modules) == MODULES:
        sizes = {f"probatum.{name}": size for name, size in sizes_of(options.modules).items()}
        PAGE.write_text(page(mutants, results.of, reasons, sizes), encoding="utf-8")
    for mutant in mutants:
        outcome = results.of(mutant)
        if outcome == "survived" and mutant.key not in reasons:
            print(f"no reason: line {mutant.line}, {mutant.key}")
        elif outcome not in ("", "survived") and mutant.key in reasons:
            print(f"needs no reason any more: {mutant.key}")
    print(
        f"{found.share:.1%} of {found.all} killed, {found.share_of_real:.1%} without equivalents; "
        f"{found.survived['unexplained']} survivors have no reason, {found.untried} were not tried"
    )
    fine = found.share >= ENOUGH and not found.survived["unexplained"] and not found.untried
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
