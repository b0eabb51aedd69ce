"""Pictures packed for the page: nothing is lost, what is shared is written once, and the limit holds."""

from schedgap.bench.report.drilldown import pack
from schedgap.instances.picture import Bar, Loss, Part, Picture, Row, Split, Timetable

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
        "words": [],
        "pictures": {"k": [0, 7, [[0, 3, 0, 2, 1, 1], [0, 1, 0, 2], [1, 1]], ("keeps 1",), 0, 0]},
    }


def test_words_of_timetables_are_written_once():
    rows = (Row("m0", (0, 120, 0, 9, 0, 0)), Row("m1", (0, 60, 0, 9, 1, -1), 2.5))
    table = Timetable("hours", 0.0, 2.0, ("runs", "m0"), ("job",), rows, "all")
    split = Split("$/h", 1.5, (Loss("big", 2, 3.0, 1.25),))
    packed = pack({"k": Picture((), (), timetable=table, split=split)}, ["k"], 1000).to_json()
    assert packed["words"] == ["runs", "m0", "job", "m1"]
    assert packed["pictures"]["k"][4:] == [
        ["$/h", 1.5, [["big", 2, 3, 1.25]]],
        ["hours", 0, 2, [0, 1], [2], [[1, 0.0, 0, 120, 0, 9, 0, 0], [3, 2.5, 0, 60, 0, 9, 1, -1]], "all"],
    ]


def test_the_first_that_fit():
    pictures = dict.fromkeys("abc", PICTURE)
    whole = pack(pictures, "cab", 1000)
    assert list(whole.pictures) == ["c", "a", "b"]
    assert list(pack(pictures, "cab", whole.size - 1).pictures) == ["c", "a", "b"]
    assert list(pack(pictures, "cab", 60).pictures) == ["c"]
