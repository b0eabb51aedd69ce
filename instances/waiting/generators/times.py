"""From seconds as they are drawn to the times of an instance.

A logarithm that another machine rounds otherwise can move a time by a microsecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import SECOND_US

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray


def microseconds(seconds: FloatArray) -> IntArray:
    """Return the nearest whole microseconds."""
    return np.rint(seconds * SECOND_US).astype(np.int64)


def stepped(times_us: IntArray, step_s: float) -> IntArray:
    """Round up to multiples of a step, so that what was positive stays so.

    Raises
    ------
    InstanceError
        for a negative step; 0 is for times as they are drawn.
    """
    if step_s < 0:
        raise InstanceError(f"step_s is {step_s:g}; give seconds, or 0 for times as they are drawn.")
    step_us = round(step_s * SECOND_US)
    return times_us if step_us == 0 else -(-times_us // step_us) * step_us


def check_positive(**values: float) -> None:
    """Refuse parameters that are not positive.

    Raises
    ------
    InstanceError
        naming the first.
    """
    for name, value in values.items():
        if value <= 0:
            raise InstanceError(f"{name} is {value:g}; give a positive number.")
