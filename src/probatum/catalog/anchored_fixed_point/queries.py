"""Where methods ask, as coefficients: of the start, the anchor and the values seen so far.

A method is run on an operator that answers its i-th question with the i-th new unit vector. The
coordinates of the points at which it asks are then the coefficients that it uses, whatever the
operator. So the code that is certified is the code that is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from probatum.catalog.anchored_fixed_point.rivals import FORMS
from probatum.evidence import Block, Row
from probatum.optimize import BASES, METHODS, tikhonov
from probatum.optimize.anchoring import Asking
from probatum.optimize.monotone import schedule_of

Vector = NDArray[np.float64]

# Coordinates: the iterate (or start), the anchor, then the values in the order they were given.
START, ANCHOR, VALUES = 0, 1, 2


class Recorder:
    """An operator that answers with a new unit vector, and remembers where it was asked."""

    def __init__(self, questions: int) -> None:
        self.size = VALUES + questions
        self.asked: list[Vector] = []

    def __call__(self, at: Vector) -> Vector:
        self.asked.append(np.array(at))
        return self.unit(VALUES + len(self.asked) - 1)

    def unit(self, at: int) -> Vector:
        vector = np.zeros(self.size)
        vector[at] = 1.0
        return vector


class Asks(Protocol):
    """An arm that tells where it asks in N iterations from an anchored start, for L = 1.

    Rows are questions, the last one at the iterate x_N; columns as above.
    """

    def questions(self, N: int) -> Vector: ...


@dataclass(frozen=True)
class OursAsks:
    """A method of `monotone_root`, anchored at its start."""

    method: str

    def questions(self, N: int) -> Vector:
        chosen = METHODS[self.method]
        recorder = Recorder(chosen.queries * N + 1)
        x, anchor = recorder.unit(START), recorder.unit(START)
        run = chosen.run(x, anchor, schedule_of(chosen, chosen.c, chosen.k0, chosen.share))
        at = next(run)
        for _ in range(chosen.queries * N):
            at = run.send(recorder(at))
        recorder(x)
        return np.array(recorder.asked)


@dataclass(frozen=True)
class TextbookAsks:
    """A textbook form with two values an iteration."""

    form: str

    def questions(self, N: int) -> Vector:
        recorder = Recorder(2 * N + 1)
        for x in islice(FORMS[self.form](recorder, recorder.unit(START), 1.0), N + 1):
            last = x
        recorder(last)
        return np.array(recorder.asked)


# --- anchor placements ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Placement:
    """One iteration of a method in the middle of a run, with weights eta and delta.

    Arms are the base methods made anchored by the library's construction, and EAG and FEG, whose
    anchor terms were placed by hand.
    """

    method: str
    eta: float = 0.4
    delta: float = 0.2

    @property
    def is_map(self) -> bool:
        return self.method in BASES and BASES[self.method].kind == "map"

    def lines(self) -> tuple[list[Vector], list[Vector]]:
        """Questions of one iteration, and the points that the answers lead to."""
        recorder = Recorder(4)
        x, anchor = recorder.unit(START), recorder.unit(ANCHOR)
        run, queries = self._start(x, anchor)
        at, reached = next(run), []
        for _ in range(queries):
            at = run.send(recorder(at))
            reached.append(at.copy())
        return recorder.asked, reached

    def _start(self, x: Vector, anchor: Vector) -> tuple[Asking, int]:
        def weights(k: int) -> tuple[float, float]:
            return self.eta, self.delta

        if self.method in BASES:
            base = BASES[self.method]
            # Popov's method remembers a value, so that its pattern takes two iterations to show.
            queries = 2 if self.method == "popov" else base.queries
            return tikhonov(base)(x, anchor, weights), queries
        return METHODS[self.method].run(x, anchor, weights), METHODS[self.method].queries


def placements(block: Block) -> list[Row]:
    """How far an arm's lines are from those that its base method's queries would give it.

    The base method (the arm without anchor) makes lines ``x + sum_i s_i F(q_i)``. Its queries
    inherit the anchor where each value F(q_i) is joined by ``(delta / eta) (q_i - anchor)``, with
    the same s_i; for a map, where T(q) becomes ``(1 - delta) T(q) + delta anchor``.
    """
    arm: Placement = block.arms[0].build()
    plain = replace(arm, eta=1.0 if arm.is_map else arm.eta, delta=0.0)
    asked, reached = arm.lines()
    rows = []
    for number, (line, base) in enumerate(zip(reached, plain.lines()[1], strict=True)):
        expected = np.zeros_like(line)
        expected[START] = 0.0 if arm.is_map else 1.0
        for i in range(number + 1):
            share = base[VALUES + i]
            if arm.is_map:
                expected[VALUES + i] += share * (1 - arm.delta)
                expected[ANCHOR] += share * arm.delta
                continue
            expected[VALUES + i] += share
            expected += share * (arm.delta / arm.eta) * asked[i]
            expected[ANCHOR] -= share * (arm.delta / arm.eta)
        values = {"off": float(np.abs(line - expected).max()), "anchor": float(line[ANCHOR])}
        rows.append(Row(block.arms[0].id, f"line {number + 1}", values=values))
    return rows
