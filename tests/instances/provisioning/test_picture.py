from dataclasses import replace

import numpy as np

from schedgap.instances.picture import MAX_BARS, Bar, Part
from schedgap.instances.provisioning import Provisioning, ProvisioningInstance, Running, distinct, table3
from schedgap.instances.provisioning.measures import picture


def test_equal_machines_are_one_bar_the_dearest_first():
    """Table 3: it1 (4 GPU, 16 CPU, 244 GiB, $12) and it4 (0, 4, 8, $0.4); t2 needs 1, 4, 10 and t4 0, 4, 8."""
    instance = table3()
    solution = Provisioning.from_tasks(instance, [3, 0, 0, 3], np.arange(4)[[1, 2, 3, 0]])
    seen = picture(instance, solution)
    assert seen.axes == instance.resources
    assert [bar.label for bar in seen.bars][:1] == ["it1"]
    assert sum(bar.repeat for bar in seen.bars) == 4
    assert seen.left_out == 0


def test_amounts_are_in_the_resources_own_units():
    instance = table3()
    merged = Provisioning.from_patterns([0], [1], [instance.counts])
    (bar,) = picture(instance, merged).bars
    assert bar == Bar("it1", 1, (4.0, 16.0, 244.0), bar.parts)
    assert bar.parts[0] == Part(instance.class_name(0), 1, (2.0, 8.0, 24.0))


def test_what_is_not_drawn_is_counted():
    instance = distinct(tasks=100, seed=1)
    alone = Provisioning.from_tasks(instance, instance.reservation_type[instance.task_classes()], np.arange(100))
    seen = picture(instance, alone)
    assert len(seen.bars) == MAX_BARS
    assert sum(bar.repeat for bar in seen.bars) + seen.left_out == 100


def cluster(number, **changes):
    """Machines of 4 cores for 10 cents, of which a cent is a fee; some run, each with a task of 1 core."""
    running = Running.from_contents([f"node-{e}" for e in range(number)], [0] * number, np.ones((number, 1)))
    instance = ProvisioningInstance(
        name="cluster",
        resources=("cpu",),
        families=("m",),
        type_names=("small",),
        type2family=[0],
        capacity=[[4000]],
        price=[100_000],
        demand=[[[1000]]],
        counts=[4 + number],
        class_names=("web",),
        running=running,
        fee=[10_000],
    )
    return instance.replace(**changes)


def test_machines_that_are_kept_have_bars_of_their_own_with_their_names():
    """Of three running machines the first two are kept and filled, and a new one holds as much as the first."""
    patterns = Provisioning.from_patterns([0, 0, 0], [1, 1, 1], [[3], [1], [3]])
    seen = picture(cluster(3), replace(patterns, keeps=np.array([0, 2, -1])))
    assert [(bar.kept, bar.repeat, bar.parts[0].count) for bar in seen.bars] == [
        ("node-0", 1, 3),
        ("node-2", 1, 1),
        ("", 1, 3),
    ]
    assert seen.notes == ("0.3 $/h for machines, 0.03 of it fees", "keeps 2 of 3 running machines, tasks moved: 1")


def test_equal_ones_share_a_bar_and_the_first_names_are_listed():
    patterns = Provisioning.from_patterns([0] * 11, [1] * 11, [[1]] * 10 + [[4]])
    seen = picture(cluster(10), replace(patterns, keeps=np.array([*range(10), -1])))
    assert [(bar.kept, bar.repeat) for bar in seen.bars] == [
        ("node-0, node-1, node-2, node-3, node-4, node-5, node-6, node-7 and 2 more", 10),
        ("", 1),
    ]


def test_types_of_which_there_are_no_more_are_named():
    plan = Provisioning.from_patterns([0], [2], [[3]])
    for stock, notes in ((2, ("all that there are: small 2/2",)), (3, ()), (-1, ())):
        assert picture(cluster(2, running=None, fee=None, stock=[stock]), plan).notes == notes
