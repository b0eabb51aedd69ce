"""Alibaba's cluster-trace-gpu-v2023 as a fairness problem: a real GPU cluster, its tasks and the GPU models they ask for.

Format: https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023 (Weng et al., ATC 2023). Where a task
asks for models in `gpu_spec`, it may run on these alone. What a model is worth to a task the trace does not say, and G2
and G3 are undisclosed: speeds here are assumed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.model import ONE, UNLIMITED, FairnessInstance
from schedgap.instances.units import GIB_MIB

Users = Literal["request", "pod"]
Weights = Literal["equal", "tasks"]
NODE_LIST = "openb_node_list_all_node.csv"
NODE_NUMBERS = ("cpu_milli", "memory_mib", "gpu")
NODE_COLUMNS = ("sn", *NODE_NUMBERS, "model")
POD_NUMBERS = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
POD_COLUMNS = ("name", *POD_NUMBERS, "gpu_spec")
# Assumed, of a task that uses a GPU; what uses none runs at 1 everywhere.
GPU_SPEEDS = {"T4": 1.0, "P100": 1.25, "V100M16": 2.5, "V100M32": 2.5, "A10": 2.5, "G1": 2.0, "G2": 2.0, "G3": 4.0}


def openb_constraints(
    path: Path | str,
    *,
    nodes: str = "",
    users: Users = "request",
    weights: Weights = "equal",
    limited: bool = True,
    gpu_speeds: str = "",
    notion: str = "eunomia",
) -> FairnessInstance:
    """Read a pod list and a node list: equal nodes are a machine class, and a user is who asks for equal tasks.

    nodes : path of the node list; by default `openb_node_list_all_node.csv` beside the pod list.
    users : one a distinct request, with as many tasks as there are such pods; or one a pod, with a single task.
    weights : `equal`, or by the number of a user's `tasks`. limited : users have the tasks of the trace; without, more
        than fit.
    gpu_speeds : assumptions other than `GPU_SPEEDS`, such as `T4=1,V100M32=3.5`, in whole thousandths.

    A task may run where its models allow it and a whole one fits; pods that fit nowhere are left out, and the notes
    say how many. Parts of GPUs may be spread over several.

    Raises
    ------
    InstanceError
        for a malformed file, a GPU model without a speed, or a parameter out of range.
    """
    for what, value, known in (("users", users, Users), ("weights", weights, Weights)):
        if value not in get_args(known):
            raise InstanceError(f"{what} is '{value:.60}'; choose one of {', '.join(get_args(known))}.")
    path = Path(path)
    speeds = GPU_SPEEDS | _given(gpu_speeds)
    capacity, models, count = _nodes(Path(nodes) if nodes else path.with_name(NODE_LIST))
    for model in filter(None, models):
        if model not in speeds:
            raise InstanceError(f"GPU model {model:.60} has no speed; give one, such as gpu_speeds={model:.60}=2.")
    names, demand, specs, tasks = _pods(path, users)
    allowed = (demand[:, None, :] <= capacity[None, :, :]).all(axis=2) & _admitted(specs, models)
    fits = allowed.any(axis=1)
    if not fits.any():
        raise InstanceError(f"{path.name}: no pod fits on a node that it admits; give the node list of the trace.")
    speed = np.array([round(speeds[model] * ONE) if model else ONE for model in models])
    parts = (*([users] * (users != "request")), *([f"{weights}-weights"] * (weights != "equal")))
    parts += ("unlimited",) * (not limited) + ("speeds",) * bool(gpu_speeds) + (notion,) * (notion != "eunomia")
    return FairnessInstance(
        name="-".join(("openb-constraints", *parts)),
        notion=notion,
        # Cores first, which every task needs: cmmf measures shares in them.
        resources=("cpu", "ram_gib", "gpu"),
        machine_names=tuple(_class_name(row, model) for row, model in zip(capacity.tolist(), models, strict=True)),
        machine_count=count,
        capacity=capacity,
        demand=demand[fits],
        weight=tasks[fits] * ONE if weights == "tasks" else np.full(int(fits.sum()), ONE),
        performance=np.where(demand[fits, 2:] > 0, speed[None, :], ONE),
        allowed=allowed[fits],
        tasks=tasks[fits] if limited else np.full(int(fits.sum()), UNLIMITED),
        user_names=tuple(names[i] for i in np.flatnonzero(fits).tolist()),
        notes=_notes(models, speeds, int(tasks[~fits].sum()), int(tasks.sum())),
    )


def _nodes(path: Path) -> tuple[IntArray, tuple[str, ...], IntArray]:
    """Return (K, 3) capacities of the distinct configurations, their GPU models, and (K,) how many nodes have them."""
    counts: dict[tuple[tuple[int, ...], str], int] = {}
    for line, row in read_rows(path, NODE_COLUMNS, "node list"):
        cpu, memory, gpu = (whole_number(path, line, column, row[column]) for column in NODE_NUMBERS)
        model = row["model"].strip()
        if (gpu > 0) != bool(model):
            raise InstanceError(
                f"{path.name} line {line}: {gpu} GPUs of model '{model:.60}'; give a model where there are GPUs."
            )
        key = (cpu, memory, gpu * ONE), model
        counts[key] = counts.get(key, 0) + 1
    if not counts:
        raise InstanceError(f"{path.name}: no nodes after the header; give the node list of the trace.")
    configurations = sorted(counts)
    return (
        np.array([row for row, _ in configurations]),
        tuple(model for _, model in configurations),
        np.array([counts[each] for each in configurations]),
    )


def _pods(path: Path, users: str) -> tuple[tuple[str, ...], IntArray, tuple[str, ...], IntArray]:
    """Return, of each user, its name, (N, 3) demands, `gpu_spec`, and (N,) the number of its tasks."""
    counts: dict[str, int] = {}
    requests: list[tuple[int, int, int]] = []
    specs: list[str] = []
    for line, row in read_rows(path, POD_COLUMNS, "pod list"):
        cpu, memory, num_gpu, gpu_milli = (whole_number(path, line, column, row[column]) for column in POD_NUMBERS)
        gpu, spec = num_gpu * gpu_milli, row["gpu_spec"].strip()
        if num_gpu and not gpu:
            raise InstanceError(f"{path.name} line {line}: num_gpu is {num_gpu} and gpu_milli 0; give both or none.")
        name = (
            row["name"]
            if users == "pod"
            else "-".join(
                [f"{_shown(gpu, ONE)}gpu", f"{_shown(cpu, ONE)}cpu", f"{memory}mib", *([spec] if spec else [])]
            )
        )
        counts[name] = counts.get(name, 0) + 1
        if users == "pod" and counts[name] > 1:
            raise InstanceError(f"{path.name} line {line}: pod {name:.60} is listed twice; remove one.")
        if counts[name] == 1:
            requests.append((cpu, memory, gpu))
            specs.append(spec)
    if not counts:
        raise InstanceError(f"{path.name}: no pods after the header; the trace is empty.")
    return tuple(counts), np.array(requests), tuple(specs), np.array(list(counts.values()))


def _admitted(specs: tuple[str, ...], models: tuple[str, ...]) -> BoolArray:
    """(N, K) bool: whether what a user asks for names the machines' GPU model, or none."""
    asked = {spec: np.array([not spec or model in spec.split("|") for model in models]) for spec in set(specs)}
    return np.array([asked[spec] for spec in specs])


