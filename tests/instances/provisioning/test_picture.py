import numpy as np

from schedgap.instances.picture import MAX_BARS, Bar, Part
from schedgap.instances.provisioning import Provisioning, distinct, table3
from schedgap.instances.provisioning.picture import picture


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
