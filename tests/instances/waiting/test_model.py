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
        ({"runtime_us": [2**60, 2**60 + 1]}, "add up to more than"),
        ({"horizon_us": 2**61 + 1}, "horizon_us is 2305843009213693953, more than 2305843009213693952"),
        ({"fixed_price": 2**63}, "fixed_price is 9223372036854775808, more than"),
        ({"max_wait_us": 2**63}, "max_wait_us is 9223372036854775808, more than"),
        ({"memory_mib": [0, 2**62]}, "memory_mib holds 4611686018427387904, more than"),
        ({"rented_price": np.array([1, 2**62])}, "rented_price holds 4611686018427387904, more than"),
        (
            {"cores": [1, 2**53]},
            "job 1 rents 2251799813685248 of the largest machines for 6755399441055744000000 micro-d",
        ),
        ({key: [] for key in ("submit_us", "runtime_us", "cores", "memory_mib")}, "there are no jobs"),
        ({f"rented_{key}": [] for key in ("cores", "memory_mib", "price")}, "no on-demand machine type"),
    ],
)
def test_what_is_inconsistent_is_said(make, changes, message):
    with pytest.raises(InstanceError, match=message):
        make([0, 1], [1, 1]).replace(**changes)


def test_scalars_of_numpy_are_those_of_python(make):
    """The same content and digest; sums of them do not wrap."""
    instance = make([0, 1], [1, 1], wait_price=5, max_wait_us=7)
    for key in ("machine_cores", "machine_memory_mib", "fixed_price", "horizon_us", "wait_price", "max_wait_us"):
        same = instance.replace(**{key: np.int64(getattr(instance, key))})
        assert type(getattr(same, key)) is int
        assert same.digest == instance.digest


def test_the_largest_rent(make):
    """2^61 micro-dollars an hour for 2^30 machines of 2^31 each."""
    instance = make([0], [1], cores=[2**30], rented_cores=[1, 1], rented_price=[2**31, 2**31])
    assert instance.rent().tolist() == [2**61]
