"""Best-arm identification: which of K variants has the highest success rate, with few trials."""

from probatum.bandits.baselines import (
    LUCB,
    ChernoffRacing,
    LilUCB,
    TopTwo,
    TrackAndStop,
    Uniform,
)
from probatum.bandits.policy import BAIPolicy
from probatum.bandits.posterior_tracking import PosteriorTracking
from probatum.bandits.simulate import Path, follow, simulate_bai

__all__ = [
    "LUCB",
    "BAIPolicy",
    "ChernoffRacing",
    "LilUCB",
    "Path",
    "PosteriorTracking",
    "TopTwo",
    "TrackAndStop",
    "Uniform",
    "follow",
    "simulate_bai",
]
