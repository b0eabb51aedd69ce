"""Lines to a program and back: each within its time, in turn, and nothing waits for ever."""

import os
import select
import signal
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest

from schedgap.bench.programs import run as conversation
from schedgap.bench.programs.program import Program, ProgramFailure
from schedgap.bench.programs.run import Conversation, see_off

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"


@pytest.fixture
def talk(python, terms, monkeypatch):
    """Open a conversation with a program whose text is Python's."""
    monkeypatch.setattr(conversation, "GRACE_S", 0.2)
    monkeypatch.setattr(conversation, "CLOSING_S", 0.2)

    def begin(text, **more):
        return Conversation(python(text), replace(terms, **more))

    yield begin
    see_off()


@pytest.fixture
def refused(talk):
    """Ask a program questions until it fails; the status, the reason, and that nothing of it is left."""

    def ask(text, questions=1, *, line=b"question\n", **more):
        others = psutil.Process().children()
        with pytest.raises(ProgramFailure) as caught, talk(text, **{"time_limit_s": 0.1, **more}) as told:
            for number in range(1, questions + 1):
                told.ask(line, f"decision {number}", least_s=0.1 if number == questions else 10.0)
        assert psutil.Process().children() == others
        return str(caught.value.status), str(caught.value)

    return ask


def test_question_and_answer(talk):
    with talk(ECHO) as told:
        assert told.ask(b"abc\n", "greeting") == b"cba\n"
        assert told.ask(b"defg\n", "decision 1") == b"gfed\n"
        assert (told.told, told.heard) == (9, 9)
        assert told.waited_s > 0


def test_long_lines_go_both_ways_at_once(talk):
    """4 MiB each: more than a pipe holds, and the program writes before it has read all."""
    text = "import os\nrest = 2**22 + 1\nwhile rest: part = os.read(0, rest); rest -= len(part); os.write(1, part)"
    line = b"x" * 2**22 + b"\n"
    echo = "import sys\nline = sys.stdin.buffer.readline(); sys.stdout.buffer.write(line); sys.stdout.flush()"
    with talk(echo) as told:
        assert told.ask(line, "greeting") == line
    with pytest.raises(ProgramFailure, match="greeting: the program wrote before it was asked"), talk(text) as told:
        told.ask(line, "greeting")


def test_what_passed_is_over_within_its_time(refused):
    assert refused("import time; time.sleep(60)") == (
        "timeout",
        "decision 1: the program did not answer within 0.1 s",
    )


def test_half_a_line_and_silence(refused):
    status, reason = refused("import os, time; input(); os.write(1, b'{'); time.sleep(60)", time_limit_s=1.0)
    assert (status, reason) == ("timeout", "decision 1: the program did not end its line by a line feed within 1 s")


def test_drop_by_drop_is_not_in_time(refused):
    """The time is that of the line, not of each of its bytes."""
    text = "import os, time; input()\nwhile True: os.write(1, b'x'); time.sleep(0.01)"
    assert refused(text, time_limit_s=0.5)[0] == "timeout"


def test_a_line_that_nobody_takes(refused):
    """Larger than a pipe, to a program that does not read."""
    status, reason = refused("import time; time.sleep(60)", line=b"x" * 2**20 + b"\n")
    assert (status, reason) == ("timeout", "decision 1: the program did not take its line within 0.1 s")


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("import sys; sys.exit(3)", "crashed", "the program exited with code 3"),
        ("pass", "crashed", "the program exited with code 0"),
        ("input()", "crashed", "the program exited with code 0"),
        ("import os; os.kill(os.getpid(), 6)", "crashed", "the program was ended by SIGABRT"),
        ("import os; input(); os.write(1, b'{')", "crashed", "the program exited with code 0"),
        ("import os, time; input(); os.close(1); time.sleep(60)", "crashed", "the program closed its output"),
        (
            "import os, time; input(); os.write(1, b'{'); os.close(1); time.sleep(60)",
            "crashed",
            "the program closed its output in the middle of a line",
        ),
        (
            "input(); print('a\\nb', flush=True); input()",
            "invalid",
            "the program wrote more than one line; answer once",
        ),
        (
            "input(); print('a\\nb', end='', flush=True); input()",
            "invalid",
            "the program wrote more than one line; answer once",
        ),
    ],
)
def test_ends_and_lines_that_are_no_answer(refused, text, status, reason):
    assert refused(text, time_limit_s=10.0) == (status, f"decision 1: {reason}")


