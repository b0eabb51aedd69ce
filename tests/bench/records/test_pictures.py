from dataclasses import replace

from schedgap.bench.records.pictures import FILE_NAME, append_picture, read_pictures
from schedgap.instances.picture import Bar, Curve, Loss, Part, Picture, Row, Split, Timetable

PICTURE = Picture(("gpu", "cpu"), (Bar("it1", 3, (4.0, 16.0), (Part("tau1", 2, (2.0, 8.0)),)),), left_out=1)
CURVES = (
    Curve("Cost over time", "hours", "dollars", (0.0, 0.1, 2.0), (0.0, 1e-7, 12.5)),
    Curve("Machines over time", "hours", "machines", (0.0, 1.0), (3.0, 0.0), is_step=True),
)


def test_round_trip_and_the_last_line_of_a_key_counts(tmp_path):
    append_picture(tmp_path, "a", Picture((), ()))
    append_picture(tmp_path, "b", Picture((), ()))
    append_picture(tmp_path, "a", PICTURE)
    assert read_pictures(tmp_path, {"a"}) == {"a": PICTURE}


def test_a_torn_line_spoils_no_other(tmp_path):
    append_picture(tmp_path, "a", PICTURE)
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"key":"b","axes":["gp')
    append_picture(tmp_path, "c", PICTURE)
    assert read_pictures(tmp_path, {"a", "b", "c"}) == {"a": PICTURE, "c": PICTURE}


def test_none_is_no_error(tmp_path):
    assert read_pictures(tmp_path, {"a"}) == {}


def test_curves_and_notes_come_back_whole(tmp_path):
    picture = replace(PICTURE, curves=CURVES, notes=("keeps 1",), bars=(replace(PICTURE.bars[0], kept="node-1"),))
    append_picture(tmp_path, "a", picture)
    assert read_pictures(tmp_path, {"a"}) == {"a": picture}


def test_timetables_and_splits_come_back_whole_and_damaged_ones_are_left_out(tmp_path):
    table = Timetable("hours", 0.0, 2.5, ("runs",), ("job 1",), (Row("m", (0, 120, 0, 9, 0, 0)),), "all")
    whole = replace(PICTURE, timetable=table, split=Split("$/h", 1.5, (Loss("it1", 2, 3.0, 1.25),)))
    append_picture(tmp_path, "a", whole)
    append_picture(tmp_path, "b", replace(whole, timetable=replace(table, labels=())))
    assert read_pictures(tmp_path, {"a", "b"}) == {"a": whole}


def test_lines_of_versions_without_curves_are_read(tmp_path):
    bar = '{"label":"it1","repeat":3,"capacity":[4.0,16.0],"parts":[{"label":"tau1","count":2,"amounts":[2.0,8.0]}]}'
    (tmp_path / FILE_NAME).write_text(f'{{"key":"a","axes":["gpu","cpu"],"bars":[{bar}],"left_out":1}}\n')
    assert read_pictures(tmp_path, {"a"}) == {"a": PICTURE}
