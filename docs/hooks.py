"""What MkDocs is told beside `mkdocs.yml`: pages from outside of this folder, links as they are in the repository, the API.

The site has the pages of `docs/` at its root, README.md as its first page, and `results/` and the other files that pages name
where the repository has them. Notebooks become pages, with what their cells show. A link to a folder becomes plain text: a
site has no listings.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("instances", "formulations", "heuristics", "bench")
# Site to repository; all other pages are of `docs/`.
OUTSIDE = {"index.md": "README.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()#\s]+)(#[^()\s]*)?\)")
PICTURE = re.compile(r"<picture>.*?alt=\"([^\"]*)\" src=\"docs/([^\"]*)-light(\.\w+)\".*?</picture>", re.DOTALL)
# Page, its title, and the packages whose public names it has.
API = {
    "bench": ("The bench: runs, gaps, comparisons", ["bench"]),
    "instances": ("Methods, families, errors", ["instances"]),
    **{
        name: (f"Family {name}", [f"instances.{name}", f"heuristics.{name}"])
        for name in ("provisioning", "reconfiguration", "waiting", "fairness", "sharing", "harvest", "placement")
    },
}


def on_startup(**_: Any) -> None:
    """Link the sources so that they are one package, as `.ci/lint` does: the site is the same however that is installed."""
    package = ROOT / "build" / "api" / "schedgap"
    package.mkdir(parents=True, exist_ok=True)
    for part in (*(ROOT / floor for floor in FLOORS), *(ROOT / "bench" / "schedgap").glob("*.py")):
        link = package / part.name
        link.unlink(missing_ok=True)
        link.symlink_to(part)


def on_files(files: Files, config: Any) -> Files:
    """Add pages and files from outside of the folder, and the pages of the API."""
    outside = {uri: ROOT / name for uri, name in OUTSIDE.items()}
    outside |= {str(path.relative_to(ROOT)): path for path in (ROOT / "results").iterdir() if path.is_file()}
    for uri, path in outside.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for name, (title, packages) in API.items():
        examples = [f"{name}.py", *(["family.py"] if name not in ("bench", "instances") else [])]
        shown = "".join(f"```python\n{(ROOT / 'docs/examples/api' / each).read_text()}```\n\n" for each in examples)
        text = f"# {title}\n\n{shown}" + "\n\n".join(_documented(package) for package in packages)
        files.append(File.generated(config, f"api/{name}.md", content=text))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=_page(path)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Turn links between files of the repository into links between files of the site."""
    uri = page.file.src_uri
    place = OUTSIDE.get(uri, uri if uri.startswith("results/") else f"docs/{uri}")

    def to_site(link: re.Match[str]) -> str:
        text, target, anchor = link.groups()
        if "://" in target:
            return link[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        if (ROOT / wanted).is_dir():
            inside = f"{wanted}/README.md"
            if not (ROOT / inside).exists():
                return text
            wanted = inside
        names = {name: other for other, name in OUTSIDE.items()}
        there = names.get(wanted, re.sub(r"^docs/(notebooks/.*)\.ipynb$", r"\1.md", wanted).removeprefix("docs/"))
        return f"[{text}]({posixpath.relpath(there, posixpath.dirname(uri) or '.')}{anchor or ''})"

    markdown = PICTURE.sub(r"![\1](\2-light\3#only-light)\n![\1](\2-dark\3#only-dark)", markdown)
    return LINK.sub(to_site, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search, which has the role of a dialog and no name."""
    return output.replace('data-md-component="search" role', 'data-md-component="search" aria-label="Search" role')


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same on the page for what is not found."""
    return on_post_page(output_content)


def _page(notebook: Path) -> str:
    """Return a notebook as a page: text, code, and what the code shows, as HTML where it is a table."""
    parts = []
    for cell in json.loads(notebook.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", "")})
            table = "".join(data.get("text/html", ()))
            # Tables are styled by the site.
            table = re.sub(r"<style.*?</style>| border=\"1\" class=\"dataframe\"", "", table, flags=re.DOTALL)
            shown = "".join(data["text/plain"])
            parts.append(re.sub(r"\n\s*", "", table) if table else f"```text\n{shown}\n```")
    return "\n\n".join(parts)


def _documented(package: str) -> str:
    """Return what mkdocstrings is to document of a package: the functions and classes of its `__all__`."""
    tree = _tree(f"schedgap.{package}")
    public: list[str] = []
    sources = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            sources |= {alias.name: f"{node.module}" for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = ast.literal_eval(node.value)
    listed = [
        f"::: schedgap.{package}.{name}" for name in public if name in sources and _is_defined(sources[name], name)
    ]
    about = (ast.get_docstring(tree) or "").split("\n")[0]
    return "\n\n".join([f"From `schedgap.{package}`: {about}", *listed]) if listed else ""


def _is_defined(module: str, name: str) -> bool:
    """Return whether a module, or for a package one that it has the name from, has a function or class of that name."""
    body = _tree(module).body
    if any(isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name for node in body):
        return True
    is_package = ROOT.joinpath(*module.split(".")[1:], "__init__.py").exists()
    origins = [
        str(node.module)
        for node in body
        if is_package and isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names)
    ]
    return any(origin.startswith("schedgap.") and _is_defined(origin, name) for origin in origins)


def _tree(module: str) -> ast.Module:
    path = ROOT.joinpath(*module.split(".")[1:])
    inside = path / "__init__.py"
    return ast.parse((inside if inside.exists() else path.with_suffix(".py")).read_text())
