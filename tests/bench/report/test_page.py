"""The page as a file: whole, small, always the same, and safe whatever methods are called."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import pytest

from schedgap.bench.report.figures.selection import Budget
from schedgap.bench.report.page import PAGE_LIMIT, build_content, embedded, render_page, write_page
from schedgap.instances.errors import ReportError


@pytest.fixture
def page(results, here):
    return render_page(build_content(replace(results, directory=here)))


def test_hostile_names_are_text(page):
    assert "&lt;script&gt;document.title=" in page
    assert "<script>document.title" not in page
    assert "<b>this</b>" not in page
    assert "broken[why=<i>" not in page
    assert len(re.findall(r"<script", page)) == len(re.findall(r"</script>", page)) == 2


def test_embedded_data_come_back_whole():
    value = {"</script><!--": "a & b\u2028 é"}
    text = embedded(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value


def test_only_the_pages_own_script_may_run(page):
    own = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    allowed = re.search(r"script-src 'sha256-([^']+)'", page)[1]
    assert allowed == b64encode(sha256(own.encode()).digest()).decode()
    assert "default-src 'none'" in page


def test_nothing_is_fetched(page):
    addresses = set(re.findall(r"""(?:src|href)=["']([^"']*)|url\(([^)]*)""", page))
    assert all(address.startswith(("#", "data:")) for pair in addresses for address in pair if address)
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}


def test_the_page_depends_on_the_results_alone(page, results, here):
    assert render_page(build_content(replace(results, directory=here))) == page


def test_what_is_said_without_a_script(page):
    for text in ("A little suite", "16 of 18", "1.125 ± 0.177", "1.50 ± 0.25", "−0.375", "Their table 1",
                 "schedgap run &#39;my suite.toml&#39;", "Abacus &lt;1&gt;", "crashed"):  # fmt: skip
        assert text in page, text


def test_sweeps_stand_before_the_other_figures(measured):
    page = render_page(build_content(measured))
    places = [page.index(f'<section id="{name}"') for name in ("table", "sweeps", "methods", "figures", "instances")]
    assert places == sorted(places)
    assert "<b>machines" not in page
    assert "What was measured" in page
    assert "Dashed: what a model predicts" in page
    for text in ("mean wait (s)", "4.4", "−9.1%", "−20.0%", "3 – 5"):
        assert f">{text}<" in page, text


def test_maps_say_who_is_best_where(mapped):
    page = render_page(build_content(mapped))
    assert page.index('<section id="table"') < page.index('<section id="maps"') < page.index('<section id="figures"')
    assert "Who is best, by mean wait (s)" in page
    for text in ("make \\ price", "1.5, 1 of 1", "2.25, 1 of 1"):
        assert f">{text}<" in page, text
    (table,) = re.findall(r'<table class="map">.*?</table>', page, re.DOTALL)
    assert table.count("<td>–</td>") == 1
    assert "<script>document" not in table


def test_a_map_without_room_is_left_out(mapped):
    content = build_content(mapped, Budget(rows=3))
    assert content.maps == ()
    assert 'id="maps"' not in render_page(content)


def test_a_suite_without_sweeps_has_no_place_for_them(page):
    assert 'id="sweeps"' not in page
    assert 'id="maps"' not in page
    assert "Gaps to proven bounds" in page


def test_pages_stay_small_however_long_the_names(results, tmp_path, make_record):
    """3,000 instances and methods with names of 1,000 characters each: 12 MB of names."""
    records = tuple(
        make_record(f"m[x={i:01000d}]", f"{i:01000d}", objective=2, bound=1, wall_s=0.5, reason="r" * 1000)
        for i in range(3000)
    )
    content = write_page(replace(results, suite=None, records=records), tmp_path / "page.html")
    size = (tmp_path / "page.html").stat().st_size
    assert 100_000 < size < PAGE_LIMIT
    assert content.drilldown.left_out > 0
    assert content.headline.left_out > 0
    text = (tmp_path / "page.html").read_text()
    assert "are left out" in text
    assert "methods are in the tables only" in text


def test_files_are_not_written_over(results, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(
        ReportError, match=r"page\.html exists and is not written over; give another name or --force\.$"
    ):
        write_page(results, path)
    assert path.read_text() == "mine"
    write_page(results, path, force=True)
    assert path.read_text().startswith("<!doctype html>")
    with pytest.raises(ReportError, match=r"is a folder; give another name\.$"):
        write_page(results, tmp_path, force=True)
