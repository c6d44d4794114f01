"""Spectra and published figures are the known ones, and say where they come from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from probatum.data import DataNotFoundError, load_spectra, load_spectrum_figures
from probatum.data import spectra as module
from probatum.data.spectra import FOLDERS, spectra_identity

here = pytest.mark.skipif(
    not (Path(os.environ.get("PROBATUM_DATA", "")) / "spectra-charts").is_dir(),
    reason="spectra-charts is not in PROBATUM_DATA",
)


@pytest.fixture
def unread() -> None:
    """What earlier tests read is forgotten, and what the test reads is, too."""
    for cached in (module._folder, load_spectra, load_spectrum_figures):
        cached.cache_clear()


@here
@pytest.mark.data
def test_curves() -> None:
    spectra = load_spectra()
    assert len({spectrum.name for spectrum in spectra}) == len(spectra) == 54
    counts = dict.fromkeys(("cv", "eis", "gcd", "raman", "xafs", "xps", "xrd"), 0)
    for spectrum in spectra:
        counts[spectrum.kind] += 1
        assert spectrum.x.shape == spectrum.y.shape
        assert np.isfinite(spectrum.x).all()
        assert np.isfinite(spectrum.y).all()
        assert not spectrum.x.flags.writeable
        assert "(" in spectrum.x_label
        assert spectrum.licence in ("MIT", "CC BY 4.0")
        assert "@" in spectrum.source or spectrum.source.startswith("https://doi.org/")
    assert counts == {"cv": 39, "eis": 3, "gcd": 2, "raman": 3, "xafs": 3, "xps": 3, "xrd": 1}
    assert [s.name for s in spectra if not s.measured] == ["xrd_synthetic"]


@here
@pytest.mark.data
def test_spectra_are_what_their_kind_says() -> None:
    spectra = {spectrum.name: spectrum for spectrum in load_spectra()}
    copper = spectra["xafs_cu_rt01"]
    edge = copper.x[np.argmax(np.gradient(copper.y, copper.x))]
    assert edge == pytest.approx(8979, abs=5)  # the K edge of copper
    assert (np.diff(spectra["xps_c1s"].x) < 0).all()  # binding energy falls
    loop = np.diff(spectra["droog_1980_oxygen_387_f2_black"].x)
    assert (loop > 0).any()
    assert (loop < 0).any()
    nyquist = spectra["eis_battery"]
    modulus = spectra["eis_battery:modulus"]
    assert np.hypot(nyquist.x, nyquist.y) == pytest.approx(modulus.y)


@here
@pytest.mark.data
def test_figures() -> None:
    from PIL import Image

    figures = {figure.name: figure for figure in load_spectrum_figures()}
    assert {name: sorted(figure.truth) for name, figure in figures.items()} == {
        "eis_nyquist_fit": ["Data"],
        "gcd_graphite": ["charge", "discharge"],
        "sine": ["y1"],
        "xafs_cu_mu": ["mu"],
        "xafs_fe2o3_preedge": ["mu"],
    }
    x, y = figures["sine"].truth["y1"]
    assert y == pytest.approx(np.sin(x), abs=1e-6)
    for figure in figures.values():
        with Image.open(figure.image) as image:
            assert min(image.size) > 300


@here
@pytest.mark.data
@pytest.mark.usefixtures("unread")
def test_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in FOLDERS:
        source = Path(os.environ["PROBATUM_DATA"]) / "spectra-charts" / part
        target = tmp_path / "spectra-charts" / part
        target.mkdir(parents=True)
        for path in source.iterdir():
            shutil.copyfile(path, target / path.name)
    monkeypatch.setenv("PROBATUM_DATA", str(tmp_path))
    assert len(load_spectra()) == 54
    table = tmp_path / "spectra-charts" / "curves" / "xps_c1s.csv"
    table.write_text(table.read_text().replace("1906", "1907", 1))
    for cached in (module._folder, load_spectra):
        cached.cache_clear()
    with pytest.raises(DataNotFoundError, match="not the known ones; mend the mirror"):
        load_spectra()


@pytest.mark.usefixtures("unread")
def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROBATUM_DATA", raising=False)
    with pytest.raises(DataNotFoundError, match="set PROBATUM_DATA to a folder that holds"):
        load_spectra()
    monkeypatch.setenv("PROBATUM_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError, match="is missing"):
        load_spectrum_figures()


def test_identity_is_of_the_content() -> None:
    assert len(spectra_identity()) == 16
    assert all(len(digest) == 64 for digest in FOLDERS.values())
