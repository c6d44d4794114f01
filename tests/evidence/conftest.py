"""Lets tests and worker processes import the trials that lie beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.evidence.store import Store

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store in a folder of its own."""
    with Store(f"sqlite:///{tmp_path}/store/evidence.db") as opened:
        yield opened
