from hypothesis import given
from hypothesis import strategies as st

from schedgap.heuristics.waiting.policies import cheapest_number


@given(st.integers(0, 500), st.integers(0, 3), st.integers(1, 20), st.integers(1, 20))
def test_one_valley_is_searched_exactly(bottom, least, left, right):
    # Each machine costs 1; the cost falls by `left` a machine down to the bottom and rises by `right` from there.
    def cost(number: int) -> int:
        return number + (left * (bottom - number) if number < bottom else right * (number - bottom))

    number, lowest, tried = cheapest_number(cost, least, 1)
    best = min(range(least, bottom + 10), key=lambda n: (cost(n), n))
    assert (number, lowest) == (best, cost(best))
    assert tried <= 60


def test_a_number_that_pays_for_itself_alone_is_never_passed_over():
    # 10 each and nothing else helps: none is bought. If the seventh and no other saved 1000, 1, 2, 4, ... would not show
    # it, but 7 is within two of the best of the numbers between 4 and 8.
    assert cheapest_number(lambda number: 200 + 10 * number, 0, 10)[0] == 0
    assert cheapest_number(lambda number: 200 - 30 * min(number, 8) + 10 * number - (number == 7), 0, 10)[0] == 8
    assert cheapest_number(lambda number: 1000 - 50 * min(number, 8) + 10 * number - 100 * (number == 7), 0, 10)[0] == 7


def test_numbers_are_tried_once_and_none_below_the_least():
    tried = []

    def cost(number: int) -> int:
        tried.append(number)
        return 100 + abs(number - 13) * 3

    assert cheapest_number(cost, 1, 1) == (13, 100, len(tried))
    assert len(set(tried)) == len(tried)
    assert min(tried) == 1
