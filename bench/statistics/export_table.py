"""Results as flat tables for other tools, `schedgap/table/1`: one row a run, and one row a point of a trajectory.

`docs/journal.md` documents the columns. Whole numbers are nullable 64-bit integers, so that nothing is lost where one is
missing, and a column with one that these do not hold is text; texts and truth values are nullable too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pandas as pd

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import FAILED, Limits, Measurement, Record, Run
from schedgap.bench.statistics.profiles import integrals
from schedgap.bench.statistics.summary import Best, best_of, in_unit, is_optimal, verified_objective
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import ReportError, about_file
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Status

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
TABLE_SCHEMA = "schedgap/table/1"
TEXT, WHOLE, REAL, TRUTH, TIME = "string", "Int64", "float64", "boolean", "datetime64[ns, UTC]"
RUN_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("key", "family", "instance", "digest", "group", "source", "method", "label"), TEXT),
    "version": WHOLE,
    **dict.fromkeys(("parameters", "given", "backend", "backend_version"), TEXT),
    **dict.fromkeys(("seed", "repetition"), WHOLE),
    "stochastic": TRUTH,
    **dict.fromkeys(("limits_time_limit_s", "limits_wall_s", "limits_cpu_s"), REAL),
    **dict.fromkeys(("limits_memory_mib", "limits_threads"), WHOLE),
    **dict.fromkeys(("status", "claimed_status", "reason"), TEXT),
    "failed": TRUTH,
    **dict.fromkeys(("objective", "bound", "best_objective", "best_bound"), WHOLE),
    "gap": REAL,
    "proven_optimal": TRUTH,
    **dict.fromkeys(("objective_shown", "bound_shown"), REAL),
    "unit": TEXT,
    **dict.fromkeys(("wall_s", "build_s", "solve_s", "extract_s", "cpu_s", "reference_s"), REAL),
    "warm": TEXT,
    **dict.fromkeys(("warm_s", "compile_s", "peak_memory_mib"), REAL),
    **dict.fromkeys(("primal_integral_s", "dual_integral_s", "primal_dual_integral_s"), REAL),
    **dict.fromkeys(("output", "solver", "measures", "details", "host"), TEXT),
    "ended_at": TIME,
    **dict.fromkeys(("isolation", "confined"), TEXT),
    **dict.fromkeys(("plugin", "solution_hash"), TEXT),
    "takes_limit": TRUTH,
}
# Columns that are fields of a run, of its limits and of its measurement, as they are.
_RUN_NAMES = tuple(name for name in Run.__struct_fields__ if name in RUN_COLUMNS)
_MEASUREMENT_NAMES = tuple(name for name in Measurement.__struct_fields__ if name in RUN_COLUMNS)
_LIMIT_NAMES = tuple(f"limits_{name}" for name in Limits.__struct_fields__)
_RUN, _MEASUREMENT = attrgetter(*_RUN_NAMES), attrgetter(*_MEASUREMENT_NAMES)
_LIMITS = attrgetter(*Limits.__struct_fields__)
POINT_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("key", "instance", "digest", "label"), TEXT),
    **dict.fromkeys(("seed", "point"), WHOLE),
    "elapsed_s": REAL,
    **dict.fromkeys(("objective", "bound"), WHOLE),
    **dict.fromkeys(("objective_shown", "bound_shown"), REAL),
    "unit": TEXT,
}


class Recorded(Protocol):
    """Whatever has records: a directory's `Results`, what `run_suite` and `gap` return."""

    @property
    def records(self) -> tuple[Record, ...]:
        """Return one for each run."""


def frame(results: Recorded) -> pd.DataFrame:
    """Return one row a run, with the columns `RUN_COLUMNS`."""
    load_families()
    best = best_of(results.records)
    return _table((_run_row(record, best[record.run.digest]) for record in results.records), RUN_COLUMNS)


def points(results: Recorded) -> pd.DataFrame:
    """Return one row a point of a trajectory, with the columns `POINT_COLUMNS`; claims, as the methods made them."""
    load_families()
    return _table((row for record in results.records for row in _point_rows(record)), POINT_COLUMNS)


def table_files(path: str | Path) -> tuple[Path, Path]:
    """Return the files of the table of runs, which is `path`, and of the one of points beside it, `NAME.points.SUFFIX`.

    Raises
    ------
    ReportError
        for another suffix than `.csv` and `.parquet`.
    """
    path = Path(path)
    if path.suffix.lower() not in _WRITERS:
        raise ReportError(f"{path}: a table ends in {' or '.join(_WRITERS)}, not '{path.suffix}'; rename it.")
    return path, path.with_suffix(f".points{path.suffix}")


