"""`schedgap new`: the beginning of a family, a method, a policy or a suite, as files that work, with their tests."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from schedgap.bench.cli.options import Force, complete_family, refuse_existing
from schedgap.bench.plugins.discover import load_families
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import InstanceError, MethodError, one_line
from schedgap.instances.family import FAMILIES, find_family
from schedgap.instances.method import NAME

TEMPLATES = files("schedgap.bench.cli.new").joinpath("templates")
SUFFIX = {"method": "py", "policy": "py", "suite": "toml"}
new = typer.Typer(
    help="Write the beginning of a family, a method, a policy or a suite, with tests that pass.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(help="Its name, in kebab-case.")]
Of = Annotated[str, typer.Option("--family", help="Its family of problems.", autocompletion=complete_family)]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder for the files, made if it is not there.")]


@new.command()
def family(name: Name, out: Folder = Path(), force: Force = False) -> None:
    """Write a family of problems of your own: NAME.py, with a generator, a verifier, files, a heuristic and a bound."""
    load_families()
    if name in FAMILIES:
        raise InstanceError(f"there is a family '{name}' already; choose another name.")
    _write(name, out, {"{}.py": "family.py", "{}.toml": "suite-family.toml", "test_{}.py": "test-family.py"}, force)


@new.command()
def method(name: Name, family: Of, out: Folder = Path(), force: Force = False) -> None:
    """Write a method of a family as a plug-in, with a suite to run it on."""
    _write_method("method", name, family, out, force)


@new.command()
def policy(name: Name, family: Of, out: Folder = Path(), force: Force = False) -> None:
    """Write a policy of a family, which decides over time, as a plug-in, with a suite to run it on."""
    _write_method("policy", name, family, out, force)


@new.command()
def suite(name: Name, family: Of, out: Folder = Path(), force: Force = False) -> None:
    """Write a suite of small instances of a family."""
    _write(name, out, {"{}.toml": f"suite-{_known('suite', family)}.toml", "test_{}.py": "test-suite.py"}, force)


def _write_method(kind: str, name: str, family: str, out: Path, force: bool) -> None:
    chosen = _known(kind, family)
    templates = {"{}.py": f"{kind}-{chosen}.py", "{}.toml": f"suite-{chosen}.toml", "test_{}.py": "test-method.py"}
    _write(name, out, templates, force, more=f'"{name}", ')


def _known(kind: str, family: str) -> str:
    """Return the family's name; refuse one of whose methods, policies or suites there is no beginning."""
    load_families()
    chosen = find_family(family).name
    known = [each for each in sorted(FAMILIES) if TEMPLATES.joinpath(f"{kind}-{each}.{SUFFIX[kind]}.in").is_file()]
    if chosen not in known:
        why = "a method decides all at once there" if kind == "policy" else "its own file shows how"
        raise MethodError(
            f"there is no beginning of a {kind} for family {chosen}: {why}; there is for {', '.join(known)}."
        )
    return chosen


def _write(name: str, out: Path, templates: dict[str, str], force: bool, more: str = "") -> None:
    """Write templates to files of this name; `{}` in theirs stands for it."""
    stem = name.replace("-", "_")
    if not re.fullmatch(NAME, name):
        raise MethodError(f"name '{name:.60}' is not kebab-case; write it like 'best-fit-decreasing'.")
    if "{}.py" in templates and (not stem.isidentifier() or keyword.iskeyword(stem) or _is_taken(stem, out)):
        raise MethodError(f"'{stem:.60}' cannot be a Python module, or there is one already; choose another name.")
    words = {"name": name, "stem": stem, "Class": name.title().replace("-", ""), "more": more}
    paths = {out / pattern.format(stem): template for pattern, template in templates.items()}
    for path in paths:
        refuse_existing(path, force=force)
    out.mkdir(parents=True, exist_ok=True)
    for path, template in paths.items():
        text = TEMPLATES.joinpath(f"{template}.in").read_text(encoding="utf-8")
        write_whole(path, Template(text).substitute(words).encode(), InstanceError)
    typer.echo(one_line(f"wrote {', '.join(map(str, paths))}"))


def _is_taken(stem: str, out: Path) -> bool:
    """Whether Python has a module of this name, other than the one that would be written."""
    found = find_spec(stem)
    return found is not None and found.origin != str((out / f"{stem}.py").resolve())
