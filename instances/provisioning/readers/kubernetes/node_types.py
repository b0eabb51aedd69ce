"""Of which type of the price list each node is: as its label says, or as the user does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.instances.csv_table import read_rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import listed
from schedgap.instances.provisioning.readers.kubernetes.constraints import TYPE
from schedgap.instances.provisioning.readers.kubernetes.left_out import node_labels

if TYPE_CHECKING:
    from schedgap.instances.provisioning.readers.kubernetes.state import State

WHAT = "list of nodes"


def types_of_nodes(state: State, node_type: str = "", node_types: str = "") -> dict[str, str]:
    """Return the type of each node.

    node_type : of nodes without the label. node_types : a CSV with `node,type`, which goes before the label.

    Raises
    ------
    InstanceError
        naming nodes of which nothing says what they are, and lines of the CSV with a node that is not there.
    """
    given = _read(Path(node_types), state) if node_types else {}
    made, unnamed = {}, []
    for name, node in state.nodes.items():
        labelled = given.get(name) or node_labels(node).get(TYPE, "")
        if not labelled:
            unnamed.append(name)
        made[name] = labelled or node_type
    if unnamed and not node_type:
        raise InstanceError(
            f"no label {TYPE} on node {listed(unnamed)}, which would say what they cost; say it with --set node_type=NAME, "
            "a type of the price list that all such nodes are, or with --set node_types=FILE.csv, a CSV with columns node,type."
        )
    if unnamed:
        state.report.sentences.append(
            f"{len(unnamed)} nodes without label {TYPE} count as {node_type:.60}, as node_type says: {listed(unnamed)}."
        )
    return made


def _read(path: Path, state: State) -> dict[str, str]:
    made: dict[str, str] = {}
    for line, row in read_rows(path, ("node", "type"), WHAT):
        name, kind = row["node"].strip(), row["type"].strip()
        if name not in state.nodes or name in made or not kind:
            problem = (
                "is there twice"
                if name in made
                else "has no type"
                if name in state.nodes
                else "is none of the cluster's"
            )
            raise InstanceError(f"{path.name} line {line}: node {name!r:.80} {problem}; mend or remove the line.")
        made[name] = kind
    return made
