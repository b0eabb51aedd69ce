"""The pages against the tree: every file, module and function that they name is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("instances", "formulations", "heuristics", "bench")
# Its paths are of a user's repository.
OTHERS = {"ci.md"}
PAGES = {
    path.name: path.read_text() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")] if path.name not in OTHERS
}
# Where a file may go by its name alone.
ROLES = {"architecture.md", "glossary.md"}
# A path that begins at a floor, or the name of a file alone; and a name in it.
PLACE = re.compile(rf"^((?:{'|'.join(FLOORS)})/[\w./<>*]*|\w+\.py)(?:: ([\w.]+))?$")
PLACES = sorted(
    {
        (page, quoted)
        for page, text in PAGES.items()
        for quoted in re.findall(r"`([^`\n]+)`", text)
        if PLACE.match(quoted) and (page in ROLES or "/" in quoted)
    }
)


def found(path):
    """Return the files or folders that a path means: `F` is any family, `<method>` any name."""
    pattern = re.sub(r"<\w+>", "*", re.sub(r"/F/", "/*/", path)).rstrip("/")
    start = () if "/" in path else ("**",)
    return [each for floor in FLOORS for each in ROOT.glob("/".join((*start, pattern))) if floor in each.parts]


def names(path):
    """Return what a module defines, with the members of its classes."""
    defined = set()
    for node in ast.parse(path.read_text()).body:
        for name in _named(node):
            defined.add(name)
            members = node.body if isinstance(node, ast.ClassDef) else []
            defined |= {f"{name}.{member}" for each in members for member in _named(each)}
    return defined


def _named(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize(("page", "quoted"), PLACES)
def test_the_place_is_there(page, quoted):
    path, name = PLACE.match(quoted).groups()
    files = found(path)
    assert files, f"{page} names {path}, which is not there"
    if name is not None:
        assert [str(file) for file in files if name not in names(file)] == []


def test_places_are_found_on_the_pages():
    assert ("architecture.md", "instances/waiting/verify.py: verify") in PLACES
    assert len(PLACES) > 30
