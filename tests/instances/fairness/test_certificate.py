"""Certificates that prove max-min fairness are accepted, all others are refused."""

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness import (
    FAIR,
    ONE,
    UNLIMITED,
    Certificate,
    FairnessInstance,
    alice_bob,
    allocation_of,
    share_of_a_task,
    shares_of,
    verify,
)
from schedgap.instances.fairness.certificate import check_certificate, is_closed, most_tasks

UNPROVEN = r"does not prove that user {} has its fair share .*leave the certificate out, or give one cut a level"


def test_alice_and_bob(fair_alice_and_bob):
    """4 of 8 each: two tasks on machine 1 and two on machine 2 for Alice, two on machine 3, at twice the speed, for Bob."""
    allocation = allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], fair_alice_and_bob)
    assert shares_of(alice_bob(), allocation).tolist() == [0.5, 0.5]
    assert verify(alice_bob(), allocation) == FAIR


@pytest.mark.parametrize(
    "tasks",
    [
        # What TSF gives: 3/8 and 5/8; machine 2 shared otherwise; an idle slot.
        [[2, 1, 0], [0, 1, 2]],
        [[2, 1.999, 0], [0, 0.001, 2]],
        [[2, 2, 0], [0, 0, 1.999]],
    ],
)
def test_an_allocation_that_is_not_fair(fair_alice_and_bob, tasks):
    with pytest.raises(VerifyError, match=UNPROVEN.format("(alice|bob)")):
        verify(alice_bob(), allocation_of(alice_bob(), tasks, fair_alice_and_bob))


@pytest.mark.parametrize(
    ("weights", "factor"),
    [
        ({0: 1.0}, 1.0),
        ({0: 1.0, 1: 1.01}, 1.0),
        ({0: 0.99, 1: 1.0}, 1.0),
        ({0: 1.0, 1: 1.0}, 1.001),
        ({0: 1.0, 1: 1.0}, 0.999),
    ],
)
def test_cuts_that_prove_nothing(certificate, weights, factor):
    """A user missing; a weight too large, which must count as surplus, or too small; prices too high or too low."""
    prices = {(0, 0): factor / 8000, (1, 0): factor / 8000, (2, 0): 2 * factor / 8000}
    with pytest.raises(VerifyError, match=UNPROVEN.format("(alice|bob)")):
        verify(alice_bob(), allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], certificate((weights, prices))))


@pytest.fixture
def idle(make):
    """Each user has a machine of its own; user 0 uses all of it, user 1 six tenths, and has more for its weight of 0.5.

    Shares 1/2 and 6/10; the fair ones are 1/2 and 1.
    """
    instance = make([1, 1], [[1], [1]], [[1], [1]], weight=[1, 0.5], allowed=[[True, False], [False, True]])
    assert shares_of(instance, allocation_of(instance, [[1, 0], [0, 0.6]])).tolist() == [0.5, 0.6]
    return instance, [[1, 0], [0, 0.6]]


@pytest.mark.parametrize("weight", [1e-9, 1e-15, 1e-18, 1e-99])
def test_a_weight_that_rounding_hides_proves_nothing(idle, certificate, weight):
    """The cut of user 0 is tight; user 1 counts in it with next to nothing, which the sum does not even feel."""
    instance, tasks = idle
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-1")):
        cuts = ({0: 1.0}, {(0, 0): 1 / 2000}), ({0: 1.0, 1: weight}, {(0, 0): 1 / 2000})
        verify(instance, allocation_of(instance, tasks, certificate(*cuts)))


def test_a_user_counts_once_in_a_cut(idle):
    """Twice the share of user 1 for once the price: 1.2 of 1, which looks better than tight."""
    instance, tasks = idle
    twice = Certificate([0, 1, 1], [0, 1, 1], [1.0, 1.0, 1.0], [0, 1], [0, 1], [0, 0], [1 / 2000, 1 / 1000])
    with pytest.raises(VerifyError, match="weighs user user-1 twice in one cut; give the sum of its weights"):
        verify(instance, allocation_of(instance, tasks, twice))


def test_somebody_with_more_proves_nothing(make, certificate):
    """Both share one machine; user 0 has a quarter. The cut is tight, and counts somebody who could give."""
    instance = make([1], [[4]], [[1], [1]])
    cut = {0: 1.0, 1: 1.0}, {(0, 0): 1 / 4000}
    assert verify(instance, allocation_of(instance, [[2], [2]], certificate(cut))) == FAIR
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
        verify(instance, allocation_of(instance, [[1], [3]], certificate(cut)))


