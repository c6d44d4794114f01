"""From the image of a plot and its box to the curves in it."""

from probatum.charts.tracing.track import TextBox, TraceOptions, Track
from probatum.charts.tracing.whole import trace

__all__ = ["TextBox", "TraceOptions", "Track", "trace"]
