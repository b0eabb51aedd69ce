"""First-fit and best-fit decreasing for vectors (Panigrahy et al., Heuristics for Vector Bin Packing, 2011).

Tetris' packing (Grandl et al., Multi-resource packing for cluster schedulers, SIGCOMM 2014): machine by machine, by alignment.

No-Packing (Eva, section 6.1): every task alone on the cheapest machine type that fits it.

Synergy on one snapshot, as Eva's evaluation implements it (section 6.1).
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import throughput_table
from schedgap.heuristics.provisioning.kernels_fit import Apart, Beside, Placed, place_in_turn, synergy_place
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning

ORDERS = ("dot-product", "l2", "sum")
OPENS = ("dense", "reservation")


@method("first-fit-decreasing", family=FAMILY, choices={"order": ORDERS, "opens": OPENS}, handles=(PER_MACHINE,))
def first_fit_decreasing(
    instance: ProvisioningInstance, order: str = "dot-product", opens: str = "dense"
) -> Provisioning:
    """Place tasks, large ones first, on the first machine with room; where none has any, rent one.

    A task is measured on the family of its reservation-price type, in shares x of the largest capacity there.

    order : size of a task. `sum`: sum of x. `l2`: its Euclidean length. `dot-product`: sum of x times the mean of x over
        all tasks, so that scarce resources count more (FFDAvgSum). Ties keep list order.
    opens : the type to rent where no machine has room. `reservation`: the cheapest that fits the task. `dense`: the
        one whose price per sum over resources of capacity / (largest capacity of any type) is the least among those
        that fit, weighted with how much of each resource the task asks (the dot product of both), first in file order
        on ties; when all tasks are placed, each machine is exchanged for the cheapest type that takes its tasks.

    O(T M R) for M machines: for thousands of tasks, not for a million.
    """
    return _decreasing(instance, order, opens, best=False)


@method("best-fit-decreasing", family=FAMILY, choices={"order": ORDERS, "opens": OPENS}, handles=(PER_MACHINE,))
def best_fit_decreasing(
    instance: ProvisioningInstance, order: str = "dot-product", opens: str = "dense"
) -> Provisioning:
    """Place tasks, large ones first, on the machine that they leave the fullest; else as `first-fit-decreasing`.

    The fullest: the least sum over resources of the share of capacity left free, the first machine on ties.
    """
    return _decreasing(instance, order, opens, best=True)


def _decreasing(instance: ProvisioningInstance, order: str, opens: str, *, best: bool) -> Provisioning:
    for name, value, known in (("order", order, ORDERS), ("opens", opens, OPENS)):
        if value not in known:
            raise MethodError(f"{name} is one of {', '.join(known)}, not '{value}'.")
    task2class = instance.task_classes()
    turn = np.argsort(-_sizes(instance, order)[task2class], kind="stable")
    opened = instance.reservation_type if opens == "reservation" else _densest_type(instance)
    num_tasks = instance.num_tasks
    machine_type, task2machine = np.empty(num_tasks, np.int64), np.empty(num_tasks, np.int64)
    placed = Placed(machine_type, np.empty((num_tasks, len(instance.resources)), np.int64), task2machine)
    number = place_in_turn(
        turn,
        instance.demand,
        task2class,
        instance.type2family,
        instance.capacity,
        opened,
        best,
        _apart(instance),
        placed,
    )
    chosen = machine_type[:number]
    if opens == "dense":
        chosen = _downsized(instance, chosen, task2class, task2machine)
    return Provisioning.from_tasks(instance, chosen, task2machine)


def best_aligned(demand: IntArray, capacity: IntArray, free: IntArray, left: IntArray) -> list[int]:
    """Return the classes of tasks that fill a machine, best aligned first, and take them out of `free` (R,) and `left` (C,).

    Alignment (Tetris, section 3.2): the inner product of demand and room, each in shares of the machine; the first on ties.
    """
    # In floats: squares of capacities may leave 64 bits.
    whole, taken = np.maximum(capacity, 1).astype(np.float64), []
    shares, may = demand / whole**2, (demand >= 0).all(axis=1)
    while (fits := may & (left > 0) & (demand <= free).all(axis=1)).any():
        taken.append(int(np.where(fits, shares @ free, -1.0).argmax()))
        free -= demand[taken[-1]]
        left[taken[-1]] -= 1
    return taken


@method("tetris", family=FAMILY, handles=(PER_MACHINE,))
def tetris(instance: ProvisioningInstance) -> Provisioning:
    """Fill machine after machine with tasks whose demand is best aligned with the room left (Tetris, section 3.2).

    Tetris fills machines that it has. Here each is rented for the largest task left, and exchanged in the end, as
    `first-fit-decreasing` does. Its preference for jobs that end soon says nothing of a snapshot. O(T C R).
    """
    left, opened = instance.counts.copy(), _densest_type(instance)
    largest_first = np.argsort(-_sizes(instance, "dot-product"), kind="stable")
    task2class = instance.task_classes()
    types: list[int] = []
    by_class = np.argsort(task2class, kind="stable")
    following, task2machine = np.cumsum(instance.counts) - instance.counts, np.empty(instance.num_tasks, np.int64)
    for c in largest_first.tolist():
        while left[c]:
            demand, free = instance.demand[instance.type2family[opened[c]]], instance.capacity[opened[c]].copy()
            before = np.minimum(left, instance.most_together)
            room = before.copy()
            free -= demand[c]
            room[c] -= 1
            for one in (c, *best_aligned(demand, instance.capacity[opened[c]], free, room)):
                task2machine[by_class[following[one]]] = len(types)
                following[one] += 1
            left -= before - room
            types.append(int(opened[c]))
    return Provisioning.from_tasks(
        instance, _downsized(instance, np.array(types), task2class, task2machine), task2machine
    )


def _apart(instance: ProvisioningInstance) -> Apart:
    num_classes, num_tasks = instance.num_classes, instance.num_tasks
    most = np.full(num_classes, ANY_NUMBER) if instance.per_machine is None else np.array(instance.per_machine)
    return Apart(most, np.full(num_classes, -1), np.full(num_tasks, -1), np.zeros(num_tasks, np.int64))


def _sizes(instance: ProvisioningInstance, order: str) -> FloatArray:
    """(C,) float64."""
    family = instance.type2family[instance.reservation_type]
    shares = instance.demand[family, np.arange(instance.num_classes)] / _largest(instance)[family]
    if order == "sum":
        sizes: FloatArray = shares.sum(axis=1)
    elif order == "l2":
        sizes = np.sqrt((shares * shares).sum(axis=1))
    else:
        mean = (shares * instance.counts[:, None]).sum(axis=0) / instance.num_tasks
        sizes = (shares * mean).sum(axis=1)
    return sizes


def _largest(instance: ProvisioningInstance) -> IntArray:
    """(F, R) int64, largest capacity on each family, at least 1."""
    largest = np.ones((len(instance.families), len(instance.resources)), np.int64)
    np.maximum.at(largest, instance.type2family, instance.capacity)
    return largest


def _densest_type(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64, the type that gives each class the most of what it asks for a dollar."""
    overall = np.maximum(instance.capacity.max(axis=0), 1)
    best = np.full(instance.num_classes, -1.0)
    chosen = np.zeros(instance.num_classes, np.int64)
    fits = instance.fits()
    for k in range(instance.num_types):
        asked = np.maximum(instance.demand[instance.type2family[k]], 0) / overall
        asked /= np.maximum(asked.sum(axis=1, keepdims=True), 1e-300)
        given = (asked * (instance.capacity[k] / overall)).sum(axis=1) / instance.price[k]
        better = fits[k] & (given > best)
        best[better] = given[better]
        chosen[better] = k
    return chosen


