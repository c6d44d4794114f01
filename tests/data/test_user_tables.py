"""Tables as people have them: every dialect is read, everything else is one clear line."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probatum.data import NotInstalledError, load, read_table
from probatum.data.user_tables import is_number, nearest, read_cells, typed, unique_names


def read(folder: Path, content: str | bytes, name: str = "t.csv", **options: Any) -> pd.DataFrame:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(file, **options)


def columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {name: frame[name].tolist() for name in frame.columns}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
        ("a;b\n1;2\n", {"a": [1], "b": [2]}),
        ("a\tb\n1\t2\n", {"a": [1], "b": [2]}),
        ("a|b\n1|2\n", {"a": [1], "b": [2]}),
        ("a\n1\n2\n", {"a": [1, 2]}),
        ("a,b\r\n1,2\r\n\r\n3,4\r\n", {"a": [1, 3], "b": [2, 4]}),
        ("a,b\r1,2\r", {"a": [1], "b": [2]}),
        ("\n\na,b\n1,2", {"a": [1], "b": [2]}),
        ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
        ("sep=;\na;b\n1;2\n", {"a": [1], "b": [2]}),
        ('a,b\n"x\ny",1\nz,2\n', {"a": ["x\ny", "z"], "b": [1, 2]}),
        ('a,b\n"say ""hi"", now",1\n', {"a": ['say "hi", now'], "b": [1]}),
        ('a, b\n 1, "x, y"\n2, z \n', {"a": [1, 2], "b": ["x, y", "z"]}),
        ("a;b\nred, or so;1,5\nblue;2\n", {"a": ["red, or so", "blue"], "b": [1.5, 2.0]}),
        ("a;b\n1.234,5;1\n-2,5e1;2\n", {"a": [1234.5, -25.0], "b": [1, 2]}),
        ("a,b\n1.5,-.5\n1e3,+2.\n", {"a": [1.5, 1000.0], "b": [-0.5, 2.0]}),
        ("a,b\ninf,1\n-Infinity,2\n", {"a": [np.inf, -np.inf], "b": [1, 2]}),
        ("a,b\n99999999999999999999999,1\n1,2\n", {"a": [1e23, 1.0], "b": [1, 2]}),
        ("a,b\n9223372036854775807,1\n", {"a": [2**63 - 1], "b": [1]}),
        ("zip,b\n00501,1\n12345,2\n", {"zip": ["00501", "12345"], "b": [1, 2]}),
        ("a,b\n1_000,0x1F\n", {"a": ["1_000"], "b": ["0x1F"]}),
        ("a,b\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),  # a separator ends every line
    ],
)
def test_dialects(tmp_path: Path, content: str, expected: dict[str, list[Any]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = read(tmp_path, content)
    assert columns(frame) == expected
    for name, values in expected.items():
        assert frame[name].dtype == ("object" if isinstance(values[0], str) else type(values[0]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_are_found(tmp_path: Path, encoding: str) -> None:
    frame = read(tmp_path, "größe,b\nhäßlich,1\n".encode(encoding))
    assert columns(frame) == {"größe": ["häßlich"], "b": [1]}


def test_another_encoding_is_named_with_the_byte_and_can_be_given(tmp_path: Path) -> None:
    content = "a,b\n1,2\ncaf\u00e9,2\n".encode("cp1252")
    with pytest.raises(ValueError, match=r"byte e9 at offset 11 \(line 3\).*--encoding.*cp1252"):
        read(tmp_path, content)
    assert read(tmp_path, content, encoding="cp1252")["a"].tolist() == ["1", "café"]
    with pytest.raises(ValueError, match="unknown encoding: klingon"):
        read(tmp_path, content, encoding="klingon")


def test_gzip_by_its_content_whatever_the_name(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n")
    for name in ("t.csv.gz", "t.csv"):
        assert columns(read(tmp_path, packed, name)) == {"a": [1], "b": [2]}
    for broken in (packed[:-5], packed[:8] + b"\xff" * 20):
        with pytest.raises(ValueError, match="not a whole gzip file"):
            read(tmp_path, broken)


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "null", "None", "n/a", "#N/A", " "])
def test_missing_cells(tmp_path: Path, cell: str) -> None:
    frame = read(tmp_path, f"a,b\n1,x\n{cell},{cell}\n")
    assert frame["a"].dtype == float
    assert frame["a"].isna().tolist() == frame["b"].isna().tolist() == [False, True]


@pytest.mark.parametrize("cell", ["?", ".", "-", "--"])
def test_signs_are_missing_among_numbers_and_levels_among_words(tmp_path: Path, cell: str) -> None:
    frame = read(tmp_path, f"a,b\n1.5,x\n{cell},{cell}\n")
    assert frame["a"].isna().tolist() == [False, True]
    assert frame["b"].tolist() == ["x", cell]


@pytest.mark.parametrize(
    ("content", "expected", "said"),
    [
        ('a,b\n"1,234",1\n5,2\n', [1234, 5], "1,234 was read as a separator of thousands"),
        ('a,b\n"1,234.5",1\n5,2\n', [1234.5, 5], "separator of thousands"),
        ('a,b\n"1,5",1\n"2,25",2\n', [1.5, 2.25], "1,5 was read as a decimal sign"),
    ],
)
def test_commas_in_numbers_of_comma_files_are_told(
    tmp_path: Path, content: str, expected: list[float], said: str
) -> None:
    with pytest.warns(UserWarning, match=said):
        assert read(tmp_path, content)["a"].tolist() == expected


def test_names_are_made_unique_the_same_way_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"'a' to 'a\.2', '' to 'column_4'"):
            frame = read(tmp_path, "a,a, b ,\n1,2,3,4\n")
        assert columns(frame) == {"a": [1], "a.2": [2], "b": [3], "column_4": [4]}


def test_row_names_as_r_writes_them(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="column_1"):
        frame = read(tmp_path, '"a","b"\n"1",5,x\n"2",6,y\n')
    assert columns(frame) == {"column_1": [1, 2], "a": [5, 6], "b": ["x", "y"]}


def test_a_header_of_numbers_is_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="first line holds numbers only"):
        read(tmp_path, "1,2\n3,4\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b\n1,2\n\n1,2,3\n", r"line 4 has 3 cells, the header has 2 \(separator: ','\)"),
        ("a,b\n1,2\n5\n", "line 3 has 1 cells, the header has 2"),
        ('a,b\n"x\ny",1\n1,2,3\n', "line 4 has 3 cells"),
        ('a,b\n1,2\n"x,2\n3,4\n', "quote opened in the record of line 3 never closes"),
        (b"a,b\n1,\0\n", "NUL byte in line 2"),
        ("a,b\n1,2\n".encode("utf-16-le"), "utf-16-le"),
        (b"PK\x03\x04nothing", "can't be read as excel"),
        ('a,b\n"' + "x" * 200_000 + "\n1,2\n", "a quote"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises((ValueError, ImportError), match=said) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "nothing"])
def test_a_separator_is_one_character(tmp_path: Path, separator: str) -> None:
    with pytest.raises(ValueError, match="separator must be one character or 'tab', got"):
        read(tmp_path, "a,b\n1,2\n", separator=separator)


def test_a_given_separator_is_used(tmp_path: Path) -> None:
    assert columns(read(tmp_path, "a b\n1 2\n", separator=" ")) == {"a": [1], "b": [2]}
    assert columns(read(tmp_path, "a\tb,c\n1\t2\n", separator="tab")) == {"a": [1], "b,c": [2]}


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*costumers\.csv; near it is customers"):
        read_table(tmp_path / "costumers.csv")
    with pytest.raises(FileNotFoundError, match="its folder can't be read"):
        read_table(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(FileNotFoundError, match="no file"):
        read_table(tmp_path / "customers.csv" / "t.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="no path"):
        read_table("a\0b")


@pytest.mark.parametrize(("kind", "library"), [("parquet", "pyarrow"), ("xlsx", "openpyxl")])
def test_formats_that_need_a_library_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, library: str
) -> None:
    for name in (library, "fastparquet"):
        monkeypatch.setitem(sys.modules, name, None)
    content = {
        "parquet": b"PAR1",
        "xlsx": _empty_workbook(),
    }[kind]
    with pytest.raises(NotInstalledError, match=f"needs {library}: pip install {library}, or") as e:
        read(tmp_path, content, f"t.{kind}")
    assert library in e.value.remedy


def _empty_workbook() -> bytes:
    """As much of an Excel file as pandas looks at to know it for one."""
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    return packed.getvalue()


def test_tables_that_know_their_types_are_taken_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = pd.DataFrame([[1, "007"], [2, None]], columns=["a", "a"], index=[5, 6])
    monkeypatch.setattr(pd, "read_parquet", lambda source: own.copy())
    with pytest.warns(UserWarning, match=r"'a\.2'"):
        frame = read(tmp_path, b"PAR1", "t.parquet")
    assert columns(frame) == {"a": [1, 2], "a.2": ["007", None]}
    assert frame.index.tolist() == [0, 1]
    monkeypatch.setattr(pd, "read_parquet", lambda source: own.iloc[:0])
    with pytest.raises(ValueError, match="has no rows"):
        read(tmp_path, b"PAR1", "t.parquet")


def test_a_shipped_table_is_read_as_pandas_reads_it(tmp_path: Path) -> None:
    table = load("page-blocks0").X
    table.to_csv(tmp_path / "t.csv", index=False)
    frame = read_table(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(frame, pd.read_csv(tmp_path / "t.csv"), check_exact=True)


def test_names_near() -> None:
    assert nearest("lfet", ["age", "left"]) == "did you mean 'left'?"
    assert nearest("LEFT", ["age", "left"]) == "did you mean 'left'?"
    assert nearest("q", ["age", "left"]) == "there are: 'age', 'left'"
    assert nearest("q", []) == "there are none"


@given(st.lists(st.text(max_size=4), max_size=20))
def test_unique_names_are_unique_and_stay(names: list[str]) -> None:
    found, _ = unique_names(names)
    assert len(set(found)) == len(found) == len(names)
    assert all(found)
    assert unique_names(found) == (found, "")


PLACE = [HealthCheck.function_scoped_fixture]


@settings(max_examples=200, deadline=None, suppress_health_check=PLACE)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.text('ab,;\t|"\n\r 1.-e\0\ufeff', max_size=60).map(str.encode),
    ),
    st.sampled_from([None, ",", "tab", "x"]),
    st.sampled_from([None, "utf-8", "utf-16", "latin-1", "rot13", "punycode", "\0"]),
)
def test_any_bytes_are_a_table_or_one_line(
    tmp_path: Path, content: bytes, separator: str | None, encoding: str | None
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told, frame = "", None
        try:
            frame = read(tmp_path, content, separator=separator, encoding=encoding)
        except (ValueError, NotInstalledError) as error:
            told = str(error)
    if frame is None:
        assert told
        assert "\n" not in told
    else:
        assert len(frame) >= 1
        assert frame.columns.is_unique
        assert set(frame.dtypes.astype(str)) <= {"int64", "float64", "object"}


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=150, deadline=None, suppress_health_check=PLACE)
@given(st.data(), st.integers(2, 4), st.sampled_from([",", ";", "\t", "|"]))
def test_cells_that_were_written_are_read(
    tmp_path: Path, data: st.DataObject, width: int, separator: str
) -> None:
    rows = data.draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([[f"c{i}" for i in range(width)], *rows])
    (tmp_path / "t.csv").write_bytes(text.getvalue().encode())
    cells, found = read_cells(tmp_path / "t.csv", separator=separator)
    assert found == separator
    assert cells.to_numpy().tolist() == rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = typed(cells, separator)
    for name in frame.columns:
        for cell, value in zip(cells[name], frame[name], strict=True):
            if isinstance(value, str):
                assert value == cell.strip()
            elif is_number(cell) and not pd.isna(value):
                assert value == float(cell)


@settings(max_examples=100, deadline=None, suppress_health_check=PLACE)
@given(
    st.lists(st.one_of(st.integers(), st.floats(allow_nan=False)), min_size=1, max_size=20),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_numbers_come_back_to_the_last_digit(
    tmp_path: Path, numbers: list[float], separator: str
) -> None:
    text = "".join(f"{number!r}{separator}x\n" for number in ["n", *numbers])
    frame = read(tmp_path, text.replace("'n'", "n"), separator=separator)
    whole = all(isinstance(n, int) and -(2**63) <= n < 2**63 for n in numbers)
    assert frame["n"].tolist() == (numbers if whole else [float(n) for n in numbers])


# --- words that may be missing -------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["NA", "None", "null", "nan"])
def test_in_a_column_of_words_only_the_empty_cell_is_missing(tmp_path: Path, cell: str) -> None:
    content = f"a,b\n{cell},{cell}\nmild,mild\n,x\n"
    frame = read(tmp_path, content, words=("a",))
    assert frame["a"].tolist()[:2] == [cell, "mild"]
    assert frame.isna().to_numpy().tolist() == [[False, True], [False, False], [True, False]]


def test_among_numbers_it_is_missing_and_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="column 'a': 'NA', 'null' read as missing"):
        frame = read(tmp_path, "a,b\n0,1\nNA,1\nnull,1\n1,2\n", words=("a",))
    assert frame["a"].isna().tolist() == [False, True, True, False]


def test_spreadsheets_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = pd.DataFrame(
        {"y": ["None", "mild"], "x": ["None", "mild"], "n": [1.5, "NA"], "b": [True, "NA"]}
    )
    monkeypatch.setattr(pd, "read_excel", lambda source, **options: sheet.copy())
    frame = read(tmp_path, _empty_workbook(), "t.xlsx", words=("y",))
    assert frame["y"].tolist() == ["None", "mild"]
    assert frame["x"].isna().tolist() == [True, False]
    assert frame["n"].dtype == float
    assert frame["b"].tolist()[0] is True


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", '[{"a": 1}]'),
        ("t.json", "a,b\n1,2\n"),
        ("t.csv", '{"a": [1, 2],\n"b": 3}'),
        ("t.csv", "<!DOCTYPE html>\n<p>a,b</p>\n"),
        ("t.zip", b"PK\x03\x04"),
        ("t.json.gz", "x"),
    ],
)
def test_other_formats_are_called_so(tmp_path: Path, name: str, content: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"is not a table format that is read \(CSV, TSV, Parq"):
        read(tmp_path, content, name)
