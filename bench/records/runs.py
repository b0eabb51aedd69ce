"""A run: one method on one instance with one seed under given limits, and the key under which it is recorded."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scalar = bool | int | float | str
# A wait of more milliseconds than 31 bits hold is refused by the system, and the pool waits twice the wall limit.
MAX_WALL_S = 1_000_000.0
MAX_TIME_LIMIT_S = MAX_WALL_S / 2 - 10
MAX_MEMORY_MIB = 2**40
MAX_CPU_S = 1e9
MAX_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; the hard limits hold for the child process and everything that it starts.

    time_limit_s : what the method is told, seconds. wall_s : when the run is killed, seconds of wall-clock time without
    those that Numba compiles; warming up has the same limit for itself. cpu_s : processor seconds of the whole tree,
    None for no limit. memory_mib : resident memory of the whole tree, MiB, Python and libraries (about 100 MiB)
    included. threads : what the method is told.
    """

    time_limit_s: float = 60.0
    wall_s: float = 130.0
    cpu_s: float | None = None
    memory_mib: int = 4096
    threads: int = 1

    @classmethod
    def from_time_limit(cls, time_limit_s: float, **changes: float | None) -> Limits:
        """Return limits whose hard wall is twice the method's own limit and 10 s, so that only the stuck are killed."""
        chosen: dict[str, int | float | None] = {"wall_s": 2 * time_limit_s + 10}
        chosen.update({key: value for key, value in changes.items() if value is not None})
        return cls(time_limit_s=time_limit_s, **chosen)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Run:
    """What is measured once.

    instance : its name, for people. digest : its content hash. group : the suite's name for instances of one kind.
    source : where the instance came from (generator, importer or file, with parameters). label : the method with the
    parameters that were given. parameters : all of the method's parameters, defaults included. backend,
    backend_version : the solver chosen by the parameter `backend`, and its package's version; None without one.
    plugin : hash of the files of the plug-in that defines the method (see `plugin_files`), None of our own methods.
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
    version: int
    parameters: Mapping[str, Scalar]
    given: Mapping[str, Scalar]
    backend: str | None
    backend_version: str | None
    seed: int
    repetition: int
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
