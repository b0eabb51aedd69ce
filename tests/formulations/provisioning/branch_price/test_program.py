import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.kernels_pattern import FREE
from schedgap.formulations.provisioning.branch_price.program import Program, clique_values, first_values
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO, scaled_bound
from schedgap.instances.units import DOLLAR


def test_a_task_is_an_item_and_demands_have_no_common_divisor(bins):
    program = Program.of_classes(bins([10, 7], [[4, 2], [6, 4]], [2, 1]))
    assert program.capacity.tolist() == [[5, 3]]
    assert program.demand[0].tolist() == [[2, 1], [3, 2]]
    single = program.expanded([0, 1, 2])
    assert single.counts.tolist() == [1, 1, 1]
    assert single.tasks == ((0,), (1,), (2,))
    assert single.content.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_tasks_together_are_one_item_in_the_place_of_the_first(bins):
    program = Program.of_classes(bins([10], [3, 4, 5, 6])).expanded(range(4))
    joined = program.apart(0, 1).apart(1, 3).together(2, 0)
    assert joined.tasks == ((0, 2), (1,), (3,))
    assert joined.demand[0, :, 0].tolist() == [8, 4, 6]
    assert joined.rivals == {(0, 1), (1, 2)}
    assert joined.fits.all()
    assert joined.content.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]


def test_what_does_not_fit_is_impossible(bins):
    program = Program.of_classes(bins([10], [7, 4])).expanded(range(2))
    assert program.is_possible
    assert not program.together(0, 1).is_possible
    assert np.array_equal(program.apart(1, 0).apart(0, 1).fits, program.fits)


def test_what_machines_of_one_type_may_leave_free(bins):
    """Two bins of 10 hold a volume of 17: what one of them leaves free, at most 3. Sizes are multiples of 1."""
    program = Program.of_classes(bins([10], [6, 5], [2, 1]))
    assert program.spare(program.counts, 2_000_000) == program.spare(program.counts, 2_999_999) == 3
    assert program.spare(np.array([1, 1]), 1_000_000) == -1


def test_no_limit_where_machines_differ(bins):
    for instance in (bins([10, 10], [[6, 2]]), bins([10], [6, 5], prices=(1_000_000, 500_000))):
        program = Program.of_classes(instance)
        assert program.spare(program.counts, 2_000_000) == FREE


def test_items_of_which_no_two_fit_together(bins):
    """By volume 12 bins of 24 are enough, but no two of the three large ones share one, each pair for another reason."""
    program = Program.of_classes(bins([4, 4], [[3, 1], [2, 3], [1, 4], [1, 0]]))
    assert clique_values(program).tolist() == [10**9, 10**9, 10**9, 0]
    assert first_values(program).sum() == 3 * 10**9


def test_equal_items_count_only_if_they_do_not_fit_together(bins):
    assert clique_values(Program.of_classes(bins([10], [6, 5], [3, 2]))).tolist() == [10**9, 0]


@pytest.mark.parametrize("seed", range(20))
def test_no_content_is_worth_more_than_its_machine(random_instance, seed):
    instance = random_instance(seed)
    program = Program.of_classes(instance)
    values = first_values(program)
    for k in range(instance.num_types):
        for content in itertools.product(*(range(int(n) + 1) for n in instance.counts)):
            content = np.array(content)
            load = content @ program.demand[instance.type2family[k]]
            if (load <= program.capacity[k]).all() and program.fits[k][content > 0].all():
                assert int(values @ content) <= int(instance.price[k]) * NANO


def test_volume_is_not_lost_to_rounding():
    """1,000 items of 33,000 in bins of 100,003 fill 329.99 bins. 10^9 / 100,003,000 is 9.9997, not 9, nano-dollars a unit."""
    instance = ProvisioningInstance(
        "volume",
        ("size",),
        ("f",),
        ("bin",),
        np.array([0]),
        np.array([[100_003_000]]),
        np.array([DOLLAR]),
        np.array([[[33_000_000]]]),
        np.array([1000]),
    )
    worth = int(first_values(Program.of_classes(instance)) @ instance.counts)
    assert scaled_bound(instance, worth, instance.price * NANO) == 330 * DOLLAR
