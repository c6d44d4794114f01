"""What synthetic papers name: trials, factories, loaders and a tool. None of it has to be run.

It is there so that fingerprints have code to follow and signatures have something to show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np

from probatum.evidence import Answer, Block, Dataset, Row


class Method:
    """A method with nothing behind it.

    Parameters
    ----------
    strength : float
        How strong it is, at least 0.

    Examples
    --------
    >>> Method(2.0).fit(3).strength_
    6.0
    """

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def fit(self, n: int) -> Method:
        """Learn from ``n`` rows."""
        self.strength_ = self.strength * n
        return self


class Hostile:
    """<img src=x onerror="window.injected='docstring'" data-injected> {{7*7}} </script>

    Parameters
    ----------
    strength : float
        "><script data-injected>window.injected='parameter'</script>
    """

    def __init__(self, strength: str = "</code><b data-injected>") -> None:
        self.strength = strength


class Interface(Protocol):
    """What a reader's method must have."""

    def fit(self, n: int) -> Any: ...


def trial(block: Block) -> list[Row]:
    """A score per arm."""
    rng = block.rng("scores")
    return [Row(arm.id, values={"f1": float(rng.random())}) for arm in block.arms]


def prepare(block: Block, folder: Path) -> None:
    """Leave a number for all arms."""
    (folder / "base.txt").write_text(str(float(block.rng("base").random())))


def load(rows: int = 100) -> np.ndarray:
    """Zeros."""
    return np.zeros(rows)


def slot(file: Path, *, target: str = "y") -> Dataset:
    """A reader's file as a data set."""
    return Dataset(Path(file).stem, "synthetic_trials:load", "own", {}, own=True)


def tool(
    file: Annotated[Path, "the file to read"],
    *,
    level: Annotated[float, "error level, between 0 and 1"] = 0.05,
) -> Answer:
    """Count the bytes of a file."""
    return Answer((f"{Path(file).stat().st_size} bytes at level {level}",))


def make_example(folder: Path) -> None:
    """Write the file that the tool's example reads."""
    (folder / "figure.txt").write_text("1 2 3\n")
