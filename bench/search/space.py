"""Random values and random changes of what is searched for: numbers in ranges, choices, and expressions of features."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from schedgap.bench.search.program import Parameters, is_whole
from schedgap.instances.expressions import parsed

# Operators above each other in an expression, at most.
MOST_DEPTH = 4
# A range of positive numbers whose ends are this many times apart is drawn from by the logarithm.
WIDE = 100
OPERATORS: Sequence[ast.operator] = (ast.Add(), ast.Sub(), ast.Mult(), ast.Div())
# How far a number moves, as a share of its range: from fine to coarse.
STEPS = (0.02, 0.1, 0.4)


def drawn(space: Mapping[str, Any], rng: np.random.Generator) -> Parameters:
    """Return a random value for each parameter."""
    return {key: _draw(kind, rng) for key, kind in space.items()}


def changed(space: Mapping[str, Any], values: Parameters, rng: np.random.Generator) -> Parameters:
    """Return values of which one or a few are changed."""
    keys = list(space)
    chosen = [key for key in keys if rng.random() < 1 / len(keys)] or [keys[int(rng.integers(len(keys)))]]
    return {**values, **{key: _change(space[key], values[key], rng) for key in chosen}}


def _draw(kind: Any, rng: np.random.Generator) -> Any:
    if isinstance(kind, tuple):
        return _number(kind, rng.random())
    if isinstance(kind, list):
        return kind[int(rng.integers(len(kind)))]
    return ast.unparse(_tree(sorted(kind), rng, int(rng.integers(1, MOST_DEPTH + 1))))


def _change(kind: Any, value: Any, rng: np.random.Generator) -> Any:
    if isinstance(kind, tuple):
        moved = _place(kind, value) + rng.normal() * STEPS[int(rng.integers(len(STEPS)))]
        near = _number(kind, min(max(moved, 0.0), 1.0))
        # A whole number moves by one at least.
        return near if near != value else _number(kind, rng.random())
    if isinstance(kind, list):
        return _draw(kind, rng)
    return ast.unparse(_mutated(parsed(value), sorted(kind), rng))


def _is_wide(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 and ends[1] / ends[0] >= WIDE


def _number(ends: tuple[float, float], place: float) -> float:
    """Return the number at a place from 0 to 1 in a range, in four digits."""
    least, most = ends
    value = least * (most / least) ** place if _is_wide(ends) else least + (most - least) * place
    return round(value) if is_whole(ends) else min(max(float(f"{value:.4g}"), least), most)


def _place(ends: tuple[float, float], value: float) -> float:
    least, most = ends
    return math.log(value / least) / math.log(most / least) if _is_wide(ends) else (value - least) / (most - least)


def _tree(names: Sequence[str], rng: np.random.Generator, depth: int) -> ast.expr:
    """Return a random expression of up to so many operators above each other."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.75:
            return ast.Name(names[int(rng.integers(len(names)))])
        return ast.Constant(float(f"{math.exp(rng.normal()):.3g}"))
    drawn = rng.random()
    if drawn < 0.1:
        return ast.UnaryOp(ast.USub(), _tree(names, rng, depth - 1))
    two = [_tree(names, rng, depth - 1), _tree(names, rng, depth - 1)]
    if drawn < 0.3:
        return ast.Call(ast.Name("min" if drawn < 0.2 else "max"), two, [])
    return ast.BinOp(two[0], OPERATORS[int(rng.integers(len(OPERATORS)))], two[1])


def _mutated(tree: ast.expr, names: Sequence[str], rng: np.random.Generator) -> ast.expr:
    """Return an expression with one part changed: another one, what is within it, another number, or one more operator."""
    parts = list(_parts(tree, 0))
    part, depth = parts[int(rng.integers(len(parts)))]
    left = MOST_DEPTH - depth
    inner = _inner(part)
    how = rng.random()
    new: ast.expr
    if isinstance(part, ast.Constant) and how < 0.6:
        new = ast.Constant(float(f"{part.value * math.exp(0.5 * rng.normal()):.3g}"))  # type: ignore[operator]
    elif inner and how < 0.3:
        new = inner[int(rng.integers(len(inner)))]
    elif isinstance(part, ast.BinOp) and how < 0.5:
        new = ast.BinOp(part.left, OPERATORS[int(rng.integers(len(OPERATORS)))], part.right)
    elif how < 0.75 and left > _height(part):
        two = [part, _tree(names, rng, min(left - 1, 1))]
        new = ast.BinOp(two[0], OPERATORS[int(rng.integers(len(OPERATORS)))], two[1])
    else:
        new = _tree(names, rng, max(min(left, 2), 0))
    return new if part is tree else _replaced(tree, part, new)


def _inner(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call):
        return list(node.args)
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def _parts(node: ast.expr, depth: int) -> Iterator[tuple[ast.expr, int]]:
    yield node, depth
    for each in _inner(node):
        yield from _parts(each, depth + 1)


def _height(node: ast.expr) -> int:
    return max((1 + _height(each) for each in _inner(node)), default=0)


def _replaced(node: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    if node is old:
        return new
    inner = [_replaced(each, old, new) for each in _inner(node)]
    if isinstance(node, ast.BinOp):
        return ast.BinOp(inner[0], node.op, inner[1])
    if isinstance(node, ast.Call):
        return ast.Call(node.func, inner, [])
    return ast.UnaryOp(node.op, inner[0]) if isinstance(node, ast.UnaryOp) else node
