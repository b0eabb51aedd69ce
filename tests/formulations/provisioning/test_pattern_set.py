import numpy as np
import pytest

from schedgap.formulations.provisioning.pattern_set import enumerate_patterns, needed_patterns
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.generate import table7


def all_workloads(cpu):
    """Table 7's ten workloads with more tasks of each than any machine holds."""
    return table7(2000, cpu=cpu).replace(counts=np.full(10, 1000), task2class=None)


@pytest.mark.parametrize(("cpu", "merged", "needed"), [("physical", 2066, 125), ("vcpu", 12192, 808)])
def test_numbers_of_patterns_of_table_7(cpu, merged, needed):
    instance = merge_equal_classes(all_workloads(cpu)).instance
    every = enumerate_patterns(instance, 20_000)
    assert (instance.num_classes, every.size) == (9, merged)
    assert needed_patterns(instance, every).size == needed


def test_number_of_patterns_before_merging():
    assert enumerate_patterns(all_workloads("physical"), 20_000).size == 2481


@pytest.mark.parametrize("seed", range(10))
def test_patterns_are_exactly_the_maximal_contents(random_instance, shapes, seed):
    instance = random_instance(seed)
    contents = list(shapes(instance))
    known = {(k, tuple(content)) for k, content in contents}
    maximal = {
        (k, tuple(content))
        for k, content in contents
        if not any((k, tuple(content + unit)) in known for unit in np.eye(3, dtype=int))
    }
    every = enumerate_patterns(instance, 10_000)
    found = list(zip(every.machine_type.tolist(), map(tuple, every.patterns.tolist()), strict=True))
    assert set(found) == maximal
    assert len(found) == len(maximal)


@pytest.mark.parametrize("seed", range(10))
def test_dropped_patterns_are_those_with_a_cheaper_substitute(random_instance, shapes, seed):
    instance = random_instance(seed)
    price = {}
    for k, content in shapes(instance):
        key = tuple(content)
        price[key] = min(price.get(key, (10**9, 0)), (int(instance.price[k]), k))
    every = enumerate_patterns(instance, 10_000)
    kept = set()
    for k, pattern in zip(every.machine_type.tolist(), every.patterns, strict=True):
        parts = [np.array(part) for part in price if (np.array(part) <= pattern).all()]
        splits = any(
            price[tuple(part)][0] + price[tuple(pattern - part)][0] <= instance.price[k]
            for part in parts
            if tuple(pattern - part) in price
        )
        if price[tuple(pattern)][1] == k and not splits:
            kept.add((k, tuple(pattern)))
    needed = needed_patterns(instance, every)
    assert set(zip(needed.machine_type.tolist(), map(tuple, needed.patterns.tolist()), strict=True)) == kept


def test_too_many_say_where():
    instance = all_workloads("physical")
    assert "more than 100 patterns for 10 task classes" in enumerate_patterns(instance, 100)
    assert "more than 10 search nodes" in enumerate_patterns(instance, 20_000, max_nodes=10)
