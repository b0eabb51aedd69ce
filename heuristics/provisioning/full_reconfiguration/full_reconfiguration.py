"""Eva's Full Reconfiguration without interference (section 4.2, Algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.provisioning.full_reconfiguration.packing import TIE_BREAKS, pack_tasks
from schedgap.heuristics.provisioning.full_reconfiguration.speeds import iteration_prices
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.offer import PER_MACHINE

if TYPE_CHECKING:
    from schedgap.instances.provisioning.solution import Provisioning


@method("full-reconfiguration", family=FAMILY, choices={"tie_break": TIE_BREAKS}, handles=(PER_MACHINE,))
def full_reconfiguration(
    instance: ProvisioningInstance, tie_break: str = "alignment", downsizing: bool = True, speeds: str = ""
) -> Provisioning:
    """Fill machines of falling price with tasks of falling reservation price while that pays (Eva, Algorithm 1).

    The reservation price of a task is the price of the cheapest type that fits it. Types are visited once, by falling
    price, in file order on ties. A machine takes, as long as anything fits, the task of the highest reservation price;
    it is rented if its tasks' reservation prices add up to its price or more, otherwise the next type follows. A task
    that is left at its own reservation-price type pays for it alone, so every task is placed.
    Interference, if the instance has any, is not looked at: see `full-reconfiguration-tnrp`.

    tie_break : Algorithm 1 does not say which of the tasks of equal reservation price goes first, and that is most of
        its quality. `alignment`, as in Eva's code: the largest sum over resources of (demand / capacity) * (left /
        capacity) (Tetris), first in list order on exact ties. `paper`, nothing added: first in list order.
    downsizing : as in Eva's code: rent, in place of the type tried, the cheapest type that takes the machine's tasks.
        Unlike there, with the tasks' demand on that type's family and only where they may run on it. False is
        Algorithm 1 to the letter.
    speeds : how many iterations an hour tasks do on each machine family, such as `p3:2 c7i:0.5`; reservation prices are
        then prices of an iteration (section 4.2, heterogeneous resources). The objective stays the hourly price.

    The defaults are what Eva runs and measured. Cost: `kernels_pack.py`.
    """
    worth = iteration_prices(instance, speeds) if speeds else None
    return pack_tasks(instance, tie_break=tie_break, downsizing=downsizing, worth=worth)
