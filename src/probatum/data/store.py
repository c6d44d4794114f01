"""Files of data sets that are not part of the package: mirror, cache, download, checksum."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from probatum.data.catalogue import DatasetFacts, FileFact, describe

_TIMEOUT_SECONDS = 60
# No data set here is near this; a server that sends more is not the one that we know.
_MAX_BYTES = 1 << 30


class DataNotFoundError(FileNotFoundError):
    """A data set is not here and could not be fetched.

    Parameters
    ----------
    name : str
        The data set.
    remedy : str
        What would mend it.
    """

    def __init__(self, name: str, remedy: str) -> None:
        super().__init__(name, remedy)
        self.name = name
        self.remedy = remedy

    def __str__(self) -> str:
        return f"data set {self.name!r} is not available: {self.remedy}"


def fetch(name: str, *, download: bool = True) -> Path:
    """Folder with the files of a data set, verified.

    Looks in turn at the mirror ``$PROBATUM_DATA/NAME``, at the cache
    (``$XDG_CACHE_HOME/probatum/NAME``, by default under ``~/.cache``), and at the official
    address. A download lands in the cache whole or not at all.

    Parameters
    ----------
    name : str
        A data set whose `kind` is "files".
    download : bool, default=True
        Whether to go to the network.

    Returns
    -------
    Path
        Read-only by convention: it may be a mirror shared with others.

    Raises
    ------
    DataNotFoundError
        If the files are not to be had, or are not the known ones; says what would mend it.
    ValueError
        If the data set has no files to fetch.

    Examples
    --------
    >>> fetch("caravan")
    Traceback (most recent call last):
        ...
    ValueError: 'caravan' has no files to fetch (it is shipped); use load('caravan')
    """
    facts = describe(name)
    if facts.kind != "files":
        raise ValueError(f"{name!r} has no files to fetch (it is {facts.kind}); use load({name!r})")
    return fetch_files(facts, download=download)


def fetch_files(facts: DatasetFacts, *, download: bool = True) -> Path:
    """As `fetch`, for facts that need not be in the catalogue."""
    mirror = os.environ.get("PROBATUM_DATA")
    if mirror and (folder := Path(mirror).expanduser() / facts.name).is_dir():
        if (wrong := _first_wrong(facts, folder)) is not None:
            raise DataNotFoundError(
                facts.name,
                f"{folder / wrong} is missing or is not the known file; mend the mirror "
                "or unset PROBATUM_DATA",
            )
        return folder
    cached = _cache_folder() / facts.name
    if cached.is_dir() and _first_wrong(facts, cached) is None:
        return cached
    if not download:
        raise DataNotFoundError(
            facts.name,
            f"set PROBATUM_DATA to a folder that holds {facts.name}/, or allow a download from "
            f"{facts.address}",
        )
    _download(facts, cached)
    return cached


def value_digest(text: str) -> str:
    """SHA-256 of a comma separated table of numbers, blind to how they are written.

    Copies of one table differ in whether there is a header, in ``63`` or ``63.0``, and in the code
    of a missing value ('?', -9 or 0): header lines are dropped, numbers are written alike and
    missing values count as 0.

    Examples
    --------
    >>> value_digest("a,b\\n63.0,-9\\n") == value_digest("63,?\\n") == value_digest("63,0")
    True
    """
    digest = hashlib.sha256()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        try:
            values = [0.0 if cell in ("?", "") else float(cell) for cell in cells]
        except ValueError:  # a header
            continue
        if line.strip():
            row = ",".join("0" if v in (-9.0, 0.0) else format(v, ".12g") for v in values)
            digest.update(f"{row}\n".encode())
    return digest.hexdigest()


def _first_wrong(facts: DatasetFacts, folder: Path) -> str | None:
    """Name of the first file that is missing or differs, None if all are well."""
    for file in facts.files:
        path = folder / file.name
        if not path.is_file() or _digest(path, file) != file.sha256:
            return file.name
    return None


def _digest(path: Path, file: FileFact) -> str:
    if file.digest == "values":
        return value_digest(path.read_text(encoding="utf-8", errors="replace"))
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "probatum"


def _download(facts: DatasetFacts, target: Path) -> None:
    """Fetch into a sibling of the target, verify, and rename: a kill leaves no half data set."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{facts.name}-", dir=target.parent))
    except OSError as error:
        remedy = f"the cache {target.parent} can't be written ({error}); set XDG_CACHE_HOME"
        raise DataNotFoundError(facts.name, remedy) from error
    try:
        got = work / "files"
        got.mkdir()
        try:
            _collect(facts, work, got)
        except (OSError, zipfile.BadZipFile) as error:
            raise DataNotFoundError(
                facts.name,
                f"download from {facts.address} failed ({error}); try again, or put its files into "
                f"a folder {facts.name}/ and set PROBATUM_DATA to the folder above it",
            ) from error
        if (wrong := _first_wrong(facts, got)) is not None:
            raise DataNotFoundError(
                facts.name,
                f"{wrong} from {facts.address} is not the known file (its checksum differs)",
            )
        if target.is_dir():  # damaged, or another process was faster
            if _first_wrong(facts, target) is None:
                return
            shutil.rmtree(target)
        try:
            got.rename(target)
        except OSError:
            if _first_wrong(facts, target) is not None:
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _collect(facts: DatasetFacts, work: Path, got: Path) -> None:
    """Put every file of the data set into `got`: members of one archive, or files of one folder."""
    if facts.address.endswith(".zip"):
        archive = work / "archive.zip"
        _save(facts.address, archive)
        with zipfile.ZipFile(archive) as zipped:
            members = {Path(member).name: member for member in zipped.namelist()}
            for file in facts.files:
                if file.name not in members:
                    raise OSError(f"the archive has no {file.name}")
                with zipped.open(members[file.name]) as source:
                    _copy(source.read, got / file.name)
        return
    for file in facts.files:
        _save(f"{facts.address.rstrip('/')}/{file.name}", got / file.name)


def _save(address: str, path: Path) -> None:
    # Addresses stand in the catalogue of data sets and nowhere else.
    with urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as response:  # nosec B310
        _copy(response.read, path)


def _copy(read: Callable[[int], bytes], path: Path) -> None:
    size = 0
    with path.open("wb") as out:
        while chunk := read(1 << 20):
            size += len(chunk)
            if size > _MAX_BYTES:
                raise OSError(f"{path.name} is larger than {_MAX_BYTES} bytes")
            out.write(chunk)
