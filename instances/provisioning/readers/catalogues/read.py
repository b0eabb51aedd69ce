"""Any of the price lists that are known, by what is in the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, about_file
from schedgap.instances.provisioning.readers.catalogues.documents import ec2, kwok
from schedgap.instances.provisioning.readers.catalogues.plain import plain
from schedgap.instances.provisioning.readers.catalogues.skypilot import skypilot

if TYPE_CHECKING:
    from schedgap.instances.provisioning.readers.catalogues.catalogue import Catalogue

KNOWN = (
    "known are Karpenter's KWOK instance types (a JSON array), `aws ec2 describe-instance-types` with a CSV of prices, "
    "SkyPilot's vms.csv (columns InstanceType, Region, Price) and CSV with the columns name and price"
)


def read_catalogue(path: Path | str, *, prices: Path | str = "", region: str = "") -> Catalogue:
    """Read a price list, whose format its content shows.

    prices : a CSV of prices, for machine types that have none of their own (EC2's descriptions).
    region : of a list that has several (SkyPilot's).

    Raises
    ------
    InstanceError
        for a file that is none of the known formats, or malformed, and for a parameter that its format does not take.
    """
    path = Path(path)
    with about_file(path, "read", InstanceError, "give the path of a price list"):
        content = read_given(path)
    content = content.removeprefix(b"\xef\xbb\xbf")
    start = content.lstrip()[:1]
    header = content.partition(b"\n")[0].decode(errors="replace").replace('"', "").strip().split(",")
    is_ec2, is_skypilot = start == b"{", start not in (b"[", b"{") and "InstanceType" in header
    for parameter, value, is_taken in (("prices", prices, is_ec2), ("region", region, is_skypilot)):
        if value and not is_taken:
            raise InstanceError(
                f"{path.name}: '{parameter}' is for another kind of price list; leave it out here ({KNOWN})."
            )
    if is_ec2:
        return ec2(path, content, Path(prices) if prices else None)
    if start == b"[":
        return kwok(path, content)
    if is_skypilot:
        return skypilot(path, region)
    if not {"name", "price"} <= {column.strip() for column in header}:
        raise InstanceError(f"{path.name}: no price list, it begins with {content[:40]!r}; {KNOWN}.")
    return plain(path)
