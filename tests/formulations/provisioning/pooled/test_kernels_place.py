import numpy as np
import pytest

from schedgap.formulations.provisioning.pooled.kernels_place import draw_machines, place_best

BOTH_DRAW = pytest.mark.parametrize("kernel", [draw_machines, draw_machines.py_func], ids=["compiled", "python"])
KERNELS = pytest.mark.parametrize("kernel", [place_best, place_best.py_func], ids=["compiled", "python"])


def place(kernel, left, fits, family, demand, rest, most=None):
    left, rest = np.array(left, np.int64), np.array(rest, np.int64)
    content = np.zeros((rest.shape[0], left.size), np.int64)
    scale = 1.0 / np.maximum(rest.max(axis=0), 1)
    most = left.copy() if most is None else np.array(most)
    given = np.arange(left.size), left, np.array(fits), most, np.array(family), np.array(demand)
    kernel(*given, rest, scale, content)
    return content.tolist(), left.tolist(), rest.tolist()


@KERNELS
def test_the_machine_with_the_least_room_after_it_comes_first(kernel):
    # 4 of the first class: 3 fill the machine of 6, the last one leaves less on that of 5 than on that of 8.
    content, left, rest = place(kernel, [4], [[True]] * 3, [0, 0, 0], [[[2]]], [[8], [6], [5]])
    assert content == [[0], [2], [2]]
    assert left == [0]
    assert rest == [[8], [2], [1]]


@KERNELS
def test_tasks_go_only_where_they_may_and_by_what_they_take_there(kernel):
    demand = [[[2, 1], [1, 1]], [[3, 0], [-1, -1]]]
    content, left, rest = place(kernel, [3, 3], [[True, True], [True, False]], [0, 1], demand, [[3, 9], [4, 9]])
    # The first class: one on each; the second: one beside it.
    assert content == [[1, 1], [1, 0]]
    assert left == [1, 2]
    assert rest == [[0, 7], [1, 9]]


@KERNELS
def test_tasks_without_demand_all_go_on_one_machine(kernel):
    content, left, _ = place(kernel, [10**9], [[True], [True]], [0, 0], [[[0]]], [[5], [3]])
    assert content == [[0], [10**9]]
    assert left == [0]


@KERNELS
def test_no_more_of_a_class_than_may_share_a_machine(kernel):
    # The fullest machine first, one on each; of the second class there is no room for more than one in all.
    demand = [[[2], [7]]]
    content, left, _ = place(kernel, [4, 2], [[True, True]] * 3, [0, 0, 0], demand, [[9], [6], [5]], most=[1, 2])
    assert content == [[1, 1], [1, 0], [1, 0]]
    assert left == [1, 1]


@pytest.mark.parametrize("seed", range(20))
def test_compiled_and_plain_agree_and_leave_nothing_that_fits(seed):
    rng = np.random.default_rng(seed)
    machines, classes, resources = 5, 4, 2
    demand = rng.integers(0, 5, (2, classes, resources))
    rest, family = rng.integers(0, 12, (machines, resources)), rng.integers(0, 2, machines)
    fits = rng.random((machines, classes)) < 0.7
    given = rng.integers(0, 6, classes), fits, family, demand, rest
    compiled = place(place_best, *given)
    assert compiled == place(place_best.py_func, *given)
    content, left, after = map(np.array, compiled)
    assert (content.sum(axis=0) + left == given[0]).all()
    assert (after == rest - np.einsum("mc,mcr->mr", content, demand[family])).all()
    assert (after >= 0).all()
    for m, c in np.argwhere(fits & (left > 0)):
        assert (demand[family[m], c] > after[m]).any()


def drawn(kernel, need, budget, price, capacity, number, stock=None, fits=None):
    chosen = np.full(number, -1)
    stock = np.full(len(price), 9) if stock is None else np.array(stock)
    fits = np.ones((len(price), 1), np.bool_) if fits is None else np.array(fits)
    given = np.array(need), budget, np.array(price), np.array(capacity), stock, fits, 200
    spare = kernel(*given, np.array([1], np.uint64), chosen)
    return spare, sorted(chosen.tolist())


@BOTH_DRAW
def test_machines_are_drawn_that_have_the_most_to_spare_for_their_price(kernel):
    # For 10 at most: 6 + 4 give (8, 8), two of 4 (8, 4); 6 + 6 are too dear. Of a need of (5, 4) 3/5 are to spare.
    price, capacity = [4, 6], [[4, 2], [4, 6]]
    assert drawn(kernel, [5, 4], 10, price, capacity, 2) == (pytest.approx(3 / 5), [0, 1])
    assert drawn(kernel, [9, 4], 10, price, capacity, 2) == (-1, [-1, -1])


@BOTH_DRAW
def test_no_more_machines_are_drawn_than_there_are_and_each_class_has_one(kernel):
    price, capacity = [1, 1], [[5], [4]]
    assert drawn(kernel, [8], 9, price, capacity, 2) == (pytest.approx(2 / 8), [0, 0])
    assert drawn(kernel, [8], 9, price, capacity, 2, stock=[1, 9]) == (pytest.approx(1 / 8), [0, 1])
    assert drawn(kernel, [8], 9, price, capacity, 2, stock=[0, 1])[0] < 0
    assert drawn(kernel, [8], 9, price, capacity, 2, fits=[[True, False], [False, True]]) == (
        pytest.approx(1 / 8),
        [0, 1],
    )


@BOTH_DRAW
def test_no_resource_is_needed_of_machines_without_tasks(kernel):
    spare, chosen = drawn(kernel, [0], 3, [5, 2], [[5], [4]], 1)
    assert np.isinf(spare)
    assert chosen == [1]
