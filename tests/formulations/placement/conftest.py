import importlib.util
from pathlib import Path

import pytest

from schedgap.instances.placement import random_pods

_SPEC = importlib.util.spec_from_file_location(
    "placement_oracle", Path(__file__).parents[2] / "oracles" / "placement.py"
)
_ORACLE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_ORACLE)
UNITS = ("GPUs", "pods", "value")


def nasty(seed):
    """Draw a tiny instance. In every other some pods run, of which none, some or all may move; gangs, slices: in some."""
    return random_pods(
        seed=seed,
        running=0.4 if seed % 2 else 0.0,
        moves=(-1, 0, 1, 2)[seed // 2 % 4],
        gangs=seed % 3 == 0,
        divided=seed % 5 == 0,
        unit=UNITS[seed // 3 % 3],
    )


@pytest.fixture(scope="session")
def accepting():
    """300 instances in which no pod is refused that finds room, with the least value that is refused then."""
    kinds = [
        random_pods(seed=s, nodes=1 + s % 2, classes=3, unit=UNITS[s % 3], accepts=True, divided=s % 5 == 0, moves=0,
                    running=0.3 * (s % 2))
        for s in range(300)
    ]  # fmt: skip
    return [(instance, _ORACLE.optimum(instance)) for instance in kinds]


@pytest.fixture(scope="session")
def tiny():
    """1,000 instances with the least value that must be refused."""
    instances = [nasty(seed) for seed in range(1000)]
    return [(instance, _ORACLE.optimum(instance)) for instance in instances]
