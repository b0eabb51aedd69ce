"""Pools of each kind begin with as many cores, where the provider would place their VMs."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import PoolParameters, draw_pool
from schedgap.instances.harvest.generators.replay import FreeCores

CORES = [40, 1, 10, 20, 30, 6, 6, 6]


@pytest.fixture
def free():
    """Return 8 servers with so many free cores, the first a buffer server; the last is full from moment 5 on."""
    return FreeCores(
        1000,
        np.array([0, 1, 2, 3, 4, 5, 6, 7, 9]),
        np.array([0, 0, 0, 0, 0, 0, 0, 0, 5]),
        np.array([*CORES, 0]),
        np.arange(8) == 0,
    )


def drawn(free, vms, seed=0, **changes):
    min_sizes = changes.pop("min_sizes", (2,))
    return draw_pool(free, free, vms, seed, PoolParameters(core_hour_usd=1.0, **changes), min_sizes)


def test_a_fixed_pool(free):
    for seed in range(10):
        pool = drawn(free, 3, seed)
        assert (pool.server.size, pool.leased.all(), pool.buffer.any(), pool.max_leases) == (3, True, False, 0)
        # Server 1 has not the cores for a VM.
        assert 1 not in pool.server
        assert pool.vms.event_cores[pool.vms.first_event[:-1]].tolist() == np.array(CORES)[pool.server].tolist()
        assert pool.vms.memory_mib.tolist() == [16384] * 3
    assert len({tuple(drawn(free, 3, seed).server) for seed in range(10)}) > 3


def test_prices(free):
    prices = {kind: drawn(free, 1, pool=kind)[-2:] for kind in ("harvest", "spot")}
    assert prices == {"harvest": (417_500, 208_750), "spot": (417_500, 0)}
    assert drawn(free, 1, seed=1, pool="regular", min_sizes=(8,))[-2:] == (1_000_000, 0)


def test_where_leased_vms_are(free):
    for seed in range(10):
        random = drawn(free, 2, seed, allocation="random", max_leases=5)
        assert random.server.tolist() == [0, 2, 3, 4, 5, 6, 7]
        # For random as for packing, buffer servers are as good as others (section 4.3).
        assert (random.buffer.any(), random.max_leases, int(random.leased.sum())) == (False, 5, 2)
        balancing = drawn(free, 2, seed, allocation="balancing")
        assert (balancing.server.tolist(), balancing.buffer.tolist()) == (random.server.tolist(), [True] + [False] * 6)
        # Two random VMs have 12 to 50 cores together without the buffer server's.
        taken = balancing.server[balancing.leased]
        assert taken.tolist() in ([4], [3, 4])
        assert balancing.max_leases == min(7, 4 * taken.size)
        # For packing, buffer servers are as good as others.
        packing = drawn(free, 2, seed, allocation="packing")
        assert not packing.buffer.any()
        assert CORES[packing.server[packing.leased][-1]] <= 40
        assert packing.leased.sum() >= 2
    open_ = drawn(free, 2, allocation="random", buffer=False)
    assert not open_.buffer.any()


def test_as_many_cores_of_spot_and_regular_vms(free):
    for seed in range(10):
        wanted = int(drawn(free, 1, seed, min_sizes=(4,)).vms.event_cores[0])
        for kind in ("spot", "regular"):
            if wanted > (28 if kind == "spot" else 32):
                continue
            pool = drawn(free, 1, seed, pool=kind, min_sizes=(4,))
            assert pool.vms.min_cores.tolist() == [4] * -(-wanted // 4)
    # Four servers have 8 cores: 100 together, that is 13 such VMs.
    with pytest.raises(
        InstanceError, match=r"begins with at least \d+ spot VMs, and 4 of 8 servers have one at the start"
    ):
        drawn(free, 4, pool="spot", min_sizes=(8,))


def test_without_power_at_the_start(free):
    dark = FreeCores(1000, free.first_event, free.event_ms, np.zeros(9, np.int64), free.buffer)
    lit = FreeCores(1000, free.first_event, np.array([0, 0, 0, 0, 0, 0, 0, 0, 5]), np.array([0] * 8 + [9]), free.buffer)
    for seed in range(20):
        servers = draw_pool(lit, free, 7, seed, PoolParameters(), (2,)).server
        assert servers.tolist() == [7]
    with pytest.raises(InstanceError, match=r"at least 2 harvest VMs, and 0 of 8 servers have one"):
        drawn(dark, 2, allocation="random")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": "burstable"}, "pool is 'burstable'; choose one of harvest, spot, regular"),
        ({"allocation": "best"}, "allocation is 'best'; choose one of fixed, random, balancing, packing"),
        ({"max_leases": 3}, "max_leases is 3 and the pool is fixed; give 0, or another allocation"),
    ],
)
def test_unknown_choices(free, changes, message):
    with pytest.raises(InstanceError, match=message):
        drawn(free, 2, **changes)
