"""What the options of ``probatum use linear-fractional`` may be."""

from __future__ import annotations

from pathlib import Path

from probatum.data import NotInstalledError
from probatum.evidence.extras import install_line
from probatum.files import check_output, same_file
from probatum.supervised import LinearFractional

OUTPUTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PLOTS = (".png", ".svg", ".pdf")
# Beyond these a metric is 0, or 1, whatever is predicted, to all the digits that are shown.
LEAST, MOST = 0.001, 1000


def parse_metric(text: str) -> LinearFractional:
    """The metric that a word on the command line means.

    Examples
    --------
    >>> parse_metric("fbeta:2").name, parse_metric("F1").name
    ('fbeta(beta=2)', 'f1')
    """
    name, _, given = text.partition(":")
    name = name.strip().lower()
    try:
        numbers = [float(number) for number in given.split(",")] if given else []
        if any(number > MOST for number in numbers) or 0 < max(numbers, default=1) < LEAST:
            raise ValueError(
                f"parameters must lie from 0 to {MOST}, the larger at {LEAST} or more: with others "
                "the metric hardly depends on the predictions"
            )
        if name == "f1" and not numbers:
            return LinearFractional.f1()
        if name == "jaccard" and not numbers:
            return LinearFractional.jaccard()
        if name == "fbeta" and len(numbers) == 1:
            return LinearFractional.fbeta(numbers[0])
        if name == "tversky" and len(numbers) == 2:
            return LinearFractional.tversky(numbers[0], numbers[1])
    except ValueError as error:
        raise ValueError(f"--metric {text}: {error}") from None
    raise ValueError(
        f"--metric must be f1, jaccard, fbeta:B (fbeta:2) or tversky:A,B (tversky:0.3,0.7), "
        f"got {text!r}"
    )


def check_paths(
    inputs: tuple[Path | None, ...], predict: Path | None, output: Path | None, plot: Path | None
) -> None:
    """Everything about paths that can be wrong, before anything runs."""
    if output is not None and predict is None:
        raise ValueError("--output is for predictions: give the rows to predict with --predict")
    for name, path, accepted in (("output", output, OUTPUTS), ("plot", plot, PLOTS)):
        if path is None:
            continue
        check_output(f"--{name}", path, accepted, inputs, "a table")
    if output is not None and plot is not None and same_file(output, plot):
        raise ValueError(f"--output and --plot are one file, {plot}")
    if plot is not None:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise NotInstalledError("--plot needs matplotlib", install_line("plots")) from None
