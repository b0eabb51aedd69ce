"""Files of instances that something has damaged, and small files that ask for very much: one sentence each."""

import gzip
import importlib
import io
import tracemalloc
import zipfile
from random import Random

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.instances import unpacked
from schedgap.instances.documents import Stored
from schedgap.instances.errors import InstanceError, SchedgapError
from schedgap.instances.family import FAMILIES
from schedgap.instances.waiting.readers import lsf_csv, swf

MAKERS = {
    "provisioning": ("table3", {}),
    "fairness": ("alice-bob", {}),
    "sharing": ("micro", {}),
    "waiting": ("mms", {"jobs": 6}),
    "reconfiguration": ("eva-synthetic", {"jobs": 6}),
    "harvest": ("quick", {}),
}
LINE = b"1 0 7 9 1 5.5 -1 -1 900 -1 1 1 1 1 -1 -1 -1 -1\n"


@pytest.fixture(params=sorted(MAKERS))
def family(request):
    load_families()
    return FAMILIES[request.param]


@pytest.fixture
def written(family, tmp_path, monkeypatch):
    """Write a tiny instance, with all of its arrays beside it or with none: `written(beside=True)`."""

    def write(*, beside):
        module = importlib.import_module(f"schedgap.instances.{family.name}.files")
        for part in module.INSTANCE.parts:
            if isinstance(part, Stored):
                monkeypatch.setattr(part, "inline", 0 if beside else 10**9)
        generator, parameters = MAKERS[family.name]
        family.write_instance(family.generators[generator](**parameters), tmp_path / "i.json")
        return tmp_path / "i.json"

    return write


def damaged_arrays(content, random, mutation):
    """Return an `.npz` file of which one array says or holds something else."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(list(members))
    member, values = members[name], np.load(io.BytesIO(members[name]))
    match random.choice(("claim", "header", "bytes", "kind", "shape", "value", "none")):
        case "claim":
            claim = random.choice((b"'shape': (10000000000,", b"'shape': (-1,", b"'shape': (1,"))
            members[name] = member.replace(b"'shape': (", claim)
        case "header":
            members[name] = member[:10] + mutation.damaged_bytes(member[10:128], random) + member[128:]
        case "bytes":
            members[name] = mutation.damaged_bytes(member, random)
        case "kind":
            members[name] = saved(
                np.zeros(values.shape, random.choice(("f8", "i1", ">i8", "u8", "O", "S3", "M8[s]", "U2")))
            )
        case "shape":
            members[name] = saved(
                random.choice((values[:0], values[:-1], values[None], np.concatenate([values, values])))
            )
        case "value" if values.dtype.kind == "i" and values.size:
            values = values.astype(np.int64)
            values.flat[random.randrange(values.size)] = random.choice((-1, 2**62, -(2**63), 2**63 - 1))
            members[name] = saved(values)
        case _:
            del members[name]
    made = io.BytesIO()
    with zipfile.ZipFile(
        made, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    ) as archive:
        for key, value in members.items():
            archive.writestr(key, value)
    return made.getvalue()


def saved(values):
    made = io.BytesIO()
    np.save(made, values, allow_pickle=True)
    return made.getvalue()


@pytest.mark.parametrize("beside", [True, False])
def test_damaged_instances(family, written, mutation, beside):
    path = written(beside=beside)
    target = next(path.parent.glob("*.npz")) if beside else path
    content = target.read_bytes()
    refused = 0
    for number in range(40):
        random = Random(f"{family.name} {beside} {number}")
        if random.random() < 0.3:
            target.write_bytes(mutation.damaged_bytes(content, random))
        else:
            make = damaged_arrays(content, random, mutation) if beside else mutation.damaged_json(content, random)
            target.write_bytes(make)
        try:
            assert family.read_instance(path).digest
        except SchedgapError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(("read", "name"), [(swf, "log.swf.gz"), (lsf_csv, "log.csv.gz")])
def test_a_small_log_that_unpacks_to_very_much(tmp_path, monkeypatch, read, name):
    """One line again and again, a hundredth of it packed: refused, and never all in memory. Here from 1 MiB on."""
    monkeypatch.setattr(unpacked, "MOST_UNPACKED", 2**20)
    head = "submit_time,runtime,num_cores,total_MB_req\n" if read is lsf_csv else ""
    content = gzip.compress(head.encode() + (b"1,2,3,4\n" if head else LINE) * 300_000)
    (tmp_path / name).write_bytes(content)
    most = max(2**20, 50 * len(content))
    with pytest.raises(InstanceError, match=f"it unpacks to more than {most} bytes, as no log of its size does"):
        read(tmp_path / name)


def test_a_file_is_unpacked_bit_by_bit(tmp_path):
    (tmp_path / "log.gz").write_bytes(gzip.compress(LINE * 200_000))
    tracemalloc.start()
    with unpacked.unpacked(tmp_path / "log.gz") as file:
        assert sum(len(line) for line in file) == 200_000 * len(LINE)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200_000 * len(LINE) / 10


def test_damaged_logs(tmp_path, mutation):
    content = b"; Version: 2.2\n" + b"".join(b"%d %d" % (n, n) + LINE[3:] for n in range(20))
    refused = 0
    for number in range(120):
        random = Random(number)
        damaged = mutation.damaged_bytes(content, random)
        packed = random.choice(
            (damaged, gzip.compress(damaged), mutation.damaged_bytes(gzip.compress(content), random))
        )
        (tmp_path / "log.swf").write_bytes(packed)
        try:
            swf(tmp_path / "log.swf")
        except InstanceError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 40


def test_a_line_as_long_as_the_file(tmp_path):
    (tmp_path / "log.swf").write_bytes(LINE + b"1" * 10**6)
    with pytest.raises(InstanceError, match=r"log\.swf line 2: 1000000 bytes long"):
        swf(tmp_path / "log.swf")
