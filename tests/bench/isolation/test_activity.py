"""What the threads are at."""

import pytest

from schedgap.bench.isolation.pool import activities, doing


def test_the_innermost_counts_and_ends_with_an_error():
    with doing("a run"):
        assert activities() == ["a run"]
        with pytest.raises(KeyError), doing("compiling"):
            assert activities() == ["compiling"]
            raise KeyError
        assert activities() == ["a run"]
    assert activities() == []
