import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.first_values import clique_values, first_values
from schedgap.formulations.provisioning.branch_price.program import Program
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.dual_bound import NANO, scaled_bound
from schedgap.instances.units import DOLLAR


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
