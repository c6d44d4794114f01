"""Read tables of people's own: CSV in its dialects, Parquet and Excel, with one-line errors.

Cells are read as text first and typed column by column, by rules that are stated in `read_table`,
so that what a column becomes does not depend on how a library guesses.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probatum.data.missing_values import MISSING, without_missing
from probatum.data.other_formats import refuse_by_name, refuse_by_text

if TYPE_CHECKING:
    import pandas as pd

# In the order in which a tie between them is settled: a comma may be a decimal sign or prose.
_SEPARATORS = ("\t", ";", "|", ",")
_NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_SAMPLE_CHARACTERS, _SAMPLE_RECORDS = 1 << 18, 200
# A last line of our own, which a file can't hold: if it isn't read as a record, a quote is open.
_END = "\0"

_BYTE_ORDER_MARKS = (  # the longer first: UTF-32-LE begins like UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Missing where everything else in the column is a number; elsewhere they may be a level.
_MISSING_NUMBER = frozenset(("?", ".", "-", "--"))

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PLAIN = re.compile(rf"{_NUMBER}|[+-]?(?:inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]*),[0-9]+(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_CODE = re.compile(r"^[+-]?0[0-9]+$", re.MULTILINE)
# All that a number may be written with ("nan" is missing); float() itself takes 1_000 and more.
_CHARACTERS = re.compile(r"[0-9.eE+\-infINFtyTY\n]*")


class NotInstalledError(ImportError):
    """An optional library is missing.

    Parameters
    ----------
    what : str
        What needs it, as the beginning of a sentence.
    remedy : str
        What would mend it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}: {remedy}")
        self.remedy = remedy


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    words: Collection[str] = (),
) -> pd.DataFrame:
    """Read a person's table; what is doubtful is a warning, what can't be read an error.

    Text files may be compressed by gzip. Their separator is found among comma, semicolon, tab and
    bar; rows must be as wide as the header, but a separator at the end of every line and R's
    unnamed column of row names are understood. Cells lose the blanks around them. A column is
    numbers if every cell that is not missing is a number. Missing are the cells that pandas takes
    for missing ("", NA, NaN, null, None, ...), and in columns of numbers also ``?``, ``.``, ``-``
    and ``--``. Codes with leading zeros (007) stay text. A comma in a number is a decimal sign in
    files that are separated by something else, and elsewhere where it can be nothing else; where
    it can only separate thousands it is that.

    Parameters
    ----------
    path : str or Path
        CSV or TSV, plain or gzipped; Parquet (with pyarrow); Excel (with openpyxl).
    separator : str, default=None
        One character, or "tab"; None finds it.
    encoding : str, default=None
        None stands for UTF-8, or what a byte order mark says.
    sheet : str, default=None
        Sheet of an Excel file; None is the first.
    words : collection of str, default=()
        Columns in which "NA", "None" and the like are text, unless everything else is a number.

    Returns
    -------
    DataFrame
        Columns of int64, float64 or text (object), with unique names; a missing value is NaN.

    Raises
    ------
    OSError
        If the file is missing (with the nearest names), is a folder or can't be read.
    ValueError
        If its content is not a table: the message names the line or the byte.
    NotInstalledError
        If its format needs a library that is not there.

    Warns
    -----
    UserWarning
        If columns were renamed, commas in numbers interpreted, or the header looks like data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.csv")
    ...     _ = file.write_text("width;colour\\n1,5;red\\n2;NA\\n")
    ...     print(read_table(file))
       width colour
    0    1.5    red
    1    2.0    NaN
    """
    cells, found = read_cells(
        path, separator=separator, encoding=encoding, sheet=sheet, words=words
    )
    return cells if found is None else typed(cells, found, words=words)


