"""A family of problems, as the harness sees it: files, verification and the unit of its objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedgap.instances.errors import InstanceError, did_you_mean

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.picture import Picture

# What commands and functions mean that name no family.
DEFAULT_FAMILY = "provisioning"
SIZE = "tasks"


@dataclass(frozen=True, slots=True)
class Shortage:
    """What is proven to be missing for all tasks to be placed.

    tasks : at least so many find no place. lacks : `what` is short, `needed`, `available` and `short` of it, and at least so
    many `tasks` without a place for that alone. sentences : the same for people.
    """

    tasks: int
    lacks: tuple[dict[str, Any], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """How instances of a family can be the state of a running cluster.

    price_now : what runs costs, in the unit of the objective; None where nothing runs. pending : tasks that run nowhere.
    most_disruption : how much disruption there may be, in 1 / `disruption_scale` of what a task counts that nobody says more
    of; None for any. with_disruption : the instance in which so much may be. whole_disruption : if all that runs had to go.
    disrupted : by a solution; None where nothing runs. counts_moves : whether that is the number of tasks that move.
    machines_now, machines_of : how many of each type run, and are in a solution. moved : tasks that a solution moves; None
    where nothing runs. folded : the same counts by type with those that differ by node only as one. shortage : what is
    proven to be missing. drain : steps from what runs to a solution, as JSON has them. write_plan : writes a solution with
    these steps. plan_remarks : sentences on what a solution breaks, or needs of machines, that no rule of an instance says.
    """

    price_now: Callable[[Any], int | None]
    pending: Callable[[Any], int]
    most_disruption: Callable[[Any], int | None]
    with_disruption: Callable[[Any, int | None], Any]
    whole_disruption: Callable[[Any], int]
    disrupted: Callable[[Any, Any], int | None]
    counts_moves: Callable[[Any], bool]
    machines_now: Callable[[Any], dict[str, int]]
    machines_of: Callable[[Any, Any], dict[str, int]]
    moved: Callable[[Any, Any], int | None]
    folded: Callable[[Any, dict[str, int]], dict[str, int]]
    shortage: Callable[[Any], Shortage | None]
    drain: Callable[[Any, Any], list[dict[str, Any]]]
    write_plan: Callable[[Any, Any, list[dict[str, Any]], Path], None]
    plan_remarks: Callable[[Any, Any], tuple[str, ...]]
    disruption_scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What a cluster cost hour by hour, of H hours, the last one perhaps shorter; in the unit that is shown.

    paid, floor : (H,), and `lost` by reason, (H,) each: what was paid is the floor and all that was lost. tasks : (H,), that
    were there in the middle of the hour.
    """

    paid: FloatArray
    floor: FloatArray
    tasks: IntArray
    lost: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class Over:
    """How instances of a family can be what a cluster did over days.

    span : the unix second at which the past begins, and its seconds. ran : what ran, in words. paid : in the unit of the
    objective; None where no past is known. hourly : what a solution pays in each hour, or, for None, what was paid.
    losses : by the proof of `floor`. floor, plan : the method that proves the floor with prices for each moment, and the one
    that plans with hindsight. rivals : what others would have done.
    """

    span: Callable[[Any], tuple[int, int]]
    ran: Callable[[Any], str]
    paid: Callable[[Any], int | None]
    hourly: Callable[[Any, Any], FloatArray]
    losses: Callable[[Any, Mapping[str, Any]], Losses]
    floor: str
    plan: str
    rivals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A run of a method on an instance, for `Family.native_score`. objective : verified; None where the run failed."""

    instance: str
    objective: int | None
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Family:
    """What differs between families; how methods are run, recorded and reported does not.

    instance, solution : the classes of its instances and solutions; of the latter, a frozen dataclass of whole numbers and
        arrays (see `fields`).
    verify : returns the exact integer objective of a feasible solution or raises `VerifyError`.
    objective_scale : integer objective units in one shown unit (1,000,000 micro-dollars in a dollar).
    generators : name to a function of keyword parameters and `seed` that returns an instance.
    importers : format name to a function of a path and keyword parameters that returns an instance.
    shrink : returns a tiny instance of the same kind, on which the harness warms up compiled methods; None for none.
    measures : returns figures of a verified solution beside its objective, such as machines used; None for none.
    picture : returns what a verified solution looks like, for the report; None for none.
    cluster : how its instances can be the state of a running cluster; None where they cannot.
    over : how its instances can be what a cluster did over days; None where they cannot.
    floor_method : the method that looks for the cheapest plan of a cluster and for the floor below all plans.
    floor_first : methods that have a plan and a floor within a second, which are shown until that one has better ones.
    floor_beside : methods that better the floor while that one runs, where two runs at a time are allowed.
    features : returns what of an instance a method must say that it `handles`; None for nothing ever.
    bound_methods : names of methods that prove a bound where none was asked for; the first that takes the instance is run.
    large : generators and their parameters, for instances that hardly any method solves in a second; some seconds to make.
    size : the parameter of its generators that says how large an instance is.
    model_prefix : a method of this prefix and X, which finds no solution, predicts the figures of method X; empty for none.
    steady_prefix : a measure of this prefix and Y is Y after warm-up; what models predict as Y stands beside both.
    told : names of details that tables may show as measures although nobody but the method can know them. Told with a bound and
        no solution, such a detail is the least that the measure can be, and is held against verified solutions.
    native_score : figures by which others score all runs of one method together, by name; None for none.
    headline : measures that stand beside an objective in one instance's table; * and ? as in file names.
    assumptions : returns sentences on what an instance takes for granted, which its user may see otherwise; None for none.
    """

    name: str
    instance: type[Any]
    solution: type[Any]
    verify: Callable[[Any, Any], int]
    read_instance: Callable[[Path], Any]
    write_instance: Callable[[Any, Path], None]
    read_solution: Callable[[Any, Path], Any]
    write_solution: Callable[[Any, Any, Path], None]
    objective_scale: int
    objective_unit: str
    generators: dict[str, Callable[..., Any]]
    importers: dict[str, Callable[..., Any]]
    shrink: Callable[[Any], Any] | None = None
    measures: Callable[[Any, Any], dict[str, float]] | None = None
    picture: Callable[[Any, Any], Picture] | None = None
    features: Callable[[Any], frozenset[str]] | None = None
    cluster: Cluster | None = None
    over: Over | None = None
    floor_method: str = ""
    floor_first: tuple[str, ...] = ()
    floor_beside: tuple[str, ...] = ()
    bound_methods: tuple[str, ...] = ()
    large: tuple[tuple[str, Mapping[str, bool | int | float | str]], ...] = ()
    size: str = SIZE
    model_prefix: str = ""
    steady_prefix: str = ""
    told: tuple[str, ...] = ()
    native_score: Callable[[Sequence[Scored]], dict[str, float]] | None = None
    headline: tuple[str, ...] = ()
    assumptions: Callable[[Any], tuple[str, ...]] | None = None

    def unit_of(self, instance: Any) -> str:
        """Return the unit in which an instance's objective is shown: its own, such as `bins`, else the family's."""
        return getattr(instance, "unit", "") or self.objective_unit


FAMILIES: dict[str, Family] = {}


def register_family(family: Family) -> Family:
    """Make a family known by its name.

    Raises
    ------
    InstanceError
        if another one has that name.
    """
    if FAMILIES.setdefault(family.name, family) != family:
        raise InstanceError(f"family {family.name} is registered twice, with different content; rename one of them.")
    return family


def find_family(name: str) -> Family:
    """Return a family.

    Raises
    ------
    InstanceError
        naming the known families.
    """
    if name not in FAMILIES:
        near = did_you_mean(name, FAMILIES)
        raise InstanceError(
            f"there is no family '{name}'; {near}known are {', '.join(sorted(FAMILIES))}; --family FILE.py brings one."
        )
    return FAMILIES[name]


def is_own(family: str, module: str) -> bool:
    """Return whether a module is this package's, or of the code that defines a family outside of it."""
    home = FAMILIES[family].instance.__module__ if family in FAMILIES else ""
    package = home.rpartition(".")[0]
    return module.startswith("schedgap.") or module == home or bool(package and module.startswith(f"{package}."))
