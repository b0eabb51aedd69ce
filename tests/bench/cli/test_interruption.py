"""Ctrl-C and SIGTERM while the command line is imported: one sentence, no traceback, and nothing that goes on."""

import signal
import subprocess
import sys

import pytest

# As some modules do, this one catches whatever is raised while it is imported.
GREEDY = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.{name})
    time.sleep(0.1)
except BaseException:
    pass

def main():
    time.sleep(60)
"""
CALL = """
import importlib, schedgap.__main__ as command
command.import_module = lambda name: importlib.import_module("greedy")
command.main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_while_it_is_imported(tmp_path, name):
    (tmp_path / "greedy.py").write_text(GREEDY.format(name=name))
    asked = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 50, "check": False}
    ended = subprocess.run([sys.executable, "-c", CALL], **asked)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + getattr(signal, name), "", "interrupted.\n")
