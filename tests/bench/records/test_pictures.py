from schedgap.bench.records.pictures import FILE_NAME, append_picture, read_pictures
from schedgap.instances.picture import Bar, Part, Picture

PICTURE = Picture(("gpu", "cpu"), (Bar("it1", 3, (4.0, 16.0), (Part("tau1", 2, (2.0, 8.0)),)),), left_out=1)


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
