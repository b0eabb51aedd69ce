from schedgap.bench.isolation.reference import reference_s


def test_it_takes_some_time():
    assert reference_s() > 0
