"""The wall clock of a run, and what is kept of its output."""

import os
import time

import pytest

from schedgap.bench.supervise import FRAME, KEEP_OUTPUT, MAX_COMPILE_S, Ending, Pipe, WallClock, _read_frames


@pytest.fixture
def now(monkeypatch):
    """A clock that moves when told: `now[0] += 5`."""
    moment = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


def test_wall_stands_still_while_compiling(now):
    """3 s of 10 s pass, then 40 s of compiling: 7 s are left."""
    clock = WallClock(10.0)
    now[0] += 3
    clock.pause()
    assert clock.deadline == now[0] + MAX_COMPILE_S
    now[0] += 40
    clock.resume()
    assert clock.deadline == now[0] + 7


def test_warm_means_the_whole_limit_again(now):
    clock = WallClock(10.0)
    now[0] += 9
    clock.restart()
    assert clock.deadline == now[0] + 10


def test_messages_in_pieces(now):
    """Whole messages are taken, the rest waits; the last answer counts."""
    clock, ending = WallClock(10.0), Ending()
    stream = b"".join(
        FRAME.pack(kind, len(body)) + body for kind, body in [(b"C", b""), (b"c", b""), (b"D", b"answer")]
    )
    messages = Pipe(-1)
    for index in range(len(stream)):
        assert ending.answer is None
        messages.data += stream[index : index + 1]
        _read_frames(messages, ending, clock)
    assert ending.answer == b"answer"
    assert messages.data == b""


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
