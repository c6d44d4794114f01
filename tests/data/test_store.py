"""Mirror, cache and download, on a small data set served from this machine."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import pickle
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from probatum.data import DataNotFoundError, available, describe, fetch
from probatum.data.catalogue import DatasetFacts, FileFact
from probatum.data.store import fetch_files, value_digest

ONE, TWO = b"a,b\n1,2\n", b"\x00\x01binary"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address under which it is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PROBATUM_DATA", raising=False)
    return tmp_path / "cache" / "probatum"


def toy(address: str) -> DatasetFacts:
    return dataclasses.replace(
        describe("heart-sites"),
        name="toy",
        address=address,
        files=(
            FileFact("one.csv", value_digest(ONE.decode()), "values"),
            FileFact("two.bin", hashlib.sha256(TWO).hexdigest()),
        ),
    )


def write(folder: Path, one: bytes = ONE, two: bytes = TWO) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.csv").write_bytes(one)
    (folder / "two.bin").write_bytes(two)


def zipped(*files: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


def test_download_of_single_files_then_cache(server: tuple[Path, str], cache: Path) -> None:
    folder, address = server
    write(folder)
    got = fetch_files(toy(address))
    assert got == cache / "toy"
    assert (got / "two.bin").read_bytes() == TWO
    (folder / "one.csv").unlink()  # from now on only the cache has it
    assert fetch_files(toy(address), download=False) == got
    assert [p.name for p in cache.iterdir()] == ["toy"]  # nothing left half-done


def test_download_of_an_archive(server: tuple[Path, str]) -> None:
    folder, address = server
    content = zipped(("inner/one.csv", b"1.0,2.0\n"), ("two.bin", TWO), ("more.txt", b""))
    (folder / "toy.zip").write_bytes(content)
    got = fetch_files(toy(f"{address}/toy.zip"))
    assert sorted(p.name for p in got.iterdir()) == ["one.csv", "two.bin"]


def test_local_file_address(tmp_path: Path) -> None:
    (tmp_path / "toy.zip").write_bytes(zipped(("one.csv", ONE), ("two.bin", TWO)))
    assert fetch_files(toy((tmp_path / "toy.zip").as_uri())).is_dir()


def test_damaged_cache_is_fetched_again(server: tuple[Path, str], cache: Path) -> None:
    folder, address = server
    write(folder)
    write(cache / "toy", two=b"damaged")
    with pytest.raises(DataNotFoundError):
        fetch_files(toy(address), download=False)
    assert (fetch_files(toy(address)) / "two.bin").read_bytes() == TWO


@pytest.mark.parametrize("content", [zipped(("one.csv", ONE)), b"no archive at all"])
def test_bad_archive(server: tuple[Path, str], cache: Path, content: bytes) -> None:
    folder, address = server
    (folder / "toy.zip").write_bytes(content)
    with pytest.raises(DataNotFoundError, match="'toy' is not available: download from") as caught:
        fetch_files(toy(f"{address}/toy.zip"))
    assert "PROBATUM_DATA" in caught.value.remedy
    assert list(cache.iterdir()) == []


def test_wrong_checksum_is_refused(server: tuple[Path, str], cache: Path) -> None:
    folder, address = server
    write(folder, one=b"1,3\n")
    with pytest.raises(DataNotFoundError, match=r"one.csv from .*its checksum differs"):
        fetch_files(toy(address))
    assert not (cache / "toy").exists()


def test_no_network(cache: Path) -> None:
    with pytest.raises(DataNotFoundError, match="try again") as caught:
        fetch_files(toy("http://127.0.0.1:9/toy.zip"))
    assert caught.value.name == "toy"
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # from a worker


def test_mirror_comes_first_and_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBATUM_DATA", str(tmp_path / "mirror"))
    write(tmp_path / "mirror" / "toy")
    facts = toy("http://127.0.0.1:9")
    assert fetch_files(facts) == tmp_path / "mirror" / "toy"
    write(tmp_path / "mirror" / "toy", two=b"?")
    with pytest.raises(DataNotFoundError, match=r"two.bin is missing or is not the known file"):
        fetch_files(facts)


def test_unwritable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DataNotFoundError, match="set XDG_CACHE_HOME"):
        fetch_files(toy("http://127.0.0.1:9"))


def test_nothing_is_downloaded_to_tell_whether_data_are_here() -> None:
    assert not available("heart-sites")
    with pytest.raises(DataNotFoundError, match="set PROBATUM_DATA"):
        fetch("heart-sites", download=False)


def test_shipped_tables_are_not_fetched() -> None:
    with pytest.raises(ValueError, match="no files to fetch"):
        fetch("yeast4")


def test_value_digest_sees_values() -> None:
    assert value_digest("1,2") != value_digest("1,3")
    assert value_digest("1,2\n3,4") != value_digest("1,2,3,4")
