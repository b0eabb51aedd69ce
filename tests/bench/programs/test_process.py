"""What a program finds when it is started, and how much of what it says is read."""

import os

import pytest

from schedgap.bench.programs.program import Program, ProgramFailure, Terms, ended, start
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S


def test_the_environment_tells_of_the_run(monkeypatch):
    """Limits are plain decimals: a shell cannot count with 1e+06."""
    monkeypatch.setenv("MINE", "kept")
    found = Terms(seed=2**62, time_limit_s=1_234_567.5, threads=2).environment()
    assert found["MINE"] == "kept"
    told = [found[f"SCHEDGAP_{name}"] for name in ("SEED", "TIME_LIMIT_S", "THREADS")]
    assert told == [str(2**62), "1234567.5", "2"]
    assert "e" not in Terms(0, MAX_TIME_LIMIT_S, 1).environment()["SCHEDGAP_TIME_LIMIT_S"]
    assert Terms(0, 0.0, 1).environment()["SCHEDGAP_TIME_LIMIT_S"] == "0"


def test_no_limit_is_told_by_no_variable(monkeypatch):
    monkeypatch.delenv("SCHEDGAP_TIME_LIMIT_S", raising=False)
    assert "SCHEDGAP_TIME_LIMIT_S" not in Terms(0, None, 1).environment()


def test_a_sixteenth_of_the_memory_is_read():
    assert Terms(0, None, 1, memory_mib=4096).most_bytes == 256 * 2**20
    assert Terms(0, None, 1, memory_mib=1).most_bytes == 2**16


def test_it_starts_in_its_folder(script, tmp_path, terms):
    program = Program.make("mine", script("deep/down/mysched", "pwd; echo $SCHEDGAP_SEED"), folder=tmp_path)
    read, write = os.pipe()
    process = start(program, program.command, terms, stdout=write)
    os.close(write)
    with open(read) as printed:
        assert printed.read() == f"{tmp_path}\n7\n"
    assert process.wait() == 0


@pytest.mark.parametrize(
    ("first_line", "message"),
    [("#!/no/such/interpreter", "No such file or directory"), ("\x00", "Exec format error")],
)
def test_what_cannot_be_started_has_crashed(tmp_path, terms, first_line, message):
    path = tmp_path / "mysched"
    path.write_text(f"{first_line}\n")
    path.chmod(0o755)
    program = Program.make("mine", [path], folder=tmp_path)
    with pytest.raises(ProgramFailure, match=f"mysched cannot be started: {message}") as caught:
        start(program, program.command, terms)
    assert caught.value.status == "crashed"


def test_a_word_that_no_process_takes(tmp_path, terms):
    program = Program.make("mine", ["cat", "a\x00b"], folder=tmp_path)
    with pytest.raises(ProgramFailure, match="cat cannot be started: embedded null byte"):
        start(program, program.command, terms)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (3, "decision 2: the program exited with code 3"),
        (-9, "decision 2: the program was ended by SIGKILL"),
        (-40, "decision 2: the program was ended by signal 40"),
    ],
)
def test_how_it_ended_is_said_by_name(code, reason):
    failure = ended(code, "decision 2: ")
    assert (failure.status, str(failure)) == ("crashed", reason)
