import subprocess
import sys

import pytest
from numba import njit

from schedgap.instances.jit import inner_kernel, kernel

INNER = """
from schedgap.instances.jit import inner_kernel

@inner_kernel
def answer():
    return {answer}
"""
OUTER = """
from inner import answer
from schedgap.instances.jit import kernel

@kernel
def ask():
    return answer()

if __name__ == "outer":
    print(ask(), sum(ask.stats.cache_hits.values()))
"""


def asked(folder):
    """Ask in a process of its own; return what the kernel answers, and how often it was found compiled."""
    run = subprocess.run([sys.executable, "-c", "import outer"], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_kernel_is_compiled_anew_when_another_that_it_calls_has_changed(tmp_path):
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(answer=1))
    assert asked(tmp_path) == ["1", "0"]
    assert asked(tmp_path) == ["1", "1"]
    (tmp_path / "inner.py").write_text(INNER.format(answer=20))
    assert asked(tmp_path) == ["20", "0"]


TUPLE = """
from typing import Any, NamedTuple
from schedgap.instances.jit import kernel

class {name}(NamedTuple):
    value: Any

@kernel
def ask(given):
    return given.value

if __name__ == "outer":
    print(ask({name}(7)), sum(ask.stats.cache_hits.values()))
"""


def test_a_cache_for_a_class_that_was_renamed_is_none(tmp_path):
    """Numba's index of what is compiled names the classes of arguments."""
    (tmp_path / "outer.py").write_text(TUPLE.format(name="Before"))
    assert asked(tmp_path) == ["7", "0"]
    assert asked(tmp_path) == ["7", "1"]
    (tmp_path / "outer.py").write_text(TUPLE.format(name="Now"))
    assert asked(tmp_path) == ["7", "0"]


def test_constants_are_numbers_like_all_others():
    @inner_kernel
    def twice(number):
        return 2 * number

    @kernel
    def compiled(number):
        return twice(3) + twice(4) + twice(number) + twice(number=5)

    assert compiled(10) == 44
    assert [str(types) for types in twice.signatures] == ["(int64,)"]


def test_what_a_kernel_calls_is_compiled_as_a_part_of_it():
    @kernel
    def twice(number):
        if number < 0:
            raise ValueError("below 0")
        return 2 * number

    @kernel
    def compiled(number):
        return twice(number) + 1

    assert compiled(3) == 7
    assert twice.signatures == []
    assert [twice(3), compiled(4)] == [6, 9]
    assert len(twice.signatures) == 1
    for each in (compiled, twice, njit(lambda number: twice(number))):
        assert each(5) in (10, 11)
        with pytest.raises(ValueError, match="below 0"):
            each(-1)


def test_a_kernel_may_call_itself():
    @kernel
    def factorial(number):
        if number < 2:
            return 1
        return number * factorial(number - 1)

    @kernel
    def compiled(number):
        return factorial(number)

    assert compiled(5) == 120
    assert factorial(4) == 24


FAILING = """
@inner_kernel
def answer():
    raise ValueError("no answer")
"""
TOLD = """
    try:
        ask()
    except ValueError as error:
        print(*error.args, sum(ask.stats.cache_hits.values()))
"""


def test_errors_of_parts_come_through_from_the_cache_too(tmp_path):
    (tmp_path / "inner.py").write_text(INNER.split("@")[0] + FAILING)
    (tmp_path / "outer.py").write_text(OUTER.partition("    print")[0] + TOLD)
    assert asked(tmp_path) == ["no", "answer", "0"]
    assert asked(tmp_path) == ["no", "answer", "1"]
