"""A run: one method on one instance with one seed under given limits, and the key under which it is recorded.

What the fields of a row may hold, by name: of another kind, a value would be computed with as what it is not.

Rows as this version writes them always fit. Figures that leave a file are floats, so that no number may be beyond them.

What is known of a run once it has ended: verified figures, the method's claims beside them, and what it used.

One row of the journal: a run, how it ended, where and when; `docs/journal.md` documents the fields.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec.structs import asdict, replace

from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Status

# Ends that give no figure of the method; they make `schedgap run` exit with 3. What a run had found before such an end is
# of use all the same for what is known of its instance, unless it is invalid.
FAILED = frozenset({Status.TIMEOUT, Status.MEMORY, Status.CRASHED, Status.INVALID, Status.ERROR})
# Of these, the ends that the next `schedgap run` tries again by itself: they say nothing about the method's quality.
ERRORS = frozenset({Status.CRASHED, Status.ERROR})

Scalar = bool | int | float | str
# Of numbers that are no times or objectives we know nothing, save that sums of squares of floats must be floats.
MOST = 10.0**100
WHOLE = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
REAL = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
SECONDS = Annotated[float, msgspec.Meta(ge=0.0, le=MOST)]
# Seconds and MiB.
Used: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | SECONDS
# Methods of older versions could say of themselves what they liked.
Details: TypeAlias = Mapping[str, bool | WHOLE | REAL | str | list[Any] | dict[str, Any] | None]


class Measurement(msgspec.Struct, frozen=True):
    """How one run ended.

    status : judged by the harness. claimed_status : the method's own word, None if it gave none.
    objective : verified, in the family's integer units; None without a feasible solution. bound : the method's proven
    bound, None if it gave none or contradicted itself. Of a run that failed, both are what it had told of before (see
    `Found`), and so are `measures` and `solution_hash`. reason : why the status is what it is, for people.
    wall_s : the method call alone. build_s, solve_s, extract_s : parts of it, as the method reports them.
    warm : where compiled code was warmed up before: `parent`, `child`, `repeat` (the call was timed a second time,
    because something was compiled in the first) or `none`; warm_s : how long that took. compile_s : compilation left
    inside wall_s. cpu_s : processor seconds of the call, child processes included. reference_s : what a fixed piece of
    work took in the same process just before (see `reference`).
    peak_memory_mib : the most resident memory of the whole tree. output : what the run printed, if it failed.
    details : facts, as the method reports them. measures : what the family reads off the verified solution.
    solution_hash : of the verified solution, so that two verifications of it can be held against each other.
    trajectory : (seconds, objective, bound) as the method reports them: claims, not verified.
    confined : what the kernel held for the run: `landlock`, `scopes`, `seccomp`, `mounts` (see `isolation/confinement.py`), and
    `cpu` where no process of it could take processor time uncounted.
    """

    status: Status
    claimed_status: str | None = None
    # Of any size, see `is_small`.
    objective: int | None = None
    bound: int | None = None
    reason: str | None = None
    wall_s: Used | None = None
    build_s: Used | None = None
    solve_s: Used | None = None
    extract_s: Used | None = None
    warm: str = "none"
    warm_s: Used | None = None
    compile_s: Used | None = None
    cpu_s: Used | None = None
    reference_s: Used | None = None
    peak_memory_mib: Used | None = None
    output: str = ""
    solver: str | None = None
    trajectory: tuple[tuple[Used, WHOLE | None, WHOLE | None], ...] = ()
    details: Details = {}
    measures: Mapping[str, WHOLE | REAL] = {}
    solution_hash: str | None = None
    confined: tuple[str, ...] = ()

    @property
    def had_found(self) -> bool:
        """Whether the run failed, and had told of a solution or a bound before that counts for what is known of its instance."""
        has_any = self.objective is not None or self.bound is not None
        return has_any and self.status in FAILED and self.status is not Status.INVALID


# A wait of more milliseconds than 31 bits hold is refused by the system, and the pool waits twice the wall limit.
MAX_WALL_S = 1_000_000.0
MAX_TIME_LIMIT_S = MAX_WALL_S / 2 - 10
MAX_MEMORY_MIB = 2**40
MAX_CPU_S = 1e9
MAX_THREADS = 1024


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one run may use; the hard limits hold for the child process and everything that it starts.

    time_limit_s : what the method is told, seconds. wall_s : when the run is killed, seconds of wall-clock time without
    those that Numba compiles; warming up has the same limit for itself. cpu_s : processor seconds of the whole tree,
    None for no limit. memory_mib : resident memory of the whole tree, MiB, Python and libraries (about 100 MiB)
    included. threads : what the method is told.
    """

    time_limit_s: Used = 60.0
    wall_s: Used = 130.0
    cpu_s: Used | None = None
    memory_mib: int = 4096
    threads: int = 1

    @classmethod
    def from_time_limit(cls, time_limit_s: float, **changes: float | None) -> Limits:
        """Return limits whose hard wall is twice the method's own limit and 10 s, so that only the stuck are killed."""
        chosen: dict[str, int | float | None] = {"wall_s": 2 * time_limit_s + 10}
        chosen.update({key: value for key, value in changes.items() if value is not None})
        return cls(time_limit_s=time_limit_s, **chosen)  # type: ignore[arg-type]


