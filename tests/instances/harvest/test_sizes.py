import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedgap.instances.harvest.stability import last_at, leased_steps

ENTRIES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=12)


@given(ENTRIES, ENTRIES)
def test_the_last_entry_is_found(entries, asked):
    entries = sorted(entries)
    of, ms = np.array(entries, int).reshape(-1, 2).T
    owner, at = np.array(asked, int).reshape(-1, 2).T
    expected = [max((i for i, (v, t) in enumerate(entries) if v == w and t <= u), default=-1) for w, u in asked]
    assert last_at(of, ms, owner, at).tolist() == expected


def rows(steps):
    return list(zip(*(column.tolist() for column in steps), strict=True))


def test_all_vms_of_a_fixed_pool(trio, runs):
    assert rows(leased_steps(trio, runs(), 30_000, 190_000)) == [
        (0, 30_000, 60_000, 8),
        (0, 60_000, 120_000, 4),
        (0, 120_000, 180_000, 0),
        (0, 180_000, 190_000, 8),
        (1, 30_000, 190_000, 4),
    ]
    assert rows(leased_steps(trio, runs(), 60_000, 120_000)) == [(0, 60_000, 120_000, 4), (1, 60_000, 120_000, 4)]


def test_a_vm_before_its_first_event_has_no_step(trio, runs):
    later = trio.replace(event_ms=[0, 60_000, 120_000, 180_000, 90_000])
    assert rows(leased_steps(later, runs(), 70_000, 100_000)) == [(0, 70_000, 100_000, 4), (1, 90_000, 100_000, 4)]
    assert rows(leased_steps(later, runs(), 70_000, 90_000)) == [(0, 70_000, 90_000, 4)]


def test_leases_of_a_pool(pool, runs):
    schedule = runs(leases=[(1, 20, 50), (0, 0, 20), (0, 50, 120), (1, 120, 300)])
    assert rows(leased_steps(pool, schedule, 10_000, 200_000)) == [
        (1, 20_000, 50_000, 4),
        (0, 10_000, 20_000, 8),
        (0, 50_000, 60_000, 8),
        (0, 60_000, 120_000, 4),
        (1, 120_000, 200_000, 4),
    ]
    # The lease that ends when it begins counts no more.
    assert rows(leased_steps(pool, schedule, 20_000, 30_000)) == [(1, 20_000, 30_000, 4)]
    assert rows(leased_steps(pool, schedule, 400_000, 500_000)) == []
