"""Published tables, shipped as package data: EC2 machine types, Eva's workloads (Table 7), interference (Figure 1)."""

from __future__ import annotations

import csv
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import NOT_ALLOWED
from schedgap.instances.units import DOLLAR, GIB_MIB

CpuCapacity = Literal["physical", "vcpu"]
RESOURCES = ("gpu", "cpu", "ram_gib")
FAMILIES = ("p3", "c7i", "r7i")


@cache
def shipped_rows(name: str, family: str = "provisioning") -> tuple[dict[str, str], ...]:
    """Return the lines of a table that a family ships in its `data` folder."""
    text = files(f"schedgap.instances.{family}").joinpath(f"data/{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def ec2_types(cpu: CpuCapacity = "physical") -> dict[str, Any]:
    """Return the 21 EC2 machine types of Eva's section 6.1 as keyword arguments of `ProvisioningInstance`.

    cpu : `physical` cores, which Table 4 uses, or `vcpu` (twice as many), which the paper's simulations use.
    """
    if cpu not in ("physical", "vcpu"):
        raise InstanceError(f"cpu capacities are 'physical' or 'vcpu', not '{cpu}'.")
    rows = shipped_rows("ec2_machine_types")
    column = "physical_core" if cpu == "physical" else "vcpu"
    return {
        "resources": RESOURCES,
        "families": FAMILIES,
        "type_names": tuple(row["instance_type"] for row in rows),
        "type2family": [FAMILIES.index(row["family"]) for row in rows],
        "capacity": [[int(row["gpu"]) * 1000, int(row[column]) * 1000, int(row["ram_gib"]) * GIB_MIB] for row in rows],
        "price": [int(Decimal(row["usd_per_hour"]) * DOLLAR) for row in rows],
    }


def fits_ec2(demand: IntArray, cpu: CpuCapacity) -> BoolArray:
    """(T,) bool: whether some machine type has room for the demand, (T, R), that is the same on every family."""
    capacity: IntArray = np.array(ec2_types(cpu)["capacity"], np.int64)
    fits: BoolArray = np.any((demand <= capacity[:, None, :]).all(axis=2), axis=0)
    return fits


def ec2_delays() -> dict[str, Any]:
    """Return `acquire_s` and `setup_s`, (21,) int64: until a machine is there and paid, and then until it runs tasks."""
    rows = shipped_rows("ec2_machine_types")
    columns = {"acquire_s": "acquisition_seconds", "setup_s": "setup_seconds"}
    return {key: np.array([int(row[column]) for row in rows], np.int64) for key, column in columns.items()}


def eva_workloads() -> dict[str, Any]:
    """Return Table 7's ten workloads: `names`, `demand` (F, 10, R) in integer units, `tasks_per_job` (10,).

    A workload that asks for GPUs has no demand vector for the families without any (it would not fit there).
    """
    rows = shipped_rows("eva_workloads")
    demand = np.full((len(FAMILIES), len(rows), len(RESOURCES)), NOT_ALLOWED, np.int64)
    for c, row in enumerate(rows):
        for f, family in enumerate(FAMILIES):
            cpu = row["cpu_p3"] if family == "p3" else row["cpu_c7i_r7i"]
            demand[f, c] = int(row["gpu"]) * 1000, int(cpu) * 1000, int(row["ram_gib"]) * GIB_MIB
    return {
        "names": tuple(row["workload"] for row in rows),
        "demand": demand,
        "tasks_per_job": np.array([int(row["tasks_per_job"]) for row in rows]),
    }


def eva_interference() -> tuple[tuple[str, ...], IntArray]:
    """Return Figure 1's workload names and their pairwise normalised throughputs, (W, W) in thousandths.

    Pairs that the figure leaves out have 0.95, Eva's default for pairs never observed.
    """
    rows = shipped_rows("eva_interference")
    names = tuple(dict.fromkeys(row["workload_observed"] for row in rows))
    throughput = np.full((len(names), len(names)), 950, np.int64)
    for row in rows:
        if row["normalised_throughput"]:
            pair = names.index(row["workload_observed"]), names.index(row["co_located_with"])
            throughput[pair] = int(Decimal(row["normalised_throughput"]) * 1000)
    return names, throughput
