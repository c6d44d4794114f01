"""Sequential experiments: ask/tell, evidence and stopping, oracle allocations, simulation."""

from probatum.sequential.conformance import check_sequential
from probatum.sequential.glr import (
    Threshold,
    bernoulli_kl,
    glr_statistic,
    stopping_threshold,
)
from probatum.sequential.oracle import characteristic_time, oracle_weights
from probatum.sequential.policy import BAIResult, SequentialPolicy
from probatum.sequential.simulate import RewardTape, play, run_seeds

__all__ = [
    "BAIResult",
    "RewardTape",
    "SequentialPolicy",
    "Threshold",
    "bernoulli_kl",
    "characteristic_time",
    "check_sequential",
    "glr_statistic",
    "oracle_weights",
    "play",
    "run_seeds",
    "stopping_threshold",
]
