import numpy as np
import pytest

from schedgap.heuristics.provisioning.fit_decreasing import no_packing
from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration
from schedgap.instances.errors import MethodError
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import cost, verify

OPTIONS = [(tie, down) for tie in ("alignment", "paper") for down in (True, False)]


def test_large_units_take_the_64_bit_kernels() -> None:
    small = distinct(60, seed=1)
    large = small.replace(capacity=small.capacity * 10**6, demand=small.demand * 10**6)
    found, expected = full_reconfiguration(large), full_reconfiguration(small)
    assert np.array_equal(found.machine_type, expected.machine_type)
    assert np.array_equal(found.task2machine, expected.task2machine)


@pytest.mark.parametrize(("tie_break", "downsizing"), OPTIONS)
def test_worked_example_of_table_3(paper_example: ProvisioningInstance, tie_break: str, downsizing: bool) -> None:
    found = full_reconfiguration(paper_example, tie_break=tie_break, downsizing=downsizing)
    # 12 + 3 + 0.4 >= 12 for tau1, tau2, tau4 on it1; tau3 alone on it3: 12 + 0.8.
    assert verify(paper_example, found) == 12_800_000
    assert found.machine_type.tolist() == [0, 2]
    assert found.task2machine.tolist() == [0, 0, 1, 0]
    # 12 + 3 + 0.8 + 0.4.
    assert verify(paper_example, no_packing(paper_example)) == 16_200_000


def test_input_is_left_alone_and_runs_repeat() -> None:
    instance = table7(300)
    digest = instance.replace().digest
    first, second = full_reconfiguration(instance), full_reconfiguration(instance)
    assert np.array_equal(first.task2machine, second.task2machine)
    assert instance.replace().digest == digest


def test_downsizing_never_costs_more() -> None:
    for seed in range(5):
        instance = distinct(100, seed=seed)
        assert cost(instance, full_reconfiguration(instance)) <= cost(
            instance, full_reconfiguration(instance, downsizing=False)
        )


def test_unknown_tie_break_is_refused(paper_example: ProvisioningInstance) -> None:
    with pytest.raises(MethodError, match="'alignment' or 'paper', not 'random'"):
        full_reconfiguration(paper_example, tie_break="random")
