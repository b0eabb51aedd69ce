"""A directory of results: the journal, and beside it `plan.json`, which says what suite its runs are of.

A shard: one of several equal parts of a suite's runs, done on its own and joined with the others by `merge`.

Runs are sorted by label of the method, then by key, and dealt out in turn: shard k of n has the k-th, the (k+n)-th, and so
on. So each method's runs, which take alike long, are spread evenly, no shard has more than one run above another, and who
splits the same plan gets the same shards. Runs of one instance do not stay together: the keys of a plan depend on what its
instances hold, so that each shard makes all of them anyway, and one with many methods would be a shard of its own size.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, get_type_hints

import msgspec
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from schedgap.bench.programs.program import Program, programs_among
from schedgap.bench.records.contradictions import judged_together
from schedgap.bench.records.host import HOST_SCHEMA, HostFacts
from schedgap.bench.records.journal import FILE_NAME as JOURNAL_NAME
from schedgap.bench.records.journal import Lines, gc_paused, read_journal
from schedgap.bench.records.runs import PROCESS_GROUP, Record, Run
from schedgap.bench.suites.suite import Suite
from schedgap.instances.documents.json_files import first_problem, write_whole
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import JournalError, SuiteError


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number`, from 1, of `count`."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that `3/40` names.

        Raises
        ------
        SuiteError
            if it names none.
        """
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise SuiteError(f"'{text:.60}' is no shard; give its number, from 1, and how many there are, as in 3/40.")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def keys(self, runs: Mapping[str, Run]) -> list[str]:
        """Return the keys of a plan's runs that are of this shard, in the order of the plan. O(runs log runs)."""
        dealt = sorted(runs, key=lambda key: (runs[key].label, key))
        own = set(dealt[self.number - 1 :: self.count])
        return [key for key in runs if key in own]


PLAN_SCHEMA: Literal["schedgap/plan/1"] = "schedgap/plan/1"
FILE_NAME = "plan.json"


class PlanDocument(TypedDict):
    """The file of a plan. keys : of all runs, in order. shard : that was asked for, where it was one. commit : of the folder."""

    schema: Literal["schedgap/plan/1"]
    command: list[str]
    suite: Suite
    keys: list[str]
    shard: NotRequired[str]
    commit: NotRequired[str]


_PLAN = TypeAdapter(PlanDocument)
# A host's file may lack some.
_FACTS = msgspec.defstruct("Facts", [(name, kind, None) for name, kind in get_type_hints(HostFacts).items()])


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """What a directory holds.

    suite : as it was when the last run was made; None in a directory that has no plan. command : that did it, by words.
    records : one for each run of the suite (all of the journal without a plan), judged against each other; those that
    are not done yet are missing: planned counts them too. hosts : facts by the ID that records name. shard : the part of the
    suite that was asked for when the last run was made, such as `3/40`; empty for all of it. commit : of the folder in which
    it was asked for; empty outside of a repository.
    """

    directory: Path
    suite: Suite | None
    command: tuple[str, ...]
    records: tuple[Record, ...]
    planned: int
    hosts: Mapping[str, Mapping[str, Any]]
    shard: str = ""
    commit: str = ""

    def __repr__(self) -> str:
        return f"<Results in {self.directory}: {len(self.records)} of {self.planned} runs>"

    @property
    def missing(self) -> int:
        """Number of runs that are not done yet."""
        return self.planned - len(self.records)

    @property
    def part(self) -> str:
        """Return which part of the suite this is, in brackets; empty for all of it."""
        return f" (shard {self.shard} only: `schedgap merge` joins all)" if self.shard and self.missing else ""


def write_plan(
    directory: Path,
    suite: Suite,
    command: Sequence[str],
    keys: Iterable[str],
    shard: Shard | None = None,
    commit: str | None = None,
) -> None:
    """Write down the suite and the keys of its runs, whole or not at all.

    keys : of all, whichever shard is asked for. commit : by default that of the folder in which this is called.

    Raises
    ------
    JournalError
        if it cannot be written.
    """
    path = directory / FILE_NAME
    document = {
        "schema": PLAN_SCHEMA,
        # As they were typed, where the locale knows ASCII alone.
        "command": [word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in command],
        "suite": suite.model_dump(mode="json", by_alias=True, exclude_none=True),
        **({} if shard is None else {"shard": str(shard)}),
        **({"commit": at} if (at := _commit() if commit is None else commit) else {}),
        "keys": list(keys),
    }
    text = json.dumps(document, separators=(",", ":")) + "\n"
    write_whole(path, text.encode(), JournalError, "choose another --out")


