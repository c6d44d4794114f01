"""What is written of a figure: whole files, under their names, that others can read."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probatum.charts import Axis, Box, Curve, PlotData, writing
from probatum.charts.plot_data import Tick
from probatum.charts.writing import calibration_facts, save

NAMES = ("plain", 'a "b", c', "two\nlines", "=ü; </script>")


def plot(names: tuple[str, ...] = NAMES) -> PlotData:
    x = Axis(slope=0.01, intercept=-1.0, ticks=(Tick(120.0, 0.2, "0.2"), Tick(20.0, -0.8, "-0.8")))
    y = Axis("log", slope=-0.02, intercept=3.0, label="counts", unit="1/s")
    px = np.stack([np.linspace(10, 190, 50), np.linspace(90, 15, 50) ** 1.01], axis=1)
    curves = tuple(Curve(name, x.value(px[:, 0]), y.value(px[:, 1]), px) for name in names)
    image = np.full((100, 200, 3), 250, np.uint8)
    return PlotData(curves, x, y, Box(10.5, 10.5, 190.5, 90.5), warnings=("look",), image=image)


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_one_plot_is_four_files_read_back_as_they_were(tmp_path: Path) -> None:
    from PIL import Image

    read = plot()
    to = tmp_path / "new" / "folder"
    written = save([read], to, "fig.2")
    assert all(isinstance(path, Path) and path.is_file() for path in written)
    expected = ["fig.2.calibration.json", "fig.2.csv", "fig.2.html", "fig.2.overlay.png"]
    assert names_in(to) == sorted(path.name for path in written) == expected
    back = pd.read_csv(to / "fig.2.csv")
    pd.testing.assert_frame_equal(back, read.to_frame(), rtol=1e-9)
    assert list(back["curve"].unique()) == list(NAMES)
    with Image.open(to / "fig.2.overlay.png") as picture:
        assert picture.size == (200, 100)
    page = (to / "fig.2.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") or page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_the_calibration_says_all_that_numbers_rest_on(tmp_path: Path) -> None:
    read = replace(plot(), right_axis=Axis(calibrated=False), angle=0.5)
    save([read], tmp_path, "fig")
    facts = json.loads((tmp_path / "fig.calibration.json").read_text(encoding="utf-8"))
    assert facts["figure"] == "fig"
    (one,) = facts["plots"]
    assert one == json.loads(json.dumps(calibration_facts(read)))
    assert one["calibrated"] is False
    assert one["turned_degrees"] == 0.5
    assert one["warnings"] == ["look"]
    assert [curve["name"] for curve in one["curves"]] == list(NAMES)
    again = Axis(one["y"]["scale"], one["y"]["slope"], one["y"]["intercept"])
    np.testing.assert_array_equal(again.value([15.0, 70.0]), read.y_axis.value([15.0, 70.0]))
    assert [tick["value"] for tick in one["x"]["ticks"]] == [0.2, -0.8]


def test_plots_of_one_figure_are_numbered(tmp_path: Path) -> None:
    save([plot(("a",)), plot(("b",)), plot(())], tmp_path, "fig")
    assert names_in(tmp_path) == [
        "fig-1.csv", "fig-1.overlay.png", "fig-2.csv", "fig-2.overlay.png", "fig-3.csv",
        "fig-3.overlay.png", "fig.calibration.json", "fig.html",
    ]  # fmt: skip
    assert set(pd.read_csv(tmp_path / "fig-2.csv")["curve"]) == {"b"}
    nothing = pd.read_csv(tmp_path / "fig-3.csv")
    assert list(nothing.columns) == ["curve", "x", "y", "column", "row"]
    assert len(nothing) == 0
    assert len(json.loads((tmp_path / "fig.calibration.json").read_text())["plots"]) == 3


def test_old_files_are_replaced(tmp_path: Path) -> None:
    save([plot(("old",))], tmp_path, "fig")
    save([plot(("new",))], tmp_path, "fig")
    assert len(names_in(tmp_path)) == 4
    assert set(pd.read_csv(tmp_path / "fig.csv")["curve"]) == {"new"}


@pytest.mark.parametrize("part", ["overlay", "csv", "page"])
def test_what_fails_leaves_no_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    save([plot(("old",))], tmp_path, "fig")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*args: Any, **how: Any) -> Any:
        for path in args:
            if isinstance(path, Path):
                path.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    if part == "csv":
        monkeypatch.setattr(pd.DataFrame, "to_csv", lambda self, path, **how: fail(path))
    elif part == "overlay":
        monkeypatch.setattr("PIL.Image.Image.save", lambda self, path, *kind, **how: fail(path))
    else:
        monkeypatch.setattr("probatum.charts.page.correction_page", fail)
    with pytest.raises(OSError, match="No space left"):
        save([plot(("new",))], tmp_path, "fig")
    assert {path.name for path in tmp_path.iterdir()} == set(before)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == before[path.name] or b"half" not in path.read_bytes()


def test_nothing_is_written_of_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="image"):
        save([plot(), replace(plot(), image=None)], tmp_path, "fig")
    assert names_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        save([plot()], tmp_path / "file", "fig")
    with pytest.raises(OSError, match="file"):
        save([plot()], tmp_path / "file" / "below", "fig")
    (tmp_path / "taken" / "fig.csv").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"fig\.csv"):
        save([plot()], tmp_path / "taken", "fig")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(PermissionError):
            save([plot()], tmp_path / "locked", "fig")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a\0b"])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        save([plot()], tmp_path / "to", name)
    assert names_in(tmp_path) == []


def test_no_plot_is_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no plot"):
        save([], tmp_path, "fig")


def test_what_is_public_is_there() -> None:
    assert set(writing.__all__) == {"calibration_facts", "save"}
