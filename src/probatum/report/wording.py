"""How numbers, scopes and guarantees are said on a page."""

from __future__ import annotations

import math

from probatum.evidence.detail import Estimate, PartDetail

__all__ = [
    "FIDELITY",
    "GUARANTEES",
    "SCOPES",
    "effect_said",
    "effect_words",
    "interval_words",
    "number",
    "scaled",
]

FIDELITY = {
    "official code": (
        "Built beside the authors' own code.",
        "Where this and the paper differ, the authors' code was there to compare with.",
    ),
    "paper text": (
        "Built from the paper's text.",
        "Where the text leaves something open, the choice is ours and is said so.",
    ),
    "abstract": (
        "Built from the abstract alone.",
        "What the abstract leaves open is our reading of it. A claim that fails here says that "
        "our implementation fails; it can't say that the paper is wrong.",
    ),
}

SCOPES = {
    "paper": "as the paper states it",
    "proxy": "a stand-in: the same question at a size, or on data, within reach here",
    "target": "what the paper states, out of reach here",
}

GUARANTEES = {
    "exact": "The interval is valid for every sample size.",
    "asymptotic": (
        "The interval is valid at every look if replicates are normal, and approximately otherwise."
    ),
    "enumeration": "Cases were gone through one by one: one counterexample would fail the claim.",
    "deterministic": "Nothing is random: it was run once and numbers were compared.",
    "descriptive": "Published numbers were compared case by case; nothing is inferred from them.",
    "none": "",
}


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits, without a trailing exponent where it is plain.

    Examples
    --------
    >>> number(0.12345), number(123456.0), number(None), number(2e-9), number(14.0)
    ('0.123', '123,456', '–', '2e-9', '14')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value and not 1e-4 <= abs(value) < 1e7:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(exponent)}".replace("-", "−", 1 if value < 0 else 0)
    if abs(value) >= 10 ** (digits - 1):
        said = f"{value:,.0f}"
    else:
        said = f"{value:.{digits}g}"
        if "e" in said:
            said = f"{value:.{digits + 2}f}".rstrip("0")
    return said.replace("-", "−")


def effect_said(of: str, scale: str, better: str) -> str:
    """What an effect on a scale is, in a few words; ``better`` is empty for slopes and ranks.

    Examples
    --------
    >>> effect_said("f1", "difference", "higher"), effect_said("pulls", "log-ratio", "lower")
    ('f1, how much better', "pulls, its own over the rival's")
    """
    said = {
        "rate": f"rate of {of}",
        "worst": f"largest {of}",
        "absolute": of,
        "log-ratio": f"{of}, its own over the rival's",
    }
    return said.get(scale, f"{of}, how much better" if better else f"{of}, less the rival's")


def scaled(value: float | None, factors: bool) -> str:
    """A number, or the factor that it is the logarithm of.

    Examples
    --------
    >>> scaled(0.5, False), scaled(math.log(2), True)
    ('0.5', '2×')
    """
    if factors and value is not None and abs(value) < 700:
        return f"{number(math.exp(value))}×"
    return number(value)


def effect_words(part: PartDetail, effect: float | None) -> str:
    """An effect in the units a reader thinks in: a log-ratio as a factor."""
    return scaled(effect, part.scale == "log-ratio")


def interval_words(part: PartDetail, estimate: Estimate) -> str:
    """An estimate's interval, or nothing."""
    if estimate.low is None or estimate.high is None:
        return ""
    factors = part.scale == "log-ratio"
    return f"[{scaled(estimate.low, factors)}, {scaled(estimate.high, factors)}]"
