"""Series of spot VMs as instances: by hand, their faults; and the real ones where they are."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.readers import read_spot_series, spot_trace

TRACES = Path(os.environ.get("SCHEDGAP_TRACES", Path(__file__).parents[4] / "shared" / "traces")) / "harvest"
HOUR = 3_600_000


def series(path, data, gap=3600):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"metadata": {"gap_seconds": gap}, "data": data}))
    return path


def events(instance):
    cuts = instance.first_event[1:-1]
    return [
        list(zip(part.tolist(), cores, strict=True))
        for part, cores in zip(
            [instance.event_ms[a:b] // HOUR for a, b in zip([0, *cuts], [*cuts, None], strict=True)],
            [instance.event_cores[a:b].tolist() for a, b in zip([0, *cuts], [*cuts, None], strict=True)],
            strict=True,
        )
    ]


def test_each_node_is_a_vm(tmp_path):
    """Hours 1 to 4 have 1, 2, 0 and 2 nodes, after which there is 1: the trace ends at hour 4, when two last are there."""
    path = series(tmp_path / "zone.json", [0, 1, 2, 0, 2, 1])
    instance = spot_trace(path, node_cores=4, history_h=2, jobs=2, tasks="1-2")
    assert instance.name == "spot-zone-2-s0"
    assert instance.vm_names == ("zone-0", "zone-1")
    assert events(instance) == [[(1, 4), (3, 0), (4, 4)], [(2, 4), (3, 0), (4, 4)]]
    assert instance.arrival_ms.min() >= 2 * HOUR
    assert instance.num_jobs == 2


def test_a_series_may_be_one_vm_that_grows(tmp_path):
    path = series(tmp_path / "zone.json", [0, 1, 2, 0, 2, 1])
    instance = spot_trace(path, node_cores=4, grows=True, history_h=2)
    assert events(instance) == [[(1, 4), (2, 8), (3, 0), (4, 8)]]
    assert instance.min_cores.tolist() == [4]


def test_a_folder_of_series(tmp_path):
    """Most nodes are last there at hour 2; a zone that never has any gives no VM."""
    series(tmp_path / "a" / "x.json", [1, 0, 1])
    series(tmp_path / "b.json", [0, 1, 1, 0, 0])
    series(tmp_path / "c.json", [0, 0])
    instance = spot_trace(tmp_path, history_h=1)
    assert instance.vm_names == ("a/x-0", "b-0")
    assert events(instance) == [[(0, 8), (1, 0), (2, 8)], [(1, 8)]]


def test_load_stretches_the_arrivals(tmp_path):
    path = series(tmp_path / "zone.json", [1] * 30)
    few, many = (spot_trace(path, history_h=0.5, load=load) for load in (0.25, 0.5))
    assert few.arrival_ms[-1] - few.arrival_ms[0] > 1.9 * (many.arrival_ms[-1] - many.arrival_ms[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "metadata.gap_seconds is None"),
        ('{"metadata": {"gap_seconds": 0}, "data": [1]}', "gap_seconds is 0; give a number from 1"),
        ('{"metadata": {"gap_seconds": true}, "data": [1]}', "gap_seconds is True"),
        ('{"metadata": {"gap_seconds": 60}}', "data is no list"),
        ('{"metadata": {"gap_seconds": 60}, "data": []}', "data is no list"),
        ('{"metadata": {"gap_seconds": 60}, "data": [1, 0.5]}', r"data\[1\] is 0.5; give a whole number"),
        ('{"metadata": {"gap_seconds": 60}, "data": [1, -1]}', r"data\[1\] is -1; give a whole number"),
    ],
)
def test_faults_are_named(tmp_path, text, message):
    (tmp_path / "zone.json").write_text(text)
    with pytest.raises(InstanceError, match=message):
        read_spot_series(tmp_path / "zone.json")


@pytest.mark.parametrize(
    ("data", "parameters", "message"),
    [
        ([0, 0], {}, "there is never a node"),
        ([1, 1, 0], {}, "last for 1.0 h until the most nodes are last there, and the first job arrives after 24 h"),
        ([0, 1], {"node_cores": 0}, "node_cores is 0; give 1 to"),
        ([0, 1], {"history_h": -1.0}, "history_h is -1; give 0 to"),
        ([0, 1], {"history_h": 0.5, "cores": "16"}, "need 16 cores"),
    ],
)
def test_series_that_make_no_instance(tmp_path, data, parameters, message):
    with pytest.raises(InstanceError, match=message):
        spot_trace(series(tmp_path / "zone.json", data), **parameters)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InstanceError, match=r"zone.json: cannot be read"):
        spot_trace(tmp_path / "zone.json")
    with pytest.raises(InstanceError, match=r"there is no .json file in it"):
        spot_trace(tmp_path)


@pytest.mark.skipif(not (TRACES / "spot.tar.gz").exists(), reason="the spot traces are not there (SCHEDGAP_TRACES)")
def test_the_real_series(tmp_path):
    """34 series; the three of up to 16 nodes are 48 VMs, or three that grow."""
    with tarfile.open(TRACES / "spot.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert len([read_spot_series(path) for path in tmp_path.rglob("*.json")]) == 34
    folder = tmp_path / "spot" / "availability" / "16-node"
    assert spot_trace(folder).num_vms == 48
    assert spot_trace(folder, grows=True).num_vms == 3
