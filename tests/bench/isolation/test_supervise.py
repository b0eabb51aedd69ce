"""What a run says to its supervisor, and what is kept of its output."""

import os
from types import SimpleNamespace

import pytest

from schedgap.bench.isolation.answer import pack_bound
from schedgap.bench.isolation.clocks import Allowance, CallClock
from schedgap.bench.isolation.messages import FRAME, Cause
from schedgap.bench.isolation.supervise import KEEP_OUTPUT, Pipe, _over_in_the_end, _Watch
from schedgap.bench.records.runs import Limits


def watching(stream=b"", give=None, *, is_foreign=False):
    """A watch over a process that says this."""
    calls = CallClock(is_foreign=is_foreign)
    messages = Pipe(-1, bytearray(stream))
    return _Watch(messages, Pipe(-1), Limits(wall_s=10.0), Allowance(), calls, give)


def kinds(letters):
    return b"".join(FRAME.pack(bytes([kind]), 0) for kind in letters)


@pytest.mark.parametrize(
    "stream",
    [
        b"garbage, or so it seems",
        FRAME.pack(b"D", 101),
        FRAME.pack(b"F", 101),
        FRAME.pack(b"B", 3) + b"abc",
        FRAME.pack(b"D", 1) + b"a" + FRAME.pack(b"W", 0),
        FRAME.pack(b"D", 1) + b"a" + FRAME.pack(b"F", 1) + b"a",
    ],
    ids=["kind", "length", "length-of-a-solution", "no-bound", "after-the-answer", "told-after-the-answer"],
)
def test_what_is_no_message_ends_the_run(now, stream):
    watch = watching(stream)
    watch._read_frames(100)
    assert watch.ending.cause is Cause.MESSAGES
    assert watch.messages.data == b""


def test_memory_and_time_are_looked_at_in_the_end(now):
    used = SimpleNamespace(ru_maxrss=2049, ru_utime=1.5, ru_stime=1.0)
    assert _over_in_the_end(Limits(memory_mib=2, cpu_s=3.0), used, 2.5) is Cause.MEMORY
    assert _over_in_the_end(Limits(memory_mib=3, cpu_s=2.0), used, 2.5) is Cause.CPU
    assert _over_in_the_end(Limits(memory_mib=3, cpu_s=2.5), used, 2.5) is None


@pytest.mark.parametrize(
    "stream",
    [b"E", b"SS", b"SEE", b"SESESE", b"SEWSESE"],
    ids=["ends-before-it-begins", "begins-twice", "ends-twice", "three-calls", "three-calls-with-a-pause"],
)
def test_calls_that_cannot_be_end_the_run(now, stream):
    watch = watching(kinds(stream))
    watch._read_frames(100)
    assert watch.ending.cause is Cause.MESSAGES


def test_foreign_code_is_called_once(now):
    """The second call could tell what the first one found."""
    watch = watching(kinds(b"SESE"), is_foreign=True)
    watch._read_frames(100)
    assert watch.ending.cause is Cause.MESSAGES


def test_an_instance_is_given_once(now):
    given = []

    def give():
        given.append(now[0])
        return 5

    watch = watching(kinds(b"I"), give)
    watch._read_frames(100)
    assert (watch.ending.cause, given) == (None, [now[0]])
    watch.messages.data += kinds(b"I")
    watch._read_frames(100)
    assert (watch.ending.cause, len(given)) == (Cause.MESSAGES, 1)


def test_messages_in_pieces(now):
    """Whole messages are taken, the rest waits."""
    watch = watching()
    stream = b"".join(
        FRAME.pack(kind, len(body)) + body for kind, body in [(b"C", b""), (b"c", b""), (b"D", b"answer")]
    )
    for index in range(len(stream)):
        assert watch.ending.answer is None
        watch.messages.data += stream[index : index + 1]
        watch._read_frames(100)
    assert watch.ending.answer == b"answer"
    assert watch.messages.data == b""


def test_the_last_of_what_was_told_is_kept(now):
    stream = [(b"F", b"one"), (b"B", pack_bound(-3)), (b"F", b"two"), (b"B", pack_bound(4)), (b"F", b"cut off")]
    watch = watching(b"".join(FRAME.pack(kind, len(body)) + body for kind, body in stream)[:-1])
    watch._read_frames(100)
    ending = watch.ending
    assert (ending.solution, ending.bound, ending.answer, ending.cause) == (b"two", 4, None, None)


def test_a_flood_keeps_its_ends():
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    pipe = Pipe(ours)
    with os.fdopen(ours, "rb"), os.fdopen(theirs, "wb", buffering=0) as out:
        for letter in b"abcdefgh":
            out.write(bytes([letter]) * 30_000)
            pipe.drain()
            pipe.forget_middle()
    shown = pipe.text()
    assert shown.startswith(b"a" * KEEP_OUTPUT)
    assert shown.endswith(b"h" * KEEP_OUTPUT)
    assert b"bytes left out" in shown
    assert pipe.skipped + len(pipe.data) == 8 * 30_000
