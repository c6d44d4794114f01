"""Supervised learning: classifiers for metrics that are not averages over rows."""

from probatum.supervised.linear_fractional import LinearFractionalClassifier
from probatum.supervised.metrics import LinearFractional, RatioCoefficients, ThresholdRule
from probatum.supervised.threshold import (
    OptimalThreshold,
    RegretParts,
    expected_score,
    optimal_threshold,
    regret,
    regret_parts,
)

__all__ = [
    "LinearFractional",
    "LinearFractionalClassifier",
    "OptimalThreshold",
    "RatioCoefficients",
    "RegretParts",
    "ThresholdRule",
    "expected_score",
    "optimal_threshold",
    "regret",
    "regret_parts",
]
