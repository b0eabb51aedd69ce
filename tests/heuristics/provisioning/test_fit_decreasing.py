import numpy as np
import pytest

from schedgap.heuristics.provisioning.fit_decreasing import ORDERS, best_fit_decreasing, first_fit_decreasing, tetris
from schedgap.instances.errors import MethodError
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify


def one_type(sizes: list[list[int]], capacity: list[int]) -> ProvisioningInstance:
    return ProvisioningInstance(
        name="one-type",
        resources=("gpu", "cpu"),
        families=("any",),
        type_names=("only",),
        type2family=[0],
        capacity=[capacity],
        price=[1],
        demand=[sizes],
        counts=[1] * len(sizes),
    )


def test_first_and_best_fit_differ_where_they_should() -> None:
    # By size 7, 6, 4, 2, 1: first fit 7 | 6 4 and then 7 2 1; best fit puts 2 on the 7 (left 3), 1 with it as well.
    instance = one_type([[0, 7], [0, 6], [0, 4], [0, 2], [0, 1]], [1, 10])
    assert first_fit_decreasing(instance).task2machine.tolist() == [0, 1, 1, 0, 0]
    # By size 5, 4, 4, 3, 2 on machines of 10: 5 4 | 4 3 2; best fit puts 3 on the second, 2 there too (1 left free).
    # Sizes 6, 5, 3, 2: first fit 6 3 | 5 2; best fit: 3 onto 6 (1 left), 2 onto 5.
    # Sizes 5, 7 and 3: sorted 7, 5, 3: both 7 3. Sizes 6, 7, 3 sorted 7, 6, 3: first 7 3.
    # Sizes 8, 7, 3, 2 on 11: first fit 8 3 | 7 2; sizes 7, 8 with 3: best fit chooses the machine left with less.
    wide = one_type([[0, 6], [0, 6], [0, 5], [0, 3]], [1, 11])
    # 6 5 | 6 and then 3: only the second has room.
    assert first_fit_decreasing(wide).task2machine.tolist() == [0, 1, 0, 1]
    # 60, 55, 30: first machine has 40 left, second 45: 30 goes to the first in both; gpu 1 of 4 makes the second fuller.
    mixed = one_type([[0, 60], [4, 55], [0, 30]], [4, 100])
    assert first_fit_decreasing(mixed, order="sum").task2machine.tolist() == [1, 0, 0]
    # Sizes 0.6, 1.55, 0.3: 4 GPUs and 55 first, then 60 on its own (115 > 100), then 30: 55 + 30 or 60 + 30 <= 100.
    # Left free after 30: first 0 + 0.15, second 1 + 0.1: best fit takes the first as well.
    assert best_fit_decreasing(mixed, order="sum").task2machine.tolist() == [1, 0, 0]


def test_best_fit_takes_the_fuller_machine() -> None:
    # 0.5 and 0.5 + 0.3 (gpu): by sum 0.8 first (cpu 50), then 0.7 (cpu 70, alone: 120 > 100), then 0.3 (cpu 30).
    # First fit: machine 0. Best fit: machine 0 left with 0.7 + 0.2 = 0.9, machine 1 with 1 + 0 = 1.0: also machine 0.
    # With 4 GPUs' worth less on machine 0 (gpu 1 of 10): left 0.9 + 0.2 = 1.1 against 1.0: machine 1.
    instance = one_type([[3, 60], [0, 70], [0, 30]], [30, 100])
    # Sizes 0.1 + 0.6 = 0.7, 0.7, 0.3: list order on the tie. Left free: 0.9 + 0.1 = 1.0 or 1.0 + 0.0 = 1.0: the first.
    assert best_fit_decreasing(instance, order="sum").task2machine.tolist() == [0, 1, 0]
    instance = one_type([[6, 55], [0, 70], [0, 30]], [30, 100])
    # Sizes 0.75, 0.7, 0.3. Left free: 0.8 + 0.15 = 0.95 or 1.0: the first. And with 54: 0.74, 0.96, still the first.
    assert best_fit_decreasing(instance, order="sum").task2machine.tolist() == [0, 1, 0]
    instance = one_type([[12, 35], [0, 70], [0, 66], [0, 30]], [30, 100])
    # Sizes 0.75, 0.7, 0.66, 0.3: machines 35, 70, 66 (35 + 66 > 100). 30 on 35: 0.6 + 0.35; on 70: 1.0; on 66: 1.04.
    assert best_fit_decreasing(instance, order="sum").task2machine.tolist() == [0, 1, 2, 0]
    instance = one_type([[0, 60], [0, 70], [0, 30]], [1, 100])
    # 70, 60 open machines 0 and 1; 30 fits both and fills the first: 0 left against 10.
    assert best_fit_decreasing(instance).task2machine.tolist() == [1, 0, 0]


@pytest.mark.parametrize("fit", [first_fit_decreasing, best_fit_decreasing])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("make", [table7, distinct])
def test_solutions_verify_and_dense_opening_pays(fit, order: str, make) -> None:
    instance = make(150, seed=4)
    dense, reservation = fit(instance, order=order), fit(instance, order=order, opens="reservation")
    alone = int((instance.reservation_price * instance.counts).sum())
    assert verify(instance, dense) < alone
    assert verify(instance, reservation) < alone
    again = fit(instance, order=order)
    assert np.array_equal(dense.task2machine, again.task2machine)


def test_reservation_opens_only_reservation_price_types() -> None:
    instance = table7(100)
    found = first_fit_decreasing(instance, opens="reservation")
    assert set(found.machine_type.tolist()) <= set(instance.reservation_type.tolist())


@pytest.mark.parametrize("keywords", [{"order": "size"}, {"opens": "cheap"}])
def test_unknown_words_are_refused(paper_example: ProvisioningInstance, keywords: dict[str, str]) -> None:
    with pytest.raises(MethodError, match=r"is one of .*, not '(size|cheap)'"):
        first_fit_decreasing(paper_example, **keywords)


def test_tetris_fills_a_machine_with_what_is_best_aligned_with_its_room() -> None:
    # The 6 + 3 opens a machine: 4 + 7 are left, in which 1 + 6 scores 0.04 + 0.42 and 4 + 3 only 0.16 + 0.21. First fit
    # decreasing goes by size alone, 0.26 for 4 + 3 and 0.25 for 1 + 6.
    instance = one_type([[6, 3], [4, 3], [4, 3], [4, 3], [1, 6]], [10, 10])
    assert tetris(instance).task2machine.tolist() == [0, 1, 1, 2, 0]
    assert first_fit_decreasing(instance).task2machine.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("make", [table7, distinct])
def test_tetris_verifies_and_pays(make) -> None:
    instance = make(150, seed=4)
    cost = verify(instance, tetris(instance))
    assert cost < int((instance.reservation_price * instance.counts).sum())
    apart = instance.replace(per_machine=np.ones(instance.num_classes, np.int64))
    assert verify(apart, tetris(apart)) >= cost * 0.99
