"""The first jobs of a trace as the history of an instance of the others."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import HOUR_US, mms, read_instance, shrink, write_instance
from schedgap.instances.waiting.verify import with_history


def hours(values):
    return (values / HOUR_US).tolist()


def test_the_parts_of_a_trace(make):
    """Jobs at 0, 2, 5 and 9 hours; the horizon ends at 20."""
    whole = make([0, 2, 5, 9], [1, 2, 3, 4], horizon_us=20 * HOUR_US, wait_price=7)
    instance = with_history(whole, 0.5)
    assert (hours(instance.submit_us), hours(instance.runtime_us)) == ([0, 4], [3, 4])
    assert instance.horizon_us == 15 * HOUR_US
    assert hours(instance.history_before_us) == [5, 3]
    past = instance.history
    assert (hours(past.submit_us), hours(past.runtime_us)) == ([0, 2], [1, 2])
    assert past.horizon_us == 5 * HOUR_US
    assert (past.wait_price, past.machine_cores, past.history) == (7, whole.machine_cores, None)
    assert with_history(whole, 0) is whole
    assert whole.history is None


def test_a_history_is_content(make):
    whole = make([0, 2, 5, 9], [1, 2, 3, 4])
    instance = with_history(whole, 0.5)
    empty = dict.fromkeys(("history_before_us", "history_runtime_us", "history_cores", "history_memory_mib"), ())
    assert instance.digest != instance.replace(**empty).digest
    assert instance.digest != instance.replace(history_before_us=[6, 3]).digest


@pytest.mark.parametrize("jobs", [6, 12_000])
def test_files_keep_it(tmp_path, jobs):
    """The smaller in the document, the larger in the file beside it; 6,000 jobs of each kind are many together."""
    instance = mms(jobs, split=0.5)
    write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.history.digest) == (instance.digest, instance.history.digest)
    assert (tmp_path / "i.arrays.npz").exists() == (jobs > 10_000)
    assert ('"before_s"' in (tmp_path / "i.json").read_text()) == (jobs < 10_000)


def test_a_small_copy_has_a_small_history():
    small = shrink(mms(100, split=0.5))
    assert (small.num_jobs, small.history.num_jobs) == (8, 8)


@pytest.mark.parametrize("split", [-0.5, 1, 1.5, 0.01, 0.99])
def test_no_part_may_be_empty(split):
    with pytest.raises(InstanceError, match=f"split is {split:g} of 10 jobs; give a share between 0 and 1"):
        mms(10, split=split)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"history_before_us": [3, -1]}, "job 1 of the history is submitted 1 us after the first second"),
        ({"history_before_us": [3, 5]}, "history: job 1 is submitted at -2"),
        ({"history_runtime_us": [3, 0]}, "history: job 1 runs for 0"),
        ({"history_cores": [3]}, "these must have one length: history_before_us"),
    ],
)
def test_a_faulty_history(make, changes, message):
    instance = with_history(make([0, 2, 5, 9], [1, 2, 3, 4]), 0.5)
    with pytest.raises(InstanceError, match=message):
        instance.replace(**changes)