class Run(msgspec.Struct, frozen=True):
    """What is measured once.

    instance : its name, for people. digest : its content hash. group : the suite's name for instances of one kind.
    source : where the instance came from (generator, importer or file, with parameters). label : the method with the
    parameters that were given. parameters : all of the method's parameters, defaults included. backend,
    backend_version : the solver chosen by the parameter `backend`, and its package's version; None without one.
    plugin : hash of the files of the plug-in that defines the method (see `plugins.files.plugin_hash`), None of our own methods.
    seed : what `rng` is made of; it depends on base seed, instance and repetition, never on the method.
    stochastic : whether the answer depends on it. takes_limit : whether the method has the time limit to keep to, as policies
    have not; None of rows that do not say.
    """

    family: str
    instance: str
    digest: str
    group: str
    source: Mapping[str, Scalar]
    method: str
    label: str
    version: WHOLE
    parameters: Mapping[str, Scalar]
    given: Mapping[str, Scalar]
    backend: str | None
    backend_version: str | None
    seed: WHOLE
    repetition: WHOLE
    limits: Limits
    stochastic: bool = False
    plugin: str | None = None
    takes_limit: bool | None = None

    @property
    def file_name(self) -> str:
        """Return what its files are called in a suite where those of no other run are called so."""
        return f"{self.instance}.{self.label}" + (f".{self.repetition}" if self.repetition else "")

    @property
    def key(self) -> str:
        """Return the hash of all that can change the answer; names, groups and order do not."""
        return hashed(
            json_text(self.backend),
            json_text(self.backend_version),
            json_text(self.digest),
            json_text(self.family),
            json_text(asdict(self.limits)),
            json_text(self.method),
            json_text(dict(self.parameters)),
            json_text(self.plugin),
            json_text(self.seed),
            json_text(self.version),
        )


def file_names(runs: Mapping[str, Run], wanted: Callable[[Run], str]) -> dict[str, str]:
    """Return the name of each run's file, by key: the one wanted, with `-` for what no name may hold.

    Where several of `runs` would have one name, theirs end in 8 digits of their instances' digests, and of their keys
    where they have these too.
    """
    names = {
        key: "".join(each if each.isprintable() and each != "/" else "-" for each in wanted(run))
        for key, run in runs.items()
    }
    for mark in ("digest", "key"):
        times = Counter(names.values())
        names = {
            key: name if times[name] == 1 else f"{name}.{getattr(runs[key], mark)[:8]}" for key, name in names.items()
        }
    return names


def json_text(part: object) -> str:
    """Return the one way in which a part of a key is written."""
    return json.dumps(part, sort_keys=True)


def hashed(
    backend: str,
    backend_version: str,
    digest: str,
    family: str,
    limits: str,
    method: str,
    parameters: str,
    plugin: str,
    seed: str,
    version: str,
) -> str:
    """Return the key of a run, each part as `json_text` writes it: the hash of them as one object, by their names.

    A method of ours has no plug-in, and its key none either: so have those of journals that are older than plug-ins' hashes.
    """
    written = "" if plugin == "null" else f'"plugin": {plugin}, '
    parts = (
        f'{{"backend": {backend}, "backend_version": {backend_version}, "digest": {digest}, "family": {family}, '
        f'"limits": {limits}, "method": {method}, "parameters": {parameters}, {written}"seed": {seed}, "version": {version}}}'
    )
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def is_small(value: Any) -> bool:
    """Whether all numbers in a value are finite and at most `MOST`, whatever it is made of."""
    if isinstance(value, int | float):
        return -MOST <= value <= MOST
    if isinstance(value, dict):
        return all(map(is_small, value.values()))
    return not isinstance(value, list | tuple) or all(map(is_small, value))


RUN_SCHEMA = "schedgap/run/2"
# What rows of this schema may lack: methods of ours have no plug-in, and older versions wrote fewer fields.
LACKING: Mapping[str, Any] = {"plugin": None, "solution_hash": None, "takes_limit": None, "confined": ()}
# What an older schema lacks, and what it meant by that.
OLDER: Mapping[str, Mapping[str, Any]] = {
    "schedgap/run/1": {"stochastic": False, "reference_s": None, "measures": {}, **LACKING},
}
# How runs are kept apart from the harness and from each other.
PROCESS_GROUP = "process-group"
RUNEXEC = "runexec"
ISOLATIONS = (PROCESS_GROUP, RUNEXEC)


class Record(msgspec.Struct, frozen=True):
    """A recorded run. host : names the file `hosts/HOST.json` beside the journal. ended_at : UTC, ISO 8601."""

    key: str
    run: Run
    measurement: Measurement
    host: str
    ended_at: str
    isolation: str = PROCESS_GROUP

    def __repr__(self) -> str:
        run, found = self.run, self.measurement
        family = FAMILIES.get(run.family)
        scale, unit = (1, "") if family is None else (family.objective_scale, f" {family.objective_unit}")
        figures = {"objective": found.objective, "bound": found.bound}
        facts = [str(found.status)]
        facts += [f"{name} {value / scale:,.6g}{unit}" for name, value in figures.items() if value is not None]
        facts += [] if found.wall_s is None else [f"{found.wall_s:.3g} s"]
        return f"<Record {run.label:.80} on {run.instance:.80}: {', '.join(facts)}>"

    @property
    def status(self) -> Status:
        """Return how the run ended."""
        return self.measurement.status

    def to_row(self) -> dict[str, Any]:
        """Return the record as a flat JSON object."""
        run = asdict(self.run) | {"limits": asdict(self.run.limits)}
        for name in ("plugin", "takes_limit"):
            if run[name] is None:
                del run[name]
        return {
            "schema": RUN_SCHEMA,
            "key": self.key,
            **run,
            **asdict(self.measurement),
            "host": self.host,
            "ended_at": self.ended_at,
            "isolation": self.isolation,
        }

    def invalidated(self, reason: str) -> Record:
        """Return the record with the status `invalid`."""
        return replace(self, measurement=replace(self.measurement, status=Status.INVALID, reason=reason))

    def renamed(self, key: str, label: str) -> Record:
        """Return the record under another key, with another label of the method."""
        return replace(self, key=key, run=replace(self.run, label=label))
