"""The sharing family: jobs of tasks that arrive over time and share a cluster fairly (Eunomia)."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.sharing.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.sharing.generators import macro, micro, random_jobs
from schedgap.instances.sharing.measures import measures, picture
from schedgap.instances.sharing.model import FAMILY, SharingInstance, SharingSchedule, shrink
from schedgap.instances.sharing.verify import Snapshot, Timeline, as_users, ends_ms, fairness_at, verify
from schedgap.instances.units import SECOND_MS

SHARING = register_family(
    Family(
        name=FAMILY,
        instance=SharingInstance,
        solution=SharingSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=SECOND_MS,
        objective_unit="s",
        generators={"micro": micro, "macro": macro, "random-jobs": random_jobs},
        importers={},
        shrink=shrink,
        measures=measures,
        headline=("mean_completion_delay_s", "jain_mean", "distance_mean"),
        picture=picture,
        bound_methods=("bound-intervals", "bound-work"),
        large=(("macro", {"jobs": 2_888}), ("random-jobs", {"jobs": 400})),
    )
)

__all__ = [
    "FAMILY",
    "SECOND_MS",
    "SHARING",
    "SharingInstance",
    "SharingSchedule",
    "Snapshot",
    "Timeline",
    "as_users",
    "ends_ms",
    "fairness_at",
    "macro",
    "measures",
    "micro",
    "picture",
    "random_jobs",
    "read_instance",
    "read_solution",
    "shrink",
    "verify",
    "write_instance",
    "write_solution",
]
