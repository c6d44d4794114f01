"""Linear programs by anchored and restarted primal-dual hybrid gradient."""

from probatum.optimize.linear_program.highs import read_mps
from probatum.optimize.linear_program.model import LinearProgram
from probatum.optimize.linear_program.residuals import Residuals, farkas_margin, kkt_residuals
from probatum.optimize.linear_program.schemes import Restart
from probatum.optimize.linear_program.solve import solve_lp

__all__ = [
    "LinearProgram",
    "Residuals",
    "Restart",
    "farkas_margin",
    "kkt_residuals",
    "read_mps",
    "solve_lp",
]
