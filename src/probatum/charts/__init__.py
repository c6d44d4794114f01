"""Numbers out of plots."""

from probatum.charts.derived import (
    Derived,
    cv_peaks,
    eis_intercept,
    gcd_capacity,
    phase_purity,
    raman_id_ig,
    scherrer_size,
)
from probatum.charts.extract import extract, extract_all
from probatum.charts.page import correction_page, overlay
from probatum.charts.plot_data import (
    Axis,
    Box,
    CalibrationError,
    Curve,
    NoPlotFoundError,
    OCRUnavailableError,
    PlotData,
    Tick,
)
from probatum.charts.writing import save

__all__ = [
    "Axis",
    "Box",
    "CalibrationError",
    "Curve",
    "Derived",
    "NoPlotFoundError",
    "OCRUnavailableError",
    "PlotData",
    "Tick",
    "correction_page",
    "cv_peaks",
    "eis_intercept",
    "extract",
    "extract_all",
    "gcd_capacity",
    "overlay",
    "phase_purity",
    "raman_id_ig",
    "save",
    "scherrer_size",
]
