import zipfile
from pathlib import Path

import numpy as np
import pytest

from schedgap.instances.documents import json_files
from schedgap.instances.documents.json_files import named_beside, read_arrays
from schedgap.instances.errors import InstanceError

PATH = Path("folder/s.json")


def test_a_named_file_lies_beside():
    assert named_beside(PATH, "jobs_file", "jobs.npz", InstanceError) == Path("folder/jobs.npz")
    for name in ("", "../jobs.npz", "/x/jobs.npz", "x/jobs.npz"):
        with pytest.raises(InstanceError, match=rf"^jobs_file is '{name}'; give the name of a file beside this one"):
            named_beside(PATH, "jobs_file", name, InstanceError)


def test_an_array_that_claims_more_than_there_is(tmp_path):
    """80 GB by its header, 64 bytes in the file: nothing is reserved for it."""
    path = tmp_path / "x.npz"
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (10000000000,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    with pytest.raises(InstanceError, match=r"x\.npz: .*x\.npy claims 80000000000 bytes and has 64"):
        read_arrays(path, {"x": ("i", 1)}, InstanceError)


def test_a_packed_array_that_is_mostly_nothing(tmp_path, monkeypatch):
    """4 MB of zeros in some kB, where 1 MiB is the most that a file may unpack to a hundred times its size."""
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros(500_000, np.int64))
    assert read_arrays(path, {"x": ("i", 1)}, InstanceError)["x"].shape == (500_000,)
    monkeypatch.setattr(json_files, "MOST_UNPACKED", 2**20)
    with pytest.raises(InstanceError, match=r"x\.npz: .*x\.npy unpacks [0-9]+ bytes to 4000128"):
        read_arrays(path, {"x": ("i", 1)}, InstanceError)
