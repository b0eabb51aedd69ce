"""The GPU cluster of Alibaba's trace of 2023 (Weng et al., USENIX ATC 2023), read from its files and drawn from its shares.

Format: https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023. Pods are tuned and shuffled as the
simulator of the paper does (github.com/hkust-adsl/kubernetes-scheduler-simulator at 8f3d641, `pkg/simulator`); its
generator is Go's, so seeds give other orders of the same distribution here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.draws import drawn, generator, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.placement.generators import started
from schedgap.instances.placement.model import ANY, FAMILY, NO_GANG, NOWHERE, ONE, PlacementInstance

RESOURCES = ("cpu", "memory_mib")
POD_COLUMNS = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
NODE_COLUMNS = ("cpu_milli", "memory_mib", "gpu")
PERCENT = 100
MAX_ARRIVED = 1000
MOST_NODES = 10**6


class Nodes(NamedTuple):
    """Nodes by type. numbers : (T, 3) int64, CPU, memory, GPUs. models : of their GPUs. node2type : (N,), in order of name."""

    numbers: IntArray
    models: tuple[str, ...]
    node2type: IntArray
    names: tuple[str, ...] | None


class Pods(NamedTuple):
    """Pods by class.

    numbers : (C, 4) int64, CPU, memory, GPUs, thousandths of each. specs : models that a class asks for, joined by `|`; empty
    for any. pod2class : (P,), in order of name.
    """

    numbers: IntArray
    specs: tuple[str, ...]
    pod2class: IntArray
    names: tuple[str, ...]


def openb(
    path: Path | str,
    *,
    variant: str = "",
    nodes: str = "gpu",
    arrived: int = 130,
    until: int = 0,
    accepts: bool = False,
    seed: int = 0,
) -> PlacementInstance:
    """Read a pod list and the node list beside it, tuned and shuffled as in the paper's experiments.

    variant : reads `openb_pod_list_<variant>.csv`, plain or gzip, beside `path` in its place. nodes : those with GPUs, as the
        experiments have them (`gpu`), or `all`; or the path of a node list.
    arrived : the pods ask for this many per cent of all GPUs: pods are drawn again, or left out.
    until : the pods that arrive later than at this many per cent are left out; 0 keeps all. seed : of all draws.
    accepts : no pod is refused that finds room as it arrives, as in the simulator.

    Raises
    ------
    InstanceError
        for a malformed file, and parameters out of range.
    """
    path = Path(path)
    if variant:
        path = _plain_or_packed(path.with_name(f"openb_pod_list_{variant}.csv"))
    kinds = {"gpu": "gpu_node", "all": "all_node"}
    node_list = path.with_name(f"openb_node_list_{kinds[nodes]}.csv") if nodes in kinds else Path(nodes)
    label = path.name.removeprefix("openb_pod_list_").split(".")[0]
    made = arranged(f"openb-{label}", _nodes(_plain_or_packed(node_list)), _pods(path), arrived, until, seed)
    return made.replace(accepts=True) if accepts else made


def openb_like(
    *,
    seed: int = 0,
    nodes: int = 1213,
    arrived: int = 130,
    until: int = 0,
    sharing: float = -1.0,
    multi: float = -1.0,
    without_gpu: float = -1.0,
    constrained: float = 0.0,
    running: float = 0.0,
    moves: int = ANY,
    accepts: bool = False,
) -> PlacementInstance:
    """Draw nodes and pods with the trace's shares of node types and of pods.

    nodes : of all types, in the trace's proportions. arrived, until : as for `openb`.
    sharing, multi : shares of the GPUs asked for by pods that share a GPU, and by pods of several; -1 for the trace's.
    without_gpu : share of pods that take no GPU; -1 for the trace's. constrained : share of GPU pods that ask for a model.
    running : share of the pods that run already, each on a random node and GPUs with room. moves, accepts : as for `random-pods`.
    """
    shares = {"sharing": sharing, "multi": multi, "without_gpu": without_gpu, "constrained": constrained}
    for what, value in {**shares, "running": running}.items():
        if not (0 <= value < 1 or (value == -1 and what not in ("constrained", "running"))):
            raise InstanceError(f"{what} is {value:g}; give a share from 0 to below 1.")
    if not 1 <= nodes <= MOST_NODES:
        raise InstanceError(f"nodes is {nodes}; give 1 to {MOST_NODES}.")
    rng = generator(FAMILY, "openb-like", nodes, arrived, *shares.values(), seed)
    kinds, classes = _stored("openb_nodes.csv"), _stored("openb_pods.csv")
    numbers = np.array([[int(row[key]) for key in NODE_COLUMNS] for row in kinds])
    node2type = drawn(rng, np.arange(len(kinds)), [int(row["nodes"]) for row in kinds], nodes).astype(np.int64)
    node2type[0] = 0 if not numbers[node2type, 2].any() else node2type[0]
    fleet = Nodes(numbers, tuple(row["model"] for row in kinds), node2type, None)
    asked = np.array([[int(row[key]) for key in POD_COLUMNS] for row in classes])
    often = _often(asked, np.array([int(row["pods"]) for row in classes]), sharing, multi, without_gpu)
    specs = [(c, "") for c in range(len(asked))]
    weights = np.where(asked[:, 2] > 0, often * (1 - constrained), often)
    if constrained:
        # Each model is asked for as often as it has GPUs.
        gpus, model = numbers[node2type, 2], np.array(fleet.models)[node2type]
        by_model = {m: int(gpus[model == m].sum()) / int(gpus.sum()) for m in sorted(set(fleet.models))}
        gpu = np.flatnonzero(asked[:, 2] > 0)
        specs += [(int(c), m) for c in gpu for m in by_model]
        weights = np.concatenate((weights, np.outer(often[gpu] * constrained, list(by_model.values())).ravel()))
    # Enough to reach what arrives: a few more than expected, the rest are left out.
    mean = weights @ (asked[:, 2] * asked[:, 3])[[c for c, _ in specs]] / weights.sum()
    target = arrived * ONE * numbers[node2type, 2].sum() / PERCENT
    number = int(1.1 * target / mean) + 20
    pods = Pods(
        asked[[c for c, _ in specs]],
        tuple(spec for _, spec in specs),
        drawn(rng, np.arange(len(specs)), weights, number).astype(np.int64),
        (),
    )
    label = "".join(f"-{what.replace('_', '-')}-{value:g}" for what, value in shares.items() if value > 0)
    made = arranged(f"openb-like-{nodes}{label}", fleet, pods, arrived, until, seed)
    if running:
        made = started(made, rng, int(running * made.num_pods), moves)
        made = made.replace(name=f"{made.name}-running-{running:g}" + (f"-moves-{moves}" if moves != ANY else ""))
    return made.replace(accepts=True) if accepts else made


def arranged(name: str, nodes: Nodes, pods: Pods, arrived: int, until: int, seed: int) -> PlacementInstance:
    """Return the instance of tuned and shuffled pods on shuffled nodes."""
    if not 1 <= arrived <= MAX_ARRIVED or not 0 <= until <= MAX_ARRIVED:
        raise InstanceError(f"arrived is {arrived} and until {until}; give per cent, up to {MAX_ARRIVED}.")
    rng = generator(FAMILY, "arrivals", name, arrived, seed)
    milli = pods.numbers[:, 2] * pods.numbers[:, 3]
    capacity = ONE * int(nodes.numbers[nodes.node2type, 2].sum())
    order = _tuned(rng, pods, milli[pods.pod2class], arrived * capacity // PERCENT)
    if until:
        so_far = np.cumsum(milli[pods.pod2class[order]])
        order = order[np.rint(PERCENT * so_far / capacity) <= until]
    names = None
    if pods.names:
        count = np.unique(order, return_counts=True)[1]
        nth = np.empty(order.size, np.int64)
        nth[np.argsort(order, kind="stable")] = np.arange(order.size) - np.repeat(np.cumsum(count) - count, count)
        names = tuple(
            pods.names[p] + (f"-copy-{n}" if n else "") for p, n in zip(order.tolist(), nth.tolist(), strict=True)
        )
    rank = shuffled(rng, np.arange(nodes.node2type.size))
    admits = np.array(
        [
            [not spec or not asked[2] or model in spec.split("|") for model in nodes.models]
            for asked, spec in zip(pods.numbers, pods.specs, strict=True)
        ]
    )
    nothing = np.zeros(order.size, np.int64)
    suffix = f"-{arrived}" + (f"-until-{until}" if until else "") + f"-s{seed}"
    return PlacementInstance(
        name=name + suffix,
        unit="GPUs",
        resources=RESOURCES,
        type_names=tuple(
            _type_name(row, model) for row, model in zip(nodes.numbers.tolist(), nodes.models, strict=True)
        ),
        capacity=nodes.numbers[:, :2],
        num_gpus=nodes.numbers[:, 2],
        gpu_model=nodes.models,
        node2type=nodes.node2type[rank],
        class_names=tuple(_class_name(row, spec) for row, spec in zip(pods.numbers.tolist(), pods.specs, strict=True)),
        demand=pods.numbers[:, :2],
        gpus=pods.numbers[:, 2],
        gpu_milli=pods.numbers[:, 3],
        value=milli,
        admits=admits,
        expected=np.bincount(pods.pod2class, minlength=len(pods.specs)),
        pod2class=pods.pod2class[order],
        gang=np.full(order.size, NO_GANG),
        running_node=np.full(order.size, NOWHERE),
        running_gpus=nothing,
        movable=nothing == 0,
        node_names=None if nodes.names is None else tuple(nodes.names[n] for n in rank.tolist()),
        pod_names=names,
    )


def _tuned(rng: np.random.Generator, pods: Pods, milli: IntArray, target: int) -> IntArray:
    """Return the pods in order of arrival: shuffled, then some left out, or some drawn again, until they ask for the target.

    milli : (P,) thousandths of a GPU. What is drawn again ends at the first pod whose thousandths *of each GPU* pass the
    target, as the simulator has it, so that a pod of several GPUs may pass it.
    """
    order = shuffled(rng, np.arange(milli.size))
    total = int(milli.sum())
    if total > target:
        leaves = shuffled(rng, np.arange(milli.size))
        gone = np.searchsorted(np.cumsum(milli[order[leaves]]), total - target) + 1
        return np.delete(order, leaves[:gone])
    each = pods.numbers[pods.pod2class, 3]
    again: list[int] = []
    while True:
        pod = int(rng.random() * milli.size)
        if total + each[pod] > target:
            return np.concatenate((order, np.array(again, np.int64)))
        again.append(pod)
        total += int(milli[pod])


def _often(asked: IntArray, pods: IntArray, sharing: float, multi: float, without_gpu: float) -> np.ndarray:
    """Return (C,) float64, how often each class is drawn."""
    milli = pods * asked[:, 2] * asked[:, 3]
    weights = pods.astype(np.float64)
    kinds = {"sharing": (asked[:, 2] == 1) & (asked[:, 3] < ONE), "multi": asked[:, 2] > 1}
    one = (asked[:, 2] == 1) & (asked[:, 3] == ONE)
    wanted = {"sharing": sharing, "multi": multi}
    now = {key: milli[which].sum() / milli.sum() for key, which in kinds.items()}
    share = {key: now[key] if wanted[key] < 0 else wanted[key] for key in kinds}
    if sum(share.values()) >= 1:
        raise InstanceError(
            f"sharing and multi are {share['sharing']:g} and {share['multi']:g}; give less than 1 together."
        )
    for key, which in kinds.items():
        weights[which] *= share[key] / now[key]
    weights[one] *= (1 - sum(share.values())) / (1 - sum(now.values()))
    if without_gpu >= 0:
        none = asked[:, 2] == 0
        weights[none] *= without_gpu / (1 - without_gpu) * weights[~none].sum() / weights[none].sum()
    return weights


def _stored(name: str) -> Sequence[dict[str, str]]:
    path = Path(str(files("schedgap.instances.placement") / "data" / name))
    return [row for _, row in read_rows(path, (), "table")]


def _plain_or_packed(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    return packed if not path.exists() and packed.exists() else path


def _nodes(path: Path) -> Nodes:
    rows = [
        (row["sn"], tuple(whole_number(path, line, key, row[key]) for key in NODE_COLUMNS), row["model"])
        for line, row in read_rows(path, ("sn", *NODE_COLUMNS, "model"), "node list")
    ]
    rows.sort()
    kinds = sorted({row[1:] for row in rows})
    place = {kind: index for index, kind in enumerate(kinds)}
    if not rows or not any(numbers[2] for numbers, _ in kinds):
        raise InstanceError(f"{path.name}: no node has a GPU; give the node list of the trace.")
    numbers = np.array([numbers for numbers, _ in kinds], np.int64)
    node2type = np.array([place[row[1:]] for row in rows])
    return Nodes(numbers, tuple(model for _, model in kinds), node2type, tuple(row[0] for row in rows))


def _pods(path: Path) -> Pods:
    rows = []
    for line, row in read_rows(path, ("name", *POD_COLUMNS), "pod list"):
        cpu, memory, gpus, milli = (whole_number(path, line, key, row[key]) for key in POD_COLUMNS)
        if gpus and not (milli == ONE or (gpus == 1 and 0 < milli < ONE)):
            raise InstanceError(
                f"{path.name} line {line}: gpu_milli is {milli} of each of {gpus} GPUs; give 1000, or less of a single one."
            )
        rows.append((row["name"], (cpu, memory, gpus, milli if gpus else 0, row.get("gpu_spec", "") if gpus else "")))
    rows.sort()
    if not rows:
        raise InstanceError(f"{path.name}: no pods after the header; the trace is empty.")
    kinds = sorted({kind for _, kind in rows})
    place = {kind: index for index, kind in enumerate(kinds)}
    return Pods(
        np.array([kind[:4] for kind in kinds], np.int64),
        tuple(kind[4] for kind in kinds),
        np.array([place[kind] for _, kind in rows]),
        tuple(name for name, _ in rows),
    )


def _type_name(numbers: Sequence[int], model: str) -> str:
    cpu, memory, gpus = numbers
    return f"{cpu / ONE:g} cpu, {memory} MiB" + (f", {gpus} {model}" if gpus else "")


def _class_name(numbers: Sequence[int], spec: str) -> str:
    cpu, memory, gpus, milli = numbers
    takes = f", {gpus * milli / ONE:g} GPU" + (f" of {spec}" if spec else "") if gpus else ""
    return f"{cpu / ONE:g} cpu, {memory} MiB{takes}"
