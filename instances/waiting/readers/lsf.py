"""Job logs as CSV, in the columns that the UMass trace of the paper uses (section V, after LSF)."""

from __future__ import annotations

import zlib
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.errors import InstanceError
from schedgap.instances.option_groups import flattened
from schedgap.instances.unpacked import unpacked
from schedgap.instances.waiting.readers.trace import OPTIONS, Log, LogOptions, from_log

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.waiting.model import WaitingInstance

COLUMNS = ("submit_time", "runtime", "num_cores", "total_MB_req")


@flattened()
def lsf_csv(path: Path | str, *, options: LogOptions = OPTIONS) -> WaitingInstance:
    """Read a CSV file (plain or gzip) with the columns `submit_time`, `runtime` (s), `num_cores`, `total_MB_req`.

    Other columns are ignored, lines may be in any order. Parameters as those of `swf`.

    Raises
    ------
    InstanceError
        naming file, column and line of what is missing or no number.
    """
    # Here, since pandas takes long to import and nobody else needs it.
    import pandas as pd

    path = Path(path)
    try:
        with unpacked(path) as file:
            frame = pd.read_csv(file, usecols=list(COLUMNS))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InstanceError(f"{path}: cannot be read ({error}); give a CSV file, plain or gzip.") from None
    except ValueError as error:
        raise InstanceError(
            f"{path.name}: {' '.join(str(error).split())}; the columns are {', '.join(COLUMNS)}."
        ) from None
    columns = {name: _numbers(path, name, frame[name]) for name in COLUMNS}
    log = Log(
        name=path.name.removesuffix(".gz").removesuffix(".csv"),
        submit_s=columns["submit_time"],
        runtime_s=columns["runtime"],
        cores=columns["num_cores"],
        memory_mib=np.maximum(columns["total_MB_req"], 0),
        dropped=np.zeros(len(frame), np.bool_),
        place=partial(_place, path),
    )
    return from_log(log, options)


def _numbers(path: Path, name: str, values: Any) -> FloatArray:
    import pandas as pd

    numbers: FloatArray = pd.to_numeric(values, errors="coerce").to_numpy(np.float64)
    if (row := first_true(~np.isfinite(numbers) | ((numbers < 0) & (name == "submit_time")))) is not None:
        raise InstanceError(
            f"{_place(path, row)}: {name} is '{values.iloc[row]!s:.60}'; give a number, from 0 on for times."
        )
    return numbers


def _place(path: Path, row: int) -> str:
    """Return file and line of a row below the header; the file is read again, as far as there. Pandas skips blank lines."""
    with unpacked(path) as file:
        written = (number for number, line in enumerate(file, start=1) if line.strip())
        return f"{path.name} line {next(islice(written, row + 1, None))}"
