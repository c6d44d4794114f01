"""Measured spectra and voltammograms, and published figures with the numbers behind them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from probatum.data.store import DataNotFoundError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

__all__ = [
    "Spectrum",
    "SpectrumFigure",
    "load_spectra",
    "load_spectrum_figures",
    "spectra_identity",
]

NAME = "spectra-charts"
FOLDERS = {
    "curves": "770b949d471cd88770533df52d3c883638f24d4c98ec7ed4b29378a6bae03a39",
    "cv_published": "ec8dab7b610ecc70689ff86a5b13e7ba7737c2d2c7e26132c162dda4d5484212",
    "truth": "8fab4554379d06133d2a046e44d228f8e9bd4c25bc11ae49eb010dde8ba29e80",
    "figures": "30aca6d85ea5d6be6285832db1ebf73b98c00ce11242453cab234bb69216ecae",
}
LARCH = "github.com/xraypy/xraylarch@a272abc7dbb1ee39f7851781eab3895b078e2d80"
IMPEDANCE = "github.com/ECSHackWeek/impedance.py@0b302ca9eabf403bd1a1a2b2578fe2cb7f00ec2f"
NAVANI = "github.com/be-smith/navani@52e47543b00e3902b5044c2576a7c7ce24472972"
XPS = "github.com/Julian-Hochhaus/LG4X-V2@7a85001a0065fa27a45c7062268fe2b8db7a336c"
RAMAN = "github.com/spectrapepper/spectrapepper@41821b9d19cd7c95370e6d2ea3dfe74260acb579"
XRD = "github.com/andrewrgarcia/powerxrd@c7696842058ccf3020a0db6de96355fc345b1b0a"
ECHEMDB = "github.com/echemdb/electrochemistry-data@1c1ace795b492b5706823c52b5c142692347b94d"

Kind = Literal["cv", "eis", "gcd", "raman", "xafs", "xps", "xrd"]


@dataclass(frozen=True)
class Spectrum:
    """One curve of real data.

    Attributes
    ----------
    name : str
    kind : {"cv", "eis", "gcd", "raman", "xafs", "xps", "xrd"}
        Cyclic voltammogram, impedance, galvanostatic charge or discharge, Raman, X-ray
        absorption, photoelectrons, X-ray diffraction.
    x, y : ndarray of shape (n,)
        In the order in which they were measured or traced; not sorted for "cv".
    x_label, y_label : str
        Quantity and unit.
    measured : bool
        False for the diffractogram, which its authors call synthetic.
    licence, source : str
        The source is a repository and commit, or the DOI of the paper from whose figure people
        traced the curve.
    """

    name: str
    kind: Kind
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    x_label: str
    y_label: str
    measured: bool
    licence: str
    source: str

    def __post_init__(self) -> None:
        # They are read once and handed to everyone.
        for values in (self.x, self.y):
            values.setflags(write=False)


@dataclass(frozen=True)
class SpectrumFigure:
    """A published figure and the numbers from which some of its curves were drawn.

    Attributes
    ----------
    name : str
    image : Path
        A PNG file.
    truth : dict of str to (ndarray, ndarray)
        x and y by curve, in the numbers on the axes; where the figure shows a part of them only,
        it is a part of these. The other curves of a figure have no truth here.
    licence, source : str
    """

    name: str
    image: Path
    truth: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]
    licence: str
    source: str


# File: kind, columns of x and y, labels, source.
_TABLES: dict[str, tuple[Kind, str, tuple[str, ...], str, str, str]] = {
    "xafs_cu_10k": ("xafs", "energy_eV", ("mu",), "Energy (eV)", "Absorption", LARCH),
    "xafs_cu_rt01": ("xafs", "energy_eV", ("mu",), "Energy (eV)", "Absorption", LARCH),
    "xafs_fe2o3_rt1": ("xafs", "energy_eV", ("mu",), "Energy (eV)", "Absorption", LARCH),
    "xps_c1s": ("xps", "binding_energy_eV", ("counts",), "Binding energy (eV)", "Counts", XPS),
    "xps_ni2p": ("xps", "binding_energy_eV", ("counts",), "Binding energy (eV)", "Counts", XPS),
    "xps_pet_c1s": ("xps", "binding_energy_eV", ("counts",), "Binding energy (eV)", "Counts", XPS),
    "raman_absorber": (
        "raman",
        "raman_shift_cm-1",
        ("spectrum_1", "spectrum_60", "spectrum_120"),
        "Raman shift (cm-1)",
        "Intensity",
        RAMAN,
    ),
    "xrd_synthetic": ("xrd", "two_theta_deg", ("counts",), "2 theta (deg)", "Counts", XRD),
    "cv_engstfeld_f4b2": ("cv", "E_V_RHE", ("j_uA_cm-2",), "E (V vs RHE)", "j (uA / cm2)", ECHEMDB),
    "cv_schonig_f1": ("cv", "E_V", ("I_A",), "E (V)", "I (A)", ECHEMDB),
    "cv_strmcnik_f1tl": ("cv", "E_V", ("j_uA_cm-2",), "E (V)", "j (uA / cm2)", ECHEMDB),
    "cv_strmcnik_f2tl": ("cv", "E_V", ("j_uA_cm-2",), "E (V)", "j (uA / cm2)", ECHEMDB),
}
_FIGURES = {
    "eis_nyquist_fit": IMPEDANCE,
    "gcd_graphite": NAVANI,
    "sine": LARCH,
    "xafs_cu_mu": LARCH,
    "xafs_fe2o3_preedge": LARCH,
}


@cache
def load_spectra() -> tuple[Spectrum, ...]:
    """Curves of real data: 19 from tables, and 35 that people traced by hand.

    One of them, ``xrd_synthetic``, is no measurement; its `measured` is False.

    Raises
    ------
    DataNotFoundError
        If the files are not here or not the known ones.

    Examples
    --------
    >>> sorted({spectrum.kind for spectrum in load_spectra()})  # doctest: +SKIP
    ['cv', 'eis', 'gcd', 'raman', 'xafs', 'xps', 'xrd']
    """
    folder = _folder("curves")
    found = []
    for file, (kind, x, columns, x_label, y_label, source) in _TABLES.items():
        table = _read(folder / f"{file}.csv")
        licence = "CC BY 4.0" if source == ECHEMDB else "MIT"
        for column in columns:
            name = file if len(columns) == 1 else f"{file}:{column}"
            values = table[x].to_numpy(float), table[column].to_numpy(float)
            found.append(
                Spectrum(name, kind, *values, x_label, y_label, kind != "xrd", licence, source)
            )
    return (*found, *_impedance(folder), *_cycles(), *_voltammograms())


@cache
def load_spectrum_figures() -> tuple[SpectrumFigure, ...]:
    """Five published figures and the truth of six of their curves.

    Raises
    ------
    DataNotFoundError
        If the files are not here or not the known ones.
    """
    images, tables = _folder("figures"), _folder("truth")
    found = []
    for name, source in _FIGURES.items():
        truth = {}
        for path in sorted(tables.glob(f"{name}__*.csv")):
            table = _read(path)
            truth[path.stem.split("__")[1]] = table["x"].to_numpy(float), table["y"].to_numpy(float)
        found.append(SpectrumFigure(name, images / f"{name}.png", truth, "MIT", source))
    return tuple(found)


def spectra_identity() -> str:
    """Hash of the content of all curves and figures, without reading them."""
    return hashlib.sha256(" ".join(FOLDERS.values()).encode()).hexdigest()[:16]


def _impedance(folder: Path) -> list[Spectrum]:
    """One measurement as a Nyquist plot and as the two halves of a Bode plot."""
    import numpy as np

    table = _read(folder / "eis_battery.csv")
    frequency, real, imaginary = (
        table[column].to_numpy(float) for column in ("frequency_Hz", "Z_real_Ohm", "Z_imag_Ohm")
    )
    phase = -np.degrees(np.arctan2(imaginary, real))
    views = (
        ("", real, -imaginary, "Z' (Ohm)", "-Z'' (Ohm)"),
        (":modulus", frequency, np.hypot(real, imaginary), "Frequency (Hz)", "|Z| (Ohm)"),
        (":phase", frequency, phase, "Frequency (Hz)", "-Phase (deg)"),
    )
    return [
        Spectrum(f"eis_battery{name}", "eis", x, y, x_label, y_label, True, "MIT", IMPEDANCE)
        for name, x, y, x_label, y_label in views
    ]


def _cycles() -> list[Spectrum]:
    """The two curves of a graphite cell; its capacities are Ah."""
    found = []
    for branch in ("charge", "discharge"):
        table = _read(_folder("truth") / f"gcd_graphite__{branch}.csv")
        values = table["x"].to_numpy(float), table["y"].to_numpy(float)
        labels = "Capacity (Ah)", "Voltage (V)"
        found.append(
            Spectrum(f"gcd_graphite:{branch}", "gcd", *values, *labels, True, "MIT", NAVANI)
        )
    return found


def _voltammograms() -> list[Spectrum]:
    """Traced by hand from published figures."""
    folder = _folder("cv_published")
    index = _read(folder / "index.tsv", separator="\t")
    found = []
    for row in index.to_dict("records"):
        table = _read(folder / f"{row['file']}.csv")
        x, y = str(row["x"]), str(row["y"])
        found.append(
            Spectrum(
                str(row["file"]),
                "cv",
                table[x].to_numpy(float),
                table[y].to_numpy(float),
                f"{x} ({row['x_unit']})",
                f"{y} ({row['y_unit']})",
                True,
                "CC BY 4.0",
                f"{row['doi_url']}, traced for echemdb",
            )
        )
    return found


def _read(path: Path, separator: str = ",") -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, sep=separator)


@cache
def _folder(part: str) -> Path:
    """A folder of the data set, verified."""
    mirror = os.environ.get("PROBATUM_DATA")
    if not mirror:
        raise DataNotFoundError(NAME, f"set PROBATUM_DATA to a folder that holds {NAME}/")
    folder = Path(mirror).expanduser() / NAME / part
    if not folder.is_dir():
        raise DataNotFoundError(NAME, f"{folder} is missing; PROBATUM_DATA must hold {NAME}/{part}")
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    if digest.hexdigest() != FOLDERS[part]:
        raise DataNotFoundError(NAME, f"files in {folder} are not the known ones; mend the mirror")
    return folder
