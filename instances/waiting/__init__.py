"""The waiting family: how many fixed machines to buy, who waits for them, who rents (Waiting Game)."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.waiting.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.waiting.generate import bursty, mms
from schedgap.instances.waiting.lsf import lsf_csv
from schedgap.instances.waiting.measures import measures
from schedgap.instances.waiting.model import DOLLAR, FAMILY, HOUR_US, SECOND_US, WaitingInstance
from schedgap.instances.waiting.objective import Costs, costs, paid_us, rounded_up
from schedgap.instances.waiting.picture import picture
from schedgap.instances.waiting.schedule import RENTED, WaitingSchedule
from schedgap.instances.waiting.shrink import shrink
from schedgap.instances.waiting.swf import swf
from schedgap.instances.waiting.verify import verify

WAITING = register_family(
    Family(
        name=FAMILY,
        solution=WaitingSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=DOLLAR,
        objective_unit="$",
        generators={"mms": mms, "bursty": bursty},
        importers={"swf": swf, "lsf-csv": lsf_csv},
        shrink=shrink,
        measures=measures,
        picture=picture,
    )
)

__all__ = [
    "FAMILY",
    "HOUR_US",
    "RENTED",
    "SECOND_US",
    "WAITING",
    "Costs",
    "WaitingInstance",
    "WaitingSchedule",
    "bursty",
    "costs",
    "lsf_csv",
    "measures",
    "mms",
    "paid_us",
    "read_instance",
    "read_solution",
    "rounded_up",
    "shrink",
    "swf",
    "verify",
    "write_instance",
    "write_solution",
]
