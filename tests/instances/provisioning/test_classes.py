import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.provisioning import (
    Provisioning,
    ProvisioningInstance,
    Running,
    merge_equal_classes,
    table7,
    verify,
)
from schedgap.instances.provisioning.classes import part_of, with_classes
from schedgap.instances.provisioning.ec2 import ec2_types


def test_both_resnet18_rows_of_table_7_are_one():
    merged = merge_equal_classes(table7(200))
    assert (table7(200).num_classes, merged.instance.num_classes) == (10, 9)
    assert merged.instance.num_tasks == 200


def test_with_interference_a_job_of_two_is_not_a_job_of_four():
    assert merge_equal_classes(table7(200, interference=True)).instance.num_classes == 10


def test_nothing_to_merge_gives_the_instance_itself(two_families):
    merged = merge_equal_classes(two_families)
    assert merged.instance is two_families
    solution = Provisioning.from_tasks(two_families, [2, 0, 0, 0], [0, 0, 3, 1, 2])
    assert merged.restore(solution) is solution


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 20), min_size=2, max_size=6),
    labels=st.data(),
    per_machine=st.integers(1, 7),
)
def test_restored_solution_costs_the_same(counts, labels, per_machine):
    """Machines of `per_machine` tasks of one merged class, many times, and one machine for the rest."""
    num_classes = len(counts)
    kinds = labels.draw(st.lists(st.integers(0, 1), min_size=num_classes, max_size=num_classes))
    demand = np.repeat(np.array([[1000, 1000, kind] for kind in kinds])[None], 3, axis=0)
    demand[:, :, 0] = 0
    instance = ProvisioningInstance(name="random", **ec2_types(), demand=demand, counts=counts)
    merged = merge_equal_classes(instance)
    types, repeat, patterns = [], [], []
    for g, total in enumerate(merged.instance.counts.tolist()):
        for size, times in ((per_machine, total // per_machine), (total % per_machine, int(total % per_machine > 0))):
            if times:
                types.append(11)
                repeat.append(times)
                patterns.append(np.eye(merged.instance.num_classes, dtype=int)[g] * size)
    solution = Provisioning.from_patterns(types, repeat, patterns)
    restored = merged.restore(solution)
    assert verify(instance, restored) == verify(merged.instance, solution)
    assert restored.machine_type.shape[0] <= solution.machine_type.shape[0] + 2 * num_classes


def test_a_part_has_nothing_of_the_other_classes(two_families):
    running = Running(("n",), [0], [0, 1], [1], [1])
    whole = two_families.replace(running=running, class_names=("a", "b", "c", "d")[: two_families.num_classes])
    part = part_of(whole, np.array([1]), np.array([2]))
    assert (part.num_tasks, part.class_names, part.running) == (2, None, None)
    assert part.demand.tolist() == whole.demand[:, [1]].tolist()
    changed = with_classes(whole, whole.demand[:, [1]], np.array([3]), class_names=("z",))
    assert (changed.name, changed.class_names, changed.num_tasks) == (whole.name, ("z",), 3)
