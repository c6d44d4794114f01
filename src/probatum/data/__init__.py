"""Named data sets: what they are, under which licence, and how to get them."""

from probatum.data.catalogue import DatasetFacts, describe, identity, names
from probatum.data.loading import Table, available, load
from probatum.data.preprocessing import preprocessor
from probatum.data.store import DataNotFoundError, fetch

__all__ = [
    "DataNotFoundError",
    "DatasetFacts",
    "Table",
    "available",
    "describe",
    "fetch",
    "identity",
    "load",
    "names",
    "preprocessor",
]
