"""Generated clusters as files that a user would have, and as instances."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.provisioning.generators.clusters.build import Cluster
from schedgap.instances.provisioning.generators.clusters.kinds import KINDS, Kind
from schedgap.instances.provisioning.generators.clusters.machines import metadata, nodepool, write_list
from schedgap.instances.provisioning.readers.kubernetes import kubernetes

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance

PARTS = ("cluster.json", "nodepools.json", "volumes.json")
PRICES, NODE_TYPES = "prices.csv", "node_types.csv"


def cluster_of_kind(kind: str = "eks", nodes: int = 0, *, seed: int = 0) -> ProvisioningInstance:
    """Make a cluster of a kind, and read what kubectl would print of it and its price list.

    nodes : 0 for as many as the kind has. Nodes whose provider does not label them with their type are labelled.

    Raises
    ------
    InstanceError
        for a kind that is none, and fewer nodes than it has groups.
    """
    with TemporaryDirectory() as folder:
        _write(kind, Path(folder), nodes, seed, labelled=True)
        paths = [Path(folder) / part for part in PARTS]
        instance = kubernetes(*paths, catalogue=str(Path(folder) / PRICES))
    return instance.replace(name=f"cluster-{kind}-{nodes or KINDS[kind].nodes}-s{seed}")


def write_cluster(kind: str, folder: Path | str, nodes: int = 0, *, seed: int = 0) -> None:
    """Write what a user of a cluster has into a folder.

    `cluster.json` has pods and nodes, `nodepools.json` Karpenter's NodePools, `volumes.json` claims and volumes, `budgets.json`
    PodDisruptionBudgets, `prices.csv` the price list and `node_types.csv` the type of each node. nodes : as of `cluster_of_kind`.

    Raises
    ------
    InstanceError
        as `cluster_of_kind`.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    _write(kind, Path(folder), nodes, seed, labelled=False)


def _write(name: str, folder: Path, nodes: int, seed: int, *, labelled: bool) -> None:
    one_of("kind", name, KINDS, InstanceError)
    kind = KINDS[name]
    total = nodes or kind.nodes
    if total < 2 * len(kind.groups):
        raise InstanceError(
            f"kind {name} has {len(kind.groups)} groups of nodes; give at least {2 * len(kind.groups)} nodes, not {total}."
        )
    made = Cluster(name, kind, total, seed, labelled=labelled)
    pools = [
        nodepool(metadata(pool, "", f"{number + 1:012x}"), *content)
        for number, (pool, content) in enumerate(kind.pools.items())
    ]
    write_list((*made.pods, *made.nodes), folder / "cluster.json")
    write_list(pools, folder / "nodepools.json")
    write_list(made.volumes, folder / "volumes.json")
    write_list(made.budgets, folder / "budgets.json")
    rows = [f"{each.name},{each.kind.name}" for each in made.made]
    (folder / NODE_TYPES).write_text("\n".join(["node,type", *rows]) + "\n", encoding="utf-8")
    (folder / PRICES).write_text(_prices(kind, made), encoding="utf-8")


def _prices(kind: Kind, made: Cluster) -> str:
    """Return the price list; own machines are as many as there are."""
    own = not kind.provider.has_type_label
    named = any(each.product for each in kind.provider.types)
    lines = ["name,price,spot_price,cpu,memory_gib,gpu,pods" + ",gpu_name" * named + ",count" * own]
    for each in kind.provider.types:
        spot = f"{each.spot / 1e6:.4f}" if each.spot else ""
        line = f"{each.name},{each.micro / 1e6:.4f},{spot},{each.vcpu},{each.gib},{each.gpus},{each.most_pods}"
        line += f",{each.product}" * named
        lines.append(line + f",{sum(node.kind == each for node in made.made)}" * own)
    return "\n".join(lines) + "\n"
