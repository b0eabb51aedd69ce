"""What tests of the executors share: harnesses in processes of their own."""

import subprocess
import sys
from contextlib import ExitStack

import pytest

CALL = "from schedgap.bench.cli.app import main; main()"


@pytest.fixture
def start_harness():
    """Start `schedgap run`, whose stderr has no progress: `start_harness(suite, "--out", out, before="import this;")`.

    None outlives its test: others look for processes that are left.
    """
    with ExitStack() as harnesses:

        def start(*arguments, before=""):
            command = [sys.executable, "-c", before + CALL, "run", *map(str, arguments), "--json", "--quiet"]
            harness = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            harnesses.enter_context(harness)
            harnesses.callback(harness.kill)
            return harness

        yield start