def write_table(results: Recorded, path: str | Path, *, force: bool = False) -> None:
    """Write the table of runs to `path` and that of points beside it, see `table_files`; their folder is made if need be.

    path : ends in `.csv` or `.parquet`, which says how it is written. force : replace files that are there.

    Raises
    ------
    ReportError
        for another suffix, a file that is there, or one that cannot be written.
    """
    targets = table_files(path)
    for target in targets:
        if target.exists() and not force:
            raise ReportError(f"{target} exists and is not written over; give another name or --force.")
    for target, make in zip(targets, (frame, points), strict=True):
        with about_file(target, "written", ReportError, "give another place"):
            target.parent.mkdir(parents=True, exist_ok=True)
        write = partial(_WRITERS[target.suffix.lower()], make(results))
        write_whole(target, write, ReportError, "give another place")


_WRITERS: Mapping[str, Callable[[pd.DataFrame, BinaryIO], None]] = {
    ".csv": lambda table, file: table.to_csv(file, index=False),
    ".parquet": lambda table, file: table.to_parquet(file, engine="pyarrow", index=False),
}


def _table(rows: Iterable[tuple[Any, ...]], columns: Mapping[str, str]) -> pd.DataFrame:
    found = list(rows)
    values = zip(*found, strict=True) if found else ((),) * len(columns)
    table = pd.DataFrame({name: _column(own, kind) for (name, kind), own in zip(columns.items(), values, strict=True)})
    table.attrs["schema"] = TABLE_SCHEMA
    return table


def _column(values: Iterable[Any], kind: str) -> pd.Series[Any]:
    if kind == TIME:
        return pd.Series(pd.to_datetime(list(values), utc=True, format="ISO8601").as_unit("ns"))
    if kind == TEXT:
        values = map(_encodable, values)
    elif kind == WHOLE:
        values = list(values)
        if any(value is not None and not -(2**63) <= value < 2**63 for value in values):
            values, kind = [None if value is None else str(value) for value in values], TEXT
    return pd.Series(list(values), dtype=kind)


def _encodable(text: str | None) -> str | None:
    """Return the text with what UTF-8 cannot hold, half a surrogate pair, replaced."""
    return text if text is None or text.isascii() else text.encode(errors="replace").decode()


def _run_row(record: Record, best: Best) -> tuple[Any, ...]:
    run, measurement = record.run, record.measurement
    objective = verified_objective(record)
    bound = None if record.status in FAILED else measurement.bound
    scale, unit = _unit(run.family)
    areas = integrals(record, best)
    own = {
        **dict(zip(_RUN_NAMES, _RUN(run), strict=True)),
        **dict(zip(_MEASUREMENT_NAMES, _MEASUREMENT(measurement), strict=True)),
        **dict(zip(_LIMIT_NAMES, _LIMITS(run.limits), strict=True)),
        **{name: _json(getattr(run, name)) for name in ("source", "parameters", "given")},
        "confined": " ".join(measurement.confined),
        "measures": _json({} if record.status in FAILED else measurement.measures),
        "details": _json(measurement.details),
        "key": record.key,
        "status": str(record.status),
        "failed": record.status in FAILED,
        "objective": objective,
        "bound": bound,
        "best_objective": best.objective,
        "best_bound": best.bound,
        "gap": best.gap(objective),
        "proven_optimal": None if record.status is Status.UNSUPPORTED else is_optimal(record, {run.digest: best}),
        "objective_shown": in_unit(objective, scale),
        "bound_shown": in_unit(bound, scale),
        "unit": unit,
        "primal_integral_s": None if areas is None else areas.primal_s,
        "dual_integral_s": None if areas is None else areas.dual_s,
        "primal_dual_integral_s": None if areas is None else areas.primal_dual_s,
        "host": record.host,
        "ended_at": record.ended_at,
        "isolation": record.isolation,
    }
    return tuple(own[name] for name in RUN_COLUMNS)


def _point_rows(record: Record) -> Iterable[tuple[Any, ...]]:
    run = record.run
    scale, unit = _unit(run.family)
    for number, (elapsed_s, objective, bound) in enumerate(record.measurement.trajectory):
        shown = in_unit(objective, scale), in_unit(bound, scale)
        yield (
            record.key,
            run.instance,
            run.digest,
            run.label,
            run.seed,
            number,
            elapsed_s,
            objective,
            bound,
            *shown,
            unit,
        )


def _unit(family: str) -> tuple[int | None, str | None]:
    """Return scale and name of a family's unit; None of a family that is not installed here."""
    known = FAMILIES.get(family)
    return (None, None) if known is None else (known.objective_scale, known.objective_unit)


def _json(value: Mapping[str, Any]) -> str:
    return _ENCODER.encode(dict(value))
