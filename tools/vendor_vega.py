"""Make the one script that draws the charts of a report, from pinned packages of npm.

    python tools/vendor_vega.py [--out src/probatum/report/assets]
    python tools/vendor_vega.py --lock

Needs node and npm. What is bundled is written down in ``tools/vega``: versions in
``package.json``, those of everything that these need, with checksums, in ``package-lock.json``,
and what the pages use in ``entry.js``. Writes ``vega.js``, ``vega.LICENSES.md`` with the licence
of every package of which the script holds a line, and ``vega.sha256`` (as sha256sum prints it),
byte for byte the same on every run. To raise a version, change ``package.json``, run with
``--lock`` and then without.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from probatum.files import whole_file

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tools" / "vega"
ASSETS = ROOT / "src" / "probatum" / "report" / "assets"
INPUTS = ("package.json", "package-lock.json", "entry.js")
MARK = "node_modules/"
COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n?)+", re.DOTALL | re.MULTILINE)
# Comments in which a package says that it took something from elsewhere.
TAKEN = re.compile(
    r"copyright|licen[cs]e\b|\b(?:adapted|ported) from\b|\bbased on https?:", re.IGNORECASE
)


def npm(*arguments: str, cwd: Path) -> None:
    """Run npm so that no package runs anything when it is installed."""
    command = ["npm", *arguments, "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr)


def lock() -> None:
    """Write ``package-lock.json`` anew, without the address of the registry that was asked."""
    (SOURCE / "package-lock.json").unlink(missing_ok=True)
    npm("install", "--package-lock-only", "--omit-lockfile-registry-resolved", cwd=SOURCE)


def stated_versions() -> dict[str, str]:
    """Versions of the packages that are asked for by name."""
    facts = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    return dict(facts["dependencies"])


def bundle(folder: Path) -> tuple[bytes, list[Path]]:
    """The script, and the files of which it holds at least a line.

    Parameters
    ----------
    folder : Path
        Holds :data:`INPUTS` and what npm has installed.
    """
    versions = stated_versions()
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    banner = f"/* {named}. Licences: vega.LICENSES.md. Made by tools/vendor_vega.py. */"
    subprocess.run(
        [
            "node_modules/.bin/esbuild",
            "entry.js",
            "--bundle",
            "--minify",
            "--format=iife",
            "--target=es2020",
            "--charset=ascii",  # right whatever encoding the page is read in
            "--legal-comments=none",  # all of them stand in vega.LICENSES.md
            # Vega-Lite takes small functions from `vega`, which would bring all of it along.
            "--alias:vega=vega-util",
            f"--define:VERSIONS={json.dumps(versions)}",
            f"--banner:js={banner}",
            "--outfile=vega.js",
            "--metafile=meta.json",
            "--log-level=warning",
        ],
        cwd=folder,
        check=True,
    )
    outputs = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["outputs"]
    inputs = outputs["vega.js"]["inputs"]
    used = [folder / name for name, share in inputs.items() if share["bytesInOutput"]]
    return (folder / "vega.js").read_bytes(), sorted(path for path in used if MARK in str(path))


def package_of(path: Path) -> Path:
    """Folder of the package that a file belongs to."""
    before, _, inside = path.as_posix().rpartition(MARK)
    parts = inside.split("/")
    return Path(before, MARK, *parts[: 2 if parts[0].startswith("@") else 1])


def licence_of(package: Path) -> str:
    """Text of a package's licence."""
    found = sorted(p for p in package.iterdir() if re.match("licen[cs]e|copying", p.name.lower()))
    if not found:
        raise FileNotFoundError(f"{package.name} brings no file with its licence")
    return "\n\n".join(path.read_text(encoding="utf-8").strip() for path in found)


def notices_in(path: Path) -> list[str]:
    """Comments of a source file that name where something was taken from."""
    text = path.read_text(encoding="utf-8")
    notices = []
    for found in COMMENT.finditer(text):
        lines = (re.sub(r"^\s*(?:/\*+|\*+/|\*(?!/)|//)\s?", "", x) for x in found[0].splitlines())
        notice = "\n".join(line.removesuffix("*/").rstrip() for line in lines).strip()
        # The banner of each file of d3 only repeats what its licence says.
        if TAKEN.search(notice) and not notice.startswith("https://d3js.org/"):
            notices.append(notice)
    return notices


def licences(used: list[Path]) -> str:
    """Licences of all packages in the script; packages with the same text share it."""
    described: dict[str, list[str]] = {}
    notices: dict[str, dict[str, None]] = {}  # each once, in order
    for package in sorted({package_of(path) for path in used}):
        facts = json.loads((package / "package.json").read_text(encoding="utf-8"))
        name = f"{facts['name']} {facts['version']} ({facts['license']})"
        described.setdefault(licence_of(package), []).append(name)
        for path in used:
            if package_of(path) == package:
                notices.setdefault(name, {}).update(dict.fromkeys(notices_in(path)))
    parts = [
        "# Licences of what is inside vega.js",
        "`vega.js` was made by `tools/vendor_vega.py` from the packages below, unchanged but for"
        " leaving out what is not used, and minified. Their licences are not probatum's own.",
    ]
    for text, names in described.items():
        parts += ["## " + ", ".join(names), f"```text\n{text}\n```"]
    parts.append("## What these packages say of code that they took from elsewhere")
    for name, said in notices.items():
        blocks = [f"```text\n{notice}\n```" for notice in said]
        parts += [f"In {name}:", *blocks] if blocks else []
    return "\n\n".join(parts) + "\n"


def write(path: Path, content: bytes) -> None:
    """Write a file whole and say how large it is."""
    with whole_file(path) as draft:
        draft.write_bytes(content)
    print(f"{path.name} {len(content)} bytes")


def main() -> int:
    """Make the script, or the lock of what goes into it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder of the script")
    parser.add_argument("--lock", action="store_true", help="write tools/vega/package-lock.json")
    options = parser.parse_args()
    if shutil.which("npm") is None:
        print("npm is not there; install Node.js, which brings it", file=sys.stderr)
        return 3
    if options.lock:
        lock()
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in INPUTS:
            shutil.copy(SOURCE / source, folder)
        npm("ci", cwd=folder)
        script, used = bundle(folder)
        texts = licences(used)
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "vega.js", script)
    write(options.out / "vega.LICENSES.md", texts.encode())
    digest = hashlib.sha256(script).hexdigest()
    write(options.out / "vega.sha256", f"{digest}  vega.js\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
