"""Fingerprints: which code a trial reaches, as a hash that ignores comments and docstrings.

From the functions a trial starts in, imports are followed through the project's own modules. A
module counts whole, except where only part of it can matter: in the module that a trial, loader
or factory is named in (a catalog module, with its statements) and in a package's ``__init__``
(with its re-exports) only the definitions that are reached count. Nothing is imported: sources
are found and parsed as text.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import site
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

__all__ = ["fingerprint", "forget_sources", "reached_modules"]

# The engine's own modules carry a protocol number instead (see keys), so that work on the engine
# does not make all evidence stale; front doors and pages cannot influence a trial. The facts of
# data sets stand for themselves: a dataset's `identity` puts the hash of its content in the key.
NOT_FOLLOWED = (
    "probatum.evidence.",
    "probatum.cli.",
    "probatum.report.",
    "probatum.data.catalogue.",
)

Unit = tuple[str, str]
"""A module and the name of a definition in it; an empty name stands for the whole module."""


@dataclass
class _Source:
    name: str
    tree: ast.Module
    is_package: bool
    bindings: dict[str, list[ast.stmt]] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


def forget_sources() -> None:
    """Read all sources anew the next time, for a process that outlives an edit."""
    for cached in (_source, _place, _root, _own_hash, _reached_from, _fingerprint):
        cached.cache_clear()


@cache
def _root(name: str) -> Path | None:
    """Folder or file of a top-level module whose code is followed, None for installed ones."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if spec.has_location and str(spec.origin).endswith(".py"):
        path = Path(str(spec.origin)).absolute()
        place = path.parent if path.name == "__init__.py" else path
    elif spec.submodule_search_locations:
        # A folder without an `__init__.py`.
        path = place = Path(next(iter(spec.submodule_search_locations))).absolute()
    else:
        return None
    if name == "probatum":
        return place
    kept_out = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    kept_out += [*site.getsitepackages(), site.getusersitepackages()]
    if any(path.is_relative_to(folder) for folder in kept_out):
        return None
    return place


@cache
def _place(module: str) -> Path | None:
    """Source file of a module that is followed."""
    if f"{module}.".startswith(NOT_FOLLOWED):
        return None
    top, *rest = module.split(".")
    root = _root(top)
    if root is None:
        return None
    if root.is_file():
        return root if not rest else None
    base = root.joinpath(*rest)
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


@cache
def _source(module: str) -> _Source | None:
    path = _place(module)
    if path is None:
        return None
    content = path.read_bytes()
    try:
        tree = ast.parse(content, filename=str(path))
    except (SyntaxError, ValueError):
        # The trial will say what is wrong with it; until then its bytes stand for it.
        tree = ast.Module([ast.Expr(ast.Constant(content))], [])
    source = _Source(module, tree, path.name == "__init__.py")
    for statement in tree.body:
        for name in _bound_names(statement):
            source.bindings.setdefault(name, []).append(statement)
    return source


