"""Compiled code on disk, by processes of their own: what is found again, what is compiled anew, and what is never run."""

import importlib.util
import os
import pickle
import random
import subprocess
import sys

import numba
import pytest
from numba import njit

from schedgap.instances import compiled_cache, jit
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


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where all here keep what they compile."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    return tmp_path / "numba" / "schedgap"


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


class Evil:
    """Whoever reads a pickle of it makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("evil",)


EVIL = pickle.dumps(Evil())


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Import a module anew, as the next process would: `loaded("def f(): ...")`."""
    monkeypatch.setattr(compiled_cache, "LEDGER", compiled_cache.Ledger())
    monkeypatch.setattr(compiled_cache, "_COMPLAINTS", [])

    def load(source):
        path = tmp_path / "loaded.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("loaded", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "loaded", module)
        spec.loader.exec_module(module)
        return module

    return load


def hits(compiled):
    return sum(compiled.stats.cache_hits.values())


def test_what_is_damaged_is_compiled_anew(loaded, place, tmp_path, monkeypatch):
    """No pickle is read that is not whole."""
    monkeypatch.chdir(tmp_path)
    cuts = [lambda whole, n=n: whole[:n] for n in (0, 1, 63, 64, 100, -1)]
    others = [
        lambda whole, other=other: other for other in (b"\x80", bytes(64), random.Random(0).randbytes(4096), EVIL)
    ]
    damages = [*cuts, *others, lambda whole: whole[:64] + EVIL, lambda whole: whole]
    functions = "".join(f"@kernel\ndef f{i}():\n    return {i}\n" for i in range(len(damages)))
    source = f"from schedgap.instances.jit import kernel\n{functions}all = [{', '.join(f'f{i}' for i in range(len(damages)))}]"
    before = loaded(source)
    assert [(f(), hits(f)) for f in before.all] == [(i, 0) for i in range(len(damages))]
    for i, damage in enumerate(damages):
        (entry,) = place.glob(f"f{i}-*")
        entry.write_bytes(damage(entry.read_bytes()))
    after = loaded(source)
    assert [(f(), hits(f)) for f in after.all] == [(i, i == len(damages) - 1) for i in range(len(damages))]
    assert not (tmp_path / "evil").exists()
    assert hits_of_all(loaded(source)) == len(damages)


def hits_of_all(module):
    for f in module.all:
        f()
    return sum(map(hits, module.all))


FUNCTION = "from schedgap.instances.jit import kernel\n@kernel\ndef f(x):\n    return x + 1\n"


def test_nowhere_to_write_is_no_failure(loaded, place, capsys):
    place.parent.touch()
    module = loaded(FUNCTION)
    assert (module.f(1), module.f(1.5)) == (2, 2.5)
    assert capsys.readouterr().err == (
        f"schedgap keeps no compiled code: {place} cannot be written; set NUMBA_CACHE_DIR to a folder that can.\n"
    )


def test_choices_that_change_the_code_have_entries_of_their_own(loaded, place, monkeypatch):
    def found():
        module = loaded(FUNCTION)
        module.f(1)
        return hits(module.f)

    assert [found(), found()] == [0, 1]
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert [found(), found()] == [0, 1]
    monkeypatch.setattr(numba.config, "OPT", 1)
    assert [found(), found()] == [0, 1]
    assert len(list(place.iterdir())) == 3


def test_what_a_kernel_closes_over_is_part_of_it(loaded, place):
    """As far as it is a number or text; what closes over anything else is not kept."""
    source = (
        "from schedgap.instances.jit import kernel\ndef made(by):\n    @kernel\n    def f():\n        return by\n    return f\n"
        "all = [made(3), made(4), made((5, 6))]"
    )
    assert [f() for f in loaded(source).all] == [3, 4, (5, 6)]
    assert hits_of_all(loaded(source)) == len(list(place.iterdir())) == 2


def test_a_run_keeps_in_its_scratch_what_numba_is_told_to_keep(loaded, place, tmp_path, monkeypatch):
    """Also by decorators of Numba's own, whose place is beside the module and need not be there to write."""
    for target, name in ((numba.core.dispatcher.Dispatcher, "enable_caching"), (numba.config, "CACHE_DIR")):
        monkeypatch.setattr(target, name, getattr(target, name))
    monkeypatch.setattr(compiled_cache, "_OWN", [])
    monkeypatch.setenv(compiled_cache.READ, "")
    jit.own_cache(tmp_path / "scratch", None)
    source = (
        "import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"
        "@numba.vectorize(['int64(int64)'], cache=True)\ndef g(x):\n    return 2 * x\n"
    )
    (tmp_path / "scratch").mkdir()
    for again in (0, 1):
        module = loaded(source)
        assert (module.f(1), module.g(2), hits(module.f)) == (2, 4, again)
    assert not place.exists()
    kept = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc", ".compiled")]
    assert kept
    assert all(path.is_relative_to(tmp_path / "scratch" / "compiled") for path in kept)


def test_a_numba_without_what_is_used_of_it_keeps_nothing(monkeypatch, capsys):
    assert jit.lacking(jit.PRIVATE) == []
    lost = {"numba.core.serialize": ["dumps", "no_such"], "numba.no_such": ["any"]}
    assert jit.lacking(lost) == ["numba.core.serialize.no_such", "numba.no_such.any"]
    monkeypatch.setattr(jit, "PRIVATE", lost)
    monkeypatch.setattr(compiled_cache, "_COMPLAINTS", [])
    jit.has_private.cache_clear()
    try:

        @kernel
        def twice(number):
            return 2 * number

        assert twice(4) == 8
    finally:
        jit.has_private.cache_clear()
    assert capsys.readouterr().err == (
        f"schedgap keeps no compiled code: Numba {numba.__version__} has no numba.core.serialize.no_such, numba.no_such.any; "
        "use another version.\n"
    )


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
