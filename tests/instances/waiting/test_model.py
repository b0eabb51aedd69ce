import numpy as np
import pytest

from schedgap.instances.errors import InstanceError


def test_rent_is_that_of_the_cheapest_type_that_fits(make):
    """Cores 1, 3: $1, $3. Nine cores: three of the largest, $9. 250 MiB on one core: three of the largest."""
    instance = make([0] * 4, [1] * 4, cores=[1, 3, 9, 1], memory_mib=[0, 0, 0, 250])
    assert instance.rent().tolist() == [1_000_000, 3_000_000, 9_000_000, 9_000_000]
    assert instance.fits_fixed().tolist() == [True, False, False, False]


def test_digest_is_of_the_content(make):
    instance = make([0, 1], [1, 1])
    assert instance.replace(name="other", notes=("a note",)).digest == instance.digest
    for change in ({"wait_price": 1}, {"max_wait_us": 0}, {"horizon_us": 1}, {"runtime_us": [1, 2]}):
        assert instance.replace(**change).digest != instance.digest


def test_arrays_are_locked(make):
    with pytest.raises(ValueError, match="read-only"):
        make([0], [1]).submit_us[0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"submit_us": [5, 4]}, "job 1 is submitted at 4 us, before job 0 at 5 us; give the jobs in order"),
        ({"submit_us": [-1, 4]}, "job 0 is submitted at -1; give a time that is not negative"),
        ({"runtime_us": [1, 0]}, "job 1 runs for 0; give a positive number"),
        ({"cores": [0, 1]}, "job 0 needs 0; give a positive number of cores"),
        ({"memory_mib": [0, -1]}, "job 1 has memory -1"),
        ({"cores": [1]}, "these must have one length"),
        ({"machine_cores": 0}, "machine_cores is 0; give a positive whole number"),
        ({"rented_price": np.array([0, 1])}, "rented_price holds 0"),
        ({"wait_price": -1}, "wait_price -1"),
        ({"max_wait_us": -1}, "max_wait_us -1"),
        ({"runtime_us": [2**62, 2**62]}, "add up to more than"),
        ({key: [] for key in ("submit_us", "runtime_us", "cores", "memory_mib")}, "there are no jobs"),
        ({f"rented_{key}": [] for key in ("cores", "memory_mib", "price")}, "no on-demand machine type"),
    ],
)
def test_what_is_inconsistent_is_said(make, changes, message):
    with pytest.raises(InstanceError, match=message):
        make([0, 1], [1, 1]).replace(**changes)
