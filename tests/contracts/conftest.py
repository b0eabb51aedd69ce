"""Loads `promises.py`, from which the file of each family derives its tests."""

import importlib.util
import sys
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("promises", Path(__file__).with_name("promises.py"))
sys.modules["promises"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sys.modules["promises"])