def test_who_it_leaves_behind_does_not_answer_for_it(refused):
    """A child holds the output; the program itself has ended, before the question or after it."""
    text = "import os, subprocess; {}; subprocess.Popen(['sleep', '30']); os._exit(5)"
    for first in ("input()", "input(); os.write(1, b'{{')"):
        assert refused(text.format(first), time_limit_s=10.0) == (
            "crashed",
            "decision 1: the program exited with code 5",
        )
    line = b"x" * 2**20 + b"\n"
    found = refused(text.format("pass"), line=line, time_limit_s=10.0)
    assert found == ("crashed", "decision 1: the program exited with code 5")


@pytest.mark.parametrize("length", [10, 2**20])
def test_input_that_is_closed(refused, length):
    """Shorter and longer than what a pipe holds."""
    text = "import os, time; input(); os.close(0); os.write(1, b'ok\\n'); time.sleep(60)"
    line = b"x" * length + b"\n"
    reason = "decision 2: the program closed its input"
    assert refused(text, 2, line=line, time_limit_s=10.0) == ("crashed", reason)


def test_an_answer_before_the_question(talk):
    """Seen when the next question is to be asked."""
    text = "import os, time; input(); os.write(1, b'one\\n'); time.sleep(0.3); os.write(1, b'two\\n'); time.sleep(60)"
    with talk(text, time_limit_s=10.0) as told:
        assert told.ask(b"question\n", "decision 1") == b"one\n"
        assert select.select([told._out], [], [], 20.0)[0]
        with pytest.raises(ProgramFailure, match="decision 2: the program wrote before it was asked") as caught:
            told.ask(b"question\n", "decision 2")
    assert caught.value.status == "invalid"


def test_a_line_without_end(refused):
    """64 KiB of a run with a limit of 1 MiB are read, and not a byte of the next chunk."""
    text = "import os; input()\nwhile True: os.write(1, b'x' * 4096)"
    status, reason = refused(text, time_limit_s=60.0, memory_mib=1)
    assert status == "invalid"
    assert reason == (
        "decision 1: its line is longer than 0.0625 MiB, a sixteenth of the memory limit; end it by a line feed"
    )


def test_without_a_limit(talk):
    with talk(ECHO, time_limit_s=None) as told:
        assert told.ask(b"ab\n", "greeting") == b"ba\n"


def test_the_limit_of_a_line_is_no_less_than_what_it_is_given(talk):
    """A limit of 0 s leaves nobody time to answer; a second is left then, and more for the greeting."""
    with talk("import time; time.sleep(0.3); print(input(), flush=True); input()", time_limit_s=0.0) as told:
        assert told.ask(b"ab\n", "greeting", least_s=10.0) == b"ab\n"
    assert conversation.LEAST_S < conversation.STARTING_S


def test_the_end(talk):
    """A last line, and the end of input; who does not heed them is ended, and no failure. Its exit is none of the run's time."""
    others = psutil.Process().children()
    with talk("print(input(), flush=True); assert input() == 'bye'; input()") as told:
        told.ask(b"ab\n", "greeting")
        told.tell(b"bye\n")
    with talk("import time; print(input(), flush=True); time.sleep(60)") as told:
        told.ask(b"ab\n", "greeting")
    assert told._process.poll() is None
    with talk("print(input(), flush=True)") as told:
        told.ask(b"ab\n", "greeting")
        told._process.wait()
        told.tell(b"bye\n")
    see_off()
    assert psutil.Process().children() == others


def test_signals_and_files_are_as_before(talk, script, terms):
    """The signal of a broken pipe is ignored here meanwhile; to the program it is what the system has."""
    before = signal.getsignal(signal.SIGPIPE), len(os.listdir("/proc/self/fd"))
    for text in (ECHO, "pass"):
        with suppress(ProgramFailure), talk(text) as told:
            told.ask(b"ab\n", "greeting")
        see_off()
    program = Program.make("mine", [script("mysched", "kill -PIPE $$; echo ignored; read line")])
    with pytest.raises(ProgramFailure, match="ended by SIGPIPE"), Conversation(program, terms) as told:
        told.ask(b"ab\n", "greeting")
    assert (signal.getsignal(signal.SIGPIPE), len(os.listdir("/proc/self/fd"))) == before