def _bound_names(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement binds, also inside ``if``, ``try``, ``for``, ``with``."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if _is_type_checking(statement):
        return set().union(*map(_bound_names, getattr(statement, "orelse", [])))
    if isinstance(statement, ast.Expr):
        # TABLE.update(...) or register(f): belongs to every name in it.
        return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    names = set()
    for node in _walk_outside_definitions(statement):
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def _walk_outside_definitions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk_outside_definitions(child)


def _is_type_checking(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _walk_running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those only a type checker sees."""
    yield node
    for child in ast.iter_child_nodes(node):
        if _is_type_checking(child):
            for other in getattr(child, "orelse", []):
                yield from _walk_running(other)
        else:
            yield from _walk_running(child)


def _canonical(node: object) -> object:
    """A syntax tree as nested tuples without positions, contexts and docstrings.

    Own code rather than ``ast.dump``, whose text differs between versions of Python.
    """
    if isinstance(node, ast.AST):
        fields = []
        for name, value in ast.iter_fields(node):
            if name in ("ctx", "type_comment", "kind", "type_ignores") or value in (None, []):
                continue
            if name == "body" and isinstance(value, list):
                value = _without_docstring(value)
            fields.append((name, _canonical(value)))
        return (type(node).__name__, *fields)
    if isinstance(node, list):
        return tuple(_canonical(item) for item in node)
    return repr(node)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return [
        statement
        for statement in body
        if not (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        )
    ]


@cache
def _own_hash(unit: Unit) -> str:
    module, name = unit
    source = _source(module)
    assert source is not None
    nodes = _definition(source, name) if name else source.tree
    return hashlib.sha256(repr(_canonical(nodes)).encode()).hexdigest()


def _definition(source: _Source, name: str) -> list[ast.stmt]:
    """Statements that bind a name; of an import, only the alias that does."""
    return [_only(name, statement) for statement in source.bindings[name]]


def _only(name: str, statement: ast.stmt) -> ast.stmt:
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return statement
    names = [a for a in statement.names if (a.asname or a.name.split(".")[0]) == name]
    if isinstance(statement, ast.Import):
        return ast.Import(names=names)
    return ast.ImportFrom(module=statement.module, names=names, level=statement.level)


def _imports(source: _Source, name: str) -> list[ast.stmt]:
    """Top-level imports that bind a name, each with that alias only."""
    return [
        _only(name, node)
        for statement in source.bindings.get(name, [])
        for node in _walk_outside_definitions(statement)
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any((a.asname or a.name.split(".")[0]) == name for a in node.names)
    ]


def _starred(source: _Source, name: str, seen: frozenset[str] = frozenset()) -> str | None:
    """The module that a ``from module import *`` takes a name from."""
    for node in _imports(source, "*"):
        assert isinstance(node, ast.ImportFrom)
        module = _absolute(source, node)
        other = _source(module)
        if other is None or module in seen:
            continue
        if name in other.bindings or _starred(other, name, seen | {module}):
            return module
    return None


def _absolute(source: _Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = source.package.split(".")
    base = parts[: len(parts) - (node.level - 1)]
    return ".".join([*base, node.module] if node.module else base)


def _resolve(module: str, name: str) -> set[Unit]:
    """Units that ``module.name`` stands for, through re-exports."""
    whole = f"{module}.{name}" if name else module
    if _place(whole) is not None:
        return _whole(whole)
    source = _source(module)
    if source is None:
        return set()
    if not source.is_package:
        return {(module, "")}
    if name in source.bindings:
        return {(module, name)}
    starred = _starred(source, name)
    if starred is not None:
        return {(module, "*")} | _resolve(starred, name)
    return _lazy(source, name) or _whole_package(source)


def _lazy(source: _Source, name: str) -> set[Unit]:
    """What a module's ``__getattr__`` gives for a name, where a table of names says it."""
    if "__getattr__" not in source.bindings:
        return set()
    found: set[Unit] = set()
    for table in ast.walk(source.tree):
        if isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    found |= _named_modules(source, ast.walk(value))
    return found and found | {(source.name, "__getattr__")}


def _whole(module: str) -> set[Unit]:
    source = _source(module)
    if source is None:
        return set()
    return _whole_package(source) if source.is_package else {(module, "")}


def _whole_package(source: _Source) -> set[Unit]:
    """A package used as such: its own code and every submodule it names, in an import or a string.

    The strings catch lazy re-exports by ``__getattr__``.
    """
    return {(source.name, "")} | _named_modules(source, _walk_running(source.tree))


def _named_modules(source: _Source, nodes: Iterable[ast.AST]) -> set[Unit]:
    """Modules that strings in a package's ``__init__`` name."""
    found: set[Unit] = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for candidate in (node.value, f"{source.name}.{node.value.lstrip('.')}"):
                named = candidate.replace(":", ".").split(" ")[0]
                if named != source.name and _safe_place(named):
                    found.add((named, ""))
    return found


def _safe_place(module: str) -> bool:
    return all(part.isidentifier() for part in module.split(".")) and _place(module) is not None


def _references(source: _Source, nodes: Iterable[ast.AST], sliced: bool) -> set[Unit]:
    """Units that a piece of code reaches directly."""
    found: set[Unit] = set()
    nodes = list(nodes)
    attributes: dict[str, set[str]] = {}
    bare: set[str] = set()
    roots = {
        id(n.value) for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.setdefault(node.value.id, set()).add(node.attr)
        elif isinstance(node, ast.Name) and id(node) not in roots and _is_read(node):
            bare.add(node.id)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _imported(alias.name, alias.asname, attributes, bare)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(source, node)
            for alias in node.names:
                if alias.name == "*":
                    # In a slice, the names that are used say what is taken.
                    found |= set() if sliced else _whole(module)
                elif _is_package(f"{module}.{alias.name}"):
                    local = alias.asname or alias.name
                    found |= _imported(f"{module}.{alias.name}", local, attributes, bare)
                else:
                    found |= _resolve(module, alias.name)
    return found | _neighbours(source, nodes) if sliced else found


def _neighbours(source: _Source, nodes: Iterable[ast.AST]) -> set[Unit]:
    """Units of the same module that the names in a piece of code stand for."""
    found: set[Unit] = set()
    for name in {node.id for node in nodes if isinstance(node, ast.Name)}:
        if name in source.bindings:
            found.add((source.name, name))
        elif (starred := _starred(source, name)) is not None:
            found |= {(source.name, "*")} | _resolve(starred, name)
    return found


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_package(module: str) -> bool:
    place = _place(module)
    return place is not None and place.name == "__init__.py"


def _imported(
    module: str, local: str | None, attributes: dict[str, set[str]], bare: set[str]
) -> set[Unit]:
    """What ``import module as local`` reaches: for a package, the attributes that are used."""
    if local is None or not _is_package(module) or local in bare:
        return _whole(module)
    return set().union(*(_resolve(module, attr) for attr in attributes.get(local, ())))


@cache
def _reached_from(unit: Unit) -> frozenset[Unit]:
    module, name = unit
    source = _source(module)
    assert source is not None
    if not name:
        return frozenset(_references(source, _walk_running(source.tree), sliced=False))
    nodes = [node for part in _definition(source, name) for node in _walk_running(part)]
    return frozenset(_references(source, _with_imports(source, nodes), sliced=True) - {unit})


def _with_imports(source: _Source, nodes: list[ast.AST]) -> list[ast.AST]:
    """Nodes and the imports of the names in them: how a package is used says what is reached."""
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return [*nodes, *(node for name in sorted(names) for node in _imports(source, name))]


def _start(target: str) -> set[Unit]:
    """Units that a ``module:attribute`` target stands for."""
    module, _, attribute = target.partition(":")
    name, *rest = attribute.split(".")
    while rest and _place(f"{module}.{name}") is not None:
        module, name, *rest = f"{module}.{name}", *rest
    source = _source(module)
    if source is None:
        return set()
    if name in source.bindings:
        found = {(module, name)}
        if rest:
            nodes = list(ast.walk(ast.parse(".".join((name, *rest)), mode="eval")))
            found |= _references(source, _with_imports(source, nodes), sliced=True)
        return found
    starred = _starred(source, name)
    if starred is not None:
        return {(module, "*")} | _resolve(starred, name)
    return _resolve(module, name)


def _closure(targets: Iterable[str]) -> frozenset[Unit]:
    pending = [unit for target in targets for unit in _start(target)]
    reached: set[Unit] = set()
    while pending:
        unit = pending.pop()
        if unit not in reached:
            reached.add(unit)
            pending.extend(_reached_from(unit) - reached)
    return frozenset(reached)


def reached_modules(targets: Iterable[str]) -> list[str]:
    """Modules that code starting at ``module:attribute`` targets reaches, sorted."""
    return sorted({module for module, _ in _closure(targets)})


@lru_cache(maxsize=4096)
def _fingerprint(targets: tuple[str, ...]) -> str:
    units = sorted((module, name, _own_hash((module, name))) for module, name in _closure(targets))
    return hashlib.sha256(repr(units).encode()).hexdigest()[:16]


def fingerprint(targets: Iterable[str]) -> str:
    """Hash of the code that ``module:attribute`` targets reach; their order does not matter.

    Examples
    --------
    >>> fingerprint(["math:sqrt"]) == fingerprint(["math:tau"])  # not the project's own code
    True
    """
    return _fingerprint(tuple(sorted(set(targets))))
