"""Facts about every named data set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class FileFact:
    """One file of a data set and how a copy of it is recognised.

    Parameters
    ----------
    name : str
        File name inside the data set's folder.
    sha256 : str
        Digest of the bytes, or of the values.
    digest : {"bytes", "values"}, default="bytes"
        "values" is for tables of numbers of which copies circulate that differ in header line,
        number format and code for a missing value, but not in the values; see
        `probatum.data.store.value_digest`.
    """

    name: str
    sha256: str
    digest: Literal["bytes", "values"] = "bytes"


@dataclass(frozen=True)
class DatasetFacts:
    """What is known about a data set without loading it.

    Attributes
    ----------
    name : str
    description : str
        What a row is, what the positive class is, and anything one must know before using it.
    nature : {"real", "simulated", "fictional"}
        Whether the rows were observed, drawn from a model, or made up.
    licence : str
    source : str
        Where the data come from.
    address : str
        Official page or download.
    kind : {"shipped", "scikit-learn", "files"}
        Where the rows are: in this package, in scikit-learn, or in files that are fetched.
    rows, columns, positives : int
        Size of the table, the target not counted, and size of the positive class.
    target, positive : str
        Name of the target column and its positive value.
    files : tuple of FileFact
        For "shipped" the table; for "files" what `fetch` provides.
    """

    name: str
    description: str
    nature: Literal["real", "simulated", "fictional"]
    licence: str
    source: str
    address: str
    kind: Literal["shipped", "scikit-learn", "files"]
    rows: int
    columns: int
    positives: int
    target: str
    positive: str
    files: tuple[FileFact, ...] = ()


def _keel(
    name: str,
    uci: int,
    uci_name: str,
    creators: str,
    description: str,
    size: tuple[int, int, int],
    sha256: str,
) -> DatasetFacts:
    return DatasetFacts(
        name=name,
        description=description,
        nature="real",
        licence=CC_BY,
        source=f"UCI {uci_name} ({creators}), as cut into two classes by the KEEL repository",
        address=f"https://archive.ics.uci.edu/dataset/{uci}",
        kind="shipped",
        rows=size[0],
        columns=size[1],
        positives=size[2],
        target="class",
        positive="positive",
        files=(FileFact(f"{name}.csv.gz", sha256),),
    )


_ABALONE = "Nash, Sellers, Talbot, Cawthorn and Ford, 1994"
_CORTEZ = "Cortez, Cerdeira, Almeida, Matos and Reis, 2009"

_SHIPPED = (
    _keel(
        "abalone19",
        1,
        "Abalone",
        _ABALONE,
        "Shells; positive: 19 rings. Extremely rare positives (0.8 %).",
        (4174, 8, 32),
        "44a6192ae5f01797d70d6594dfc2a3dfa93f956653dd5dc46c3d7d28e45c060e",
    ),
    _keel(
        "abalone9-18",
        1,
        "Abalone",
        _ABALONE,
        "Shells with 9 or 18 rings; positive: 18 rings.",
        (731, 8, 42),
        "9d9aa31ead1bc38e1be4ff05c8853f6eba19c88fb704277bdbbeb14bffd3d687",
    ),
    _keel(
        "yeast4",
        110,
        "Yeast",
        "Nakai, 1991",
        "Yeast proteins; positive: localised in ME2 (membrane, uncleaved signal).",
        (1484, 8, 51),
        "27e5ede0191e89a0eecb73ec121facf3ee34d79d151865402b6cece85be0185e",
    ),
    _keel(
        "yeast6",
        110,
        "Yeast",
        "Nakai, 1991",
        "Yeast proteins; positive: localised in EXC (extracellular).",
        (1484, 8, 35),
        "cc1b70332c203467f0e10eb7ebc00c3614a20b3e2a9f65ac5c9650d3ecfdeb31",
    ),
    _keel(
        "ecoli3",
        39,
        "Ecoli",
        "Nakai, 1996",
        "E. coli proteins; positive: localised in imU (inner membrane, uncleavable signal).",
        (336, 7, 35),
        "d19e47262980eda9b7d76e017c3bda33ea27f81ef794a493bdd6915eae297c45",
    ),
    _keel(
        "page-blocks0",
        78,
        "Page Blocks Classification",
        "Malerba, 1995",
        "Blocks of scanned pages; positive: anything but text.",
        (5472, 10, 559),
        "0fb3e86ba3abe65e19d36c78ad4473fdaefce0c995cffa464df1248bffbcb812",
    ),
    _keel(
        "winequality-red-4",
        186,
        "Wine Quality",
        _CORTEZ,
        "Red wines; positive: graded 4.",
        (1599, 11, 53),
        "a49ae01e7955eedad7b72373043405cf7db9866494dc47f0ec0275ebba02ad5c",
    ),
    DatasetFacts(
        name="default",
        description=(
            "Credit card holders; positive: defaulted. SIMULATED for a textbook, not observed."
        ),
        nature="simulated",
        licence="BSD-3-Clause (ISLP package)",
        source="James, Witten, Hastie, Tibshirani and Taylor, An Introduction to Statistical "
        "Learning; Python package ISLP",
        address="https://github.com/intro-stat-learning/ISLP",
        kind="shipped",
        rows=10000,
        columns=3,
        positives=333,
        target="default",
        positive="Yes",
        files=(
            FileFact(
                "default.csv.gz",
                "273e869a6d5279800b841d92103866e930b92f3fd45e172c6915f94988929e72",
            ),
        ),
    ),
    DatasetFacts(
        name="caravan",
        description=(
            "Customers of a Dutch insurer (CoIL Challenge 2000, training part), 85 coded traits of "
            "household and neighbourhood; positive: bought a caravan policy."
        ),
        nature="real",
        licence=f"{CC_BY} (UCI); BSD-3-Clause (ISLP package)",
        source="UCI Insurance Company Benchmark (van der Putten, 2000), by way of ISLP",
        address="https://archive.ics.uci.edu/dataset/125",
        kind="shipped",
        rows=5822,
        columns=85,
        positives=348,
        target="Purchase",
        positive="Yes",
        files=(
            FileFact(
                "caravan.csv.gz",
                "82847df98be785817b46c6cb6fea9f8ac73bca78caa0ee7732d4a583a45eaa4a",
            ),
        ),
    ),
    DatasetFacts(
        name="credit-data",
        description="Applicants for credit, with missing values; positive: a bad payer.",
        nature="real",
        licence="MIT (R package modeldata)",
        source="credit_data of the R package modeldata; collected by Belanche Muñoz",
        address="https://modeldata.tidymodels.org/reference/credit_data.html",
        kind="shipped",
        rows=4454,
        columns=13,
        positives=1254,
        target="Status",
        positive="bad",
        files=(
            FileFact(
                "credit-data.csv.gz",
                "a23711a0e9d0604180bfd7b5611d5702ef3a55563518dd0efa581362a134da61",
            ),
        ),
    ),
    DatasetFacts(
        name="attrition",
        description=(
            "Employees; positive: left the company. FICTIONAL: made up by IBM's data scientists."
        ),
        nature="fictional",
        licence="MIT (R package modeldata)",
        source="attrition of the R package modeldata; IBM HR Analytics sample",
        address="https://modeldata.tidymodels.org/reference/attrition.html",
        kind="shipped",
        rows=1470,
        columns=30,
        positives=237,
        target="Attrition",
        positive="Yes",
        files=(
            FileFact(
                "attrition.csv.gz",
                "6b5c4c853b1a3d6cc644060a6d1b7a1d71b059d89a2cc572e0c75b6903d3774a",
            ),
        ),
    ),
)

# Images of each digit in scikit-learn's copy of the optical digits.
_DIGIT_COUNTS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)

_SKLEARN = (
    DatasetFacts(
        name="breast_cancer",
        description="Breast masses, 30 measures of cell nuclei; positive: malignant.",
        nature="real",
        licence=CC_BY,
        source="UCI Breast Cancer Wisconsin (Wolberg, Mangasarian, Street and Street, 1993)",
        address="https://archive.ics.uci.edu/dataset/17",
        kind="scikit-learn",
        rows=569,
        columns=30,
        positives=212,
        target="diagnosis",
        positive="malignant",
    ),
    *(
        DatasetFacts(
            name=f"digits_{digit}",
            description=f"8 by 8 images of handwritten digits; positive: the digit {digit}.",
            nature="real",
            licence=CC_BY,
            source="UCI Optical Recognition of Handwritten Digits (Alpaydin and Kaynak, 1998)",
            address="https://archive.ics.uci.edu/dataset/80",
            kind="scikit-learn",
            rows=1797,
            columns=64,
            positives=count,
            target="digit",
            positive=str(digit),
        )
        for digit, count in enumerate(_DIGIT_COUNTS)
    ),
)

_FILES = (
    DatasetFacts(
        name="heart-sites",
        description=(
            "Patients of four hospitals (column site), 13 findings; positive: heart disease. "
            "Missing values are NaN, but for four of ca that some copies of the Cleveland file "
            "give as 0."
        ),
        nature="real",
        licence=CC_BY,
        source="UCI Heart Disease (Janosi, Steinbrunn, Pfisterer and Detrano, 1988)",
        address="https://archive.ics.uci.edu/static/public/45/heart+disease.zip",
        kind="files",
        rows=920,
        columns=14,
        positives=509,
        target="num",
        positive="1 to 4",
        files=(
            FileFact(
                "processed.cleveland.data",
                "4976906823624cccd0445da9aa454f559e3bd0e5a2e37a97cec0a20a086ca3e9",
                "values",
            ),
            FileFact(
                "processed.hungarian.data",
                "ce60acd8a7b2bee95d91776948160b0c32b39e1b29cc27096f240768bcbdb250",
                "values",
            ),
            FileFact(
                "processed.switzerland.data",
                "1a120fdbec44f02cc5124fb27f160e1677dfd0da88243e1c383a1cd7cc612a93",
                "values",
            ),
            FileFact(
                "processed.va.data",
                "e83cb58bdb937a23a719d25c45b1103082d2c6ca28cba87b7155a6206fe2a98e",
                "values",
            ),
        ),
    ),
)

FACTS: dict[str, DatasetFacts] = {facts.name: facts for facts in (*_SHIPPED, *_SKLEARN, *_FILES)}


def names() -> list[str]:
    """Names of all data sets, sorted.

    Examples
    --------
    >>> "caravan" in names()
    True
    """
    return sorted(FACTS)


def describe(name: str) -> DatasetFacts:
    """What is known about a data set, without loading it.

    Parameters
    ----------
    name : str

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> facts = describe("attrition")
    >>> facts.nature, facts.rows, facts.licence
    ('fictional', 1470, 'MIT (R package modeldata)')
    """
    if name not in FACTS:
        raise ValueError(f"no data set called {name!r}; there are: {', '.join(names())}")
    return FACTS[name]


def identity(name: str) -> str:
    """Hash of a data set's content and of how it becomes a table, without reading it.

    Two versions of probatum whose identities agree load equal tables.

    Examples
    --------
    >>> identity("yeast4") == identity("yeast6")
    False
    """
    facts = describe(name)
    stated = (facts.name, facts.kind, facts.target, facts.positive, facts.files)
    return hashlib.sha256(repr(stated).encode()).hexdigest()[:16]
