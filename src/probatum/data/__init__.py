"""Named data sets (what they are, their licence, how to get them), and tables of one's own."""

from probatum.data.captions import Captions, load_captions, top_captions
from probatum.data.catalogue import DatasetFacts, describe, identity, names
from probatum.data.features import Features, prepare_features
from probatum.data.loading import Table, available, load
from probatum.data.preprocessing import preprocessor
from probatum.data.spectra import (
    Spectrum,
    SpectrumFigure,
    load_spectra,
    load_spectrum_figures,
)
from probatum.data.store import DataNotFoundError, fetch
from probatum.data.user_tables import NotInstalledError, read_table

__all__ = [
    "Captions",
    "DataNotFoundError",
    "DatasetFacts",
    "Features",
    "NotInstalledError",
    "Spectrum",
    "SpectrumFigure",
    "Table",
    "available",
    "describe",
    "fetch",
    "identity",
    "load",
    "load_captions",
    "load_spectra",
    "load_spectrum_figures",
    "names",
    "prepare_features",
    "preprocessor",
    "read_table",
    "top_captions",
]
