import numpy as np
import pytest

from schedgap.instances.sharing import random_jobs


@pytest.fixture
def drawn():
    """Make a small instance in which much happens at once: `drawn(3)`."""

    def drawn(seed, **changes):
        rng = np.random.default_rng(seed)
        options = {
            "machine_classes": int(rng.integers(1, 4)),
            "most_machines": int(rng.integers(1, 4)),
            "most_tasks": int(rng.integers(2, 7)),
            "own_performance": bool(rng.integers(2)),
        }
        return random_jobs(int(rng.integers(2, 7)), seed=seed, **options | changes)

    return drawn
