"""The report: a static site of papers, claims, verdicts and what they rest on."""

from probatum.report.site import Built, NotASite, build

__all__ = ["Built", "NotASite", "build"]
