"""The mutants of a module: one small change each, as a syntax tree to be compiled.

What is changed: comparisons (their edge, or their sense), arithmetic and set operators, ``and``
and ``or``, ``not``, truth values, numbers (one more, one less), ``min`` and ``max``, ``any`` and
``all``, ``break`` and ``continue``, conditions that are no comparison, what is returned; and
statements that stand for what they do are left out. Not changed are words, annotations,
decorators, assertions, what an error says, and ``strict`` of ``zip``, which says what types can't.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants_of", "mutated"]

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "ceil": "floor",
    "isinf": "isfinite",
    "isfinite": "isinf",
}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

Path_ = tuple[str | int, ...]
"""Fields and places in lists that lead from a module's tree to a node."""


@dataclass(frozen=True)
class Mutant:
    """One change: where it lies, what was there and what stands there instead."""

    module: str
    function: str
    line: int
    last_line: int
    was: str
    now: str
    path: Path_
    kind: str
    at: int
    nth: int
    in_body: bool

    @property
    def key(self) -> str:
        """A name that stays the same when lines move."""
        again = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.module}:{self.function or '(module)'}: {self.was} -> {self.now}{again}"


def _skipped(node: ast.AST, name: str, value: object) -> bool:
    """Whether a child is none that is changed."""
    if name in ("annotation", "returns", "decorator_list", "type_comment", "format_spec"):
        return True
    if isinstance(node, ast.Raise | ast.Assert):
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    # The union of types in isinstance(x, A | B), and what a name of a type stands for.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and name == "args":
        return node.func.id == "isinstance"
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Name) and target.id in ("__all__", "Unit", "Cell")


def _walk(node: ast.AST, path: Path_ = ()) -> Iterator[tuple[ast.AST, Path_]]:
    yield node, path
    for name, value in ast.iter_fields(node):
        if _skipped(node, name, value):
            continue
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, name))
        elif isinstance(value, list):
            for at, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _walk(child, (*path, name, at))


def _at(tree: ast.AST, path: Path_) -> ast.AST:
    node: object = tree
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)  # type: ignore[index]
    assert isinstance(node, ast.AST)
    return node


def _put(tree: ast.AST, path: Path_, new: ast.AST) -> None:
    holder: object = tree
    for step in path[:-1]:
        holder = holder[step] if isinstance(step, int) else getattr(holder, step)  # type: ignore[index]
    last = path[-1]
    if isinstance(last, int):
        holder[last] = new  # type: ignore[index]
    else:
        setattr(holder, last, new)


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return list(node.ifs)
    return []


def _changes(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Kinds of change that a node is open to, each with a place or a sign."""
    if isinstance(node, ast.Compare):
        yield from (("compare", i) for i, op in enumerate(node.ops) if type(op) in COMPARED)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in CALCULATED:
        yield "operator", 0
    elif isinstance(node, ast.BoolOp):
        yield "and-or", 0
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "sign", 0
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "truth", 0
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield from (("number", 1), ("number", -1))
    elif isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name in SWAPPED and isinstance(node.ctx, ast.Load):
            yield "name", 0
    elif isinstance(node, ast.Return):
        value = node.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", 0
    elif isinstance(node, ast.Break | ast.Continue):
        yield "loop", 0
    yield from _changes_of_statements(node)


def _changes_of_statements(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Raise | ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "leave out", 0
    for at, test in enumerate(_conditions(node)):
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield "condition", at


def _changed(node: ast.AST, kind: str, at: int) -> ast.AST:
    new = copy.deepcopy(node)
    if kind == "compare":
        assert isinstance(new, ast.Compare)
        new.ops[at] = COMPARED[type(new.ops[at])]()
    elif kind == "operator":
        assert isinstance(new, ast.BinOp | ast.AugAssign)
        new.op = CALCULATED[type(new.op)]()
    elif kind == "and-or":
        assert isinstance(new, ast.BoolOp)
        new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
    elif kind == "sign":
        assert isinstance(new, ast.UnaryOp)
        return new.operand
    elif kind == "truth":
        assert isinstance(new, ast.Constant)
        new.value = not new.value
    elif kind == "number":
        assert isinstance(new, ast.Constant)
        assert isinstance(new.value, int | float)
        new.value = new.value + at
    elif kind == "name" and isinstance(new, ast.Name):
        new.id = SWAPPED[new.id]
    elif kind == "name":
        assert isinstance(new, ast.Attribute)
        new.attr = SWAPPED[new.attr]
    elif kind == "return":
        assert isinstance(new, ast.Return)
        new.value = ast.Constant(None)
    elif kind == "loop":
        return ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    elif kind == "leave out":
        return ast.Pass()
    elif kind == "condition" and isinstance(new, ast.comprehension):
        new.ifs[at] = ast.UnaryOp(ast.Not(), new.ifs[at])
    elif kind == "condition":
        assert isinstance(new, ast.If | ast.IfExp | ast.While)
        new.test = ast.UnaryOp(ast.Not(), new.test)
    return new


def _said(node: ast.AST) -> str:
    """A node in a line; of a statement that holds others, its head."""
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return " ".join(ast.unparse(node).split())


def _function(tree: ast.AST, path: Path_) -> tuple[str, bool]:
    """Name of the outermost function around a place, and whether the place lies in its body."""
    names: list[str] = []
    for length in range(len(path)):
        node = _at(tree, path[:length]) if isinstance(path[length], str) else None
        if isinstance(node, ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, FUNCTIONS):
            return ".".join([*names, node.name]), path[length] == "body"
    return ".".join(names), False


def mutants_of(module: str, file: Path) -> list[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for node, path in _walk(tree):
        function, body = _function(tree, path)
        above = _above(tree, path)
        around = _at(tree, above)
        for kind, at in _changes(node):
            was, now = _said(around), "(left out)"
            if kind != "leave out":
                new = _changed(node, kind, at)
                if len(path) > len(above):
                    whole = copy.deepcopy(around)
                    _put(whole, path[len(above) :], new)
                    new = whole
                now = _said(new)
            seen[function, was, now] += 1
            nth = seen[function, was, now]
            lines = [n.lineno for n in ast.walk(node) if hasattr(n, "lineno")]
            line, last = min(lines), max(lines)
            if isinstance(node, ast.If | ast.While):
                last = node.body[0].lineno - 1
            found.append(Mutant(module, function, line, last, was, now, path, kind, at, nth, body))
    return found


def _above(tree: ast.AST, path: Path_) -> Path_:
    """The place that says what a place is about: a number or a name alone says little."""
    node, length = _at(tree, path), len(path)
    for _ in range(3):
        if not isinstance(node, ast.Constant | ast.Name | ast.UnaryOp | ast.Attribute):
            break
        up = length - 1
        while up > 0 and isinstance(path[up], int):
            up -= 1
        higher = _at(tree, path[:up])
        if isinstance(higher, FUNCTIONS | ast.ClassDef | ast.Module | ast.arguments):
            break
        node, length = higher, up
    return path[:length]


def mutated(mutant: Mutant, file: Path) -> ast.Module:
    """The module's tree with the change made."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = _at(tree, mutant.path)
    new = _changed(node, mutant.kind, mutant.at)
    _put(tree, mutant.path, ast.copy_location(new, node) if hasattr(node, "lineno") else new)
    return ast.fix_missing_locations(tree)
