"""The fairness family: which share of a cluster each user gets, machine by machine (Eunomia, Choosy, TSF, DRF)."""

from schedgap.instances.fairness.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.fairness.generators import alice_bob, datacentre, micro, random_users
from schedgap.instances.fairness.measures import measures, picture
from schedgap.instances.fairness.model import (
    FAMILY,
    NOTIONS,
    ONE,
    SPREAD,
    TASK,
    UNLIMITED,
    Certificate,
    FairnessAllocation,
    FairnessInstance,
    allocation_of,
    shrink,
    tasks_per_class,
)
from schedgap.instances.fairness.readers import openb_constraints
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, fair_shares, shares_of, verify
from schedgap.instances.family import Family, register_family

FAIRNESS = register_family(
    Family(
        name=FAMILY,
        instance=FairnessInstance,
        solution=FairnessAllocation,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=FAIR,
        objective_unit="x fair",
        generators={"alice-bob": alice_bob, "micro": micro, "random-users": random_users, "datacentre": datacentre},
        importers={"openb-constraints": openb_constraints},
        shrink=shrink,
        measures=measures,
        headline=("min_share", "distance_max", "users_below"),
        picture=picture,
        bound_methods=("water-filling",),
        large=(
            ("random-users", {"users": 2_000, "machines": 2_000}),
            ("random-users", {"users": 2_000, "machines": 2_000, "resources": 1, "speeds": "machine"}),
        ),
    )
)

__all__ = [
    "FAIR",
    "FAIRNESS",
    "FAMILY",
    "NOTIONS",
    "ONE",
    "SPREAD",
    "TASK",
    "UNLIMITED",
    "Certificate",
    "FairnessAllocation",
    "FairnessInstance",
    "alice_bob",
    "allocation_of",
    "datacentre",
    "fair_shares",
    "measures",
    "micro",
    "openb_constraints",
    "random_users",
    "read_instance",
    "read_solution",
    "share_of_a_task",
    "shares_of",
    "shrink",
    "tasks_per_class",
    "verify",
    "write_instance",
    "write_solution",
]
