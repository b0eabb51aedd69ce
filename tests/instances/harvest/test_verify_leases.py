"""Leases of a pool that is not fixed."""

import re

import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest import verify

# The pool may lease one VM at a time: a until it is evicted at 120 s, then b.
LEASES = [(0, 0, 120), (1, 120, 210)]
GIVEN = [(0, 0, 0, 40), (1, 1, 130, 170), (2, 0, 10, 60)]


def test_runs_on_leased_vms(pool, runs):
    assert verify(pool, runs(*GIVEN, leases=LEASES)) == 170_000 + 50_000
    assert verify(pool, runs(*GIVEN, leases=LEASES[::-1])) == 170_000 + 50_000
    # A lease may end while the VM has cores, and start anew at that moment.
    assert verify(pool, runs(*GIVEN, leases=[(0, 0, 60), (0, 60, 70), LEASES[1]])) == 170_000 + 50_000
    assert verify(pool.replace(max_leases=2), runs(*GIVEN, leases=[LEASES[0], (1, 0, 170)])) == 170_000 + 50_000


@pytest.mark.parametrize(
    ("given", "leases", "sentence"),
    [
        (GIVEN, [LEASES[1]], "VM a is leased at the start, and no lease of it starts at 0 s."),
        (GIVEN, [(0, 0.001, 120), LEASES[1]], "VM a is leased at the start, and no lease of it starts at 0 s."),
        (
            GIVEN,
            [(0, 0, 120.001), LEASES[1]],
            "lease 0 of VM a ends at 120.001 s, and the VM is evicted at 120 s; end it by then.",
        ),
        (
            GIVEN,
            [*LEASES, (0, 150, 160)],
            "lease 2 of VM a starts at 150 s, when the VM has no cores; lease it while it has some.",
        ),
        (
            GIVEN,
            [(0, 0, 120), (1, 119.999, 210)],
            "2 VMs are leased at 119.999 s; at most 1 may be.",
        ),
        (
            GIVEN,
            [*LEASES, (1, 209.999, 300)],
            "lease 2 of VM b starts at 209.999 s, before lease 1 of that VM ends at 210 s.",
        ),
        (
            GIVEN,
            [LEASES[0], (1, 120, 169.999)],
            "run 1 (task 1 of job x) is on VM b from 130 s to 170 s, which no lease of that VM covers; lease it for all that "
            "time.",
        ),
        (
            GIVEN,
            [LEASES[0], (1, 120, 150), (1, 150, 210)],
            "run 1 (task 1 of job x) is on VM b from 130 s to 170 s, which no lease of that VM covers; lease it for all that "
            "time.",
        ),
        (
            GIVEN,
            [LEASES[0]],
            "run 1 (task 1 of job x) is on VM b from 130 s to 170 s, which no lease of that VM covers; lease it for all that "
            "time.",
        ),
        (
            GIVEN,
            [],
            "VM a is leased at the start, and no lease of it starts at 0 s.",
        ),
        (GIVEN, [*LEASES, (2, 0, 1)], "lease 2 is of VM 2; there are 2 VMs, numbered from 0."),
        (
            GIVEN,
            [*LEASES, (1, 300, 300)],
            "lease 2 of VM b goes from 300000 to 300000 ms; a lease lasts at least a millisecond, between 0 and "
            "3600000000000 ms.",
        ),
        (
            GIVEN,
            [*LEASES, (1, 300, 2**43)],
            "lease 2 of VM b goes from 300000 to 8796093022208000 ms; a lease lasts at least a millisecond, between 0 and "
            "3600000000000 ms.",
        ),
    ],
)
def test_the_first_violation_is_a_sentence(pool, runs, given, leases, sentence):
    with pytest.raises(VerifyError, match="^" + re.escape(sentence) + "$"):
        verify(pool, runs(*given, leases=leases))


def test_a_vm_that_comes_back_is_leased_anew(pool, runs):
    wide = pool.replace(max_leases=2)
    late = [(0, 0, 0, 40), (1, 0, 180, 220), (2, 1, 10, 60)]
    assert verify(wide, runs(*late, leases=[(0, 0, 120), (0, 180, 220), (1, 5, 60)])) == 220_000 + 50_000
    with pytest.raises(VerifyError, match=r"^lease 1 of VM a starts at 179\.999 s, when the VM has no cores"):
        verify(wide, runs(*late, leases=[(0, 0, 120), (0, 179.999, 220), (1, 5, 60)]))


def test_a_fixed_pool_has_no_leases(trio, runs):
    with pytest.raises(VerifyError, match=r"^there are 1 leases, and the pool is fixed; give none\.$"):
        verify(trio, runs(*GIVEN, leases=LEASES[:1]))
