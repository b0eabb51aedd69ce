"""Files below a directory and in archives."""

import io
import tarfile
import zipfile

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.unpacked import member_bytes


@pytest.fixture
def places(tmp_path):
    """The same two files in a directory, a .tar.gz, a .tar and a .zip."""
    files = {"sets/a.txt": b"first", "sets/b.txt": b"second"}
    for name, content in files.items():
        (tmp_path / "dir" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dir" / name).write_bytes(content)
    for name, mode in (("x.tar.gz", "w:gz"), ("x.tar", "w")):
        with tarfile.open(tmp_path / name, mode) as tar:
            for member, content in files.items():
                info = tarfile.TarInfo(f"./{member}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return [tmp_path / name for name in ("dir", "x.tar.gz", "x.tar", "x.zip")]


def test_members_are_the_same_wherever_they_are(places):
    assert {member_bytes(place, "sets/b.txt") for place in places} == {b"second"}
    assert member_bytes(places[0] / "sets" / "a.txt") == b"first"


def test_an_archive_that_changes_is_read_anew(places):
    assert member_bytes(places[3], "sets/a.txt") == b"first"
    with zipfile.ZipFile(places[3], "w") as archive:
        archive.writestr("sets/a.txt", b"another one")
    assert member_bytes(places[3], "sets/a.txt") == b"another one"


def test_a_member_that_is_not_there(places):
    with pytest.raises(InstanceError, match=r"x.zip: no member 'sets/c.txt' among 2; did you mean sets/"):
        member_bytes(places[3], "sets/c.txt")
    with pytest.raises(InstanceError, match=r"dir/sets/c.txt: cannot be read \(No such file"):
        member_bytes(places[0], "sets/c.txt")
    with pytest.raises(InstanceError, match="is outside of it"):
        member_bytes(places[0], "../x.zip")


def test_what_is_no_archive(tmp_path):
    (tmp_path / "x.rar").write_bytes(b"Rar!\x1a\x07\x00 and so on")
    (tmp_path / "x.tar.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(InstanceError, match="a RAR archive, which is not read; unpack it"):
        member_bytes(tmp_path / "x.rar", "a")
    with pytest.raises(InstanceError, match="cannot be read"):
        member_bytes(tmp_path / "x.tar.gz", "a")
    with pytest.raises(InstanceError, match="cannot be read"):
        member_bytes(tmp_path / "none.tar.gz", "a")


def test_a_small_archive_that_unpacks_to_much(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(2**26 + 1))
    with pytest.raises(InstanceError, match="unpacks to 67108865 bytes, more than 67108864"):
        member_bytes(tmp_path / "x.zip", "a")
