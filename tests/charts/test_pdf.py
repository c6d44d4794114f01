"""Plots in PDFs: curves as they were drawn, pictures traced, broken files named."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import X, drawn
from numpy.typing import NDArray

from probatum.charts import Box, Curve, NoPlotFoundError, extract, extract_all
from probatum.charts.pdf import Page, _Path, pages, vector_tracks
from probatum.charts.reading import recogniser

pytest.importorskip("matplotlib")
pytest.importorskip("pdfplumber")
reads = pytest.mark.skipif(not recogniser.available(), reason="OCR is not installed")

Floats = NDArray[np.float64]


def printed(file: Path, put: Callable[..., Any], panels: int = 1, **how: Any) -> Path:
    """A PDF with plots that a function fills."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4 * panels, 4.8))
    FigureCanvasPdf(figure)
    put(*np.atleast_1d(figure.subplots(1, panels)))
    figure.savefig(file, format="pdf", **how)
    return file


def off(curve: Curve, y: Floats, *, x: Floats = X, log: bool = False) -> float:
    """Largest distance from the truth at the points read, as a share of the range."""
    read, true = (np.log10(part) if log else part for part in (curve.y, y))
    inside = (curve.x >= x.min()) & (curve.x <= x.max())
    return float(np.abs(read - np.interp(curve.x, x, true))[inside].max() / np.ptp(true))


def apart(curve: Curve, x: Floats, y: Floats, span: float = 3.0) -> float:
    """Largest distance from the true curve, both axes in shares of their range."""
    from scipy.spatial import cKDTree

    dense = np.linspace(x[0], x[-1], 20 * len(x))
    true = np.stack([dense / np.ptp(x), np.interp(dense, x, y) / span], axis=1)
    read = np.stack([curve.x / np.ptp(x), curve.y / span], axis=1)
    inside = (curve.x >= x[0]) & (curve.x <= x[-1])
    return float(cKDTree(true).query(read[inside])[0].max())


def by_color(curves: tuple[Curve, ...]) -> dict[tuple[int, int, int], Curve]:
    found = {curve.color: curve for curve in curves}
    assert len(found) == len(curves)
    return found


@reads
def test_lines_dashes_and_markers_are_what_was_drawn(tmp_path: Path) -> None:
    def put(axes: Any) -> None:
        axes.plot(X, np.sin(X), color="#ff0000", label="one")
        axes.plot(X, 0.7 * np.cos(X), "--", color="#0000ff", label="two")
        axes.plot(X[::20], 0.5 * np.sin(X[::20]), "o", color="#00a000", label="three")
        axes.plot(X[::20], -0.5 * np.sin(X[::20]), "o", color="#a000a0", label="four")
        axes.plot(X[::20], 1.2 - X[::20] / 8, "s-", color="#ff8000", label="five")
        axes.scatter(X[::25], X[::25] / 5 - 1, marker="+", color="#008080")
        axes.grid()
        axes.legend(loc="lower left")
        axes.set(xlim=(0, 10), ylim=(-1.5, 1.5))

    (plot,) = extract_all(printed(tmp_path / "a.pdf", put))
    assert plot.calibrated
    found = by_color(plot.curves)
    assert set(found) == {
        (255, 0, 0), (0, 0, 255), (0, 160, 0), (160, 0, 160), (255, 128, 0), (0, 128, 128),
    }  # fmt: skip
    assert off(found[255, 0, 0], np.sin(X)) < 1e-3
    assert off(found[0, 0, 255], 0.7 * np.cos(X)) < 1e-3
    assert off(found[255, 128, 0], 1.2 - X / 8) < 1e-3
    for color, y in (((0, 160, 0), np.sin(X) / 2), ((160, 0, 160), -np.sin(X) / 2)):
        curve = found[color]
        assert curve.kind == "markers"
        assert len(curve.x) == 20
        np.testing.assert_allclose(curve.x, X[::20], atol=0.01)
        np.testing.assert_allclose(curve.y, y[::20], atol=0.003)
    assert len(found[0, 128, 128].x) == 16


@reads
def test_two_panels_one_of_them_log(tmp_path: Path) -> None:
    def put(left: Any, right: Any) -> None:
        left.plot(X, X**2, "k")
        left.set(xlim=(2, 8), ylim=(0, 50))
        right.semilogy(X, np.exp(X) * (1.5 + np.sin(5 * X)), "r")
        right.set(xlim=(0, 10))

    first, second = extract_all(printed(tmp_path / "a.pdf", put, 2))
    assert second.y_axis.scale == "log"
    (cut,), (log,) = first.curves, second.curves
    assert off(cut, X**2) < 1e-3
    # It goes on to where it leaves the plot, and no further.
    assert cut.x.min() == pytest.approx(2.0, abs=0.02)
    assert cut.y.max() == pytest.approx(50.0, abs=0.2)
    assert off(log, np.exp(X) * (1.5 + np.sin(5 * X)), log=True) < 1e-3


