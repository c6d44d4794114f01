"""Fixed points, saddle points and linear programs, by anchored first-order methods."""

from probatum.optimize.anchoring import (
    BASES,
    Base,
    regularize,
    regularize_map,
    tikhonov,
)
from probatum.optimize.conformance import check_solver
from probatum.optimize.fixed_point import fixed_point_anchored
from probatum.optimize.linear_program import LinearProgram, read_mps, solve_lp
from probatum.optimize.monotone import METHODS, monotone_root

__all__ = [
    "BASES",
    "METHODS",
    "Base",
    "LinearProgram",
    "check_solver",
    "fixed_point_anchored",
    "monotone_root",
    "read_mps",
    "regularize",
    "regularize_map",
    "solve_lp",
    "tikhonov",
]
