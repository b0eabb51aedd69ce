"""Job logs as CSV, in the columns that the UMass trace of the paper uses (section V, after LSF)."""

from __future__ import annotations

import math
import re
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.csv_table import read_rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.option_groups import flattened
from schedgap.instances.waiting.readers.trace import OPTIONS, Log, LogOptions, from_log

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance

COLUMNS = ("submit_time", "runtime", "num_cores", "total_MB_req")
# Not all that Python reads is a number to others: `1_0`, `nan`, digits of other scripts.
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@flattened()
def lsf_csv(path: Path | str, *, options: LogOptions = OPTIONS) -> WaitingInstance:
    """Read a CSV file (plain or gzip) with the columns `submit_time`, `runtime` (s), `num_cores`, `total_MB_req`.

    Other columns are ignored, lines may be in any order. Parameters as those of `swf`.

    Raises
    ------
    InstanceError
        naming file, column and line of what is missing or no number.
    """
    path = Path(path)
    # A line takes 40 bytes; a million take 7 s, as those of `swf` do.
    lines, numbers = array("q"), array("d")
    for line, fields in read_rows(path, COLUMNS, "job log"):
        lines.append(line)
        numbers.extend([_number(path, line, name, fields[name]) for name in COLUMNS])
    submit_s, runtime_s, cores, memory_mib = np.array(numbers).reshape(-1, len(COLUMNS)).T
    log = Log(
        name=path.name.removesuffix(".gz").removesuffix(".csv"),
        submit_s=submit_s,
        runtime_s=runtime_s,
        cores=cores,
        memory_mib=np.maximum(memory_mib, 0),
        dropped=np.zeros(len(lines), np.bool_),
        place=lambda job: f"{path.name} line {lines[job]}",
    )
    return from_log(log, options)


def _number(path: Path, line: int, name: str, text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number) or (number < 0 and name == "submit_time"):
        found = f"'{text:.60}'" if text.strip() else "empty"
        raise InstanceError(f"{path.name} line {line}: {name} is {found}; give a number, from 0 on for times.")
    return number