def read_cells(
    path: str | Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    words: Collection[str] = (),
) -> tuple[pd.DataFrame, str | None]:
    """The cells as they are written, and what separates them; see `read_table`.

    What `typed` makes of cells and separator is what `read_table` gives. Of Parquet and Excel,
    which know their types, the table itself comes, and None.
    """
    path = Path(path)
    separator = None if separator is None else _one_separator(separator)
    content = _content(path)
    refuse_by_name(path)
    if content[:4] == b"PAR1" or path.suffix.lower() in (".parquet", ".pq"):
        return _foreign(path, content, "parquet", None, words), None
    if content[:4] == b"PK\x03\x04" or path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        return _foreign(path, content, "excel", sheet, words), None
    text = _text(path, content, encoding)
    refuse_by_text(path, text)
    if (told := re.match(r"sep=(.)\r?\n", text)) is not None:  # Excel's own line
        text, separator = text[told.end() :], separator or told.group(1)
    separator = separator or _found_separator(text, path)
    header, rows = _rows(path, text, separator)
    import pandas as pd

    if all(_PLAIN.fullmatch(name) for name in header):
        _warn(f"{path}: the first line holds numbers only, but was read as names of columns")
    names, renamed = unique_names(header)
    if renamed:
        _warn(f"{path}: columns without a name of their own were renamed: {renamed}")
    return pd.DataFrame(rows, columns=pd.Index(names, dtype=object), dtype=object), separator


def typed(cells: pd.DataFrame, separator: str, *, words: Collection[str] = ()) -> pd.DataFrame:
    """Columns of text turned into numbers where every cell is one; see `read_table`."""
    import pandas as pd

    columns = {name: _typed(name, cells[name], separator, name in words) for name in cells.columns}
    return pd.DataFrame(columns, index=cells.index)


def unique_names(names: Iterable[object]) -> tuple[list[str], str]:
    """Names as text, none empty and none twice, and a sentence about those that were changed.

    A name that is empty becomes the column's number, one that occurs again gets a number.

    Examples
    --------
    >>> unique_names(["a", "a", "", "a.2"])
    (['a', 'a.2', 'column_3', 'a.2.2'], "'a' to 'a.2', '' to 'column_3', 'a.2' to 'a.2.2'")
    """
    taken: set[str] = set()
    found, changed = [], []
    for place, given in enumerate(names, 1):
        old = str(given).strip()
        base = name = old or f"column_{place}"
        again = 1
        while name in taken:
            again += 1
            name = f"{base}.{again}"
        if name != old:
            changed.append(f"{old!r} to {name!r}")
        taken.add(name)
        found.append(name)
    shown = ", ".join(changed[:5])
    return found, shown + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")


def nearest(name: str, known: Iterable[str]) -> str:
    """The names most like one that is not there, or the first ones, as the end of a sentence."""
    known = list(known)
    lower: dict[str, str] = {}
    for one in known:
        lower.setdefault(one.lower(), one)
    close = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return f"there are: {', '.join(map(repr, known[:12]))}{more}" if known else "there are none"


def is_number(cell: str) -> bool:
    """Whether a cell by itself reads as a number.

    Examples
    --------
    >>> [is_number(cell) for cell in ("-1.5e3", "-inf", "-", "1,5", "=1")]
    [True, True, False, False, False]
    """
    return _PLAIN.fullmatch(cell.strip()) is not None


# --- from a file to text -------------------------------------------------------------------------


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def _content(path: Path) -> bytes:
    """Bytes of a file, unpacked if they are gzipped."""
    try:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; give a file in it")
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(_no_file(path)) from None
    except PermissionError:
        raise PermissionError(f"{path} may not be read (permission denied)") from None
    except ValueError:  # a NUL character in the path
        raise ValueError(f"{str(path)!r} is no path of a file") from None
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a whole gzip file: {error}") from None
    if not content.strip():
        raise ValueError(f"{path} is empty")
    return content


def _no_file(path: Path) -> str:
    folder = path.parent
    try:
        known = sorted(child.name for child in folder.iterdir() if child.is_file())
    except OSError:
        return f"there is no file {path}: its folder can't be read"
    close = difflib.get_close_matches(path.name, known, n=3)
    return f"there is no file {path}" + (f"; near it is {', '.join(close)}" if close else "")


