"""Waiting instances and schedules as JSON files, schemas `schedgap/waiting/1` and `schedgap/waiting-solution/1`.

Numbers are written as people write them (seconds, GiB, dollars) and converted exactly to integer units. Above 10,000
jobs their columns go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from schedgap.instances.documents import (
    Amount,
    Array,
    Columns,
    Count,
    Field,
    Group,
    Index,
    InstanceDocument,
    Positive,
    Rows,
    SolutionDocument,
    Stored,
    Value,
)
from schedgap.instances.units import DOLLAR, GIB_MIB, SECOND_US
from schedgap.instances.waiting.model import HISTORY_FIELDS, RENTED, WaitingInstance, WaitingSchedule

INSTANCE = InstanceDocument(
    "schedgap/waiting/1",
    WaitingInstance,
    Group(
        "fixed",
        Value("cores", Count, "machine_cores"),
        Value("memory_gib", Positive, "machine_memory_mib", scale=GIB_MIB),
        Value("price", Positive, "fixed_price", scale=DOLLAR),
    ),
    Rows(
        "rented",
        Field("cores", Count, "rented_cores"),
        Field("memory_gib", Positive, "rented_memory_mib", scale=GIB_MIB),
        Field("price", Positive, "rented_price", scale=DOLLAR),
        least=1,
    ),
    Value("horizon_s", Positive, "horizon_us", scale=SECOND_US),
    Value("wait_price", Amount, scale=DOLLAR, default=0, omitted=True),
    Value("max_wait_s", Amount, "max_wait_us", scale=SECOND_US, default=None, omitted=True),
    Value("left_out", list[tuple[str, float]], default=(), omitted=True),
    Stored(
        "jobs",
        Columns(
            "jobs",
            Field("submit_s", Amount, "submit_us", scale=SECOND_US),
            Field("runtime_s", Positive, "runtime_us", scale=SECOND_US),
            Field("cores", Count),
            Field("memory_gib", Amount, "memory_mib", scale=GIB_MIB),
        ),
        Columns(
            "history",
            Field("before_s", Amount, "history_before_us", scale=SECOND_US),
            Field("runtime_s", Positive, "history_runtime_us", scale=SECOND_US),
            Field("cores", Count, "history_cores"),
            Field("memory_gib", Amount, "history_memory_mib", scale=GIB_MIB),
            optional=True,
        ),
        arrays=[
            *(Array(name) for name in ("submit_us", "runtime_us", "cores", "memory_mib")),
            *(Array(name, optional=True) for name in HISTORY_FIELDS),
        ],
        size=lambda instance: instance.num_jobs + instance.history_before_us.shape[0],
    ),
)
SOLUTION: SolutionDocument[WaitingInstance, WaitingSchedule] = SolutionDocument(
    "schedgap/waiting-solution/1",
    WaitingSchedule,
    Value("machines", Index, "num_machines"),
    Columns("", Field("machine", Index, null=RENTED), Field("start_s", Amount, "start_us", scale=SECOND_US)),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write
read_solution, write_solution = SOLUTION.read, SOLUTION.write