def test_who_has_all_its_tasks_needs_no_price(make, certificate):
    """User 0 has one task, 1/4; the other has the rest, 3/4, of which the first takes nothing that it could miss."""
    instance = make([1], [[4]], [[1], [1]], tasks=[1, UNLIMITED])
    cuts = ({0: 1.0}, {}), ({0: 1.0, 1: 1.0}, {(0, 0): 1 / 4000})
    assert verify(instance, allocation_of(instance, [[1], [3]], certificate(*cuts))) == FAIR
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
        verify(instance, allocation_of(instance, [[1], [3]], certificate(cuts[1])))


def test_prices_a_little_too_low_are_raised(make, certificate):
    """As those of a solver: 1e-10 too low for 1,000 users, who each could have the whole machine if it were idle."""
    instance = make([1], [[4]], [[1]] * 1000)
    for error, accepted in ((1e-11, True), (1e-6, False)):
        cut = dict.fromkeys(range(1000), 1.0), {(0, 0): (1 - error) / 4000}
        allocation = allocation_of(instance, np.full((1000, 1), 0.004), certificate(cut))
        if accepted:
            assert verify(instance, allocation) == FAIR
        else:
            with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
                verify(instance, allocation)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"share_user": [0, 2]}, "names user 0 to 2; there are 2"),
        ({"share_cut": [0, -1]}, "names cut -1 to 0; they are numbered from 0"),
        ({"price_class": [0, 1, 3]}, "names machine class 0 to 3; there are 3"),
        ({"price_resource": [0, 0, 2]}, "names resource 0 to 2; there are 2"),
        ({"share_weight": [1.0]}, r"names \(2,\) of user for \(1,\) numbers; give one each"),
        ({"share_weight": [1.0, 0.0]}, "share_weight has 0; give 1e-100 to 1e\\+100"),
        ({"share_weight": [1.0, np.nan]}, "share_weight has nan"),
        ({"price": [1.0, -1.0, 1.0]}, "price has -1"),
        ({"price": [1.0, 1e-310, 1.0]}, "price has 1e-310"),
        ({"price": [1.0, np.inf, 1.0]}, "price has inf"),
    ],
)
def test_entries_that_are_none(fair_alice_and_bob, change, message):
    fields = {key: getattr(fair_alice_and_bob, key) for key in fair_alice_and_bob.__slots__} | change
    with pytest.raises(VerifyError, match=message):
        verify(alice_bob(), allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], Certificate(**fields)))


def test_no_cut_at_all():
    nothing = Certificate([], [], [], [], [], [], [])
    with pytest.raises(VerifyError, match=UNPROVEN.format("alice")):
        verify(alice_bob(), allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], nothing))


def test_a_cut_takes_the_cuts_of_lower_levels_for_granted(make, certificate):
    """User 0 has the 2 cores of m0 alone, a quarter of 8; user 1, who may use them too, has the 6 of m1.

    By the first cut user 1 has nothing of m0. The second one prices m1 only, so on its own it proves nothing: user 1
    could have all 8. It makes no difference which of them is named first.
    """
    instance = make([1, 1], [[2], [6]], [[1], [1]], allowed=[[True, False], [True, True]])
    low, high = ({0: 1.0}, {(0, 0): 1 / 8000}), ({1: 1.0}, {(1, 0): 1 / 8000})
    for cuts in ((low, high), (high, low)):
        assert verify(instance, allocation_of(instance, [[2, 0], [0, 6]], certificate(*cuts))) == FAIR
    # A cut that is not met closes nothing: with half of m0 neither has what is fair, nor user 1 with more than that.
    for tasks in ([[1, 0], [0, 6]], [[1, 0], [1, 6]]):
        with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
            verify(instance, allocation_of(instance, tasks, certificate(low, high)))
    # With a price of m0 too high for user 0 to pay, the first cut is not met, and the second one not either.
    dear = {0: 0.9}, {(0, 0): 1 / 8000}
    met = {0: 1.0, 1: 0.5}, {(0, 0): 1 / 8000, (1, 0): 0.5 / 8000}
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
        verify(instance, allocation_of(instance, [[2, 0], [0, 6]], certificate(dear, met)))


def test_a_cut_does_not_take_those_of_higher_levels_for_granted(make, certificate):
    """User 0 has m0, 1 of 3 cores, and user 1 has m1, 2 of 3, where user 0 is allowed too: 1.5 each are fair."""
    instance = make([1, 1], [[1], [2]], [[1], [1]], allowed=[[True, True], [False, True]])
    low, high = ({0: 1.0}, {(0, 0): 1 / 3000}), ({1: 1.0}, {(1, 0): 1 / 3000})
    for cuts in ((low, high), (high, low)):
        with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
            verify(instance, allocation_of(instance, [[1, 0], [0, 2]], certificate(*cuts)))
    fair = {0: 1.0, 1: 1.0}, {(0, 0): 1 / 3000, (1, 0): 1 / 3000}
    assert verify(instance, allocation_of(instance, [[1, 0.5], [0, 1.5]], certificate(fair))) == FAIR


