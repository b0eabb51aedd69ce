"""Files of a report: whole or not at all."""

import pytest

from schedgap.bench.report.page import write_whole
from schedgap.instances.errors import ReportError


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "page.html").mkdir()
    with pytest.raises(ReportError, match=r"page\.html: cannot be written \(Is a directory\); give another place"):
        write_whole(tmp_path / "page.html", b"page")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_its_folder_is_made(tmp_path):
    write_whole(tmp_path / "a" / "b" / "page.html", b"page")
    assert (tmp_path / "a" / "b" / "page.html").read_bytes() == b"page"
    with pytest.raises(ReportError, match=r"page\.html: cannot be made \("):
        write_whole(tmp_path / "a" / "b" / "page.html" / "c", b"page")