def _given(text: str) -> dict[str, float]:
    speeds: dict[str, float] = {}
    for item in filter(None, text.split(",")):
        model, _, value = item.partition("=")
        try:
            speeds[model.strip()] = float(value)
        except ValueError:
            speeds[model.strip()] = 0.0
        if not 0 < speeds[model.strip()] < float("inf"):
            raise InstanceError(f"gpu_speeds has '{item:.60}'; write MODEL=SPEED,MODEL=SPEED with positive speeds.")
        to_units(speeds[model.strip()], ONE, f"the speed of '{model.strip():.60}' in gpu_speeds", InstanceError)
    return speeds


def _class_name(row: list[int], model: str) -> str:
    cpu, memory, gpu = row
    gpus = [f"{gpu // ONE}x{model}"] if model else []
    return "-".join([*gpus, f"{_shown(cpu, ONE)}cpu", f"{_shown(memory, GIB_MIB)}gib"])


def _shown(amount: int, unit: int) -> str:
    """Return an amount, of so many to a unit, in six digits where these are exact and else in all: another, another name."""
    short = f"{amount / unit:g}"
    return short if float(short) == amount / unit else str(from_units(amount, unit))


def _notes(models: tuple[str, ...], speeds: dict[str, float], left_out: int, pods: int) -> tuple[str, ...]:
    assumed = ", ".join(f"{model} {speeds[model]:g}" for model in sorted(set(filter(None, models))))
    notes = [f"the speeds of GPU models are assumptions, the trace has none: {assumed}"] * bool(assumed)
    if left_out:
        notes.append(f"left out, since no node that they admit is large enough: {left_out:,} of {pods:,} pods")
    return tuple(notes)