def _commit() -> str:
    """Return the commit of the folder that this is called in; nothing outside of a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def find_directories(folder: Path) -> list[Path]:
    """Return the directories of results in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{JOURNAL_NAME}"))


def suite_of(directory: Path) -> str | None:
    """Return the name of the suite of a directory, None where it has no plan that can be read."""
    try:
        name = json.loads(read_given(directory / FILE_NAME))["suite"]["name"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return str(name)


def refuse_other_suite(directory: Path, suite: str) -> None:
    """Raise `JournalError` if a directory holds the results of a suite of another name, or of one that cannot be told."""
    other = suite_of(directory)
    if other is None and (directory / FILE_NAME).exists():
        raise JournalError(f"{directory / FILE_NAME}: no plan of a suite; choose another --out, or remove it.")
    if other not in (None, suite):
        raise JournalError(f"{directory} is of suite {other}, not of suite {suite}; choose another --out.")


def command_of(
    suite: str | Path,
    plugins: Sequence[str | Path | Program],
    trace: str | Path | None,
    audit: bool,
    isolation: str,
    only: Sequence[str] = (),
) -> list[str]:
    """Return the words of the command that does the same."""
    words = ["schedgap", "run", str(suite)]
    for plugin in plugins:
        if isinstance(plugin, Program):
            words += [f"--{plugin.option}", plugin.text]
            words += [word for file in plugin.depends for word in ("--depends", f"{plugin.name}={file}")]
        else:
            words += ["--plugin", str(plugin)]
    if any(program.stochastic for program in programs_among(plugins)):
        words.append("--stochastic")
    if trace is not None:
        words += ["--trace", str(trace)]
    if audit:
        words.append("--audit")
    for each in only:
        words += ["-k", each]
    return words if isolation == PROCESS_GROUP else [*words, "--isolation", isolation]


@gc_paused()
def read_results(directory: str | Path, lines: Lines | None = None) -> Results:
    """Return what a directory holds; nothing is locked or written, so a suite under way can be looked at.

    lines : reads the journal, see `read_journal`.

    Raises
    ------
    JournalError
        naming the file and what is wrong with it.
    """
    directory = Path(directory)
    known = read_journal(directory, lines=lines)
    plan = read_plan(directory)
    keys = list(known) if plan is None else plan.keys
    records = tuple(judged_together({key: known[key] for key in keys if key in known}).values())
    if plan is None:
        return Results(directory, None, (), records, len(keys), read_hosts(directory))
    more = plan.shard, plan.commit
    return Results(directory, plan.suite, plan.command, records, len(keys), read_hosts(directory), *more)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What `plan.json` says: see `Results`. keys : of all runs of the suite."""

    suite: Suite
    command: tuple[str, ...]
    keys: list[str]
    shard: str
    commit: str


def read_plan(directory: Path) -> PlanFile | None:
    """Return the plan in a directory, None where there is none.

    Raises
    ------
    JournalError
        naming the file and what is wrong with it.
    """
    path = directory / FILE_NAME
    if not path.exists():
        return None
    try:
        content = read_given(path)
        schema = msgspec.json.decode(content)["schema"]
        if schema != PLAN_SCHEMA:
            raise JournalError(
                f"{path}: schema '{schema}', this version reads '{PLAN_SCHEMA}'; use the version that wrote it."
            )
        said = _PLAN.validate_json(content)
        if len(set(said["keys"])) < len(said["keys"]):
            raise JournalError(f"{path}: a key is there twice; remove it to see all that the journal holds.")
        more = said.get("shard", ""), said.get("commit", "")
        return PlanFile(said["suite"], tuple(said["command"]), said["keys"], *more)
    except ValidationError as error:
        raise JournalError(f"{path}: {first_problem(error)}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise JournalError(
            f"{path}: no plan of a suite ({error!r}); remove it to see all that the journal holds."
        ) from None


def read_hosts(directory: Path) -> dict[str, Mapping[str, Any]]:
    """Return the facts of the hosts in a directory, by ID."""
    hosts: dict[str, Mapping[str, Any]] = {}
    for path in sorted((directory / "hosts").glob("*.json")):
        try:
            facts = json.loads(read_given(path))
            if isinstance(facts, dict) and facts.get("schema") == HOST_SCHEMA:
                msgspec.convert(facts, _FACTS)
                hosts[path.stem] = facts
        except (OSError, ValueError, RecursionError) as error:
            raise JournalError(f"{path}: cannot be read ({error!s:.200}); remove it.") from None
    return hosts
