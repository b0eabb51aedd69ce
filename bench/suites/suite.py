"""A suite: a TOML file that declares instances x methods x seeds x limits, and the question that they answer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from schedgap.bench.plugins.discover import load_family
from schedgap.bench.programs.program import Program, programs_among, resolved
from schedgap.bench.records.runs import MAX_CPU_S, MAX_MEMORY_MIB, MAX_THREADS, MAX_TIME_LIMIT_S, MAX_WALL_S, Limits
from schedgap.bench.suites.collection import (
    STRICT,
    Collection,
    Gate,
    Listed,
    Map,
    Reference,
    Setting,
    Sweep,
    with_tables,
)
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.source import Source
from schedgap.instances.documents.json_files import first_problem
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SuiteError, did_you_mean
from schedgap.instances.method import NAME

SCHEMA = "schedgap/suite/1"
Value = bool | int | float | str
MAX_SEEDS = 100_000


def _plain_values(given: Any) -> Any:
    """Refuse what is no parameter, before a union of types says it once for each type."""
    for key, value in given.items() if isinstance(given, dict) else ():
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(isinstance(entry, Value) for entry in entries):
            raise ValueError(f"'{key}' takes a number, text, true or false, or a list of these that is not empty")
    return given


def _plain_seeds(given: Any) -> Any:
    entries = given if isinstance(given, list) else [given]
    whole = entries and all(isinstance(entry, int) and not isinstance(entry, bool) for entry in entries)
    if not whole or (given is not entries and not 1 <= given <= MAX_SEEDS):
        raise ValueError(f"give how many, 1 to {MAX_SEEDS}, or a list of whole numbers that is not empty")
    return given


Values = Annotated[dict[str, Value | list[Value]], BeforeValidator(_plain_values)]
Seeds = Annotated[int | list[int], BeforeValidator(_plain_seeds)]


class _Strict(BaseModel):
    model_config = STRICT


class LimitsBlock(_Strict):
    """See `runs.Limits`; without `wall_s` the hard wall is twice `time_limit_s` and 10 s."""

    time_limit_s: Annotated[float, Field(ge=0, le=MAX_TIME_LIMIT_S)] | None = None
    wall_s: Annotated[float, Field(gt=0, le=MAX_WALL_S)] | None = None
    cpu_s: Annotated[float, Field(gt=0, le=MAX_CPU_S)] | None = None
    memory_mib: Annotated[int, Field(gt=0, le=MAX_MEMORY_MIB)] | None = None
    threads: Annotated[int, Field(gt=0, le=MAX_THREADS)] | None = None


def given_limits(**given: Any) -> Limits:
    """Return limits of these fields of `LimitsBlock`; None is as if it were left out.

    Raises
    ------
    SuiteError
        naming one that is out of range.
    """
    try:
        chosen = LimitsBlock(**given).model_dump(exclude_none=True)
    except ValidationError as error:
        raise SuiteError(first_problem(error, Suite)) from None
    return Limits.from_time_limit(chosen.pop("time_limit_s", 60.0), **chosen)


class TraceBlock(_Strict):
    """What to do with the file of `--trace`: the import format that reads it, and its parameters."""

    importer: str
    parameters: Values = {}


class InstanceBlock(_Strict):
    """Instances of one kind. A list as a parameter's value means one instance for each of its entries.

    Exactly one of `generator`, `importer` (with `file`) and `file` says how they are made; `trace` replaces it
    when `--trace FILE` is given. seeds : how many (0, 1, ...), or which; without it, the maker's default.
    methods, limits : instead of the suite's own.
    """

    group: str = ""
    generator: str | None = None
    importer: str | None = None
    file: str | None = None
    parameters: Values = {}
    seeds: Seeds | None = None
    trace: TraceBlock | None = None
    methods: list[str] | None = None
    limits: LimitsBlock = LimitsBlock()

    @model_validator(mode="after")
    def _one_maker(self) -> InstanceBlock:
        if (self.generator is None) == (self.file is None) or (self.importer is not None and self.file is None):
            raise ValueError("give 'generator', or 'file', or 'importer' with 'file'")
        if self.generator is None and self.importer is None and (self.parameters or self.seeds is not None):
            raise ValueError("an instance file takes neither 'parameters' nor 'seeds'; leave them out")
        if self.seeds is not None and "seed" in self.parameters:
            raise ValueError("give 'seeds' or the parameter 'seed', not both")
        return self


class ProgramBlock(_Strict):
    """A program as one of the suite's methods (see `programs.program.Program`); paths are relative to the suite's file."""

    name: str
    command: Annotated[str | list[str], Field(min_length=1)]
    kind: Literal["method", "policy"] = "method"
    depends: list[str] = []
    stochastic: bool = False


class SearchBlock(_Strict):
    """Seeds that a search for methods does not see. The suite's own instances are those that it sees.

    validation : to choose among what it has found. test : to score what was chosen, once.
    """

    validation: Annotated[list[int], Field(min_length=1)] | None = None
    test: Annotated[list[int], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _are_apart(self) -> SearchBlock:
        if both := set(self.validation or ()) & set(self.test or ()):
            raise ValueError(f"seed {min(both)} is in 'validation' and in 'test'; give each its own")
        return self

    @property
    def unseen(self) -> list[int] | None:
        """Return all seeds that a search does not see; None for none."""
        return [*(self.validation or ()), *(self.test or ())] or None


class Suite(_Strict):
    """A whole suite.

    families : files of families outside of this package, relative to the suite's own (see `discover.load_family`).
    headline : which table answers the question (see `statistics.headlines`). measures : the columns of the headline `measures`.
    """

    schema_: Literal["schedgap/suite/1"] = Field(alias="schema")
    name: Annotated[str, Field(pattern=NAME)]
    title: str
    question: str
    family: str
    families: list[str] = []
    headline: str = "gap"
    source: str = ""
    seed: int = 0
    repetitions: Annotated[int, Field(gt=0)] = 1
    methods: Annotated[list[str], Field(min_length=1)]
    limits: LimitsBlock = LimitsBlock()
    instances: list[InstanceBlock] = []
    collection: list[Collection] = []
    reference: list[Reference] = []
    setting: list[Setting] = []
    measures: list[str] = []
    sweep: list[Sweep] = []
    map: list[Map] = []
    programs: list[ProgramBlock] = []
    search: SearchBlock = SearchBlock()
    gate: Gate = Gate()

    @model_validator(mode="after")
    def _has_instances(self) -> Suite:
        if not self.instances and not self.collection:
            raise ValueError("there are no instances; give 'instances' or a 'collection'")
        return self

    @property
    def blocks(self) -> list[InstanceBlock]:
        """All instances: the blocks of `instances`, and one block for each instance of a collection."""
        return [*self.instances, *(_block(each, listed) for each in self.collection for listed in each.listed)]

    @model_validator(mode="after")
    def _tells_listed_apart(self) -> Suite:
        published = self.published
        for listed in (listed for each in self.collection for listed in each.listed):
            other = published[listed.group, listed.name]
            if other is not listed:
                where = f"two instances of group '{listed.group:.60}' are named '{listed.name:.60}'"
                raise ValueError(f"{where}, {listed.file:.60} and {other.file:.60}; rename one, or give them groups")
        return self

    @property
    def published(self) -> dict[tuple[str, str], Listed]:
        """What is published of each instance of a collection, by its group and name."""
        return {(listed.group, listed.name): listed for each in self.collection for listed in each.listed}

    @model_validator(mode="after")
    def _programs_are_methods(self) -> Suite:
        named = {*self.methods, *(text for block in self.instances for text in block.methods or ())}
        for program in self.programs:
            if program.name not in named:
                raise ValueError(f"program '{program.name:.60}' is in no list of methods; add it to 'methods'")
        return self

    def own_programs(self, folder: Path) -> list[Program]:
        """Return the programs that the suite names. folder : of its file.

        Raises
        ------
        MethodError
            for one that is not there.
        """
        return [
            Program.make(
                each.name,
                each.command,
                kind=each.kind,
                folder=folder,
                depends=each.depends,
                stochastic=each.stochastic,
            )
            for each in self.programs
        ]

    def with_programs(
        self, folder: Path, plugins: Sequence[str | Path | Program]
    ) -> tuple[Suite, tuple[str | Program, ...]]:
        """Return the suite with the programs among the plug-ins as further methods, and all plug-ins, its own among them."""
        given = resolved(plugins)
        suite = self.with_methods([program.name for program in programs_among(given)])
        return suite, resolved([*given, *self.own_programs(folder)])

    def with_methods(self, names: Sequence[str]) -> Suite:
        """Return the suite with more methods, on all its instances."""

        def more(methods: list[str]) -> list[str]:
            return list(dict.fromkeys([*methods, *names]))

        blocks = [
            block if block.methods is None else block.model_copy(update={"methods": more(block.methods)})
            for block in self.instances
        ]
        return self.model_copy(update={"methods": more(self.methods), "instances": blocks}) if names else self

    def limits_of(self, block: InstanceBlock) -> Limits:
        """Return the limits of a block's runs."""
        return given_limits(
            **{**self.limits.model_dump(exclude_none=True), **block.limits.model_dump(exclude_none=True)}
        )

    def sources(self, block: InstanceBlock, trace: Path | None, folder: Path) -> Iterator[Source]:
        """Yield a block's instances, unbuilt; paths are relative to `folder`, that of the suite's file."""
        kind, name, path = "generator", block.generator, None
        parameters = block.parameters
        if trace is not None and block.trace is not None:
            kind, name, path, parameters = "importer", block.trace.importer, trace, block.trace.parameters
        elif block.file is not None:
            kind, name, path = ("file" if block.importer is None else "importer"), block.importer, folder / block.file
        seeds = list(range(block.seeds)) if isinstance(block.seeds, int) else block.seeds
        axes = {key: value if isinstance(value, list) else [value] for key, value in parameters.items()}
        if seeds is not None:
            axes["seed"] = list(seeds)
        for values in product(*axes.values()):
            yield Source(self.family, kind, name or "", path, dict(zip(axes, values, strict=True)))


