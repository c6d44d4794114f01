"""``probatum new``: the skeleton of a paper, in a checkout."""

from __future__ import annotations

import ast
import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from probatum.cli.exits import DONE, MISUSED, Ended
from probatum.cli.options import AsJson
from probatum.cli.output import print_json
from probatum.files import whole_file

__all__ = ["new"]

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_KERNELS = {"catalog", "cli", "data", "evidence", "report", "sequential", "shipped", "stats"}


def new(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="Name of the paper, like `my-paper`.")
    ],
    domain: Annotated[
        str, typer.Option("--domain", help="Room that the method goes to, like `supervised`.")
    ],
    title: Annotated[str, typer.Option("--title", help="Title of the paper.")] = "",
    name: Annotated[
        str, typer.Option("--name", help="Name of the method's class. [from SLUG]")
    ] = "",
    folder: Annotated[
        Path, typer.Option("--checkout", help="Folder of the checkout.", show_default=False)
    ] = Path(),
    as_json: AsJson = False,
) -> int:
    """Write the skeleton of a paper: it runs, and says REPLACE where it wants work."""
    root = _root(folder)
    package = root / "src" / "probatum"
    module = slug.replace("-", "_")
    name = name or "".join(part.capitalize() for part in slug.split("-"))
    _refuse(package, slug, module, domain, name)
    fields = {
        "slug": slug,
        "module": module,
        "domain": domain,
        "name": name,
        "title": " ".join((title or slug.replace("-", " ").capitalize()).split()).rstrip("."),
    }
    if '"' in fields["title"] or "\\" in fields["title"]:
        raise Ended(MISUSED, f'a title has no " and no backslash, got {title!r}')
    public = package / domain / "__init__.py"
    listed = _listed(public.read_text(encoding="utf-8"), domain, module, name)
    texts = {
        package / domain / f"{module}.py": _filled("method", fields),
        public: listed,
        package / "catalog" / f"{module}.py": _filled("catalog", fields),
        root / "tests" / domain / f"test_{module}.py": _filled("test", fields),
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as draft:
            draft.write_text(text, encoding="utf-8")
    files = [str(path.relative_to(root)) for path in texts]
    if as_json:
        print_json({"slug": slug, "files": files})
        return DONE
    for file in files:
        print(file)
    print(f"\nIt runs as it is: probatum check {slug}\nNext: replace what says REPLACE")
    return DONE


def _root(folder: Path) -> Path:
    """The checkout that a folder lies in."""
    for root in (folder.absolute(), *folder.absolute().parents):
        if (root / "src" / "probatum" / "catalog" / "__init__.py").is_file():
            return root
    raise Ended(
        MISUSED, f"{folder.absolute()} is in no checkout of probatum: clone it, and go there"
    )


def _refuse(package: Path, slug: str, module: str, domain: str, name: str) -> None:
    if not _SLUG.fullmatch(slug):
        raise Ended(MISUSED, f"SLUG must be small letters, digits and single -, got {slug!r}")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Ended(MISUSED, f"--name must be a name of a class, got {name!r}")
    rooms = sorted(
        path.parent.name
        for path in package.glob("*/__init__.py")
        if path.parent.name not in _KERNELS
    )
    if domain not in rooms:
        raise Ended(
            MISUSED,
            f"there is no room {domain!r}, there are {', '.join(rooms)}; a new one is a folder "
            "with an __init__.py, named in the import contract of pyproject.toml",
        )
    for path in (package / "catalog" / f"{module}.py", package / "catalog" / module):
        if path.exists():
            raise Ended(MISUSED, f"{slug} is there already: {path}")
    if (package / domain / f"{module}.py").exists():
        raise Ended(MISUSED, f"{domain} has a module {module} already; choose another SLUG")


def _filled(which: str, fields: dict[str, str]) -> str:
    text = resources.files("probatum.cli") / "skeleton" / f"{which}.txt"
    return Template(text.read_text(encoding="utf-8")).substitute(fields)


def _listed(text: str, domain: str, module: str, name: str) -> str:
    """The public list of a domain with one more name in it, in order."""
    tree = ast.parse(text)
    lines = text.splitlines()
    known = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
    ]
    if not known:
        raise Ended(MISUSED, f"probatum.{domain} has no __all__ to put {name} into")
    names = ast.literal_eval(known[0].value)
    if name in names:
        raise Ended(MISUSED, f"probatum.{domain} has a {name} already; give another --name")
    entries = "".join(f'    "{entry}",\n' for entry in sorted([*names, name]))
    start, end = known[0].lineno - 1, known[0].end_lineno
    lines[start:end] = [f"__all__ = [\n{entries}]"]
    line = f"from probatum.{domain}.{module} import {name}"
    imports = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("probatum.")
    ]
    before = [node for node in imports if str(node.module) < f"probatum.{domain}.{module}"]
    after = before[-1].end_lineno if before else (imports[0].lineno - 1 if imports else start)
    assert after is not None
    lines.insert(after, line)
    return "\n".join(lines) + "\n"
