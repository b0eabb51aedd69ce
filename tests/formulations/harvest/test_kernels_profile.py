"""Free cores and memory of VMs, against a table of every moment."""

import numpy as np

from schedgap.formulations.harvest.kernels_exchange import (
    FULL,
    Profile,
    first_fit,
    fits_until,
    occupy,
    piece_at,
)
from schedgap.instances.units import NEVER

HORIZON = 60


def test_what_is_taken_is_gone_and_what_is_left_is_found():
    rng = np.random.default_rng(6)
    for _ in range(20):
        profile = Profile(*(np.zeros((2, 24), np.int64) for _ in range(3)), np.ones(2, np.int64))
        profile.free[:, 0], profile.room[:, 0] = 8, 100
        free, room = np.full((2, HORIZON), 8), np.full((2, HORIZON), 100)
        for _ in range(8):
            vm, ready, length, cores, memory = (
                int(rng.integers(*each)) for each in ((0, 2), (0, 20), (1, 9), (1, 5), (1, 50))
            )
            fits = (free[vm] >= cores) & (room[vm] >= memory)
            starts = [t for t in range(ready, HORIZON - length) if fits[t : t + length].all()]
            assert first_fit(profile, vm, ready, length, cores, memory, NEVER) == starts[0]
            start = starts[0]
            bad = np.flatnonzero(~fits[start:])
            assert fits_until(profile, vm, start, cores, memory) == (start + bad[0] if bad.size else NEVER)
            assert occupy(profile, vm, start, start + length, cores, memory) == 0
            free[vm, start : start + length] -= cores
            room[vm, start : start + length] -= memory
            pieces = [piece_at(profile, vm, t) for t in range(HORIZON)]
            assert profile.free[vm, pieces].tolist() == free[vm].tolist()
            assert profile.room[vm, pieces].tolist() == room[vm].tolist()


def test_a_profile_without_room_for_more_pieces_is_full():
    profile = Profile(*(np.full((1, 2), 8) for _ in range(3)), np.ones(1, np.int64))
    profile.moment[:] = 0
    assert occupy(profile, 0, 1, 2, 1, 1) == FULL
