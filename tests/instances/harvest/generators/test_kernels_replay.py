"""Placing VMs on servers: by hand, and against a slow plain cluster."""

import numpy as np
import pytest

from schedgap.instances.harvest.generators import kernels_replay as kernels


def run(start, end, cores, batch, weight, free, *, choices=1, same_server=0.0, random=7, until=100):
    vms = kernels.Requests(*(np.array(values, np.int64) for values in (start, end, cores, batch)))
    weights, server = np.array(weight, float), np.zeros(len(start), np.int64)
    servers = kernels.Servers(weights, np.cumsum(weights), np.array(free), np.array([random], np.uint64))
    changes = kernels.Changes(*(np.zeros(2 * len(start), np.int64) for _ in range(3)))
    count = kernels.place(vms, servers, choices, same_server, until, server, changes)
    return server, *(values[:count].tolist() for values in changes)


def test_ends_come_before_starts_of_the_same_second():
    """The server has room for one VM of 3: the second finds it at 10, when the first ends; the third finds none."""
    server, at, owner, free = run([0, 10, 12], [10, 20, 14], [3, 3, 3], [0, 1, 2], [1.0], [4])
    assert server.tolist() == [0, 0, kernels.NOWHERE]
    assert (at, owner, free) == ([0, 10, 10, 20], [0, 0, 0, 0], [1, 4, 1, 4])


def test_ends_after_the_last_start_count_up_to_a_second():
    _, at, *_ = run([0, 0, 0], [20, 21, 22], [1, 1, 1], [0, 1, 2], [1.0], [4], until=21)
    assert at == [0, 0, 0, 20, 21]


def test_servers_without_weight_get_nothing():
    server, *_ = run([0, 1, 2], [9, 9, 9], [2, 2, 2], [0, 1, 2], [0.0, 1.0], [40, 4])
    assert server.tolist() == [1, 1, kernels.NOWHERE]


def test_a_batch_stays_on_its_server_while_it_fits():
    server, *_ = run([0, 0, 0], [9, 9, 9], [2, 2, 2], [0, 0, 0], [1.0, 1.0], [4, 4], same_server=1.0)
    assert server[0] == server[1] != server[2]


def test_the_fullest_of_many_is_taken():
    """Forty draws of three servers find the fullest with room all but surely: that with 3 free, for a VM of 2."""
    server, *_ = run([0], [9], [2], [0], [1.0, 1.0, 1.0], [9, 3, 1], choices=40)
    assert server.tolist() == [1]


def test_the_only_server_with_room_is_found_though_it_is_hardly_ever_drawn():
    server, *_ = run([0], [9], [2], [0], [1.0, 1e-12], [1, 2])
    assert server.tolist() == [1]


def trace(seed, vms=300, servers=6):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 200, vms))
    batch = np.sort(rng.integers(0, vms // 4, vms))
    lives = rng.integers(1, 40, vms)
    return start, start + lives, rng.integers(1, 9, vms), batch, rng.random(servers), rng.integers(0, 40, servers)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("choices", [1, 3])
def test_free_cores_are_what_the_vms_leave(seed, choices):
    start, end, cores, batch, weight, free = trace(seed)
    server, at, owner, after = run(start, end, cores, batch, weight, free, choices=choices, same_server=0.7)
    assert at == sorted(at)
    assert min(after) >= 0
    last = {}
    for second, where, left in zip(at, owner, after, strict=True):
        last[second, where] = left
    for (second, where), left in last.items():
        there = (server == where) & (start <= second) & (end > second)
        assert left == free[where] - cores[there].sum()
    for vm in np.flatnonzero(server == kernels.NOWHERE):
        there = (start <= start[vm]) & (end > start[vm]) & (np.arange(start.size) < vm)
        room = [free[s] - cores[there & (server == s)].sum() for s in range(free.size)]
        assert max(room) < cores[vm]


def test_servers_are_drawn_in_proportion_to_their_weights():
    """Of 4,000 VMs three quarters go to the server of weight 3, give or take 28 (one sigma)."""
    vms = 4000
    server, *_ = run(range(vms), range(1, vms + 1), [1] * vms, range(vms), [3.0, 1.0], [40, 40])
    assert abs((server == 0).sum() - 3000) < 110
