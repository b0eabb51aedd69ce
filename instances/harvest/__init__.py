"""The harvest family: tasks on VMs whose cores come and go (SlackSched)."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.harvest.accounts import Accounts, accounts
from schedgap.instances.harvest.files import read_instance, write_instance
from schedgap.instances.harvest.generate import quick
from schedgap.instances.harvest.generate_datacentre import datacentre, two_kinds
from schedgap.instances.harvest.measures import measures
from schedgap.instances.harvest.model import FAMILY, NO_CHECKPOINTS, SECOND_MS, HarvestInstance
from schedgap.instances.harvest.picture import picture
from schedgap.instances.harvest.schedule import HarvestSchedule
from schedgap.instances.harvest.shrink import shrink
from schedgap.instances.harvest.solution_files import read_solution, write_solution
from schedgap.instances.harvest.spot import spot_trace
from schedgap.instances.harvest.verify import ends_ms, job_times_ms, verify

HARVEST = register_family(
    Family(
        name=FAMILY,
        solution=HarvestSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=SECOND_MS,
        objective_unit="s",
        generators={"quick": quick, "datacentre": datacentre, "two-kinds": two_kinds},
        importers={"spot-traces": spot_trace},
        shrink=shrink,
        measures=measures,
        picture=picture,
    )
)

__all__ = [
    "FAMILY",
    "HARVEST",
    "NO_CHECKPOINTS",
    "SECOND_MS",
    "Accounts",
    "HarvestInstance",
    "HarvestSchedule",
    "accounts",
    "datacentre",
    "ends_ms",
    "job_times_ms",
    "measures",
    "picture",
    "quick",
    "read_instance",
    "read_solution",
    "shrink",
    "spot_trace",
    "two_kinds",
    "verify",
    "write_instance",
    "write_solution",
]
