"""`algorithm_1` is the paper's Algorithm 1 in plain Python, task by task: what the kernels must agree with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify


def algorithm_1(instance: ProvisioningInstance, *, alignment: bool, downsizing: bool) -> tuple[list[int], list[int]]:
    """Return the machines' types and each task's machine. O(T^2)."""
    capacity, price = instance.capacity.tolist(), instance.price.tolist()
    family, demand = instance.type2family.tolist(), instance.demand.tolist()
    task2class = instance.task_classes().tolist()

    def fits(need: list[int], room: list[int]) -> bool:
        return need[0] >= 0 and all(n <= x for n, x in zip(need, room, strict=True))

    def score(t: int, k: int, left: list[int]) -> float:
        total = 0.0
        for need, room, whole in zip(demand[family[k]][task2class[t]], left, capacity[k], strict=True):
            if whole:
                total += (need / whole) * (room / whole)
        return total

    reservation = []
    for c in task2class:
        able = [k for k in range(len(price)) if fits(demand[family[k]][c], capacity[k])]
        reservation.append(min(price[k] for k in able))
    machine_type: list[int] = []
    task2machine = [-1] * len(task2class)
    unassigned = list(range(len(task2class)))
    for k in sorted(range(len(price)), key=lambda k: -price[k]):
        while unassigned:
            left, chosen, remaining = list(capacity[k]), [], list(unassigned)
            while True:
                best, best_key = -1, (-1.0, -1.0)
                for t in remaining:
                    if fits(demand[family[k]][task2class[t]], left):
                        key = (float(reservation[t]), score(t, k, left) if alignment else 0.0)
                        if key > best_key:
                            best, best_key = t, key
                if best < 0:
                    break
                chosen.append(best)
                remaining.remove(best)
                left = [x - n for x, n in zip(left, demand[family[k]][task2class[best]], strict=True)]
            if not chosen or sum(reservation[t] for t in chosen) < price[k]:
                break
            rented = k
            if downsizing:
                for j in range(len(price)):
                    rows = [demand[family[j]][task2class[t]] for t in chosen]
                    total = [sum(column) for column in zip(*rows, strict=True)]
                    if min(row[0] for row in rows) >= 0 and fits(total, capacity[j]) and price[j] < price[rented]:
                        rented = j
            for t in chosen:
                task2machine[t] = len(machine_type)
            machine_type.append(rented)
            unassigned = remaining
    return machine_type, task2machine


@st.composite
def instances(draw: st.DrawFn) -> ProvisioningInstance:
    """Few values, so that equal rows, equal prices and equal alignments are common."""
    families = draw(st.integers(1, 3))
    num_types = draw(st.integers(families, 6))
    small = st.integers(0, 4)
    type2family = list(range(families)) + [draw(st.integers(0, families - 1)) for _ in range(num_types - families)]
    # The first type takes everything, on family 0.
    capacity = [[5, 5, 5]] + [[draw(small), draw(small), 2] for _ in range(num_types - 1)]
    price = [draw(st.integers(4, 9))] + [draw(st.integers(1, 6)) for _ in range(num_types - 1)]
    num_classes = draw(st.integers(1, 7))
    demand = [
        [
            [-1] * 3 if f > 0 and draw(st.booleans()) else [draw(small), draw(small), draw(st.integers(0, 1))]
            for _ in range(num_classes)
        ]
        for f in range(families)
    ]
    task2class = draw(st.permutations([c for c in range(num_classes) for _ in range(draw(st.integers(1, 6)))]))
    return ProvisioningInstance(
        name="drawn",
        resources=("gpu", "cpu", "ram_gib"),
        families=tuple(f"f{f}" for f in range(families)),
        type_names=tuple(f"k{k}" for k in range(num_types)),
        type2family=type2family,
        capacity=capacity,
        price=price,
        demand=demand,
        counts=np.bincount(task2class),
        task2class=task2class,
    )


def check(instance: ProvisioningInstance, tie_break: str, downsizing: bool) -> None:
    found = full_reconfiguration(instance, tie_break=tie_break, downsizing=downsizing)
    verify(instance, found)
    types, task2machine = algorithm_1(instance, alignment=tie_break == "alignment", downsizing=downsizing)
    assert np.repeat(found.machine_type, found.repeat).tolist() == types
    assert found.task2machine is not None
    assert found.task2machine.tolist() == task2machine


OPTIONS = [(tie, down) for tie in ("alignment", "paper") for down in (True, False)]


@pytest.mark.parametrize(("tie_break", "downsizing"), OPTIONS)
@settings(max_examples=60, deadline=None)
@given(instance=instances())
def test_places_task_for_task_as_algorithm_1(instance: ProvisioningInstance, tie_break: str, downsizing: bool) -> None:
    check(instance, tie_break, downsizing)


@pytest.mark.parametrize(("tie_break", "downsizing"), OPTIONS)
@pytest.mark.parametrize("make", [table7, distinct])
def test_agrees_on_generated_instances(make, tie_break: str, downsizing: bool) -> None:
    check(make(250, seed=3), tie_break, downsizing)


def test_agrees_where_the_trees_have_three_heights() -> None:
    # More than 256 GPU tasks of one reservation price: leaves, nodes and a root.
    check(distinct(900, seed=5), "alignment", False)


def test_list_order_survives_machines_of_another_family() -> None:
    # Tasks a b a c: the machines of x, tried first, take the first a; y's index must then know its second a.
    instance = ProvisioningInstance(
        name="order",
        resources=("cpu", "ram_gib"),
        families=("x", "y"),
        type_names=("x1", "y1"),
        type2family=[0, 1],
        capacity=[[2, 9], [2, 9]],
        price=[2, 1],
        demand=[[[1, 0], [1, 0], [1, 0]], [[2, 0], [-1, -1], [2, 0]]],
        counts=[2, 1, 1],
        task2class=[0, 1, 0, 2],
    )
    check(instance, "paper", False)
