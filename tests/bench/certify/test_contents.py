"""What the search is given: only what can matter, in exact numbers."""

import itertools
import random

import pytest

from schedgap.bench.certify.contents import Item, PricedCut, SearchEnd, dearer_content
from schedgap.instances.errors import SolutionError


def item(task, value, *sizes, cuts=(), apart=()):
    return Item(value, sizes, tuple(cuts), (task,), frozenset(apart))


def test_the_content_is_told_by_its_tasks():
    items = [item(0, 5, 3), item(1, 6, 3), Item(7, (4,), (), (2, 4)), item(3, 100, 9), item(5, -1, 0)]
    assert dearer_content(items, [7], [], 12).content == (1, 2, 4)
    assert dearer_content(items, [7], [], 13).content is None


def test_items_that_are_apart():
    items = [item(0, 5, 1, apart=[1]), item(1, 6, 1, apart=[0]), item(2, 3, 1)]
    assert dearer_content(items, [9], [], 8).content == (1, 2)
    assert dearer_content(items, [9], [], 9).content is None


def test_a_cut_takes_its_price_once_for_each_whole():
    items = [item(t, 4, 1, cuts=[(0, 1)]) for t in range(6)]
    # 6 x 4 less 3 x 5; 5 x 4 less 2 x 5 is more.
    assert dearer_content(items, [9], [PricedCut(2, 5)], 9).content is not None
    assert dearer_content(items, [9], [PricedCut(2, 5)], 10).content is None


def test_a_content_that_leaves_too_much_free_is_none():
    items = [item(0, 9, 5), item(1, 5, 4), item(2, 5, 4), item(3, 0, 1), item(4, -3, 1)]
    assert dearer_content(items, [10], [], 9, spare=[2]).content == (0, 1)
    # With what is worth nothing or less, 5 + 4 fills 10 and more.
    assert dearer_content(items, [10], [], 9, spare=[0]).content == (0, 1)
    assert dearer_content(items[:3], [10], [], 9, spare=[0]).content is None
    assert dearer_content(items[1:4], [10], [], 4, spare=[0]).content is None


@pytest.mark.parametrize("hint", [[0, 0], [1, 1]])
def test_any_number_of_hints_is_sound(hint, monkeypatch):
    """All but one of nine items fit, also where no room for tables is left of what hints share."""
    monkeypatch.setattr("schedgap.bench.certify.contents.MOST_ENTRIES", 1000)
    items = [item(t, 1, t + 1, 9 - t) for t in range(9)]
    assert len(dearer_content(items, [44, 44], [], 7, [hint] * 101).content) == 8
    assert dearer_content(items, [44, 44], [], 8, [hint] * 101).content is None


def test_a_capacity_beyond_64_bits_makes_no_floats_of_others():
    """Two items fill 2^53 + 1, which no float is."""
    with pytest.raises(OverflowError):
        dearer_content(
            [item(0, 1, 2**52, 1), item(1, 1, 2**52 + 1, 1), item(2, 1, 2**52, 1)], [2**53 + 1, 2**63], [], 1
        )


def test_a_content_that_leaves_far_less_than_nothing_is_none():
    assert dearer_content([item(0, 9, 5)], [10], [], 0, spare=[-(2**70)]).content is None


@pytest.mark.parametrize("spare", [0, 1, 3])
@pytest.mark.parametrize("seed", range(20))
def test_what_must_be_full_against_enumeration(seed, spare):
    rng = random.Random(seed)
    items = [item(t, rng.randint(-1, 9), rng.randint(1, 6), rng.randint(0, 4)) for t in range(7)]
    tried = [content for k in range(8) for content in itertools.combinations(items, k)]
    worths = [
        sum(i.value for i in each)
        for each in tried
        if 0 <= 9 - sum(i.sizes[0] for i in each) <= spare and sum(i.sizes[1] for i in each) <= 9
    ]
    for limit in range(40):
        # More contents may count than are full, never fewer.
        if dearer_content(items, [9, 9], [], limit, [[1, 1]], [spare, 9]).content is None:
            assert max(worths, default=0) <= limit


@pytest.mark.parametrize("hints", [[], [[1, 2]], [[0, 0]], [[7, 0], [1, 1000]]])
def test_multipliers_change_no_answer(hints):
    items = [item(t, 10 + t, 3 + t % 3, 5 - t % 4) for t in range(12)]
    limit = 0
    while (content := dearer_content(items, [11, 13], [], limit, hints).content) is not None:
        limit = sum(10 + t for t in content)
    tried = [content for k in range(4) for content in itertools.combinations(items, k)]
    fitting = [each for each in tried if all(sum(i.sizes[d] for i in each) <= (11, 13)[d] for d in range(2))]
    assert limit == max(sum(i.value for i in each) for each in fitting)


def test_fine_capacities_are_made_coarse_and_stay_exact():
    large = 10**12
    items = [item(0, 3, large // 2), item(1, 3, large // 2 + 1), item(2, 2, large // 2 - 1)]
    assert dearer_content(items, [large], [], 5).content is None
    assert dearer_content(items, [large], [], 4).content in [(0, 2), (1, 2)]


def test_one_wide_resource_needs_no_search():
    """Of 400 items in a capacity of 500,000, all tables together would be too large; worth is size, so nothing is above it."""
    items = [item(t, 20_000 + 97 * t, 20_000 + 97 * t) for t in range(400)]
    assert dearer_content(items, [500_000], [], 500_000) == SearchEnd(None, 0)
    assert dearer_content(items, [500_000], [], 499_000).content is not None


def test_sums_beyond_64_bits_are_refused():
    items = [item(0, 2**61, 1), item(1, 2**61, 1), item(2, 2**61, 1)]
    with pytest.raises(SolutionError, match="more than 62 bits; give prices of a smaller scale"):
        dearer_content(items, [2], [], 2**61)