def _block(collection: Collection, listed: Listed) -> InstanceBlock:
    parameters: dict[str, Value | list[Value]] = {"member": listed.file, "name": listed.name}
    trace = TraceBlock(importer=collection.importer, parameters=parameters)
    return InstanceBlock(group=listed.group, file=listed.file, importer=collection.importer, trace=trace)


def read_suite(name: str | Path) -> tuple[Suite, Path]:
    """Return a suite by the name of a shipped one or the path of a TOML file, and the folder of that file.

    The families that it brings are imported.

    Raises
    ------
    SuiteError
        naming file, line or field, and the way out.
    """
    shipped = shipped_suites()
    file: Path | Traversable = Path(name)
    if str(name) in shipped:
        file = shipped[str(name)]
    elif not file.is_file():
        raise SuiteError(
            f"there is no suite '{name}'; {did_you_mean(str(name), shipped)}`schedgap list suites` names them all; "
            "or give the path of a TOML file."
        )
    try:
        document = tomllib.loads(read_given(str(file)).decode("utf-8-sig"))
    except OSError as error:
        raise SuiteError(f"{name}: cannot be read ({error.strerror}); give the path of a TOML file.") from None
    except UnicodeDecodeError as error:
        raise SuiteError(f"{name}: not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SuiteError(f"{name}: not TOML: {error}.") from None
    try:
        folder = Path(str(file)).parent
        suite = Suite.model_validate(with_tables(document, folder))
    except ValidationError as error:
        raise SuiteError(f"{name}: {first_problem(error, Suite)}") from None
    for each in suite.families:
        load_family(folder / each)
    return suite, folder
