"""What is drawn: real curves and variants of them that belong in one plot.

A variant is a real curve scaled, shifted, tilted, smoothed, cropped or thinned out, as a series of
samples, scan rates or cycles would look. It is not a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.ndimage import gaussian_filter1d

from probatum.charts.plot_data import Floats
from probatum.data.spectra import Spectrum, load_spectra

__all__ = ["KINDS", "Line", "Material", "material"]

# How often each is drawn, if nothing else is asked.
KINDS = {"xafs": 3, "raman": 3, "xps": 3, "xrd": 2, "gcd": 3, "cv": 4, "eis": 2, "bode": 1}
MOST_POINTS = 1500
# Points over which those are averaged whose noise is as high as their peaks; papers do so, too.
_NOISY = {"xrd_synthetic": 2.0, "xps_ni2p": 3.0}
_SERIES = {
    "xafs": ("foil", "oxide", "10 K", "300 K", "sample A", "sample B", "operando", "sulfide"),
    "raman": ("spot 1", "spot 60", "spot 120", "532 nm", "785 nm", "annealed", "pristine"),
    "xps": ("as prepared", "after cycling", "Ar etched", "air exposed", "PET", "reference"),
    "xrd": ("pristine", "400 °C", "600 °C", "800 °C", "ball milled", "calc."),
    "gcd": ("1st cycle", "2nd cycle", "10th", "50th", "0.1 C", "1 C", "2 C", "5 C"),
    "cv": ("5 mV/s", "10 mV/s", "20 mV/s", "50 mV/s", "100 mV/s", "Pt(111)", "Au(111)", "N2"),
    "eis": ("fresh", "aged", "25 °C", "40 °C", "OCV", "fit"),
    "bode": ("fresh", "aged", "25 °C", "40 °C", "OCV", "fit"),
}
_LABELS = {
    "xafs": (
        ("Energy (eV)", "Photon energy / eV", "E (eV)"),
        ("Normalized absorption", "μ(E)", "xμ(E) (a.u.)"),
    ),
    "raman": (
        ("Raman shift (cm$^{-1}$)", "Raman shift / cm$^{-1}$", "Wavenumber (1/cm)"),
        ("Intensity (a.u.)", "Counts", "Intensity (arb. units)"),
    ),
    "xps": (
        ("Binding energy (eV)", "Binding Energy / eV"),
        ("Intensity (counts)", "CPS", "Counts / s"),
    ),
    "xrd": (
        ("2θ (degree)", "2$\\theta$ / °", "2 Theta (deg)"),
        ("Intensity (a.u.)", "Counts", "Intensity (counts)"),
    ),
    "gcd": (
        ("Specific capacity (mAh g$^{-1}$)", "Capacity / Ah", "Q (Ah)"),
        ("Voltage (V)", "E / V vs. Li/Li$^+$", "Potential (V)"),
    ),
    "cv": (
        ("E / V vs. RHE", "Potential (V vs. SCE)", "E (V)"),
        ("j / μA cm$^{-2}$", "Current density (mA cm$^{-2}$)", "I (mA)"),
    ),
    "eis": (("Z' (Ω)", "Re(Z) / Ohm", "Z$_{re}$ (Ω)"), ("-Z'' (Ω)", "-Im(Z) / Ohm")),
    "bode": (("Frequency (Hz)", "f / Hz"), ("|Z| (Ω)", "|Z| / Ohm")),
}


@dataclass(frozen=True)
class Line:
    """A curve to be drawn, in data units."""

    name: str
    x: Floats
    y: Floats
    source: str


@dataclass(frozen=True)
class Material:
    """Curves of one kind for one pair of axes.

    Attributes
    ----------
    kind : str
    lines : tuple of Line
    x_label, y_label : str
    loop : bool
        Whether the curves go back and forth in x.
    reversed_x : bool
        Whether readers expect x to fall from left to right.
    log_x : bool
        Whether readers expect decades.
    """

    kind: str
    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    loop: bool = False
    reversed_x: bool = False
    log_x: bool = False


def material(rng: np.random.Generator, kind: str, n: int) -> Material:
    """A series of `n` curves of a kind: real ones, and variants of them."""
    pool = _pool()[kind]
    mixed = kind in ("raman", "gcd") or (kind == "cv" and rng.random() < 0.3)
    first = pool[int(rng.integers(len(pool)))]
    names = _names(rng, kind, n)
    lines = []
    window = _window(rng, kind)
    scale = float(10.0 ** rng.integers(-3, 4)) if kind in ("eis", "cv") else 1.0
    scale *= float(rng.uniform(0.7, 1.5)) if kind != "gcd" else 1.0
    for i in range(n):
        base = first if i == 0 or not mixed else pool[(pool.index(first) + i) % len(pool)]
        x, y = _cleaned(base, kind)
        if kind == "cv" and mixed:  # papers differ in units; a plot shows one
            y = y / np.ptp(y) * 100
            x = (x - x.min()) / np.ptp(x) * 1.2
        x, y = _cropped(x, y, window)
        if i > 0 or rng.random() < 0.5:
            x, y = _variant(rng, kind, x, y, i)
        lines.append(Line(names[i], *_thinned(x, y * scale), base.name))
    labels = _LABELS[kind]
    return Material(
        kind,
        tuple(lines),
        str(rng.choice(labels[0])),
        str(rng.choice(labels[1])),
        loop=kind in ("cv", "eis"),
        reversed_x=kind == "xps",
        log_x=kind == "bode",
    )


@cache
def _pool() -> dict[str, tuple[Spectrum, ...]]:
    found: dict[str, list[Spectrum]] = {kind: [] for kind in KINDS}
    for spectrum in load_spectra():
        if spectrum.name.endswith(":phase"):
            continue
        found["bode" if spectrum.name.endswith(":modulus") else spectrum.kind].append(spectrum)
    return {kind: tuple(spectra) for kind, spectra in found.items()}


def _names(rng: np.random.Generator, kind: str, n: int) -> list[str]:
    if rng.random() < 0.25:
        return [f"{'curve' if rng.random() < 0.5 else 'sample'} {i + 1}" for i in range(n)]
    series = _SERIES[kind]
    return [series[i] for i in rng.choice(len(series), n, replace=False)]


def _cleaned(base: Spectrum, kind: str) -> tuple[Floats, Floats]:
    x, y = np.asarray(base.x, float), np.asarray(base.y, float)
    if kind == "eis":  # the inductive part, as its authors leave it out
        x, y = x[y > 0], y[y > 0]
    elif kind != "cv":
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    if base.name in _NOISY:
        y = gaussian_filter1d(y, _NOISY[base.name], mode="nearest")
    if kind == "xafs":
        y = (y - y[:20].mean()) / (y[-50:].mean() - y[:20].mean())
    return x, y


def _window(rng: np.random.Generator, kind: str) -> tuple[float, float]:
    """Which part of x is shown."""
    if kind == "xafs" and rng.random() < 0.7:
        return 0.05, float(rng.uniform(0.3, 0.6))
    if kind in ("raman", "xrd") and rng.random() < 0.5:
        low = float(rng.uniform(0.0, 0.5))
        return low, low + float(rng.uniform(0.3, 0.5))
    return 0.0, 1.0


def _cropped(x: Floats, y: Floats, window: tuple[float, float]) -> tuple[Floats, Floats]:
    if window == (0.0, 1.0):
        return x, y
    low, high = (x.min() + np.ptp(x) * part for part in window)
    inside = (x >= low) & (x <= high)
    return x[inside], y[inside]


def _variant(
    rng: np.random.Generator, kind: str, x: Floats, y: Floats, i: int
) -> tuple[Floats, Floats]:
    """The curve of another sample, scan rate or cycle."""
    span, height = np.ptp(x), np.ptp(y)
    y = y * float(np.exp(rng.normal(0, 0.25)))
    if kind == "gcd":  # capacity fades, overpotential grows
        return x * float(rng.uniform(0.6, 1.0)), y + float(rng.normal(0, 0.03))
    if kind in ("cv", "eis"):
        factor = float(rng.uniform(0.35, 1.0)) if i else 1.0
        shift = float(rng.normal(0, 0.02)) * span
        return (x + shift, y * factor) if kind == "cv" else (x * factor + abs(shift), y * factor)
    if kind == "bode":
        return x, y * float(rng.uniform(0.3, 1.0))
    if rng.random() < 0.6:
        y = gaussian_filter1d(y, float(rng.uniform(0.5, 4.0)), mode="nearest")
    shift = float(rng.normal(0, 0.012 if kind in ("xafs", "xps") else 0.003)) * span
    tilt = float(rng.normal(0, 0.15)) * height * (x - x.mean()) / span
    return x + shift, y + tilt + float(rng.normal(0, 0.08)) * height


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    step = -(-x.size // MOST_POINTS)
    return x[::step].copy(), y[::step].copy()


def offset(lines: tuple[Line, ...], gap: float) -> tuple[Line, ...]:
    """Each curve above the one before, by `gap` of the largest height."""
    height = max(float(np.ptp(line.y)) for line in lines)
    return tuple(
        replace(line, y=line.y - line.y.min() + i * gap * height) for i, line in enumerate(lines)
    )
