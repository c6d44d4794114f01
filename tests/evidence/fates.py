"""What each misbehaving trial is told to be, whichever executor runs it."""

from __future__ import annotations

from dataclasses import replace

from probatum.evidence import Arm, Dataset, Metric
from probatum.evidence.trial import Task

TRIALS = "trials_for_executors"

# What each trial does to its worker: status, part of the message, whether trying again may help.
FATES = {
    "ok": ("ok", "", False),
    "raises": ("raised", "ZeroDivisionError: on purpose", False),
    "hangs": ("timeout", "limit of 1.5 s", True),
    "hangs_in_c": ("timeout", "limit of 1.5 s", True),
    "segfaults": ("crashed", "signal 11 (SIGSEGV)", True),
    "aborts": ("crashed", "signal 6 (SIGABRT)", True),
    "kills_itself": ("out of memory", "killed by signal 9, as the system does", True),
    "eats_memory": ("out of memory", "MemoryError", True),
    "eats_numpy_memory": ("out of memory", "Unable to allocate", True),
    "nan": ("bad result", "m is nan", False),
    "unknown_metric": ("bad result", "unknown metric 'other'", False),
    "wrong_type": ("bad result", "got int", False),
    "calls_sys_exit": ("raised", "SystemExit: bye", False),
    "exits_three": ("crashed", "exited with code 3", True),
    "exits_zero": ("crashed", "exited with code 0", True),
    "prints": ("ok", "", False),
    "closes_its_streams": ("ok", "", False),
    "raises_unpicklable": ("raised", "Unpicklable: has a lock", False),
    "raises_unspeakable": ("raised", "", False),
    "raises_interrupt": ("raised", "KeyboardInterrupt", False),
    "no_such_trial": ("raised", "no_such_trial", False),
}


def task(trial: str, key: str = "", **changes: object) -> Task:
    arm = Arm("a", make="builtins:dict")
    made = Task(
        key=key or trial,
        target=f"{TRIALS}:{trial}",
        experiment="test/executors",
        arms=(arm,),
        dataset=Dataset("d", load="builtins:dict", licence="none"),
        replicate=0,
        size={},
        metrics={"m": Metric("higher")},
        seconds=30.0,
        memory_gb=1.0,
    )
    return replace(made, **changes)
