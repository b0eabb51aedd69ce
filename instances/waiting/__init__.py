"""The waiting family: how many fixed machines to buy, who waits for them, who rents (Waiting Game)."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.units import DOLLAR, HOUR_US, SECOND_US
from schedgap.instances.waiting.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.waiting.generators import bursty, mms
from schedgap.instances.waiting.measures import assumptions, measures, picture
from schedgap.instances.waiting.model import FAMILY, RENTED, WaitingInstance, WaitingSchedule, shrink
from schedgap.instances.waiting.readers import lsf_csv, slurm, swf
from schedgap.instances.waiting.verify import Costs, costs, paid_us, rounded_up, verify

WAITING = register_family(
    Family(
        name=FAMILY,
        instance=WaitingInstance,
        solution=WaitingSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=DOLLAR,
        objective_unit="$",
        generators={"mms": mms, "bursty": bursty},
        importers={"swf": swf, "lsf-csv": lsf_csv, "slurm": slurm},
        shrink=shrink,
        measures=measures,
        picture=picture,
        model_prefix="model-",
        steady_prefix="steady_",
        bound_methods=("bound-fluid", "bound-work"),
        headline=("machines", "utilisation", "mean_wait_s", "on_demand_work_share"),
        assumptions=assumptions,
        large=(
            ("bursty", {"jobs": 250_000, "wait_price": 0.001}),
            ("mms", {"jobs": 250_000, "max_wait_h": 0.0}),
            ("mms", {"jobs": 2_000, "arrival_rate": 0.01, "step_s": 60.0, "max_wait_h": 0.5}),
        ),
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
    "slurm",
    "swf",
    "verify",
    "write_instance",
    "write_solution",
]
