"""What servers answer, as bytes: all of it comes back, and nothing else does."""

import math
import pickle

import pytest

from schedgap.bench.isolation.messages import Answer, Cause, Ending, in_memory, loaded, packed, unpacked
from schedgap.bench.records.runs import Measurement
from schedgap.instances.method import Status
from schedgap.instances.picture import Bar, Curve, Part, Picture

PICTURE = Picture(
    ("cpu",), (Bar("m", 2, (4.0,), (Part("t", 1, (2.0,)),)),), curves=(Curve("c", "x", "y", (0.0,), (1.0,)),)
)
MEASUREMENT = Measurement(
    Status.FEASIBLE,
    objective=2**70,
    bound=3,
    wall_s=0.1,
    trajectory=((0.5, 2, None),),
    details={"a": True, "b": "text", "c": 1.5},
    measures={"machines": 3},
)


@pytest.mark.parametrize(
    "answer",
    [
        Ending(answer=b"\x00\xff", bound=-3, cause=Cause.WALL, cpu_s=math.inf, output=b"\xff"),
        Answer(MEASUREMENT, PICTURE, b"{}", b"certificate"),
        Answer(Measurement(Status.CRASHED, reason="so")),
    ],
    ids=["ending", "answer", "bare"],
)
def test_answers_come_back(answer):
    assert unpacked(packed(answer), (type(answer),)) == answer


@pytest.mark.parametrize(
    "data",
    [b"", pickle.dumps(Ending()), packed(Ending()), packed(Answer(MEASUREMENT)).replace(b'"feasible"', b'"superior"')],
    ids=["nothing", "a-pickle", "of-another-kind", "no-status"],
)
def test_what_is_no_answer(data):
    with pytest.raises(ValueError, match=r"\w"):
        unpacked(data, (Answer,))


def test_nobody_changes_a_file_in_memory():
    fd = in_memory(pickle.dumps([1, 2]))
    with open(fd, "r+b", buffering=0) as file:
        with pytest.raises(PermissionError):
            file.write(b"x")
        with pytest.raises(PermissionError):
            file.truncate(1)
        assert loaded(fd) == loaded(fd) == [1, 2]
