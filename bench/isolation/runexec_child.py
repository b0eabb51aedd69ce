"""A run in an interpreter of its own; `python -m schedgap.bench.isolation.runexec_child REQUEST ANSWERS OUTPUT`."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from schedgap.bench.discover import load_methods
from schedgap.bench.isolation.child import run_child, send


def main(asked: Path, answers: Path, output: Path) -> None:
    """Do the run that the file `asked` holds; answers, output : named pipes to write to."""
    request = pickle.loads(asked.read_bytes())
    load_methods([request.family], request.plugins)
    instance = pickle.loads(request.instance_path.read_bytes())
    to_answers, to_output = (os.open(pipe, os.O_WRONLY) for pipe in (answers, output))
    send(to_answers, b"W", b"")
    run_child(request, instance, to_answers, to_output, asked.parent)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
