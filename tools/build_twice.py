"""Build the wheel and the source distribution twice, and see that the bytes are the same.

    python tools/build_twice.py [--out FOLDER]

The two builds have different folders, clocks, time zones, file modes, modification times and hash
seeds; ``SOURCE_DATE_EPOCH`` is the same. The wheel of each is built from its source distribution.
Needs hatchling, and git where the folder is a checkout. Prints name and SHA-256 of each file; exits
1 where they differ. ``--out`` keeps them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EPOCH = 1_700_000_000
"""Stands in the archives in place of the time of building, unless the environment has another."""
SURROUNDINGS: tuple[dict[str, str], dict[str, str]] = (
    {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1", "LC_ALL": "C"},
    {"TZ": "America/Adak", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"},
)


def sources() -> list[str]:
    """Files of the checkout, or of an unpacked source distribution, that are not ignored."""
    if (ROOT / ".git").exists():
        listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        found = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
        names = [name for name in found.stdout.split("\0") if name]
    else:
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if "__pycache__" not in p.parts]
    return sorted(name for name in names if (ROOT / name).is_file())


def copied(names: list[str], folder: Path, at: int) -> Path:
    """A copy of the sources whose modes and times are those of another machine."""
    for name in names if at else reversed(names):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        executable = os.access(ROOT / name, os.X_OK)
        target.chmod((0o755, 0o700)[at] if executable else (0o644, 0o600)[at])
        os.utime(target, (10**9 + 10**8 * at, 10**9 + 10**8 * at))
    return folder


def built(folder: Path, out: Path, kind: str, surroundings: dict[str, str]) -> Path:
    """The one file that hatchling makes of a folder."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", str(EPOCH))
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)],
        cwd=folder,
        env={**os.environ, **surroundings, "SOURCE_DATE_EPOCH": epoch},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"hatchling failed:\n{done.stdout}{done.stderr}")
    suffix = ".whl" if kind == "wheel" else ".tar.gz"
    return next(path for path in out.iterdir() if path.name.endswith(suffix))


def build_all(work: Path, at: int, names: list[str]) -> list[Path]:
    """Source distribution, and the wheel that is built from it."""
    folder = copied(names, work / ("first", "a-second-with-a-longer-name")[at], at)
    out = work / f"dist-{at}"
    out.mkdir()
    sdist = built(folder, out, "sdist", SURROUNDINGS[at])
    with tarfile.open(sdist) as archive:
        archive.extractall(work / f"unpacked-{at}", filter="data")
    unpacked = next((work / f"unpacked-{at}").iterdir())
    return [sdist, built(unpacked, out, "wheel", SURROUNDINGS[at])]


def main() -> int:
    """Build, compare, print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder that the files are kept in")
    options = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory(prefix="probatum-build-") as folder:
        names = sources()
        pairs = zip(*(build_all(Path(folder), at, names) for at in (0, 1)), strict=True)
        for one, two in pairs:
            sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (one, two)]
            alike = one.name == two.name and sums[0] == sums[1]
            print(f"{sums[0]}  {one.name}" if alike else f"{one.name} differs from {two.name}")
            same = same and alike
            if options.out is not None:
                options.out.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(one, options.out / one.name)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
