"""A server as its harness sees it: whose word counts, and who wakes a harness that was stopped."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from schedgap.bench.isolation.handle import ServerHandle, ServerLostError
from schedgap.bench.isolation.messages import LENGTH, Describe, Described, Refusal, WarmedUp, packed

STOPPED = """
import os, signal
from schedgap.bench.isolation import handle
handle._AWAKE_S = 1
handle.stay_awake()
os.kill(os.getpid(), signal.SIGSTOP)
print("on")
"""


def framed(body):
    return LENGTH.pack(len(body)) + body


@pytest.fixture
def served():
    """A handle of a process that greets, waits for a question and does something then: `served(lambda socket: ...)`."""
    pids = []

    def made(act):
        ours, theirs = socket.socketpair()
        handle = ServerHandle(ours)
        pid = os.fork()
        if pid == 0:
            ours.close()
            theirs.sendall(framed(b""))
            theirs.recv(2**16)
            act(theirs)
            os._exit(0)
        pids.append(pid)
        theirs.close()
        handle.greet(pid, 60.0)
        assert handle.pid == pid
        return handle

    yield made
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_only_the_server_itself_is_heard(served):
    """Another process that has its socket says something first."""

    def act(theirs):
        if (child := os.fork()) == 0:
            theirs.sendall(framed(packed(Described(b"forged"))))
            os._exit(0)
        os.waitpid(child, 0)
        theirs.sendall(framed(packed(Described(b"true"))))
        signal.pause()

    handle = served(act)
    assert handle.ask(Describe(()), 60.0) == Described(b"true")
    assert handle.is_there
    handle.close()


@pytest.mark.parametrize(
    "body", [b"garbage", packed(WarmedUp(1.0, 1.0, 1)), packed(Refusal("no")), b"\x80\x04K\x01."], ids=repr
)
def test_another_answer_than_was_asked_for_is_none(served, body):
    handle = served(lambda theirs: theirs.sendall(framed(body)))
    with pytest.raises(ServerLostError) as lost:
        handle.ask(Describe(()), 60.0)
    assert not lost.value.is_silent


def test_silence_is_told_from_an_end(served):
    def act(theirs):
        theirs.sendall(LENGTH.pack(5) + b"half")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        theirs.recv(1)

    handle = served(act)
    with pytest.raises(ServerLostError) as lost:
        handle.ask(Describe(()), 0.2)
    assert lost.value.is_silent


def test_a_server_that_is_gone_is_not_there(served):
    handle = served(lambda theirs: None)
    handle.socket.send(b"?")
    os.waitid(os.P_PID, handle.pid, os.WEXITED | os.WNOWAIT)
    assert not handle.is_there
    handle.close()


def test_a_stopped_harness_goes_on():
    """By itself: nobody else may be left to wake it. In a session of its own, there is no terminal."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=120, start_new_session=True, check=True
    )
    assert done.stdout == "on\n"
