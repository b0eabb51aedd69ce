"""The page of a history: its steps, its links, and how it looks in a browser."""

import json
import re

import pytest

from schedgap.bench.report.history_page import build_history, write_history
from schedgap.bench.statistics.history import Entry, MethodFigures
from schedgap.instances.errors import ReportError

HOSTILE = "</script><script>document.title='owned'</script>"


def entry(number, *, link="", **figures):
    methods = {name: MethodFigures(quality, time_s, 10, 0) for name, (quality, time_s) in figures.items()}
    return Entry(
        suite="little",
        commit=f"{number:040x}",
        date=f"2030-01-{1 + number:02d}T00:00:00+00:00",
        label=HOSTILE if number == 3 else "",
        directory="runs/little",
        link=link,
        quality="mean gap",
        methods=methods,
    )


@pytest.fixture(scope="module")
def entries():
    """20 entries: `slower` takes twice the time from the tenth on, `better` has half the gap from the fifteenth."""
    return [
        entry(
            number,
            link="https://ci.example.org/" + str(number) if number else "javascript:alert(1)",
            slower=(0.1, 1.0 if number < 10 else 2.0),
            better=(0.2 if number < 15 else 0.1, 0.5),
            **({"late": (None, 3.0)} if number > 12 else {}),
        )
        for number in range(20)
    ]


def test_steps(entries, tmp_path):
    content = build_history(entries, tmp_path)
    assert [(s.method, s.figure, s.entry, s.change, s.verdict) for s in content.steps] == [
        ("better", "mean gap", 15, "-10 points", "better"),
        ("slower", "time (sgm)", 10, "× 2", "worse"),
    ]
    assert (content.steps[1].before_text, content.steps[1].after_text) == ("1.00 s", "2.00 s")
    marks = [s for figure in content.figures for s in figure.series if s.marks]
    assert [(s.name, s.marks, s.x) for s in marks] == [("better", "hollow", (15.0,)), ("slower", "large", (10.0,))]
    assert [len(figure.series) for figure in content.figures] == [3, 4]


def test_links(entries, tmp_path):
    """Addresses of a site, and directories that are there; never a script."""
    (tmp_path / "runs").mkdir()
    here = entry(21, a=(0.1, 1.0))
    content = build_history([*entries, Entry(**{**dict_of(here), "directory": str(tmp_path / "runs")})], tmp_path)
    assert [content.entries[place].href for place in (0, 1, 20)] == ["", "https://ci.example.org/1", "runs"]


def dict_of(made):
    return {name: getattr(made, name) for name in made.__struct_fields__}


def test_the_page_is_whole(entries, tmp_path):
    path = tmp_path / "page.html"
    write_history(entries, path, damaged=["H.jsonl line 3: no entry."])
    page = path.read_text()
    assert HOSTILE not in page
    assert "H.jsonl line 3: no entry." in page
    assert not re.search(r'(?:src|href)="(?!https://ci\.example\.org/|#|data:,)', page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["names"][4] == f"{4:040x}"[:12] + ", 2030-01-05"
    with pytest.raises(ReportError, match="exists and is not written over"):
        write_history(entries, path)
    with pytest.raises(ReportError, match="there is no entry to show"):
        write_history([], tmp_path / "none.html")


def test_old_entries_make_room(entries, tmp_path, monkeypatch):
    monkeypatch.setattr("schedgap.bench.report.history_page.PAGE_LIMIT", 64_000)
    content = write_history(entries, tmp_path / "page.html")
    assert content.left_out > 0
    assert len(content.entries) + content.left_out == 20
    assert (tmp_path / "page.html").stat().st_size < 64_000


def test_the_command(schedgap, tmp_path, make_record, monkeypatch):
    """Two entries from one directory; what is damaged is told each time, and the page has what is sound."""
    folder, file = tmp_path / "runs", tmp_path / "H.jsonl"
    code, _, err = schedgap("history", "add", folder, "--file", file)
    assert (code, err.count("\n")) == (2, 1)
    folder.mkdir()
    (folder / "journal.jsonl").write_text(json.dumps(make_record("a", objective=5).to_row()) + "\n")
    assert "has no plan.json" in schedgap("history", "add", folder, "--file", file)[2]
    suite = {"schema": "schedgap/suite/1", "name": "little", "title": "", "question": "", "family": "provisioning",
             "methods": ["a"], "instances": [{"generator": "table7"}]}  # fmt: skip
    plan = {"schema": "schedgap/plan/1", "command": [], "suite": suite, "keys": [make_record("a").key]}
    (folder / "plan.json").write_text(json.dumps(plan))
    assert schedgap("history", "add", folder, "--file", file, "--commit", "one")[::2] == (0, "")
    with file.open("a") as history:
        history.write("{\n")
    code, out, err = schedgap("history", "add", folder, "--file", file, "--commit", "two", "--date", "2030-05-01")
    assert (code, out) == (0, f"added two of 2030-05-01T00:00:00+00:00, 1 methods, to {file}\n")
    assert err.startswith(f"{file} line 2: no entry (")
    code, out, err = schedgap("history", "page", "--file", file, "--out", tmp_path / "page.html")
    assert code == 0
    assert out.endswith("2 entries, 0 steps\n")
    assert err.startswith(f"{file} line 2: no entry (")


@pytest.fixture(scope="module")
def opened(browser, entries, tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "page.html"
    write_history(entries, path)
    browser.get(path.as_uri())
    browser.get_log("browser")
    browser.refresh()
    return browser


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_it_fits_and_nothing_complains(opened, show, complaints, width, theme):
    show(width, 900, theme)
    assert complaints() == []
    assert opened.title == "History of little · schedgap"
    assert opened.execute_script("return document.querySelectorAll('#charts .line').length") == 5
    assert opened.execute_script("return document.querySelectorAll('#charts .mean, #charts .hollow').length") == 2


def test_a_step_leads_to_its_entry(opened, show):
    show(1280, 900, "light")
    opened.find_element("css selector", "#steps tbody a").click()
    assert opened.current_url.endswith("#entry15")
    assert opened.find_element("id", "entry15").is_displayed()


def test_a_point_leads_to_its_entry(opened, show):
    show(1280, 900, "light")
    chart = opened.find_element("css selector", "#charts svg.chart")
    chart.send_keys("\ue014\ue007")
    assert opened.execute_script("return document.activeElement.closest('tr').id") == "entry0"
