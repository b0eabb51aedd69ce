"""Random columns of generated traces, and the checks of generators' parameters.

Only `integers` and `random` of `numpy.random.Generator(PCG64)` are used, whose streams are the same everywhere; each
column has a stream of its own, so that traces that differ in one parameter agree in the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.draws import derived_seed
from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.trace import arrivals

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


def drawn_arrivals(generator: str, jobs: int, mean_gap_s: float, seed: int) -> IntArray:
    """Return Poisson arrivals, (J,) int64 seconds."""
    # Exponential gaps from uniforms: the stream of `random` is the same everywhere.
    gaps = -np.log1p(-column_rng(generator, "arrivals", seed).random(jobs))
    return arrivals(gaps, mean_gap_s)


def column_rng(generator: str, column: str, seed: int) -> np.random.Generator:
    """Return the stream of one column of a generator's trace."""
    return np.random.Generator(np.random.PCG64(derived_seed("reconfiguration", generator, column, seed)))


def check_jobs(generator: str, jobs: int) -> None:
    """Refuse a trace without jobs."""
    if jobs < 1:
        raise InstanceError(f"generator {generator}: jobs is {jobs}; it must be at least 1.")


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a choice that there is not."""
    if value not in known:
        raise InstanceError(f"{what} is {' or '.join(known)}, not '{value:.60}'.")
