"""Parameters of generators: several numbers in one, written as people do (`2,4,8`), ranges, and parts of names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.model import MAX_CORES


@dataclass(frozen=True, slots=True)
class Goal:
    """What is minimised, and which runs a VM kills first, as in `HarvestInstance`."""

    objective: str = "jobs"
    kills: str = "oldest"

    def unusual(self) -> list[str]:
        """Return parts of a name."""
        return unusual({"objective": (self.objective, GOAL.objective), "kills": (self.kills, GOAL.kills)})


GOAL = Goal()


def whole_numbers(what: str, text: object, separator: str = ",") -> tuple[int, ...]:
    """Return numbers written as `2,4,8`, or one number. Raises `InstanceError` for anything else."""
    try:
        return tuple(int(part) for part in str(text).split(separator))
    except ValueError:
        raise InstanceError(f"{what} is '{text!s:.60}'; give whole numbers such as 2 or 2{separator}8.") from None


def vm_sizes(text: object, most_cores: int, task_sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the minimum sizes of VMs that have up to `most_cores`.

    Raises `InstanceError` for anything else, or if a task or a minimum size has more cores than that.
    """
    sizes = whole_numbers("min_sizes", text)
    if min(sizes) < 1:
        raise InstanceError(f"min_sizes is '{text!s:.60}'; give positive numbers such as 2,4,8.")
    needed = max(*task_sizes, *sizes)
    if not needed <= most_cores <= MAX_CORES:
        raise InstanceError(
            f"VMs have up to {most_cores} cores, and tasks or minimum sizes up to {needed}; give smaller ones, or larger VMs "
            f"of up to {MAX_CORES}."
        )
    return sizes


def decimals(what: str, text: object) -> tuple[float, ...]:
    """Return numbers written as `1,2.5`, or one number. Raises `InstanceError` for anything else."""
    try:
        return tuple(float(part) for part in str(text).split(","))
    except ValueError:
        raise InstanceError(f"{what} is '{text!s:.60}'; give numbers such as 1 or 1,2.5.") from None


def check_ranges(*ranges: tuple[str, float, float, float]) -> None:
    """Check parameters, each given as its name, value, least and most. Raises `InstanceError` for one out of range."""
    for name, value, least, most in ranges:
        if not least <= value <= most:
            raise InstanceError(f"{name} is {value:g}; give {least:g} to {most:g}.")


def unusual(values: Mapping[str, tuple[object, object]]) -> list[str]:
    """Return parts of an instance's name, of parameters whose value differs from the usual one that is given with it."""
    return [f"{name.replace('_', '-')}-{_shown(value)}" for name, (value, usual) in values.items() if value != usual]


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