@reads
def test_of_a_pdf_the_largest_plot_is_extracted(tmp_path: Path) -> None:
    file = printed(tmp_path / "A.PDF", lambda a: (a.plot(X, np.sin(X), "k"), a.set_xlim(0, 10)))
    plot = extract(file)
    assert off(plot.curves[0], np.sin(X)) < 1e-3
    with pytest.raises(ValueError, match="a box is one of an image"):
        extract(file, box=(1, 1, 9, 9))


@reads
def test_a_loop_keeps_its_order(tmp_path: Path) -> None:
    t = np.linspace(0, 2 * np.pi, 300)
    from matplotlib import rc_context

    with rc_context({"path.simplify": False}):
        file = printed(tmp_path / "a.pdf", lambda a: a.plot(np.cos(t), np.sin(2 * t), "k"))
    (curve,) = extract(file).curves
    assert curve.kind == "loop"
    read, true = np.stack([curve.x, curve.y]), np.stack([np.cos(t), np.sin(2 * t)])
    np.testing.assert_allclose(read, true, atol=2e-3)


@reads
def test_noise_makes_no_loop_and_fills_no_curve(tmp_path: Path) -> None:
    x = np.linspace(0, 10, 30_000)
    noisy = np.sin(x) + np.random.default_rng(0).normal(0, 0.05, len(x))

    def put(axes: Any) -> None:
        axes.plot(x, noisy, color="#ff0000", lw=0.5)
        axes.fill_between(X, np.cos(X) - 0.1, np.cos(X) + 0.1, alpha=0.3)
        axes.bar([1, 2, 3], [0.2, 0.4, 0.3], width=0.3, color="#a000a0")
        axes.errorbar(X[::40], np.cos(X[::40]), yerr=0.1, fmt="o", capsize=3, color="#00a000")
        axes.axvspan(5, 6, alpha=0.2)
        axes.step(X[::20], 0.3 * np.cos(X[::20]), color="#0000ff")
        axes.set(xlim=(0, 10), ylim=(-1.5, 1.5))

    found = by_color(extract(printed(tmp_path / "a.pdf", put)).curves)
    kinds = {color: curve.kind for color, curve in found.items()}
    assert kinds == {
        (255, 0, 0): "function",
        (0, 160, 0): "markers",
        (0, 0, 255): "function",
    }
    assert len(found[0, 160, 0].x) == 10


def test_a_plot_in_a_form_is_read_where_it_stands(tmp_path: Path) -> None:
    from pypdfium2 import PdfDocument, raw

    source = PdfDocument(
        printed(tmp_path / "a.pdf", lambda a: a.plot(X, np.sin(X), "#ff0000", lw=3))
    )
    paper = PdfDocument.new()
    page = paper.new_page(595, 842)
    form = raw.FPDF_NewFormObjectFromXObject(raw.FPDF_NewXObjectFromPage(paper, source, 0))
    raw.FPDFPageObj_Transform(form, 0.8, 0, 0, 0.8, 100, 300)
    raw.FPDFPage_InsertObject(page, form)
    raw.FPDFPage_GenerateContent(page)
    paper.save(tmp_path / "b.pdf")
    (read,) = pages(tmp_path / "b.pdf")
    on_the_line(read)


def on_the_line(page: Page) -> None:
    """Whether the red path of a page runs where the page is red."""
    (line,) = (path for path in page.paths if path.color == (255, 0, 0))
    at = np.round(line.points - 0.5).astype(int)
    inside = ((at > 1) & (at < np.array(page.image.shape[1::-1]) - 2)).all(axis=1)
    assert inside.sum() > 50
    seen = page.image[at[inside, 1], at[inside, 0]]
    assert (seen == (255, 0, 0)).all(axis=1).mean() > 0.95


@reads
def test_a_page_that_is_a_picture_is_traced(tmp_path: Path) -> None:
    from PIL import Image

    def put(axes: Any) -> None:
        axes.plot(X, np.sin(X), "r")
        axes.set_xlim(0, 10)

    image = drawn(put, dpi=200)
    Image.fromarray(image).save(tmp_path / "a.pdf", resolution=200)
    (page,) = pages(tmp_path / "a.pdf")
    assert page.paths == ()
    plot = extract(tmp_path / "a.pdf")
    (curve,) = plot.curves
    assert np.median(np.abs(curve.y - np.sin(curve.x))) < 0.02


