"""Frozen bounds: what is proven of a suite's instances, once and for all, in one file.

A score is bound / objective, and bounds that are proven anew differ by what a machine can prove in its time. Who ships this file
beside a result has the same scores everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from schedgap.bench.plugins.files import family_hash
from schedgap.bench.records.host import package_version
from schedgap.bench.records.runs import Limits, Measurement, Record, Run
from schedgap.bench.suites.collection import STRICT
from schedgap.instances.documents.json_files import read_document, write_whole
from schedgap.instances.errors import SuiteError
from schedgap.instances.family import find_family
from schedgap.instances.method import Status

SCHEMA: Literal["schedgap/bounds/1"] = "schedgap/bounds/1"


class Proven(BaseModel):
    """The bound of one instance. bound : in the file's unit, 1 / `scale` of it. method, version : that proved it."""

    model_config = STRICT
    instance: str
    digest: str
    bound: Annotated[int, Field(ge=0)]
    method: str
    version: int


class Bounds(BaseModel):
    """All bounds of a suite.

    code : hash of the family's code, of a family outside of this package. unit, scale : a bound of `scale` is one `unit`.
    schedgap : the version that proved them. measures, scores : names of what the family reads off
    solutions of these instances, and of its own scores of all runs.
    """

    model_config = STRICT
    schema_: Literal["schedgap/bounds/1"] = Field(alias="schema")
    suite: str
    family: str
    code: str | None = None
    unit: str
    scale: int
    schedgap: str
    measures: list[str]
    scores: list[str]
    instances: list[Proven]

    @classmethod
    def of(
        cls, suite: str, family: str, rows: Iterable[Record], measures: Iterable[str] = (), scores: Iterable[str] = ()
    ) -> Bounds:
        """Return the highest bound that rows prove of each instance; bounds below 0 count as 0, which always is one."""
        best: dict[str, Record] = {}
        for row in rows:
            if row.measurement.bound is not None and row.status is not Status.INVALID:
                known = best.setdefault(row.run.digest, row)
                if row.measurement.bound > (known.measurement.bound or 0):
                    best[row.run.digest] = row
        found = find_family(family)
        return cls(
            schema=SCHEMA,
            suite=suite,
            family=family,
            code=family_hash(family),
            unit=found.objective_unit,
            scale=found.objective_scale,
            schedgap=package_version("schedgap") or "",
            measures=sorted(measures),
            scores=sorted(scores),
            instances=[
                Proven(
                    instance=row.run.instance,
                    digest=digest,
                    bound=max(row.measurement.bound or 0, 0),
                    method=row.run.label,
                    version=row.run.version,
                )
                for digest, row in best.items()
            ],
        )

    def rows(self, instances: Mapping[str, str]) -> dict[str, Record]:
        """Return the bounds of instances as rows of a journal would say them, by digest. instances : names by digest.

        Raises
        ------
        SuiteError
            for an instance of which the file has no bound.
        """
        known = {each.digest: each for each in self.instances}
        for digest, name in instances.items():
            if digest not in known:
                same = next((each for each in self.instances if each.instance == name), None)
                other = "none of that name" if same is None else f"one of that name with digest {same.digest[:12]}..."
                raise SuiteError(
                    f"{self.suite}: instance {name} has digest {digest[:12]}..., the file of its bounds knows {other}; prove "
                    "them anew with `schedgap search prepare`."
                )
        return {digest: self._row(known[digest]) for digest in instances}

    def _row(self, proven: Proven) -> Record:
        run = Run(
            family=self.family,
            instance=proven.instance,
            digest=proven.digest,
            group="",
            source={},
            method=proven.method,
            label=proven.method,
            version=proven.version,
            parameters={},
            given={},
            backend=None,
            backend_version=None,
            seed=0,
            repetition=0,
            limits=Limits(),
        )
        return Record(run.key, run, Measurement(Status.NO_SOLUTION, bound=proven.bound), host="", ended_at="")


ADAPTER = TypeAdapter(Bounds)


def read_bounds(path: Path, family: str) -> Bounds:
    """Return the bounds that a file holds.

    Raises
    ------
    SuiteError
        for a file that is not there or no such document, and for one of another family, or of other code or units of it.
    """
    found = read_document(path, ADAPTER, SuiteError)
    scale = find_family(family).objective_scale
    for what, there, here in (
        ("family", found.family, family),
        ("code of the family", found.code, family_hash(family)),
        ("scale of the objective", found.scale, scale),
    ):
        if there != here:
            raise SuiteError(f"{path.name}: {what} is {there} there and {here} here; prove them anew.")
    return found


def write_bounds(bounds: Bounds, path: Path) -> None:
    """Write the file, whole or not at all.

    Raises
    ------
    SuiteError
        if it cannot be written.
    """
    text = bounds.model_dump_json(by_alias=True, indent=1) + "\n"
    write_whole(path, text.encode(), SuiteError, "choose another --out")
