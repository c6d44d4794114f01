"""From what was read at a tick to the numbers that it may mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Reading", "multiplier", "readings"]

_DASHES = str.maketrans(dict.fromkeys("−–—~一_‐‑", "-"))
_LOOKS = str.maketrans(
    {
        "O": "0",
        "o": "0",
        "D": "0",
        "Q": "0",
        "l": "1",
        "I": "1",
        "|": "1",
        "i": "1",
        "]": "1",
        "[": "1",
        "S": "5",
        "s": "5",
        "B": "8",
        "Z": "2",
        "z": "2",
        "，": ",",
        "。": ".",
        "·": ".",
        "•": ".",
        ":": ".",
        ";": ".",
        "'": "",
        "`": "",
    }
)
_SMALL = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹°", "+-01234567890")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_SCIENTIFIC = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))[eE]([+-]?\d{1,3})")
# A raised exponent that was not seen to be raised.
_LOWERED = re.compile(r"([+-]?\d+\.?\d*)[x×X*]10([+-]?\d{1,2})")
_PREFIX = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Reading:
    """A number that a label may say; ``doubt`` counts what had to be assumed for it."""

    value: float
    doubt: int


def readings(text: str, exponent: str | None = None) -> list[Reading]:
    """Numbers that a label may say, the likeliest first.

    Parameters
    ----------
    text : str
        What was read; without a raised exponent.
    exponent : str, optional
        The raised part, read apart.

    Examples
    --------
    >>> [r.value for r in readings("−0.5")], [r.value for r in readings("10", "-3")]
    ([-0.5], [0.001])
    >>> [r.value for r in readings("1,500")]
    [1500.0, 1.5]
    >>> [r.value for r in readings("001")], [r.value for r in readings("125")]
    ([0.01, 1.0], [125.0, 12.5, 1.25])
    >>> readings("abc")
    []
    """
    plain = text.translate(_DASHES).replace(" ", "").replace("(", "").replace(")", "")
    if exponent is not None:
        return _powers(plain, exponent.translate(_DASHES).replace(" ", ""))
    found: list[Reading] = []
    lowered = None
    if small := re.fullmatch(r"(.*?)([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹°]+)", plain):
        found += _powers(small[1], small[2].translate(_SMALL))
    elif level := re.fullmatch(r"10(-?\d)", plain):
        # A raised exponent that was not seen to be raised.
        lowered = Reading(10.0 ** int(level[1]), 2)

    # A letter of the axis title may stand too near.
    alone = re.sub(r"^[A-Za-z]{1,2}(?=[-\d.])", "", plain)
    for assumed, said in ((0, plain), (1, plain.translate(_LOOKS)), (1, alone)):
        for value, doubt in _values(said):
            if all(value != known.value for known in found):
                found.append(Reading(value, assumed + doubt))
    return [*found, *([lowered] if lowered else [])]


def _values(said: str) -> Iterator[tuple[float, int]]:
    """Numbers that a text without spaces may be, each with its doubt."""
    if _GROUPED.fullmatch(said):
        yield float(said.replace(",", "")), 0
    pointed = said.replace(",", ".")
    if _PLAIN.fullmatch(pointed):
        sign = -1.0 if pointed.startswith("-") else 1.0
        for value, doubt in _pointed(pointed.lstrip("+-")):
            yield sign * value, doubt
    elif match := _SCIENTIFIC.fullmatch(pointed.replace("t", "+")):
        yield float(f"{match[1]}e{match[2]}"), 0
    elif match := _LOWERED.fullmatch(pointed):
        yield float(f"{match[1]}e{match[2]}"), 1
    elif pointed and _PLAIN.fullmatch(pointed[:-1]):
        if pointed[-1] in _PREFIX:
            yield float(pointed[:-1]) * _PREFIX[pointed[-1]], 0
        elif pointed[-1] == "%":
            yield float(pointed[:-1]), 0


def _pointed(digits: str) -> Iterator[tuple[float, int]]:
    """Digits as they stand, and with the point that may be lost: it is small."""
    if "." in digits or len(digits) == 1:
        yield float(digits), 0
    elif digits[0] == "0":
        # No whole number begins with a zero.
        yield float(f"0.{digits[1:]}"), 0
        yield float(digits), 4
    else:
        yield float(digits), 0
        for i in range(len(digits) - 1, max(0, len(digits) - 3), -1):
            yield float(f"{digits[:i]}.{digits[i:]}"), 2


def _powers(base: str, exponent: str) -> list[Reading]:
    """``10`` and a raised ``-3``, or ``2×10`` and a raised ``5``."""
    found: list[Reading] = []
    for doubt, said, raised in (
        (0, base, exponent),
        (1, base.translate(_LOOKS), exponent.translate(_LOOKS)),
    ):
        factor = re.fullmatch(r"(?:([+-]?\d+\.?\d*)[x×X*·.])?([+-]?)10", said)
        if factor and re.fullmatch(r"[+-]?\d{1,3}", raised):
            sign = -1.0 if factor[2] == "-" else 1.0
            value = sign * float(factor[1] or 1.0) * 10.0 ** int(raised)
            if all(value != known.value for known in found):
                found.append(Reading(value, doubt))
    return found


def multiplier(text: str, exponent: str | None = None) -> float | None:
    """The factor that a text at the end of an axis stands for; None if it is something else.

    Examples
    --------
    >>> multiplier("1e6"), multiplier("×10", "-3"), multiplier("Title")
    (1000000.0, 0.001, None)
    """
    plain = text.translate(_DASHES).replace(" ", "")
    if exponent is not None:
        if re.fullmatch(r"[x×X*]?10", plain.translate(_LOOKS)):
            raised = exponent.translate(_DASHES).replace(" ", "").translate(_LOOKS)
            if re.fullmatch(r"[+-]?\d{1,2}", raised):
                return float(10.0 ** int(raised))
        return None
    for said in (plain, plain.translate(_LOOKS)):
        match = re.fullmatch(r"(?:[x×X*]?1?e|[x×X*]10\^?)([+-]?\d{1,2})", said)
        if match:
            return float(10.0 ** int(match[1]))
    return None