def test_who_runs_all_its_tasks_does_so_where_they_are_worth_most(make, certificate):
    """User 0 has one task, twice as good on m1 as on m0; user 1 may use both, and has m0 and what is left of m1.

    Shares 2/12 and (4 + 2 x 3) / 12. The later cut may price m1 at what it is worth to user 1; m0 is closed to user 0, so
    that its share counts for what it takes of m1.
    """
    instance = make(
        [1, 1], [[4], [4]], [[1], [1]], tasks=[1, UNLIMITED], notion="eunomia", performance=[[1, 2], [1, 2]]
    )
    first, second = ({0: 1.0}, {}), ({0: 1.0, 1: 1.0}, {(0, 0): 1 / 12000, (1, 0): 2 / 12000})
    assert verify(instance, allocation_of(instance, [[0, 1], [4, 3]], certificate(first, second))) == FAIR
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
        verify(instance, allocation_of(instance, [[1, 0], [3, 4]], certificate(first, second)))


@pytest.mark.parametrize(
    ("excess", "slack", "closed"),
    [
        (1.0, 0.0, True),
        (1e-6, 0.0, True),
        # No more than what rounding makes of a reduced cost of 0.
        (1e-8, 0.0, False),
        (0.0, 0.0, False),
        (-1.0, 0.0, False),
        # The slack pays for 1/2000 of the user's 4 tasks there, or for 1/500.
        (1.0, 0.002, True),
        (1.0, 0.008, False),
    ],
)
def test_what_is_closed(excess, slack, closed):
    assert is_closed(np.array([excess]), np.array([1.0]), np.array([4.0]), slack).tolist() == [closed]


def test_what_a_user_could_run_at_most(make):
    instance = make([2, 1], [[4], [8]], [[1], [2]], tasks=[10, UNLIMITED], allowed=[[True, True], [True, False]])
    assert most_tasks(instance).tolist() == [10, 4]


def test_what_a_closed_column_leaves_room_for_counts(make, certificate):
    """User 0 runs its 8 million tasks, all but half a core of m0, which closes m0 to user 1: met to 6e-8 of its share.

    That half core is a part of 5e-4 of the 1,000 cores of user 1, who could have it.
    """
    instance = make(
        [1, 1],
        [[8_000_001], [1000]],
        [[1], [1]],
        notion="cmmf",
        weight=[1_000_000, 1],
        allowed=[[True, False], [True, True]],
        tasks=[8_000_000, UNLIMITED],
    ).replace(capacity=[[8_000_000_500], [1_000_000]])
    gain = share_of_a_task(instance)
    cuts = ({0: 1.0}, {(0, 0): gain[0, 0] / ONE}), ({1: 1.0}, {(1, 0): gain[1, 1] / ONE})
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-1")):
        verify(instance, allocation_of(instance, [[8_000_000, 0], [0, 1000]], certificate(*cuts)))


def test_capacity_that_is_worth_next_to_nothing_to_who_has_least():
    """Users a and b have half of m0 each, and m1 would be worth 4e-12 of its share to b: it is b's, and c has 3/4 without it.

    Where c has m1 as well, the cut of a and b is met to 4e-12, but c has a third more than is fair.
    """
    instance = FairnessInstance(
        name="next-to-nothing",
        notion="eunomia",
        resources=("cpu",),
        machine_names=("m0", "m1", "m2"),
        machine_count=[1, 1, 3],
        capacity=[[1000], [1000], [1000]],
        demand=[[1000], [1000], [1000]],
        weight=[1000, 1000, 1000],
        performance=[[2**39, 0, 0], [2**39, 1, 0], [0, 1000, 1000]],
        allowed=[[True, False, False], [True, True, False], [False, True, True]],
        tasks=[UNLIMITED] * 3,
    )
    gain = share_of_a_task(instance)
    assert gain[1, 1] == pytest.approx(2**-39)
    certificate = Certificate(
        share_cut=[0, 0, 1],
        share_user=[0, 1, 2],
        share_weight=[1 / gain[0, 0], 1 / gain[1, 0], 1 / gain[2, 2]],
        price_cut=[0, 0, 1, 1],
        price_class=[0, 1, 1, 2],
        price_resource=[0, 0, 0, 0],
        price=[1e-3, gain[1, 1] / gain[1, 0] / 1000, 1e-3, 1e-3],
    )
    with pytest.raises(VerifyError, match=UNPROVEN.format("user-0")):
        check_certificate(instance, gain, np.array([[0.5, 0, 0], [0.5, 0, 0], [0, 1, 3]]), certificate)
