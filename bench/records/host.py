"""Facts about the machine and the software that a measured time depends on, captured once a host."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, TypedDict

import psutil

from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import JournalError, about_file

HOST_SCHEMA: Literal["schedgap/host/1"] = "schedgap/host/1"
PACKAGES = ("schedgap", "numpy", "scipy", "numba", "highspy", "ortools", "pulp", "joblib")


class HostFacts(TypedDict):
    """A host's file. processors : logical ones, of which `affinity` may be used. commit : of a checkout, None elsewhere."""

    schema: Literal["schedgap/host/1"]
    name: str
    system: str
    machine: str
    processor: str
    processors: int | None
    affinity: list[int]
    cores: int | None
    memory_mib: int
    python: str
    packages: dict[str, str | None]
    commit: str | None


@cache
def package_version(name: str) -> str | None:
    """Return the installed version of a package, None without it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@cache
def host_facts() -> HostFacts:
    """Return what is known of this host; nothing that changes from run to run."""
    return {
        "schema": HOST_SCHEMA,
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "cores": psutil.cpu_count(logical=False),
        "memory_mib": psutil.virtual_memory().total // 2**20,
        "python": platform.python_version(),
        "packages": {name: package_version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def versions_of(facts: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the versions that answers and times may depend on, of Python and of packages, from a host's facts."""
    python = ".".join(str(facts.get("python")).split(".")[:2])
    return {"python": python, **{name: v for name, v in facts.get("packages", {}).items() if name != "joblib"}}


def host_id(facts: Mapping[str, Any]) -> str:
    """Return a short hash of the facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def write_host(directory: Path, facts: Mapping[str, Any]) -> str:
    """Write the facts to `hosts/ID.json` unless it is there, and return the ID.

    Raises
    ------
    JournalError
        if it cannot be written.
    """
    identity = host_id(facts)
    path = directory / "hosts" / f"{identity}.json"
    if not path.exists():
        with about_file(path.parent, "made", JournalError, "choose another --out"):
            path.parent.mkdir(exist_ok=True)
        if path.parent.is_symlink():
            raise JournalError(f"{path.parent}: it is a symbolic link; remove it, or choose another --out.")
        write_whole(path, json.dumps(facts, indent=1).encode() + b"\n", JournalError, "choose another --out")
    return identity


def _processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _commit() -> str | None:
    """Return the commit of the checkout that this package runs from, None when it runs from elsewhere."""
    folder = Path(__file__).resolve().parent
    command = ["git", "-C", str(folder), "ls-files", "--error-unmatch", Path(__file__).name]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=5)
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, check=True, timeout=5, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
