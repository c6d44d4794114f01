"""Figures that others drew, whose data are known: read from end to end."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from probatum.charts import extract
from probatum.charts.reading import recogniser
from probatum.charts.recall import LineRecall

pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not (Path(os.environ.get("PROBATUM_DATA", "")) / "spectra-charts").is_dir(),
        reason="spectra-charts is not in PROBATUM_DATA",
    ),
    pytest.mark.skipif(not recogniser.available(), reason="OCR is not installed"),
]
NAMES = ("eis_nyquist_fit", "gcd_graphite", "sine", "xafs_cu_mu", "xafs_fe2o3_preedge")


@pytest.mark.parametrize("name", NAMES)
def test_axes_and_curves_are_those_of_the_data(name: str) -> None:
    from probatum.data.spectra import load_spectrum_figures

    (figure,) = (f for f in load_spectrum_figures() if f.name == name)
    plot = extract(figure.image)
    assert plot.calibrated
    assert max(plot.x_axis.residual_px, plot.y_axis.residual_px) < 1.0
    truth = []
    for x, y in figure.truth.values():
        px = np.column_stack([plot.x_axis.px(x), plot.y_axis.px(y)])
        # What lies outside of the axes was not drawn.
        inside = (px[:, 0] >= plot.box.left) & (px[:, 0] <= plot.box.right)
        truth.append(px[inside & (px[:, 1] >= plot.box.top) & (px[:, 1] <= plot.box.bottom)])
    found = LineRecall().score([curve.px for curve in plot.curves], truth)
    assert found.recall == 1.0, found
