"""Azure's batches of 2017: their files by hand, their faults; and the real ones where they are."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import datacentre
from schedgap.instances.harvest.generators.replay import replay
from schedgap.instances.harvest.readers import azure_batches, azure_v1

TRACES = Path(os.environ.get("SCHEDGAP_TRACES", Path(__file__).parents[4] / "shared" / "traces")) / "harvest"
FILES = {
    "flav_map.txt": "1,1.75 b\n4,7 k\n",
    "v1.interval_map.txt": "0 0\n300 1\n600 2\n3900 3\n7200 3\n",
    "v1.test.txt": "300 b,|,k,b,|\n600 b,b,b,|\n",
    "v1.test.c900.txt": "300 U0,|,U1,C2,|\n600 U3,U3,C0,|\n",
}


def written(folder, **changes):
    for name, text in (FILES | changes).items():
        if text is not None:
            (folder / name).write_text(text)
    return folder


def test_batches(tmp_path):
    """Bins end at 300, 300, 600 and 7,200 s; what lives 0 whole five minutes lives up to 300 s."""
    batches = azure_batches(written(tmp_path))
    assert batches.first_vm.tolist() == [0, 1, 3, 6]
    assert batches.cores.tolist() == [1, 4, 1, 1, 1, 1]
    assert batches.longest_s.tolist() == [300, 300, 600, 7200, 7200, 300]
    assert batches.shortest_s.tolist() == [0, 0, 300, 600, 600, 0]
    assert batches.is_censored.tolist() == [False, False, True, False, False, True]


def test_an_instance_of_batches(tmp_path):
    """Every parameter of the generator `datacentre` is there; other batches make other VMs."""
    given = {"vms": 2, "servers": 20, "days": 0.5, "jobs": 2, "tasks": "2"}
    instance = azure_v1(written(tmp_path), **given, seed=3)
    assert instance.name.startswith("azure-C2-2-light-jobs-2-tasks-2-servers-20-days-0.5-s3")
    drawn = datacentre(**given, seed=3)
    assert instance.runtime_ms.tolist() == drawn.runtime_ms.tolist()
    assert instance.event_ms.tolist() != drawn.event_ms.tolist()


def test_compressed_files_read_the_same(tmp_path):
    written(tmp_path)
    for name in FILES:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        (tmp_path / name).unlink()
    assert azure_batches(tmp_path).cores.tolist() == [1, 4, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flav_map.txt": None}, "flav_map.txt: cannot be read"),
        ({"v1.test.c900.txt": None}, "no file of lifetimes"),
        ({"flav_map.txt": "1,1.75 b\n4,7\n"}, "flav_map.txt line 2: 1 fields instead of 2"),
        ({"flav_map.txt": "x,1.75 b\n"}, "flav_map.txt line 1: 'x' is not a whole number"),
        ({"flav_map.txt": "1,1.75 b\n"}, "v1.test.txt line 1: flavour 'k' is not in flav_map.txt"),
        ({"v1.test.txt": "300 b,|,k,b,|\n"}, "v1.test.c900.txt has 2 lines, v1.test.txt has 1"),
        ({"v1.test.txt": "300 b,|,k,b,|\n900 b,b,b,|\n"}, "line 2: 4 items at 600 s, in v1.test.txt 4 at 900 s"),
        ({"v1.test.txt": "300 b,k,|,b,|\n600 b,b,b,|\n"}, "v1.test.c900.txt line 1: a batch ends where none does"),
        ({"v1.test.c900.txt": "300 U0,|,U1,X2,|\n600 U3,U3,C0,|\n"}, "line 1: 'X2' is no U or C and a bin"),
        ({"v1.test.txt": "300 |\n", "v1.test.c900.txt": "300 |\n"}, "there are no VMs in its files"),
        ({"v1.test.txt": "300 \u00e4\n"}, "v1.test.txt: cannot be read"),
    ],
)
def test_faults_are_named(tmp_path, changes, message):
    with pytest.raises(InstanceError, match=message):
        azure_batches(written(tmp_path, **changes))


def test_a_truncated_archive_is_named(tmp_path):
    written(tmp_path, **{"v1.test.txt": None})
    (tmp_path / "v1.test.txt.gz").write_bytes(gzip.compress(FILES["v1.test.txt"].encode())[:-9])
    with pytest.raises(InstanceError, match=r"v1.test.txt.gz: cannot be read"):
        azure_batches(tmp_path)


@pytest.mark.skipif(not (TRACES / "azure-v1-2017").exists(), reason="Azure's data is not there (SCHEDGAP_TRACES)")
def test_the_real_data():
    """The last 259,159 VMs of 30 days but five; the data's own description: 53,109 batches, cores 1, 2, 4, 8 and few 16."""
    batches = azure_batches(TRACES / "azure-v1-2017")
    assert (batches.num_batches, batches.cores.shape[0]) == (53_109, 259_159)
    assert set(np.unique(batches.cores)) == {1, 2, 4, 8, 16}
    assert round(float(batches.is_censored.mean()), 3) == 0.055
    free = replay("C2", servers=50, days=1, seed=0, arrivals=batches)
    assert ((free.cores >= 0) & (free.cores <= 40)).all()
