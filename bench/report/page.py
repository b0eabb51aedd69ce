"""The page: content through a template into one HTML file that needs nothing else and asks nobody."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from schedgap.bench.report.content import Content, build_content
from schedgap.bench.report.embed import embedded, mark_symbols, page_data
from schedgap.bench.report.figures import palette
from schedgap.bench.report.figures.budget import Budget
from schedgap.bench.report.files import refuse_existing, write_whole
from schedgap.bench.statistics.tables import measured, readable
from schedgap.instances.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.suites.results import Results

# A page that is mailed, attached to a build and opened on a phone.
PAGE_LIMIT = 3_000_000
_PACKAGE = "schedgap.bench.report"
# In the order in which they need each other; they share one scope.
SCRIPTS = (
    "core.js",
    "theme.js",
    "tables.js",
    "axes.js",
    "drawing.js",
    "chart.js",
    "figures.js",
    "picture.js",
    "timetable.js",
    "instances.js",
)
STYLES = ("page.css", "tables.css", "figures.css")


def write_page(results: Results, path: str | Path, *, force: bool = False) -> Content:
    """Write the page of these results and return what is on it. force : write over an existing file.

    Raises
    ------
    ReportError
        if the file exists or cannot be written.
    """
    path = Path(path)
    refuse_existing([path], force=force)
    budget = Budget()
    while True:
        content = build_content(results, budget)
        # What UTF-8 cannot hold, half a surrogate pair that a run printed, is replaced.
        page = render_page(content).encode(errors="replace")
        if len(page) < PAGE_LIMIT:
            write_whole(path, page)
            return content
        # Limits of counts do not bound bytes: names may be long.
        smaller = budget.halved()
        if smaller == budget:
            raise ReportError(f"{path}: the page has {len(page):,} bytes, more than {PAGE_LIMIT:,}; report on less.")
        budget = smaller


def render_page(content: Content) -> str:
    """Return the page as HTML; the same content gives the same bytes."""
    selection = content.selection
    return render(
        "report.html.j2",
        SCRIPTS,
        selection.methods,
        page_data(content),
        content=content,
        sweep_roles={series.role for sweep in content.sweeps for series in sweep.series},
    )


def render(template: str, scripts: Sequence[str], methods: Sequence[str], data: Any, **values: Any) -> str:
    """Return a page of ours: a template, the scripts that it needs, and the methods that have marks on it."""
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"measured": measured, "readable": readable}
    script = "(() => {\n'use strict';\n" + _joined(scripts) + "})();\n"
    return environment.get_template(template).render(
        **values,
        data=embedded(data),
        numbers={name: i for i, name in enumerate(methods)},
        symbols=mark_symbols(len(methods)),
        style=Markup(_colours() + _joined(STYLES)),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _joined(names: Sequence[str]) -> str:
    folder = files(_PACKAGE).joinpath("templates")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _colours() -> str:
    """Return the colours of methods as custom properties, for a light and a dark page."""
    pairs = zip(palette.LIGHT, palette.DARK, strict=True)
    properties = "".join(f"--m{i}:light-dark({light},{dark});" for i, (light, dark) in enumerate(pairs))
    page = f"--page:light-dark({palette.LIGHT_PAGE},{palette.DARK_PAGE});"
    classes = "".join(f".m{i}{{--m:var(--m{i})}}\n" for i in range(len(palette.LIGHT)))
    return f":root{{{properties}{page}}}\n{classes}"
