"""Throughputs are 1, 1/2, 1/4 and 0 and prices small, so that float64 sums are exact and ties are real ties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration_tnrp
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify


def plain_tnrp(instance: ProvisioningInstance, *, alignment: bool) -> tuple[list[int], list[int]]:
    """Algorithm 1 with TNRP for RP, task by task."""
    price, capacity, demand = instance.price.tolist(), instance.capacity.tolist(), instance.demand[0].tolist()
    reservation, job_value = instance.reservation_price.tolist(), instance.job_value.tolist()
    workload, task2class = instance.class2workload.tolist(), instance.task_classes().tolist()
    table = instance.throughput.tolist()

    def value(classes: list[int]) -> Fraction:
        total = Fraction(0)
        for i, c in enumerate(classes):
            f = Fraction(1)
            for j, d in enumerate(classes):
                if i != j and workload[c] >= 0 and workload[d] >= 0:
                    f *= Fraction(table[workload[c]][workload[d]], 1000)
            total += max(Fraction(0), reservation[c] - job_value[c] * (1 - f))
        return total

    machine_type: list[int] = []
    task2machine = [-1] * len(task2class)
    unassigned = list(range(len(task2class)))
    for k in sorted(range(len(price)), key=lambda k: -price[k]):
        while unassigned:
            left, chosen, remaining = list(capacity[k]), [], list(unassigned)
            while True:
                best, best_key = -1, (Fraction(-1), -1.0)
                for t in remaining:
                    need = demand[task2class[t]]
                    if all(n <= x for n, x in zip(need, left, strict=True)):
                        score = 0.0
                        for n, x, whole in zip(need, left, capacity[k], strict=True):
                            score += (n / whole) * (x / whole) if whole and alignment else 0.0
                        key = (value([task2class[u] for u in [*chosen, t]]), score)
                        if key > best_key:
                            best, best_key = t, key
                if best < 0 or best_key[0] < value([task2class[u] for u in chosen]):
                    break
                chosen.append(best)
                remaining.remove(best)
                left = [x - n for x, n in zip(left, demand[task2class[best]], strict=True)]
            if not chosen or value([task2class[u] for u in chosen]) < price[k]:
                break
            for t in chosen:
                task2machine[t] = len(machine_type)
            machine_type.append(k)
            unassigned = remaining
    return machine_type, task2machine


@st.composite
def instances(draw: st.DrawFn) -> ProvisioningInstance:
    small = st.integers(0, 3)
    num_types, num_classes = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    workloads = draw(st.integers(1, 3))
    task2class = draw(st.permutations([c for c in range(num_classes) for _ in range(draw(st.integers(1, 4)))]))
    speed = st.sampled_from([1000, 1000, 500, 250, 0])
    return ProvisioningInstance(
        name="drawn",
        resources=("gpu", "cpu"),
        families=("any",),
        type_names=tuple(f"k{k}" for k in range(num_types)),
        type2family=[0] * num_types,
        capacity=[[6, 6]] + [[draw(small), draw(st.integers(1, 4))] for _ in range(num_types - 1)],
        price=[draw(st.integers(4, 8))] + [draw(st.integers(1, 6)) for _ in range(num_types - 1)],
        demand=[[[draw(small), draw(small)] for _ in range(num_classes)]],
        counts=np.bincount(task2class),
        task2class=task2class,
        workloads=tuple(f"w{w}" for w in range(workloads)),
        class2workload=[draw(st.integers(-1, workloads - 1)) for _ in range(num_classes)],
        tasks_per_job=[draw(st.sampled_from([1, 1, 2, 4])) for _ in range(num_classes)],
        throughput=[[draw(speed) for _ in range(workloads)] for _ in range(workloads)],
    )


@pytest.mark.parametrize("tie_break", ["alignment", "paper"])
@settings(max_examples=80, deadline=None)
@given(instance=instances())
def test_places_task_for_task_as_algorithm_1(instance: ProvisioningInstance, tie_break: str) -> None:
    found = full_reconfiguration_tnrp(instance, tie_break=tie_break, downsizing=False)
    verify(instance, found)
    types, task2machine = plain_tnrp(instance, alignment=tie_break == "alignment")
    assert np.repeat(found.machine_type, found.repeat).tolist() == types
    assert found.task2machine.tolist() == task2machine
