import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing import SharingSchedule, verify
from schedgap.instances.sharing.model import MAX_TOTAL_MS


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"first_task": [[0, 3, 5]]}, r"first_task has shape \(1, 3\), expected \(3,\)\."),
        ({"first_task": 5}, r"first_task has shape \(\), expected \(3,\)\."),
        ({"arrival_ms": 5}, r"arrival_ms has shape \(\), expected \(1,\)\."),
        ({"first_task": [1, 3, 5]}, r"first_task goes from 1 to 5; let it go from 0 to 5, the number of tasks\."),
        ({"first_task": [0, 3, 6]}, r"first_task goes from 0 to 6; let it go from 0 to 5, the number of tasks\."),
        ({"first_task": [0, 5, 5]}, r"job b has 0 tasks; give at least one\."),
        ({"job_names": ("a", "a")}, r"job 'a' is given twice; rename one\."),
        ({"machine_count": [2**40, 1]}, r"there are 1099511627777 machines; give up to 10000000\."),
        (
            {"machine_count": [2**23, 1], "capacity": np.full((2, 2), 2**40)},
            r"all machines together have 9\.22e\+18 of cpu;",
        ),
        (
            {"notion": "cmmf", "demand": [[1000, 1024], [0, 2048]]},
            r"job b demands no cpu, in which cmmf measures shares;",
        ),
    ],
)
def test_what_no_method_could_work_with_is_refused_in_a_sentence(pair, changes, sentence):
    with pytest.raises(InstanceError, match="^pair: " + sentence):
        pair.replace(**changes)


def test_work_that_only_the_fastest_machines_could_do_in_time_is_refused(pair):
    # 2^58 ms of work in thousandths are more than 64 bits, though a performance of 2^40 would do it in 2^58 / 2^40 x 1000.
    fast = pair.replace(performance=np.full((2, 2), 2**40))
    with pytest.raises(InstanceError, match=r"^pair: its times add up to more than 4503599627370496 milliseconds\.$"):
        fast.replace(work_ms=np.full(5, 2**58))
    most = fast.replace(work_ms=[MAX_TOTAL_MS - 1000 - 4, 1, 1, 1, 1])
    # ceil((2^52 - 1004) x 1000 / 2^40) = 4096000 ms, and 1 ms for b, which waits for nobody.
    assert verify(most, SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 1000, 1001])) == 4_096_000 + 2
