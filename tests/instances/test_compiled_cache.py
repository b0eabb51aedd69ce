"""Which compiled code is loaded: what is whole, what was there before foreign code ran, and of a run's what is its own."""

import hashlib
import os
import random

import pytest

from schedgap.instances import compiled_cache
from schedgap.instances.compiled_cache import OWN, Ledger, adopt, load, save, writable, write_to

STAMP, OTHER = b"s" * 32, b"o" * 32
NAME, SECOND = f"f-{'0' * 32}.compiled", f"g-{'1' * 32}.compiled"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """The trusted folder of this test; its process is neither a run nor knows of one."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    # Set first, so that it is gone after the test too: `write_to` sets it.
    monkeypatch.setenv(compiled_cache.READ, "")
    monkeypatch.delenv(compiled_cache.READ)
    monkeypatch.setattr(compiled_cache, "LEDGER", Ledger())
    monkeypatch.setattr(compiled_cache, "_OWN", [])
    monkeypatch.setattr(compiled_cache, "_COMPLAINTS", [])
    return tmp_path / "schedgap"


@pytest.fixture
def become(tmp_path, monkeypatch):
    """Make this process a run, and back again."""

    def change(scratch=None, code=None):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        monkeypatch.delenv(compiled_cache.READ, raising=False)
        compiled_cache._OWN.clear()
        monkeypatch.setattr(compiled_cache, "LEDGER", Ledger())
        if scratch is not None:
            (tmp_path / scratch).mkdir(exist_ok=True)
            write_to(tmp_path / scratch, code)
        return tmp_path / (scratch or "")

    return change


def forged(body):
    """An entry as anybody can make it who may write there."""
    return hashlib.sha256(STAMP + body).digest() + STAMP + body


def test_what_is_kept_is_found_again_by_name_and_stamp(place):
    save(NAME, STAMP, b"code")
    assert load(NAME, STAMP) == b"code"
    assert load(NAME, OTHER) is None
    assert load(SECOND, STAMP) is None
    save(NAME, OTHER, b"newer")
    assert (load(NAME, STAMP), load(NAME, OTHER)) == (None, b"newer")
    assert [file.name for file in place.iterdir()] == [NAME]


@pytest.mark.parametrize("length", [0, 1, 31, 32, 63, 64, 65, 67])
def test_what_was_cut_is_not_there(place, length):
    save(NAME, STAMP, b"code")
    file = place / NAME
    file.write_bytes(file.read_bytes()[:length])
    assert load(NAME, STAMP) is None
    save(NAME, STAMP, b"code")
    assert load(NAME, STAMP) == b"code"


def test_what_has_another_bit_is_not_there(place):
    save(NAME, STAMP, b"code")
    whole = (place / NAME).read_bytes()
    for position in range(len(whole)):
        (place / NAME).write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert load(NAME, STAMP) is None
    (place / NAME).write_bytes(random.Random(0).randbytes(4096))
    assert load(NAME, STAMP) is None


def test_what_is_no_file_is_not_there(place, tmp_path):
    save(SECOND, STAMP, b"code")
    os.mkfifo(place / NAME)
    assert load(NAME, STAMP) is None
    (place / NAME).unlink()
    (place / NAME).symlink_to(place / SECOND)
    assert load(NAME, STAMP) is None
    (place / NAME).unlink()
    (place / NAME).mkdir()
    assert load(NAME, STAMP) is None


def test_after_foreign_code_has_run_only_what_was_there_before_is_loaded(place):
    """And what a trusted process has made since; the other one knows it by the descriptor that it was handed."""
    save(NAME, STAMP, b"before")
    harness = Ledger()
    compiled_cache.follow(os.dup(harness.fileno()))
    harness.seal()
    assert load(NAME, STAMP) == b"before"
    (place / NAME).write_bytes(forged(b"evil"))
    (place / SECOND).write_bytes(forged(b"evil"))
    harness.seal()
    assert load(NAME, STAMP) is load(SECOND, STAMP) is None
    save(NAME, STAMP, b"anew")
    assert load(NAME, STAMP) == b"anew"
    assert harness.allows(hashlib.sha256(STAMP + b"anew").digest())


def test_before_foreign_code_has_run_others_may_compile(place):
    compiled_cache.LEDGER.fileno()
    save(NAME, STAMP, b"by us")
    (place / SECOND).write_bytes(forged(b"by another command"))
    assert load(SECOND, STAMP) == b"by another command"


def test_a_run_reads_what_is_trusted_and_writes_to_its_scratch(place, become):
    save(NAME, STAMP, b"code")
    scratch = become("run")
    assert load(NAME, STAMP) == b"code"
    save(SECOND, STAMP, b"of the run")
    assert load(SECOND, STAMP) == b"of the run"
    assert os.environ["NUMBA_CACHE_DIR"] == str(scratch / OWN)
    become()
    assert load(SECOND, STAMP) is None
    assert sorted(file.name for file in place.iterdir()) == [NAME]


def test_what_a_run_was_forked_with_is_all_that_it_trusts(place, tmp_path):
    save(NAME, STAMP, b"code")
    compiled_cache.LEDGER.seal()
    compiled_cache.LEDGER.learn()
    write_to(tmp_path, None)
    assert load(NAME, STAMP) == b"code"
    (place / NAME).write_bytes(forged(b"evil"))
    assert load(NAME, STAMP) is None


def test_what_a_method_of_ours_compiled_is_for_runs_now_and_for_all_in_later_commands(place, become, tmp_path):
    scratch = become("run")
    save(NAME, STAMP, b"code")
    become()
    ledger = compiled_cache.LEDGER
    ledger.seal()
    adopt(scratch, None, is_foreign=False)
    assert load(NAME, STAMP) is None
    write_to(tmp_path, None)
    assert load(NAME, STAMP) == b"code"
    become()
    assert load(NAME, STAMP) == b"code"


def test_what_foreign_code_compiled_is_for_this_code_alone(place, become):
    scratch = become("first", "a" * 32)
    save(NAME, STAMP, b"code")
    become()
    adopt(scratch, "a" * 32, is_foreign=True)
    assert load(NAME, STAMP) is None
    become("rival", "b" * 32)
    assert load(NAME, STAMP) is None
    become("second", "a" * 32)
    assert load(NAME, STAMP) == b"code"
    become()
    assert [file for file in place.iterdir() if file.is_file()] == []


def test_nothing_is_kept_of_foreign_code_that_nobody_can_tell_apart(place, become):
    scratch = become("run")
    save(NAME, STAMP, b"code")
    become()
    adopt(scratch, None, is_foreign=True)
    assert not place.exists()


def test_only_entries_are_taken_over(place, become, tmp_path, monkeypatch):
    monkeypatch.setattr(compiled_cache, "_MOST_FOREIGN_BYTES", 200)
    own = become("run") / OWN
    save(NAME, STAMP, b"code")
    become()
    names = [f"x-{i:032x}.compiled" for i in range(5)]
    (tmp_path / "secret").write_bytes(forged(b"secret"))
    (own / names[0]).symlink_to(tmp_path / "secret")
    os.mkfifo(own / names[1])
    (own / names[2]).write_bytes(b"broken")
    (own / names[3]).write_bytes(forged(bytes(200)))
    (own / names[4]).mkdir()
    (own / "index.nbi").write_bytes(b"")
    adopt(own.parent, "a" * 32, is_foreign=True)
    assert [file.name for file in (place / "foreign" / ("a" * 32)).iterdir()] == [NAME]


def test_what_was_kept_of_much_foreign_code_is_deleted(place, become, monkeypatch):
    monkeypatch.setattr(compiled_cache, "_MOST_FOREIGN", 2)
    for age, code in enumerate("abc"):
        scratch = become(code, code * 32)
        save(NAME, STAMP, b"code")
        become()
        adopt(scratch, code * 32, is_foreign=True)
        os.utime(place / "foreign" / (code * 32), (age, age))
    assert sorted(file.name[0] for file in (place / "foreign").iterdir()) == ["b", "c"]


def test_nowhere_to_write_is_said_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    save(NAME, STAMP, b"code")
    save(SECOND, STAMP, b"code")
    assert writable() is None
    assert load(NAME, STAMP) is None
    place = tmp_path / "file" / "schedgap"
    assert capsys.readouterr().err == (
        f"schedgap keeps no compiled code: {place} cannot be written; set NUMBA_CACHE_DIR to a folder that can.\n"
    )


def test_beside_the_package_and_else_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled_cache, "__file__", str(tmp_path / "file" / "compiled_cache.py"))
    (tmp_path / "file").touch()
    assert writable() == tmp_path / "cache" / "schedgap" / "compiled"