def _downsized(
    instance: ProvisioningInstance, machine_type: IntArray, task2class: IntArray, task2machine: IntArray
) -> IntArray:
    """(M,) int64, the cheapest type that takes the tasks of each machine, the given one where none is cheaper."""
    chosen, paid = machine_type.copy(), instance.price[machine_type]
    for f in range(len(instance.families)):
        demand = instance.demand[f, task2class]
        need = np.zeros((machine_type.shape[0], demand.shape[1]), np.int64)
        np.add.at(need, task2machine, np.maximum(demand, 0))
        allowed = np.ones(machine_type.shape[0], np.bool_)
        allowed[task2machine[demand[:, 0] < 0]] = False
        for k in np.flatnonzero(instance.type2family == f):
            better = allowed & (need <= instance.capacity[k]).all(axis=1) & (instance.price[k] < paid)
            chosen[better] = k
            paid[better] = instance.price[k]
    return chosen


@method("no-packing", family=FAMILY, handles=(PER_MACHINE,))
def no_packing(instance: ProvisioningInstance) -> Provisioning:
    """Rent one machine a task, of the task's reservation-price type. Its cost is the sum of reservation prices. O(T)."""
    num_classes = instance.num_classes
    machines = np.empty(instance.num_tasks, np.int64)
    machines[np.argsort(instance.task_classes(), kind="stable")] = np.arange(instance.num_tasks)
    ones = np.ones(num_classes, np.int64)
    classes = np.arange(num_classes)
    return Provisioning(instance.reservation_type, instance.counts, np.arange(num_classes + 1), classes, ones, machines)


@method("synergy", family=FAMILY)
def synergy(instance: ProvisioningInstance) -> Provisioning:
    """Best fit in list order: each task goes where the machine's tasks are worth the most per price, or to its own.

    Worth is the summed throughput-normalised reservation price RP(t) f(t), the new task included and job sizes left
    out; it must reach the machine's price. Ties go to the larger alignment, then to the older machine. Where no
    machine will do, the task gets a new one of its reservation-price type. It never looks back, so it sees no large
    machine unless some task needs one. O(T M (R + E)) for M machines of up to E tasks.
    """
    throughput, workload = throughput_table(instance)
    num_tasks = instance.num_tasks
    machine_type, task2machine, last, before = (np.empty(num_tasks, np.int64) for _ in range(4))
    placed = Placed(machine_type, np.empty((num_tasks, len(instance.resources)), np.int64), task2machine)
    number = synergy_place(
        instance.demand,
        instance.task_classes(),
        instance.type2family,
        instance.capacity,
        instance.price,
        instance.reservation_type,
        Beside(workload, throughput, np.empty(num_tasks), last, before),
        placed,
    )
    return Provisioning.from_tasks(instance, machine_type[:number], task2machine)
