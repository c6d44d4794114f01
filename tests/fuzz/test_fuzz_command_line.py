"""Whatever is typed: an exit code that means something, and no traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fuzzing import PAPER, TEXTS, cases
from hypothesis import given
from hypothesis import strategies as st

from probatum import catalog
from probatum.catalog import Catalog
from probatum.cli import main
from probatum.evidence import shipped_index

VERBS = ("list", "show", "check", "use", "status", "report", "doctor", "export", "new", "")
WORDS = st.sampled_from(
    [
        *("fuzzed", "fuzzed/better", "fuzzed/space", "fuzzed/", "/", "nobody", "linear-fractional"),
        *(
            "--json",
            "--all",
            "--strict",
            "--quiet",
            "--shipped",
            "--own",
            "--fresh",
            "--ship",
            "-h",
        ),
        *("--against", "shipped", "--profile", "smoke", "quick", "standard", "full", "--jobs", "0"),
        *("--replicates", "2", "-1", "99999999999999999999", "nan", "--store", "s.db", "x://y"),
        *(
            "sqlite://",
            "sqlite:///a/b/c.db",
            "postgresql://",
            "sqlite:///folder",
            "--out",
            "folder",
        ),
        *("-o", "t.csv", "t.json", "t.parquet", "t.bib", "t.jsonld", "folder/t.csv", "--what"),
        *("trials", "decisions", "citations", "--data", "my.csv", "--target", "y", "--with", "a=b"),
        *(
            "--arm",
            "mine=fuzzing:Thing",
            "mine=no:No",
            "=",
            "mine=",
            "--help",
            "-V",
            "--plan",
            "--",
        ),
        *("--metric", "f1", "--predict", "-", "--delta", "0.05", "anchored-fixed-point", "log.csv"),
        *(
            "posterior-tracking",
            "--domain",
            "supervised",
            "--title",
            "--name",
            "MyMethod",
            "diet.mps",
        ),
    ]
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a small catalog, a table, and a file that is no table."""
    found = Catalog((PAPER, *(p for p in catalog.load().papers if p.tools)), {})
    monkeypatch.setattr(catalog, "load", lambda: found)
    monkeypatch.setattr(shipped_index, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "work" / "folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    Path("my.csv").write_text("a,y\n" + "1,0\n2,1\n" * 20)
    Path("log.csv").write_text("arm,outcome\na,1\nb,0\n")
    Path("diet.mps").write_bytes(b"\0ROWS")
    return tmp_path


def test_whatever_is_typed(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    @cases(120, 20_000)
    @given(st.sampled_from(VERBS), st.lists(WORDS | TEXTS, max_size=7))
    def fuzz(verb: str, words: list[str]) -> None:
        words = [word for word in words if "\0" not in word or verb != "new"]
        if verb == "check":
            # What it is asked to do may take long, which is not the point here.
            words = [*(word for word in words if word != "--ship"), "--plan", "--jobs", "0"]
        if verb == "report":
            words = [*words, "--out", "folder"]
        if verb == "new":
            # It writes into the checkout that it is called in: here there is none.
            words = [*words]
        os.chdir(place / "work")
        code = main([verb, *words] if verb else words)
        out, err = capfd.readouterr()
        assert code in (0, 1, 2, 3)
        assert "Traceback" not in out + err
        assert code == 0 or err.strip() or not verb

    fuzz()