def _foreign(
    path: Path, content: bytes, kind: str, sheet: str | None, words: Collection[str]
) -> pd.DataFrame:
    """A table in a format of its own, by the library that pandas takes for it."""
    import pandas as pd

    try:
        if kind == "parquet":
            frame = pd.read_parquet(io.BytesIO(content))
        else:
            frame = pd.read_excel(
                io.BytesIO(content),
                sheet_name=0 if sheet is None else sheet,
                keep_default_na=False,
                na_values=[""],
            )
    except ImportError:
        library = "pyarrow" if kind == "parquet" else "openpyxl"
        remedy = f"pip install {library}, or save the table as CSV"
        raise NotInstalledError(f"reading {path.name} needs {library}", remedy) from None
    except Exception as error:  # the libraries raise errors of their own
        raise ValueError(f"{path} can't be read as {kind}: {_one_line(error)}") from None
    if frame.empty:
        raise ValueError(f"{path} has no rows")
    names, renamed = unique_names(frame.columns)
    if renamed:
        _warn(f"{path}: columns without a name of their own were renamed: {renamed}")
    frame.columns = pd.Index(names, dtype=object)
    if kind == "excel":
        for name in names:
            frame[name] = without_missing(frame[name], name in words)
    return frame.reset_index(drop=True)


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:200]


