"""Points of any shape, and trees of arrays, as flat vectors and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Layout"]

Vector = NDArray[np.float64]


class Layout:
    """How a point is laid out: one array of any shape, or a tree of arrays.

    A list, tuple or dict with an array (or another dict) in it, at any depth, is a tree; anything
    else must be what `numpy.asarray` makes an array of real numbers of.

    Parameters
    ----------
    like : array-like, list, tuple or dict
        A point.
    name : str
        What it is called in messages.

    Raises
    ------
    TypeError
        For what is no real number, or an unknown kind of node.
    ValueError
        For ragged lists, and for a point without entries.
    """

    def __init__(self, like: Any, name: str = "x0") -> None:
        self.name = name
        self.tree = _is_tree(like)
        leaves = [_real(leaf, name) for leaf in _leaves(like)] if self.tree else [_real(like, name)]
        self.shapes = [leaf.shape for leaf in leaves]
        self.size = sum(leaf.size for leaf in leaves)
        if self.size == 0:
            raise ValueError(f"{name} has no entries; give at least one number")
        self._like = like

    def flat(self, point: Any, name: str) -> Vector:
        """The point as a new vector of shape (size,).

        Raises
        ------
        ValueError, TypeError
            Where it is not laid out like this.
        """
        if _is_tree(point) != self.tree:
            raise ValueError(f"{name} is not laid out like {self.name}: {self} was expected")
        odd = _oddity(point, self._like) if self.tree else ""
        if odd:
            raise ValueError(f"{name} is not laid out like {self.name}: {odd}")
        leaves = [_real(leaf, name) for leaf in (_leaves(point) if self.tree else [point])]
        if [leaf.shape for leaf in leaves] != self.shapes:
            got = ", ".join(str(leaf.shape) for leaf in leaves)
            raise ValueError(f"{name} has shape {got}, {self} was expected")
        return np.concatenate([leaf.ravel() for leaf in leaves]).astype(float, copy=False)

    def shaped(self, vector: Vector) -> Any:
        """The vector as a point: views into it, laid out like the point given first."""
        if not self.tree:
            return vector.reshape(self.shapes[0])
        at, leaves = 0, []
        for shape in self.shapes:
            size = math.prod(shape)
            leaves.append(vector[at : at + size].reshape(shape))
            at += size
        return _rebuilt(self._like, iter(leaves))

    def __str__(self) -> str:
        return ", ".join(str(shape) for shape in self.shapes)


class Asked:
    """A user's operator, asked at flat vectors; counts the calls.

    The user's function is given read-only views of the solver's own vectors, in the layout of x0.
    What it returns is checked each time.
    """

    def __init__(self, op: Callable[[Any], Any], layout: Layout) -> None:
        if not callable(op):
            raise TypeError(f"the operator must be callable, got {type(op).__name__}")
        self.calls = 0
        self._op = op
        self._layout = layout
        # A tree has no shape of its own, and takes the longer way below.
        self._shape = None if layout.tree else layout.shapes[0]
        self._views: dict[int, tuple[Vector, Any]] = {}

    def __call__(self, at: Vector) -> Vector:
        """Value at a vector of shape (size,), flat."""
        self.calls += 1
        found = self._views.get(id(at))
        # The vector is kept beside its view: an id can be given anew once its owner is gone.
        if found is None or found[0] is not at:
            found = self._view(at)
        value = self._op(found[1])
        if type(value) is np.ndarray and value.dtype == float and value.shape == self._shape:
            return value if value.ndim == 1 else value.reshape(-1)
        return self._layout.flat(value, "the operator's value")

    def _view(self, at: Vector) -> tuple[Vector, Any]:
        if len(self._views) > 8:
            self._views.clear()
        locked = at.view()
        locked.flags.writeable = False
        self._views[id(at)] = (at, self._layout.shaped(locked))
        return self._views[id(at)]


def _is_tree(point: Any) -> bool:
    if isinstance(point, dict):
        return True
    if isinstance(point, list | tuple):
        return any((isinstance(p, np.ndarray) and p.ndim > 0) or _is_tree(p) for p in point)
    return False


def _leaves(point: Any) -> list[Any]:
    if isinstance(point, dict):
        return [leaf for key in sorted(point, key=repr) for leaf in _leaves(point[key])]
    if isinstance(point, list | tuple):
        return [leaf for part in point for leaf in _leaves(part)]
    return [point]


def _rebuilt(like: Any, leaves: Any) -> Any:
    if isinstance(like, dict):
        made = {key: _rebuilt(like[key], leaves) for key in sorted(like, key=repr)}
        return {key: made[key] for key in like}
    if isinstance(like, list | tuple):
        parts = [_rebuilt(part, leaves) for part in like]
        if isinstance(like, list):
            return parts
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    return next(leaves)


def _oddity(one: Any, two: Any, at: str = "") -> str:
    """Where the nodes of one tree are not those of another; an empty text if they are."""
    inside = f" in {at}" if at else ""
    if isinstance(two, dict):
        if not isinstance(one, dict):
            return f"a dict is expected{inside}, got {type(one).__name__}"
        for word, here, there in (("is missing", two, one), ("is not expected", one, two)):
            for key in here:
                if key not in there:
                    return f"key {key!r} {word}{inside}"
        pairs = [(f"{at}[{key!r}]", one[key], two[key]) for key in two]
    elif isinstance(two, list | tuple):
        if not isinstance(one, list | tuple):
            return f"a list or tuple is expected{inside}, got {type(one).__name__}"
        if len(one) != len(two):
            return f"{len(two)} parts are expected{inside}, got {len(one)}"
        both = enumerate(zip(one, two, strict=True))
        pairs = [(f"{at}[{i}]", a, b) for i, (a, b) in both]
    else:
        odd = isinstance(one, dict | list | tuple)
        return f"an array is expected{inside}, got {type(one).__name__}" if odd else ""
    return next(filter(None, (_oddity(a, b, where) for where, a, b in pairs)), "")


def _real(point: Any, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(point)
    except ValueError:
        raise ValueError(f"{name} is ragged; give an array, or a list or dict of arrays") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got {array.dtype}")
    return array.astype(float, copy=False)
