"""Tiny instances at the sizes where 64 bits and tolerances end: whatever is claimed is true."""

import pytest

import schedgap.bench.plugins.discover
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import REGISTRY, Status

schedgap.bench.plugins.discover.load_methods(["harvest"])
METHODS = [method for (family, _), method in REGISTRY.items() if family == "harvest"]
FEWER = {"clairvoyant-search": {"changes": 20, "rounds": 20, "moves": 2000}, "bound-prices": {"rounds": 20}}
TIMES = ("event_ms", "arrival_ms", "runtime_ms", "estimate_ms")


def scaled(instance, time, cores, memory):
    """Return an instance with all times, cores and memory so many times as large: so is its optimum."""
    changes = {key: getattr(instance, key) * time for key in TIMES}
    changes |= {key: getattr(instance, key) * cores for key in ("event_cores", "cores", "min_cores")}
    return instance.replace(
        **changes, memory_mib=instance.memory_mib * memory, task_memory_mib=instance.task_memory_mib * memory
    )


@pytest.mark.parametrize(
    ("time", "cores", "memory"), [(2**29, 1, 1), (2**44, 2**27, 2**32), (1, 2**27, 2**32), (2**40, 2**20, 2**20)]
)
def test_no_claim_is_false(optima, time, cores, memory):
    tried = proven = 0
    # Tasks that can be cut up at each millisecond end earlier where there are more of them.
    # Pools that are chosen last a million hours at most.
    chosen = [each for each in optima if (each[0].checkpoint_ms < 0).all() and (each[0].is_fixed or time < 2**30)]
    for instance, best in chosen[::8]:
        large, least = scaled(instance, time, cores, memory), best * time
        for method in METHODS:
            outcome = method.run(large, seed=1, time_limit_s=20.0, parameters=FEWER.get(method.name, {}))
            if outcome.solution is not None:
                objective = verify(large, outcome.solution)
                assert objective >= least, method.name
                assert outcome.status is not Status.OPTIMAL or objective == outcome.bound, method.name
            assert outcome.bound is None or outcome.bound <= least, method.name
            assert outcome.status is not Status.INFEASIBLE, method.name
            tried += 1
            proven += outcome.status is Status.OPTIMAL
    assert tried > 50
    assert proven > 0
