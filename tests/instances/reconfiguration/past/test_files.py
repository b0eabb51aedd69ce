"""Times in names, and texts that are deflated."""

import gzip

import pytest

from schedgap.instances.documents import openings
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import unix_s
from schedgap.instances.reconfiguration.past import files
from schedgap.instances.reconfiguration.past.files import named_time, newest, text_of

# 2026-11-21, 10:05 UTC.
MOMENT = 1_795_255_500


@pytest.mark.parametrize(
    ("name", "seconds", "rest", "is_zoned"),
    [
        ("2026-11-21T10-05Z.json", 0, ".json", True),
        ("look-20261121T1005.json.gz", 0, "look-.json.gz", False),
        ("2026-11-21_10-05-07.json", 7, ".json", False),
        ("2026-11-21T10:05:07+0000.json", 7, ".json", True),
        ("2026-11-21T11-05+01:00.json", 0, ".json", True),
        ("2026-11-21T05-05-0500.json", 0, ".json", True),
        ("202611211005.json", 0, ".json", False),
        ("20261121100507.json", 7, ".json", False),
        ("2026-11-21/10-05.json", 0, ".json", False),
        ("pods-1795255500.json", 0, "pods-.json", True),
        ("1795255500123-nodes.json", 0, "-nodes.json", True),
        ("2026-11-21T10-05-07.123Z.json", 7, ".json", True),
    ],
)
def test_times_in_names(name, seconds, rest, is_zoned):
    assert named_time(name) == (MOMENT + seconds, rest, is_zoned)


@pytest.mark.parametrize(
    "name", ["now.json", "2026-11-21.json", "2026-13-21T10-05Z.json", "17952555001.json", "v1.2.3.json"]
)
def test_names_without_a_time(name):
    assert named_time(name)[0] is None


def test_times_as_kubernetes_writes_them():
    assert unix_s("2026-11-21T10:05:00Z") == MOMENT
    assert [unix_s(each) for each in (None, "", "soon", "2026-11-21T10:05:00")] == [None] * 4
    assert newest(b'{"startTime":"2026-11-21T10:05:00Z","creationTimestamp": "2026-11-21T10:04:00Z"}') == MOMENT
    assert newest(b"{}") is None


def test_texts_of_every_form(tmp_path):
    text = b"x" * 100_000
    path = tmp_path / "a"
    for content in (
        text,
        gzip.compress(text, mtime=0),
        gzip.compress(text[:7], mtime=0) + gzip.compress(text[7:], mtime=0),
        b"\xef\xbb\xbf" + text,
    ):
        path.write_bytes(content)
        assert text_of(path) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b"x" * 1000, mtime=0)[:-9], "its gzip stream is cut or damaged"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-4] + b"\0\0\0\1", "its gzip stream is cut or damaged"),
        (gzip.compress(b"x" * 10_000, mtime=0), "it inflates to more than 5000 bytes"),
        (b"x" * 6000, "it has more than 5000 bytes"),
    ],
)
def test_texts_that_cannot_be_read(tmp_path, monkeypatch, content, reason):
    monkeypatch.setattr(files, "MOST_BYTES", 5000)
    monkeypatch.setattr(openings.read_given, "__defaults__", (5000,))
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InstanceError, match=reason):
        text_of(tmp_path / "a")
    with pytest.raises(InstanceError, match="No such file"):
        text_of(tmp_path / "b")
