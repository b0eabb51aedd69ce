"""The harvest family: tasks on VMs whose cores come and go (SlackSched)."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.harvest.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.harvest.generators.datacentre import datacentre, quick, two_kinds
from schedgap.instances.harvest.measures import measures, picture
from schedgap.instances.harvest.model import FAMILY, NO_CHECKPOINTS, HarvestInstance, HarvestSchedule, shrink
from schedgap.instances.harvest.readers import azure_v1, spot_trace
from schedgap.instances.harvest.verify import RunResults, ends_ms, job_times_ms, run_results, verify
from schedgap.instances.units import SECOND_MS

HARVEST = register_family(
    Family(
        name=FAMILY,
        instance=HarvestInstance,
        solution=HarvestSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=SECOND_MS,
        objective_unit="s",
        generators={"quick": quick, "datacentre": datacentre, "two-kinds": two_kinds},
        importers={"spot-traces": spot_trace, "azure-v1": azure_v1},
        shrink=shrink,
        measures=measures,
        headline=("mean_vms", "mean_jct_s", "utilisation", "waste"),
        picture=picture,
        bound_methods=("bound-prices", "bound-work"),
        large=(
            ("datacentre", {"vms": 200, "jobs": 1_000, "servers": 2_000}),
            ("quick", {"vms": 60, "jobs": 200, "grid_s": 300.0}),
        ),
    )
)

__all__ = [
    "FAMILY",
    "HARVEST",
    "NO_CHECKPOINTS",
    "SECOND_MS",
    "HarvestInstance",
    "HarvestSchedule",
    "RunResults",
    "azure_v1",
    "datacentre",
    "ends_ms",
    "job_times_ms",
    "measures",
    "picture",
    "quick",
    "read_instance",
    "read_solution",
    "run_results",
    "shrink",
    "spot_trace",
    "two_kinds",
    "verify",
    "write_instance",
    "write_solution",
]
