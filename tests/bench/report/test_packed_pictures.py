"""Pictures packed for the page: nothing is lost, what is shared is written once, and the limit holds."""

from schedgap.bench.report.packed_pictures import pack
from schedgap.instances.picture import Bar, Part, Picture

TASK, OTHER = Part("a", 2, (1.0, 0.5)), Part("b", 1, (0.0, 2.0))
BARS = (
    Bar("big", 3, (4.0, 8.0), (TASK, OTHER)),
    Bar("big", 1, (4.0, 8.0), (TASK,)),
    Bar("big", 1, (4.0, 8.0), (), "node-1"),
)
PICTURE = Picture(("gpu", "cpu"), BARS, 7, notes=("keeps 1",))


def test_packed():
    assert pack({"k": PICTURE}, ["k", "absent"], 1000).to_json() == {
        "axes": [("gpu", "cpu")],
        "containers": [("big", "", 4, 8), ("big", "node-1", 4, 8)],
        "parts": [("a", 1, 0.5), ("b", 0, 2)],
        "pictures": {"k": [0, 7, [[0, 3, 0, 2, 1, 1], [0, 1, 0, 2], [1, 1]], ("keeps 1",)]},
    }


def test_the_first_that_fit():
    pictures = dict.fromkeys("abc", PICTURE)
    whole = pack(pictures, "cab", 1000)
    assert list(whole.pictures) == ["c", "a", "b"]
    assert list(pack(pictures, "cab", whole.size - 1).pictures) == ["c", "a", "b"]
    assert list(pack(pictures, "cab", 60).pictures) == ["c"]
