"""Solvers behind formulations. Only this folder touches highspy, ortools and pulp, and imports them on use only."""

from schedgap.formulations.backends.contract import Backend
from schedgap.formulations.backends.dispatch import (
    BACKENDS,
    LP_BACKENDS,
    MIP_CHOICES,
    UNBOUNDED_MIP_CHOICES,
    find_backend,
    solve,
)

__all__ = [
    "BACKENDS",
    "LP_BACKENDS",
    "MIP_CHOICES",
    "UNBOUNDED_MIP_CHOICES",
    "Backend",
    "find_backend",
    "solve",
]
