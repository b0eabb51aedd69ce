"""A run in an interpreter of its own; `python -m schedgap.bench.isolation.runexec_child REQUEST ANSWERS OUTPUT`."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

from schedgap.bench.isolation.answer import pack
from schedgap.bench.isolation.child import measured
from schedgap.bench.isolation.fork import answer
from schedgap.bench.isolation.messages import Message, send
from schedgap.bench.isolation.runexec import GIVEN, INSTANCE
from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.jit import own_cache


def main(asked: Path, answers: Path, output: Path) -> None:
    """Do the run that the file `asked` holds; answers, output : named pipes to write to."""
    request = pickle.loads(asked.read_bytes())
    own_cache(asked.parent, request.code)
    load_methods([request.family])
    to_answers, to_output = (os.open(pipe, os.O_WRONLY) for pipe in (answers, output))
    send(to_answers, Message.READY)

    def given() -> Any:
        send(to_answers, Message.WANTED)
        with (asked.parent / GIVEN).open("rb", buffering=0) as pipe:
            pipe.read(1)
        return pickle.loads((asked.parent / INSTANCE).read_bytes())

    answer(
        lambda pipe: measured(request, given, pipe),
        pack,
        request.limits,
        to_answers,
        to_output,
        asked.parent,
        limits_addresses=request.program is None,
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
