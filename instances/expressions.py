"""Expressions over arrays as text, such as `size / max(price, 0.5)`: what a search may write, and nothing else.

Names, finite numbers, + - * /, min and max of two, and signs. No text is run as Python.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.errors import MethodError

Part = Callable[[Mapping[str, Any]], Any]

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.true_divide,
}
CALLS: Mapping[str, Callable[[Any, Any], Any]] = {"min": np.minimum, "max": np.maximum}
SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
MOST_LETTERS, LARGEST = 2_000, 1e300


def expression(text: str, names: Collection[str]) -> Callable[..., FloatArray]:
    """Return a function of arrays or numbers by name, all of which it takes; its values are finite.

    What is divided by 0 is as large as a float can be, and 0 / 0 is 0.

    Raises
    ------
    MethodError
        for anything but such an expression of these names.
    """
    part = _part(parsed(text), text, names)

    def values(**features: Any) -> FloatArray:
        given = {name: np.asarray(features[name], np.float64) for name in names}
        with np.errstate(all="ignore"):
            found = np.nan_to_num(np.asarray(part(given), np.float64))
        return np.broadcast_to(found, np.broadcast_shapes(*(value.shape for value in given.values())))

    return values


def parsed(text: str) -> ast.expr:
    """Return the tree of an expression, which may still hold what is none.

    Raises
    ------
    MethodError
        if it is too long, or not even Python.
    """
    if len(text) <= MOST_LETTERS:
        try:
            return ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    raise MethodError(f"'{text:.60}' is no expression of up to {MOST_LETTERS} letters; write one like 'size / price'.")


def _part(node: ast.expr, text: str, names: Collection[str]) -> Part:
    """Return what computes a part of an expression. text : all of it."""
    if isinstance(node, ast.Name) and node.id in names:
        return operator.itemgetter(node.id)
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value <= LARGEST:
        number = np.float64(value)
        return lambda _: number
    if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
        sign, inner = SIGNS[type(node.op)], _part(node.operand, text, names)
        return lambda given: sign(inner(given))
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return _of_two(BINARY[type(node.op)], [node.left, node.right], text, names)
    called = CALLS.get(getattr(node.func, "id", "")) if isinstance(node, ast.Call) and not node.keywords else None
    if isinstance(node, ast.Call) and called is not None and len(node.args) == 2:
        return _of_two(called, node.args, text, names)
    raise MethodError(
        f"'{ast.unparse(node):.60}' in '{text:.60}' is not allowed; use {', '.join(sorted(names))}, numbers, + - * /, "
        "min(a, b) and max(a, b)."
    )


def _of_two(compute: Callable[[Any, Any], Any], nodes: list[ast.expr], text: str, names: Collection[str]) -> Part:
    first, second = (_part(node, text, names) for node in nodes)
    return lambda given: compute(first(given), second(given))
