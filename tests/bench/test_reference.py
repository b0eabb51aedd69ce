from schedgap.bench.reference import reference_s


def test_it_takes_some_time():
    assert reference_s() > 0
