"""The waiting problem (Waiting Game, sections II and III): jobs, machines bought for good, and machines rented by need.

Letters used for shapes: J jobs, K on-demand machine types, H jobs of the history.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import BoolArray, Brief, IntArray, content_hash, first_true, lock, whole
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.model import InstanceModel, check_order

FAMILY = "waiting"
SCHEMA = "schedgap/waiting/1"
# The last submission and all runtimes one after the other; and when the last job of a schedule has ended. So the sum of
# any two times of a schedule, and of its end and a limit of 2^62 on waits, fits 63 bits.
MAX_TOTAL_US, MAX_END_US = 2**61, 2**62
# Sizes, and prices an hour, those of the many machines that a large job rents included: sums of two fit 63 bits.
MAX_UNITS = 2**61


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitingInstance(InstanceModel):
    """Jobs to run on fixed machines, of which any number may be bought, or on machines rented for the job alone.

    Times are integer microseconds since the instance's start, memory is MiB, prices are micro-dollars per hour.

    submit_us : (J,) int64, not negative, in order. runtime_us : (J,) int64, positive.
    cores, memory_mib : (J,) int64, of one job; a job runs inside one machine. Cores are positive.
    machine_cores, machine_memory_mib, fixed_price : of one fixed machine; its price is due for the whole horizon, used
        or not.
    rented_cores, rented_memory_mib, rented_price : (K,) int64, the on-demand machine types. A job rents the cheapest
        that fits, for its runtime; one larger than all of them rents as many of the largest as it takes.
    horizon_us : for how long fixed machines are paid, at least; longer if a job on one of them ends later.
    wait_price : micro-dollars for an hour that a job waits; 0 if waiting is free.
    max_wait_us : no job may wait longer; None for no such limit.
    history_before_us, history_runtime_us, history_cores, history_memory_mib : (H,) int64, the jobs known before the
        instance's first second, in order: how long before it each was submitted, and the same as of other jobs. They are
        not to be run; policies learn their parameters from them. Empty for no history.
    left_out : kinds of input that the instance does not hold, each with its share of the core-hours; no part of the content.
    notes : what whoever made it has to say, such as jobs left out; no part of the content.

    Raises `InstanceError` on anything inconsistent.
    """

    name: str
    submit_us: IntArray
    runtime_us: IntArray
    cores: IntArray
    memory_mib: IntArray
    machine_cores: int
    machine_memory_mib: int
    fixed_price: int
    rented_cores: IntArray
    rented_memory_mib: IntArray
    rented_price: IntArray
    horizon_us: int
    wait_price: int = 0
    max_wait_us: int | None = None
    history_before_us: IntArray = ()  # type: ignore[assignment]
    history_runtime_us: IntArray = ()  # type: ignore[assignment]
    history_cores: IntArray = ()  # type: ignore[assignment]
    history_memory_mib: IntArray = ()  # type: ignore[assignment]
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, float], ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        scalars = _SCALAR_FIELDS if self.max_wait_us is not None else _SCALAR_FIELDS[:-1]
        self._lock(_JOB_FIELDS + _TYPE_FIELDS + HISTORY_FIELDS, scalars)
        self._check_shapes()
        self._check_jobs()
        self._check_machines()
        self._check_limits()
        self._check_history()
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return int(self.submit_us.shape[0])

    @property
    def history(self) -> WaitingInstance | None:
        """The jobs known from before as an instance of the same machines and prices; None if there are none."""
        before_us = self.history_before_us
        if not before_us.shape[0]:
            return None
        return self.replace(
            name=f"{self.name}-history",
            submit_us=before_us[0] - before_us,
            **{key.removeprefix("history_"): getattr(self, key) for key in HISTORY_FIELDS[1:]},
            horizon_us=max(1, int(before_us[0])),
            notes=(),
            **dict.fromkeys(HISTORY_FIELDS, ()),
        )

    def fits_fixed(self) -> BoolArray:
        """(J,) bool: whether a fixed machine is large enough for the job."""
        return (self.cores <= self.machine_cores) & (self.memory_mib <= self.machine_memory_mib)

    def rent(self) -> IntArray:
        """(J,) int64, micro-dollars per hour: the price of the cheapest on-demand machine, or machines, for each job."""
        prices = np.full(self.num_jobs, -1, np.int64)
        for k in np.argsort(-self.rented_price, kind="stable").tolist():
            fits = (self.cores <= self.rented_cores[k]) & (self.memory_mib <= self.rented_memory_mib[k])
            prices[fits] = self.rented_price[k]
        large, number, price = self._rented_together()
        prices[large] = number * price
        return prices

    def _check_shapes(self) -> None:
        for fields in (_JOB_FIELDS, _TYPE_FIELDS, HISTORY_FIELDS):
            shapes = {key: getattr(self, key).shape for key in fields}
            if len(set(shapes.values())) != 1 or len(next(iter(shapes.values()))) != 1:
                found = ", ".join(f"{key} {shape}" for key, shape in shapes.items())
                raise InstanceError(f"{self.name}: these must have one length: {found}.")
        if self.rented_cores.shape[0] == 0:
            raise InstanceError(f"{self.name}: there is no on-demand machine type; give at least one.")

    def _check_jobs(self) -> None:
        checks = (
            ("is submitted at", self.submit_us, self.submit_us < 0, "a time that is not negative"),
            ("runs for", self.runtime_us, self.runtime_us <= 0, "a positive number of microseconds"),
            ("needs", self.cores, self.cores <= 0, "a positive number of cores"),
            ("has memory", self.memory_mib, self.memory_mib < 0, "memory that is not negative"),
        )
        for what, values, bad, wanted in checks:
            if (job := first_true(bad)) is not None:
                raise InstanceError(f"{self.name}: job {job} {what} {values[job]}; give {wanted}.")
        check_order(self.name, self.submit_us, "us", verb="is submitted", order="submission")
        if not self.num_jobs:
            raise InstanceError(f"{self.name}: there are no jobs; give at least one.")
        # In floats first, which do not wrap; then exactly, since those sums fit.
        last = int(self.submit_us[-1])
        if last + float(self.runtime_us.sum(dtype=np.float64)) > 1.5 * MAX_TOTAL_US or (
            last + int(self.runtime_us.sum()) > MAX_TOTAL_US
        ):
            raise InstanceError(f"{self.name}: its times add up to more than {MAX_TOTAL_US} microseconds.")

    def _check_machines(self) -> None:
        for key in ("machine_cores", "machine_memory_mib", "fixed_price", "horizon_us"):
            if getattr(self, key) <= 0:
                raise InstanceError(f"{self.name}: {key} is {getattr(self, key)}; give a positive whole number.")
        for key in _TYPE_FIELDS:
            if (getattr(self, key) <= 0).any():
                raise InstanceError(f"{self.name}: {key} holds {getattr(self, key).min()}; give positive numbers.")
        if self.wait_price < 0 or (self.max_wait_us is not None and self.max_wait_us < 0):
            raise InstanceError(
                f"{self.name}: wait_price {self.wait_price} and max_wait_us {self.max_wait_us} cannot be negative."
            )

    def _check_limits(self) -> None:
        """Refuse what 64-bit sums do not hold."""
        for key, value in ((key, getattr(self, key)) for key in _SCALAR_FIELDS):
            limit = MAX_TOTAL_US if key.endswith("_us") else MAX_UNITS
            if value is not None and value > limit:
                raise InstanceError(f"{self.name}: {key} is {value}, more than {limit}; use larger units.")
        for key in ("cores", "memory_mib", *_TYPE_FIELDS):
            if int(getattr(self, key).max()) > MAX_UNITS:
                raise InstanceError(
                    f"{self.name}: {key} holds {getattr(self, key).max()}, more than {MAX_UNITS}; use larger units."
                )
        large, number, price = self._rented_together()
        costly = number > MAX_UNITS // price
        if costly.any():
            job, machines = int(large[np.argmax(costly)]), int(number[np.argmax(costly)])
            raise InstanceError(
                f"{self.name}: job {job} rents {machines} of the largest machines for {machines * price} micro-dollars "
                f"an hour, more than {MAX_UNITS}; give larger on-demand machines."
            )

    def _check_history(self) -> None:
        """Refuse a history whose jobs are no jobs, as `history` finds out, or come after the instance's first second."""
        if (job := first_true(self.history_before_us < 0)) is not None:
            raise InstanceError(
                f"{self.name}: job {job} of the history is submitted {-self.history_before_us[job]} us after the first "
                "second; give a time before it that is not negative."
            )
        _ = self.history

    def _rented_together(self) -> tuple[IntArray, IntArray, int]:
        """Return the jobs larger than every on-demand type, how many of the largest each rents, and its price."""
        fits = np.zeros(self.num_jobs, np.bool_)
        for cores, memory_mib in zip(self.rented_cores, self.rented_memory_mib, strict=True):
            fits |= (self.cores <= cores) & (self.memory_mib <= memory_mib)
        large = np.flatnonzero(~fits)
        k = int(np.argmax(self.rented_cores))
        by_cores = -(-self.cores[large] // self.rented_cores[k])
        by_memory = -(-self.memory_mib[large] // self.rented_memory_mib[k])
        return large, np.maximum(by_cores, by_memory), int(self.rented_price[k])

    def _content_hash(self) -> str:
        # Without a history the content is what it was before there were any.
        fields = _JOB_FIELDS + _TYPE_FIELDS + (HISTORY_FIELDS if self.history_before_us.shape[0] else ())
        return content_hash([SCHEMA, *(getattr(self, key) for key in (*_SCALAR_FIELDS, *fields))])


_JOB_FIELDS = ("submit_us", "runtime_us", "cores", "memory_mib")
_TYPE_FIELDS = ("rented_cores", "rented_memory_mib", "rented_price")
HISTORY_FIELDS = ("history_before_us", "history_runtime_us", "history_cores", "history_memory_mib")
_SCALAR_FIELDS = ("machine_cores", "machine_memory_mib", "fixed_price", "horizon_us", "wait_price", "max_wait_us")


RENTED = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitingSchedule(Brief):
    """Where and when each job runs; it is never stopped before its end.

    num_machines : fixed machines bought. machine : (J,) int64, the fixed machine of each job, `RENTED` for a machine
    rented for it alone. start_us : (J,) int64, when it starts, in microseconds since the instance's start.

    Raises `SolutionError` for fields of other shapes or types.
    """

    num_machines: int
    machine: IntArray
    start_us: IntArray

    def __post_init__(self) -> None:
        lock(self, ("num_machines",), whole, error=SolutionError)
        lock(self, ("machine", "start_us"), error=SolutionError)
        if self.machine.ndim != 1 or self.machine.shape != self.start_us.shape:
            raise SolutionError(
                f"a schedule places {self.machine.shape} jobs and starts {self.start_us.shape}; give one entry a job."
            )


MAX_JOBS = 8


def shrink(instance: WaitingInstance) -> WaitingInstance:
    """Return an instance with the first eight jobs, and the last of its history: to warm up compiled methods, not to measure."""
    kept = slice(0, MAX_JOBS)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        submit_us=instance.submit_us[kept],
        runtime_us=instance.runtime_us[kept],
        cores=instance.cores[kept],
        memory_mib=instance.memory_mib[kept],
        horizon_us=max(1, int(instance.submit_us[kept].max(initial=1))),
        notes=(),
        **{key: getattr(instance, key)[-MAX_JOBS:] for key in HISTORY_FIELDS},
    )