@reads
@pytest.mark.parametrize("kind", ["pdfcairo", "pdfcairo mono dashed"])
def test_gnuplot_draws_in_pieces(tmp_path: Path, kind: str) -> None:
    if shutil.which("gnuplot") is None:
        pytest.skip("gnuplot is not installed")
    script = f"""set terminal {kind} size 6,4; set output 'a.pdf'; set xrange [0:10]
set yrange [-1.5:1.5]; set samples 2500; set grid; set key bottom left
plot sin(x) lw 2 lc rgb '#ff0000', 0.6*cos(3*x) dt 2 lc rgb '#0000ff', \\
'+' using 1:(0.02*$1**2-1) every 100 with points pt 7 lc rgb '#00a000'"""
    made = subprocess.run(
        ["gnuplot", "-e", script.replace("\\\n", "").replace("\n", ";")],
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"this gnuplot has no {kind}: {made.stderr.decode()[:80]}")
    (plot,) = extract_all(tmp_path / "a.pdf")
    first, second, dots = plot.curves
    x = np.linspace(0, 10, 2500)
    assert apart(first, x, np.sin(x)) < 1e-3
    assert apart(second, x, 0.6 * np.cos(3 * x)) < 1e-3
    assert dots.kind == "markers"
    # Nothing in the file tells the sample in the key from a point.
    wrong = np.abs(dots.y - (0.02 * dots.x**2 - 1)) > 0.01
    assert (wrong.sum(), len(dots.x)) == (1, 26)
    if "mono" not in kind:
        assert [c.color for c in plot.curves] == [(255, 0, 0), (0, 0, 255), (0, 160, 0)]


def test_pieces_in_any_order_make_one_curve() -> None:
    x = np.linspace(20, 480, 400)
    line = np.stack([x, 150 + 100 * np.sin(x / 40)], axis=1)
    spine = np.array([[10.0, 10], [490, 10]]), np.array([[490.0, 10], [490, 290]])
    rng = np.random.default_rng(0)
    cuts = [0, *np.sort(rng.choice(np.arange(1, 399), 200, replace=False)), 399]
    pieces = [line[a : b + 1] for a, b in pairwise(cuts)]
    from probatum.charts.pdf import _joined

    black = [_Path(part, (0, 0, 0), 1.0, False) for part in (*spine, *pieces)]
    joined = _joined(black)
    assert len(joined) == 3
    np.testing.assert_array_equal(joined[2].points, line)
    (track,) = vector_tracks(joined, Box(10, 10, 490, 290))
    np.testing.assert_array_equal(track.px, line)


def test_a_curve_ends_at_the_sides_of_the_plot() -> None:
    box = Box(100.0, 100.0, 200.0, 200.0)
    zigzag = np.array([[0.0, 150], [150, 150], [150, 300], [160, 300], [170, 120], [400, 150]])
    (track,) = vector_tracks([_Path(zigzag, (9, 9, 9), 1.0, False)], box)
    low, high = track.px.min(axis=0), track.px.max(axis=0)
    assert tuple(low) == (99.0, pytest.approx(120.0))
    assert tuple(high) == (201.0, 201.0)
    assert vector_tracks([_Path(zigzag + 500, (9, 9, 9), 1.0, False)], box) == ()


def test_frames_grids_and_fills_are_no_curves() -> None:
    box = Box(100.0, 100.0, 500.0, 400.0)
    frame = np.array([[100.0, 100], [500, 100], [500, 400], [100, 400], [100, 100]])
    level = np.array([[100.0, 250], [500, 250]])
    area = np.stack([np.linspace(100, 500, 50), np.linspace(120, 380, 50)], axis=1)
    black = (0, 0, 0)
    drawn_on = [_Path(frame, black, 1.0, False), _Path(level, black, 1.0, False)]
    assert vector_tracks([*drawn_on, _Path(area, black, 0.0, True)], box) == ()
    assert len(vector_tracks([*drawn_on, _Path(area, black, 1.0, False)], box)) == 1