def _text(path: Path, content: bytes, encoding: str | None) -> str:
    if encoding is None:
        marked = (name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark))
        encoding = next(marked, "utf-8")
        advice = "give encoding (on the command line --encoding), often cp1252 or latin-1"
    else:
        advice = "give another encoding"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte {content[error.start : error.start + 1].hex()} at offset {error.start}"
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}: {place} (line {line}) can't be read as {encoding}; {advice}"
        ) from None
    except (LookupError, UnicodeError, ValueError, TypeError) as error:
        raise ValueError(
            f"{path} can't be read with encoding {encoding!r}: {_one_line(error)}"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(
            f"{path}: NUL byte in line {line}: no text table; if it is UTF-16 without a byte "
            "order mark, give encoding utf-16-le"
        )
    return text.removeprefix("\ufeff")


# --- from text to rows ---------------------------------------------------------------------------


def _one_separator(given: str) -> str:
    one = _NAMED_SEPARATORS.get(given, given)
    if len(one) != 1 or one in '"\r\n\0':
        raise ValueError(f"separator must be one character or 'tab', got {given!r}")
    return one


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line on which each record begins and its cells; ends with the record of `_END`."""
    lines = chain(io.StringIO(text, newline=""), [_END])
    # A blank after the separator belongs to the layout, unless it is the separator itself.
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != " ")
    begins = 1
    for record in reader:
        if len(record) > 1 or (record and record[0].strip()):  # else a blank line
            yield begins, record
        begins = reader.line_num + 1


def _found_separator(text: str, path: Path) -> str:
    """The separator that cuts the first records most evenly into more than one cell.

    A tie goes to the one that is less likely to stand in prose or in a number.
    """
    best, best_share = ",", 0.0
    for separator in _SEPARATORS:
        sample = _records(text[:_SAMPLE_CHARACTERS], separator)
        try:
            widths = [len(record) for _, record in islice(sample, _SAMPLE_RECORDS)]
        except csv.Error:
            continue
        if widths[-1] == 1 or len(text) > _SAMPLE_CHARACTERS:  # our end, or a record cut in two
            widths.pop()
        if not widths or widths[0] < 2:
            continue
        share = sum(width == widths[0] for width in widths) / len(widths)
        if share > best_share:
            best, best_share = separator, share
    return "\t" if not best_share and path.suffix.lower() == ".tsv" else best


def _rows(path: Path, text: str, separator: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows, all as wide as the header."""
    lines: list[int] = []
    records: list[list[str]] = []
    try:
        for line, record in _records(text, separator):
            lines.append(line)
            records.append(record)
    except csv.Error as error:
        line = lines[-1] + 1 if lines else 1
        raise ValueError(
            f"{path}: the record after line {line} can't be read ({error}); is a quote not closed?"
        ) from None
    if not records or records.pop() != [_END]:
        raise ValueError(f"{path}: the quote opened in the record of line {lines[-1]} never closes")
    if not records:
        raise ValueError(f"{path} is empty")
    header, rows = records[0], records[1:]
    if not rows:
        raise ValueError(f"{path} has a header but no rows")
    width = len(header)
    widths = {len(row) for row in rows}
    if widths == {width + 1}:
        if all(not row[-1].strip() for row in rows):  # a separator at the end of every line
            rows = [row[:-1] for row in rows]
        else:  # row names without a name, as R writes them
            header = ["", *header]
    elif widths != {width}:
        at = next(i for i, row in enumerate(rows) if len(row) != width)
        shown = "tab" if separator == "\t" else repr(separator)
        raise ValueError(
            f"{path}: line {lines[at + 1]} has {len(rows[at])} cells, the header has {width} "
            f"(separator: {shown}); mend the line or give the separator"
        )
    return header, rows


# --- from cells to columns -----------------------------------------------------------------------


def _typed(
    name: str, column: pd.Series[Any], separator: str | None, as_words: bool
) -> pd.Series[Any]:
    import numpy as np
    import pandas as pd

    numbers, reading = _numbers([cell.strip() for cell in column], separator)
    if numbers is not None and not reading:  # most columns: nothing is missing
        return pd.Series(numbers, index=column.index, name=name)
    codes, levels = pd.factorize(column)
    words = np.array([level.strip() for level in levels], dtype=object)
    absent = np.asarray(pd.Series(words, dtype=object).isin(MISSING))
    present = ~(absent | np.asarray(pd.Series(words, dtype=object).isin(_MISSING_NUMBER)))
    numbers, reading = _numbers(words[present].tolist(), separator)
    if reading:
        _warn(f"column {name!r}: {reading}")
    if as_words and absent.any() and (numbers is None or not present.any()):
        absent = words == ""
        numbers = None
    elif as_words and (lost := sorted({*words[absent].tolist()} - {""})):
        shown = ", ".join(map(repr, lost))
        _warn(f"column {name!r}: {shown} read as missing, because the other cells are numbers")
    if numbers is None:
        spread = words
        spread[absent] = np.nan
    elif present.all():
        spread = numbers
    else:
        spread = np.full(words.size, np.nan)
        spread[present] = numbers
    return pd.Series(spread[codes], index=column.index, name=name)


def _numbers(words: list[str], separator: str | None) -> tuple[Any, str]:
    """Distinct words as int64 or float64, None if they aren't numbers; what commas were read as.

    Words are checked by the lines of one text: ten times faster than one by one.
    """
    import numpy as np

    text = "\n".join(words)
    if _CODE.search(text):
        return None, ""
    reading = ""
    if "," in text:
        thousands = all(_THOUSANDS.fullmatch(w) or _PLAIN.fullmatch(w) for w in words)
        decimal = all(_DECIMAL_COMMA.fullmatch(w) or _WHOLE.fullmatch(w) for w in words)
        comma = f"the comma in {next(word for word in words if ',' in word)} was read as a"
        if decimal and (separator != "," or not thousands):
            text = text.replace(".", "").replace(",", ".")
            reading = f"{comma} decimal sign" if separator == "," else ""
        elif thousands:
            text = text.replace(",", "")
            reading = f"{comma} separator of thousands"
        else:
            return None, ""
    if not _CHARACTERS.fullmatch(text):
        return None, ""
    words = text.split("\n") if words else []
    if "." not in text:
        try:
            return np.array([int(word) for word in words], dtype=np.int64), reading
        except (ValueError, OverflowError):  # an exponent, infinity, or more digits than 64 bits
            pass
    try:
        return np.array([float(word) for word in words], dtype=np.float64), reading
    except ValueError:
        return None, ""
