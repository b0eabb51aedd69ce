"""The snapshot provisioning problem (Eva, sections 2.3 and 4.1): what is given.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, T tasks, W workloads.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, content_hash, first_true, locked_ints
from schedgap.instances.errors import InstanceError
from schedgap.instances.model import InstanceModel, check_shapes
from schedgap.instances.provisioning import running as state
from schedgap.instances.provisioning.running import Running

FAMILY = "provisioning"
SCHEMA = "schedgap/provisioning/1"
NOT_ALLOWED = -1
MAX_TOTAL = 2**62
# What an instance says, in the order of its digest.
CONTENT = (
    *("resources", "families", "type_names", "type2family", "capacity", "price", "demand", "counts", "class_names"),
    *("workloads", "class2workload", "job_names", "class2job", "tasks_per_job", "task2class", "task_names"),
    *("throughput", "job_value"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProvisioningInstance(InstanceModel):
    """Tasks to place on rented machines at the least price per hour; any number of machines of each type, or a stock.

    All quantities are integers: resources in the units of `units.resource_scale` (memory in MiB, KiB or bytes, every
    other in thousandths: milli-GPU, milli-CPU), prices in micro-dollars per hour, throughputs in thousandths.

    type2family : (K,) int64. capacity : (K, R) int64. price : (K,) int64, positive.
    demand : (F, C, R) int64; a row of -1 where a class may not run on a family.
    counts : (C,) int64, tasks of each class, positive.
    class_names : C names, or None for `task-0`, `task-1`, ..., which are None too where they are given.
    class2workload : (C,) int64 into `workloads`, -1 for none.
    class2job : (C,) int64 into `job_names`, -1 where the class's tasks belong to jobs of `tasks_per_job` tasks each.
    tasks_per_job : (C,) int64, at least 1.
    job_value : (C,) int64, micro-dollars per hour: the summed reservation price of the job that one task of the class
        belongs to (section 4.4); derived from the jobs unless given.
    task2class : (T,) int64, the class of each task in the order in which tasks were given; None for class order.
    task_names : T names, or None.
    throughput : (W, W) int64 thousandths in [0, 1000], the normalised throughput of workload i beside workload j; None
        for no interference. With it, the objective also counts the value of lost throughput (see `objective.py`).
    stock : (K,) int64, how many machines of each type can be had, -1 for any number; None for any number of all.
    fee : (K,) int64, the part of `price` that is a fee for each machine (a licence, monitoring), or None.
    per_machine : (C,) int64, at most so many tasks of the class share a machine, -1 for any number; None for any number of
        all.
    running : machines that run already, with what is on them, or None; they count against the stock.
    disruption : (C,) int64, in 1 / `ONE_TASK`, what it counts as disruption that a task of the class leaves its running
        machine; None for one task each.
    max_disruption : in 1 / `ONE_TASK`, at most so much disruption (`moves.disruption`); None for any. Where tasks count one
        each and machines nothing it limits how many tasks leave the machine that they are on, and is rounded down to whole ones.
    usual_tasks : pairs of a type's name and how many tasks a machine of it takes unless it is set up to take more, where no
        resource limits that; no part of the content.
    notes : what whoever made it has to say; no part of the content.
    unit : what the objective is shown in, such as `bins`; empty for dollars per hour. No part of the content.

    Raises `InstanceError` on anything inconsistent, such as a task class that fits no machine type.
    """

    name: str
    resources: tuple[str, ...]
    families: tuple[str, ...]
    type_names: tuple[str, ...]
    type2family: IntArray
    capacity: IntArray
    price: IntArray
    demand: IntArray
    counts: IntArray
    class_names: tuple[str, ...] | None = None
    workloads: tuple[str, ...] = ()
    # An instance has all of these that are no `IntArray | None`: they are derived where they are left out.
    class2workload: IntArray = None  # type: ignore[assignment]
    job_names: tuple[str, ...] = ()
    class2job: IntArray = None  # type: ignore[assignment]
    tasks_per_job: IntArray = None  # type: ignore[assignment]
    task2class: IntArray | None = None
    task_names: tuple[str, ...] | None = None
    throughput: IntArray | None = None
    job_value: IntArray = None  # type: ignore[assignment]
    stock: IntArray | None = None
    fee: IntArray | None = None
    per_machine: IntArray | None = None
    running: Running | None = None
    disruption: IntArray | None = None
    max_disruption: int | None = None
    usual_tasks: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = ""
    reservation_type: IntArray = None  # type: ignore[assignment]
    digest: str = ""

    derived: ClassVar = {"reservation_type": None, "job_value": None, "digest": ""}

    def __post_init__(self) -> None:
        num_classes = int(np.shape(self.counts)[0])
        defaults = {
            "class2workload": np.full(num_classes, -1, np.int64),
            "class2job": np.full(num_classes, -1, np.int64),
            "tasks_per_job": np.ones(num_classes, np.int64),
        }
        for key, default in defaults.items():
            if getattr(self, key) is None:
                object.__setattr__(self, key, default)
        arrays = ("type2family", "capacity", "price", "demand", "counts", *defaults, "task2class", "throughput")
        optional = ("stock", "fee", "per_machine", "disruption")
        # A file has names, whether or not its instance had some.
        if self.class_names is not None and self.class_names[:1] == ("task-0",):
            is_usual = tuple(self.class_names) == tuple(f"task-{c}" for c in range(num_classes))
            object.__setattr__(self, "class_names", None if is_usual else self.class_names)
        given = [key for key in (*arrays, *optional) if getattr(self, key) is not None]
        self._lock(given, () if self.max_disruption is None else ("max_disruption",))
        for key in ("stock", "per_machine"):
            limit = getattr(self, key)
            if limit is not None and (limit == state.ANY_NUMBER).all():
                object.__setattr__(self, key, None)
        if self.disruption is not None and (self.disruption == state.ONE_TASK).all():
            object.__setattr__(self, "disruption", None)
        if self.max_disruption is not None and self.counts_moves:
            object.__setattr__(self, "max_disruption", self.max_disruption // state.ONE_TASK * state.ONE_TASK)
        self._check_shapes()
        self._check_values()
        state.check_offer(self.name, self.type_names, self.price, self.stock, self.fee)
        held = self.name, self.running, self.max_disruption, self.type_names, self.stock, self.counts
        state.check_running(*held, self.class_name)
        state.check_reserved(self.name, self.running, len(self.resources), self.num_types)
        object.__setattr__(self, "reservation_type", locked_ints(self._cheapest_fitting_type()))
        value = self._job_value() if self.job_value is None else self.job_value
        object.__setattr__(self, "job_value", locked_ints(value))
        self._check_job_value()
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_types(self) -> int:
        """Number of machine types."""
        return len(self.type_names)

    @property
    def num_classes(self) -> int:
        """Number of task classes."""
        return int(self.counts.shape[0])

    @property
    def num_tasks(self) -> int:
        """Number of tasks."""
        return int(self.counts.sum())

    @property
    def reservation_price(self) -> IntArray:
        """(C,) int64, micro-dollars per hour: the price of the cheapest type that fits one task (Eva, section 4.2)."""
        return self.price[self.reservation_type]

    @property
    def counts_moves(self) -> bool:
        """Whether disruption is the number of tasks that leave their machines."""
        return self.disruption is None and (self.running is None or self.running.node_disruption is None)

    @property
    def weight(self) -> IntArray:
        """(C,) int64, in 1 / `ONE_TASK`: what it counts as disruption that a task of each class leaves its machine."""
        return np.full(self.num_classes, state.ONE_TASK) if self.disruption is None else self.disruption

    def class_name(self, index: int) -> str:
        """Return the name of a task class."""
        return self.class_names[index] if self.class_names is not None else f"task-{index}"

    @property
    def most_together(self) -> IntArray:
        """(C,) int64: how many tasks of each class there are, or may share a machine if that is less."""
        if self.per_machine is None:
            return self.counts
        return np.where(self.per_machine == state.ANY_NUMBER, self.counts, np.minimum(self.counts, self.per_machine))

    def task_classes(self) -> IntArray:
        """(T,) int64: the class of every task, in the order in which the tasks were given."""
        if self.task2class is not None:
            return self.task2class
        return np.repeat(np.arange(self.num_classes, dtype=np.int64), self.counts)

    def fits(self) -> BoolArray:
        """(K, C) bool: whether one task of the class fits alone on the type."""
        fits = np.empty((self.num_types, self.num_classes), np.bool_)
        for k, f in enumerate(self.type2family):
            demand = self.demand[f]
            fits[k] = (demand[:, 0] >= 0) & (demand <= self.capacity[k]).all(axis=1)
        return fits

    def _check_shapes(self) -> None:
        k, f, r = len(self.type_names), len(self.families), len(self.resources)
        c, w = self.num_classes, len(self.workloads)
        for what, number in (("machine types", k), ("families", f), ("resources", r), ("tasks", c)):
            if number == 0:
                raise InstanceError(f"{self.name}: no {what}; an instance needs at least one.")
        expected = {
            "type2family": (k,),
            "capacity": (k, r),
            "price": (k,),
            "demand": (f, c, r),
            "counts": (c,),
            "class2workload": (c,),
            "class2job": (c,),
            "tasks_per_job": (c,),
            "throughput": (w, w),
            "stock": (k,),
            "fee": (k,),
            "per_machine": (c,),
            "disruption": (c,),
        }
        check_shapes(self, expected)
        for key, number in (("class_names", c), ("task_names", self.num_tasks)):
            names = getattr(self, key)
            if names is not None and len(names) != number:
                raise InstanceError(f"{self.name}: {len(names)} {key} for {number}; give one each or none.")
        for key in ("resources", "families", "type_names", "class_names", "workloads", "job_names", "task_names"):
            names = getattr(self, key)
            if names is not None and len(set(names)) != len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise InstanceError(f"{self.name}: {key} names '{twice}' twice; names must be unique.")

    def _check_values(self) -> None:
        for k, name in enumerate(self.type_names):
            if self.price[k] <= 0:
                raise InstanceError(f"{self.name}: machine type {name} has price {self.price[k]}; it must be positive.")
            if (self.capacity[k] < 0).any() or not self.capacity[k].any():
                shown = dict(zip(self.resources, self.capacity[k].tolist(), strict=True))
                raise InstanceError(
                    f"{self.name}: machine type {name} has capacity {shown}; "
                    "none may be negative and one must be positive."
                )
        used = tuple(dict.fromkeys(self.families[f] for f in self.type2family if 0 <= f < len(self.families)))
        if used != self.families:
            raise InstanceError(
                f"{self.name}: families are {', '.join(self.families)}, but the machine types' families are "
                f"{', '.join(used)}; name each family once, in the order of its first machine type."
            )
        indices = {
            "type2family": (len(self.families), 0),
            "class2workload": (len(self.workloads), -1),
            "class2job": (len(self.job_names), -1),
            "task2class": (self.num_classes, 0),
        }
        for key, (stop, start) in indices.items():
            value = getattr(self, key)
            if value is not None and value.size and (value.min() < start or value.max() >= stop):
                raise InstanceError(f"{self.name}: {key} names an index outside {start}..{stop - 1}.")
        self._refuse(self.counts < 1, "count", self.counts, "at least 1")
        self._refuse(self.tasks_per_job < 1, "tasks_per_job", self.tasks_per_job, "at least 1")
        if self.per_machine is not None:
            bad = (self.per_machine < 1) & (self.per_machine != state.ANY_NUMBER)
            self._refuse(bad, "per_machine", self.per_machine, "at least 1")
        if self.disruption is not None:
            most = state.MOST_DISRUPTION
            bad = (self.disruption < 0) | (self.disruption > most)
            self._refuse(bad, "disruption", self.disruption, f"from 0 to {most}, in parts of 1 / {state.ONE_TASK}")
        for f, family in enumerate(self.families):
            allowed = self.demand[f, :, 0] != NOT_ALLOWED
            expected = np.where(allowed[:, None], self.demand[f] >= 0, self.demand[f] == NOT_ALLOWED)
            self._refuse(~expected.all(axis=1), f"demand on family {family}", self.demand[f], "not negative")
        if self.task2class is not None and not np.array_equal(
            np.bincount(self.task2class, minlength=self.num_classes), self.counts
        ):
            raise InstanceError(f"{self.name}: task2class does not hold each class as often as counts says.")
        if self.throughput is not None and self.throughput.size:
            bad = np.argwhere((self.throughput < 0) | (self.throughput > 1000))
            if bad.size:
                i, j = bad[0]
                raise InstanceError(
                    f"{self.name}: throughput of {self.workloads[i]} beside {self.workloads[j]} is "
                    f"{self.throughput[i, j] / 1000}; it must lie in [0, 1]."
                )
        # In Python's integers: a sum or product of 64-bit ones would wrap before it is compared.
        tasks = sum(self.counts.tolist())
        largest = max(int(self.demand.max()), int(self.price.max()) * int(self.tasks_per_job.max()), 1)
        if largest * tasks > MAX_TOTAL:
            raise InstanceError(f"{self.name}: {largest} x {tasks} tasks overflows 62 bits; use larger units.")
        # Methods add the capacities, and the prices, of two machines.
        for what, most in (("capacity", int(self.capacity.max())), ("price", int(self.price.max()))):
            if most >= MAX_TOTAL:
                raise InstanceError(f"{self.name}: a {what} of {most} overflows 62 bits; use larger units.")

    def _check_job_value(self) -> None:
        if self.job_value.shape != (self.num_classes,):
            raise InstanceError(
                f"{self.name}: job_value has shape {self.job_value.shape}; give one for each task class."
            )
        self._refuse(self.job_value < 0, "job_value", self.job_value, "not negative")
        # What a machine can lose is what all its tasks' jobs are worth; methods add two prices to it.
        most, tasks = int(self.job_value.max()), self.num_tasks
        if self.throughput is not None and most * tasks > MAX_TOTAL // 2:
            raise InstanceError(f"{self.name}: jobs worth {most} x {tasks} tasks overflow 62 bits; use larger units.")

    def _refuse(self, bad: BoolArray, what: str, values: IntArray, rule: str) -> None:
        if (c := first_true(bad)) is not None:
            raise InstanceError(f"{self.name}: task {self.class_name(c)} has {what} {values[c]}; it must be {rule}.")

    def _cheapest_fitting_type(self) -> IntArray:
        """(C,) int64: the cheapest type that fits one task, the first in file order on ties."""
        cheapest = np.full(self.num_classes, -1, np.int64)
        fits = self.fits()
        for k in np.argsort(self.price, kind="stable"):
            cheapest[(cheapest < 0) & fits[k]] = k
        if (c := first_true(cheapest < 0)) is not None:
            given = self.demand[:, c], self.families, self.type2family, self.capacity, self.resources
            raise InstanceError(state.fits_nowhere(f"{self.name}: task {self.class_name(c)}", *given))
        return cheapest

    def _job_value(self) -> IntArray:
        value: IntArray = self.reservation_price * self.tasks_per_job
        named = self.class2job >= 0
        if named.any():
            totals = np.zeros(len(self.job_names), np.int64)
            np.add.at(totals, self.class2job[named], (self.reservation_price * self.counts)[named])
            value[named] = totals[self.class2job[named]]
        return value

    def _content_hash(self) -> str:
        limits = self.max_disruption, self.per_machine, self.disruption
        more = state.optional_content(self.stock, self.fee, self.running, *limits)
        return content_hash((SCHEMA, *(getattr(self, key) for key in CONTENT), *more))


MAX_CLASSES = 4
MAX_TASKS_PER_CLASS = 2


def shrink(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return an instance with the first four classes, two tasks each: to warm up compiled methods, not to measure.

    Optional parts (workloads, throughputs, task order, names, running machines) are kept or stay absent.
    """
    kept = min(instance.num_classes, MAX_CLASSES)
    counts = np.minimum(instance.counts[:kept], MAX_TASKS_PER_CLASS)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        demand=instance.demand[:, :kept],
        counts=counts,
        class_names=None if instance.class_names is None else instance.class_names[:kept],
        class2workload=instance.class2workload[:kept],
        class2job=instance.class2job[:kept],
        tasks_per_job=instance.tasks_per_job[:kept],
        job_value=instance.job_value[:kept],
        per_machine=None if instance.per_machine is None else instance.per_machine[:kept],
        disruption=None if instance.disruption is None else instance.disruption[:kept],
        task2class=None if instance.task2class is None else np.repeat(np.arange(kept), counts),
        running=None if instance.running is None else instance.running.without(counts),
        task_names=None if instance.task_names is None else tuple(f"task-{t}" for t in range(int(counts.sum()))),
    )