def test_a_sample_in_a_legend_is_no_point_but_a_point_under_it_is() -> None:
    box = Box(0.0, 0.0, 500.0, 400.0)
    square = np.array([[-4.0, -4], [4, -4], [4, 4], [-4, 4], [-4, -4]])
    frame = np.array([[300.0, 20], [480, 20], [480, 120], [300, 120], [300, 20]])
    green = (0, 160, 0)
    points = [_Path(square + np.array([40 * i + 20, 60]), green, 0.0, True) for i in range(12)]
    legend = _Path(frame, (9, 9, 9), 1.0, False)
    sample = _Path(square + np.array([320.0, 100.0]), green, 0.0, True)
    (track,) = vector_tracks([*points, legend, sample], box)
    assert track.kind == "markers"
    np.testing.assert_allclose(track.px, [[40 * i + 20, 60] for i in range(12)])


@pytest.mark.parametrize("seed", range(3))
def test_damaged_anywhere_it_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    whole = printed(tmp_path / "whole.pdf", lambda a: a.plot(X, X)).read_bytes()
    rng = np.random.default_rng(seed)
    file = tmp_path / "broken.pdf"
    for _ in range(15):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), rng.integers(20, 400)):
            damaged[at] = rng.integers(0, 256)
        file.write_bytes(damaged)
        said, read = "", []
        try:
            read = list(pages(file))
        except ValueError as error:
            said = str(error)
        assert said.startswith("broken.pdf is not a PDF that can be read (") == (not read)
        assert "\n" not in said


def encrypted(file: Path) -> None:
    file.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"3 0 obj<</Filter/Standard/V 1/R 2/P -4/O<"
        + b"41" * 32 + b">/U<" + b"42" * 32 + b">>>endobj\n"
        b"trailer<</Root 1 0 R/Encrypt 3 0 R/ID[<01><01>]/Size 4>>\nstartxref\n0\n%%EOF\n"
    )  # fmt: skip


@pytest.mark.parametrize("what", ["empty", "garbage", "zeros", "encrypted", "half", "start", "png"])
def test_what_is_no_pdf_is_named_in_one_line(tmp_path: Path, what: str) -> None:
    file = tmp_path / "broken.pdf"
    whole = printed(tmp_path / "whole.pdf", lambda a: a.plot(X, X)).read_bytes()
    if what == "encrypted":
        encrypted(file)
    else:
        file.write_bytes(
            {
                "empty": b"",
                "garbage": bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8)),
                "zeros": bytes(4000),
                "half": whole[: len(whole) // 2],
                "start": whole[:20],
                "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
            }[what]
        )
    with pytest.raises(
        ValueError, match=r"^broken\.pdf is not a PDF that can be read \(.+\)$"
    ) as e:
        list(pages(file))
    assert "\n" not in str(e.value)
    if what == "encrypted":
        assert "password" in str(e.value)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        extract(tmp_path / "none.pdf")


def test_cut_anywhere_it_is_read_or_refused(tmp_path: Path) -> None:
    whole = printed(tmp_path / "whole.pdf", lambda a: a.plot(X, X)).read_bytes()
    file = tmp_path / "cut.pdf"
    for share in np.linspace(0.05, 0.99, 12):
        file.write_bytes(whole[: int(share * len(whole))])
        said, read = "", []
        try:
            read = list(pages(file))
        except ValueError as error:
            said = str(error)
        assert said.startswith("cut.pdf is not a PDF that can be read (") == (not read)
        assert all(page.image.size for page in read)


@reads
def test_a_page_of_text_has_no_plot(tmp_path: Path) -> None:
    def put(axes: Any) -> None:
        axes.axis("off")
        for i in range(14):
            axes.text(0, i / 14, f"{i} The quick brown fox jumps over the lazy dog, 3.14 times")

    with pytest.raises(NoPlotFoundError):
        extract_all(printed(tmp_path / "a.pdf", put))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_crop_box_moves_paths_with_the_image(tmp_path: Path, turn: int) -> None:
    import pypdfium2

    file = printed(
        tmp_path / "a.pdf", lambda a: (a.plot(X, np.sin(X), "#ff0000", lw=3), a.axis("off"))
    )
    document = pypdfium2.PdfDocument(file)
    document[0].set_cropbox(40, 60, 400, 300)
    document[0].set_rotation(turn)
    document.save(tmp_path / "b.pdf")
    document.close()
    for name in ("a.pdf", "b.pdf"):
        (page,) = pages(tmp_path / name)
        on_the_line(page)


def test_a_poster_is_read_at_a_size_that_fits(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    Figure(figsize=(150, 100)).savefig(tmp_path / "a.pdf")
    (page,) = pages(tmp_path / "a.pdf")
    assert max(page.image.shape) <= 6001
