"""Fixtures shared by all tests: the paper's worked example, tiny random instances, the real trace where it is there."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance, table3

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def paper_example() -> ProvisioningInstance:
    """Eva's Table 3."""
    return table3()


@pytest.fixture(scope="session")
def alibaba_csv() -> Path:
    """The real pod list; set SCHEDGAP_TRACES to a folder that holds alibaba-gpu-v2023/openb_pod_list_default.csv."""
    folder = Path(os.environ.get("SCHEDGAP_TRACES", ROOT.parent / "shared" / "traces"))
    path = folder / "alibaba-gpu-v2023" / "openb_pod_list_default.csv"
    if not path.exists():
        pytest.skip(f"the Alibaba trace is not there (SCHEDGAP_TRACES={folder})")
    return path


@pytest.fixture(scope="session")
def two_families() -> ProvisioningInstance:
    """Two machine families, three types, three classes; `b` asks less on `y`, `c` may run on `x` alone.

    Five tasks: a a b c c. Capacities (cpu, gib): x-small (4, 8) $1, x-large (8, 16) $1.9, y-small (4, 4) $0.7.
    """
    gib = 1024
    return ProvisioningInstance(
        name="two-families",
        resources=("cpu", "ram_gib"),
        families=("x", "y"),
        type_names=("x-small", "x-large", "y-small"),
        type2family=np.array([0, 0, 1]),
        capacity=np.array([[4000, 8 * gib], [8000, 16 * gib], [4000, 4 * gib]]),
        price=np.array([1_000_000, 1_900_000, 700_000]),
        demand=np.array(
            [
                [[2000, 2 * gib], [4000, 2 * gib], [3000, 8 * gib]],
                [[2000, 2 * gib], [2000, 2 * gib], [-1, -1]],
            ]
        ),
        counts=np.array([2, 1, 2]),
        class_names=("a", "b", "c"),
    )


@pytest.fixture(scope="session")
def mutation() -> ModuleType:
    """The module `mutation.py` beside this file: damage to files."""
    spec = importlib.util.spec_from_file_location("mutation", Path(__file__).with_name("mutation.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
