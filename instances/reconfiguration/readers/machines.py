"""A user's own machine types, from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedgap.instances.csv_table import exact_units, read_rows, whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.units import DOLLAR, resource_scale

# With the units in which they count.
NEEDED = {"price": DOLLAR, "cpu": resource_scale("cpu"), "ram_gib": resource_scale("ram_gib")}
OPTIONAL = ("gpu", "family", "count")
RESOURCES = ("gpu", "cpu", "ram_gib")


def machine_list(path: Path | str) -> dict[str, Any]:
    """Return the types as keyword arguments of `ProvisioningInstance`.

    The columns are `name`, `price` in dollars an hour, `cpu` and `ram_gib`, and may be `gpu`, `family` and `count`: how many
    there are, any number where it is empty.

    Raises
    ------
    InstanceError
        naming file, line and column of what is malformed.
    """
    path = Path(path)
    families: list[str] = []
    rows: dict[str, dict[str, int]] = {}
    stock: list[int] = []
    for line, fields in read_rows(path, ("name", *NEEDED), "list of machines"):
        known = ("name", *NEEDED, *OPTIONAL)
        unknown = [column for column in fields if column not in known]
        if unknown:
            raise InstanceError(f"{path.name} line 1: unknown column '{unknown[0]:.60}'; known are {', '.join(known)}.")
        if fields["name"] in rows or not fields["name"]:
            raise InstanceError(f"{path.name} line {line}: name is '{fields['name']:.60}'; give each type its own.")
        amounts = {column: exact_units(path, line, column, fields[column], scale) for column, scale in NEEDED.items()}
        amounts["gpu"] = exact_units(path, line, "gpu", fields.get("gpu") or "0", resource_scale("gpu"))
        rows[fields["name"]] = amounts
        families.append(fields.get("family") or "any")
        count = fields.get("count")
        stock.append(whole_number(path, line, "count", count) if count else ANY_NUMBER)
    if not rows:
        raise InstanceError(f"{path.name}: no machine type after the header; give at least one.")
    known_families = tuple(dict.fromkeys(families))
    return {
        "resources": RESOURCES,
        "families": known_families,
        "type_names": tuple(rows),
        "type2family": [known_families.index(family) for family in families],
        "capacity": [[row[resource] for resource in RESOURCES] for row in rows.values()],
        "price": [row["price"] for row in rows.values()],
        "stock": stock if max(stock) >= 0 else None,
    }
