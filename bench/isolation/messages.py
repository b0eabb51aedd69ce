"""What a run's process tells its supervisor: frames on a pipe, each a kind, a length and a body."""

from __future__ import annotations

import os
import struct
from enum import Enum

FRAME = struct.Struct("<cQ")


class Message(bytes, Enum):
    """What a frame says.

    READY : something untimed is over (starting, warming up): the clock of the hard wall starts anew.
    COMPILING, COMPILED : the clock stands still in between. CALLED, RETURNED : around the timed call.
    ANSWER : the last frame, with a body (see `answer`).
    """

    READY = b"W"
    COMPILING = b"C"
    COMPILED = b"c"
    CALLED = b"S"
    RETURNED = b"E"
    ANSWER = b"D"


def send(pipe: int, message: Message, body: bytes = b"") -> None:
    """Write a frame."""
    view = memoryview(FRAME.pack(message.value, len(body)) + body)
    while view:
        view = view[os.write(pipe, view) :]
