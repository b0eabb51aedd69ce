"""The published files of cloudcast: configurations, and what a GB costs from each region to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from schedgap.instances.csv_table import read_rows
from schedgap.instances.documents import Count
from schedgap.instances.documents.json_files import read_document, to_units
from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from pathlib import Path

MICRO = 10**6
CORNER = "dollars_a_GB_from_row_to_column"


class Configuration(TypedDict):
    """What is copied, and how many Gbit/s the machines of each cloud may receive and send."""

    name: str
    source: str
    destinations: list[str]
    gb: Count
    partitions: Count
    ingress: dict[str, Count]
    egress: dict[str, Count]


def read_configuration(path: Path, name: str) -> dict[str, Any]:
    """Return the fields of an instance, from a folder with one `*configurations.json` and one `*cost_matrix.csv`."""
    listed, table = (sorted(path.glob(f"*{end}")) for end in ("configurations.json", "cost_matrix.csv"))
    if len(listed) != 1 or len(table) != 1:
        raise InstanceError(f"{path}: give a folder with one *configurations.json and one *cost_matrix.csv.")
    known = {each["name"]: each for each in read_document(listed[0], TypeAdapter(list[Configuration]), InstanceError)}
    if (chosen := known.get(name)) is None:
        raise InstanceError(f"{listed[0].name}: there is no configuration '{name}'; it has {', '.join(known)}.")
    regions, links = read_prices(table[0])
    number = {region: place for place, region in enumerate(regions)}
    if unknown := [region for region in (chosen["source"], *chosen["destinations"]) if region not in number]:
        raise InstanceError(f"{table[0].name}: there is no row of region '{unknown[0]}'; add one.")
    clouds = [region.partition(":")[0] for region in regions]
    if unknown := [cloud for cloud in clouds if cloud not in chosen["egress"] or cloud not in chosen["ingress"]]:
        raise InstanceError(f"{listed[0].name}: {name} limits no egress or ingress of '{unknown[0]}'; add it.")
    gigabytes, left = divmod(chosen["gb"], chosen["partitions"])
    if left:
        raise InstanceError(
            f"{name}: {chosen['gb']} GB are no whole number in each of {chosen['partitions']} partitions; give a multiple."
        )
    return {
        "name": name,
        "regions": regions,
        "egress": np.array([chosen["egress"][cloud] for cloud in clouds]),
        "ingress": np.array([chosen["ingress"][cloud] for cloud in clouds]),
        "tail": np.array([number[tail] for tail, _, _ in links]),
        "head": np.array([number[head] for _, head, _ in links]),
        "price": to_units([price for _, _, price in links], MICRO, "prices", InstanceError),
        "source": number[chosen["source"]],
        "destinations": np.array([number[region] for region in chosen["destinations"]]),
        "partitions": chosen["partitions"],
        "gigabytes": gigabytes,
    }


def read_prices(path: Path) -> tuple[tuple[str, ...], list[tuple[str, str, float]]]:
    """Return the regions, and the links with dollars a GB: a row and a column for each region, empty where there is no link."""
    rows = [row for _, row in read_rows(path, [CORNER], "cost matrix")]
    regions = tuple(row[CORNER] for row in rows)
    if not rows or set(regions) != rows[0].keys() - {CORNER}:
        raise InstanceError(f"{path.name}: rows and columns name different regions; give a row and a column for each.")
    links = [(row[CORNER], head, row[head]) for row in rows for head in regions if row[CORNER] != head and row[head]]
    try:
        return regions, [(tail, head, float(price)) for tail, head, price in links]
    except ValueError as error:
        raise InstanceError(f"{path.name}: a price is no number ({error}); give dollars a GB.") from None
