"""Files of every reader that something has damaged: what they say, or one sentence; no traceback, no reading without end.

`SCHEDGAP_MUTATIONS=250` damages each file that often: 7,000 files or so.
"""

import io
import json
import os
import tomllib
import zipfile
from random import Random

import numpy as np
import pytest

from schedgap.bench.certify.problem import SCHEMA as CERTIFICATE
from schedgap.bench.certify.problem import read_certificate, read_problem
from schedgap.bench.certify.proof import check
from schedgap.bench.cli.runs import runs as list_runs
from schedgap.bench.plugins.discover import load_families, methods_of
from schedgap.bench.programs.exchange import outcome_of
from schedgap.bench.programs.program import ProgramFailure
from schedgap.bench.report.history_page import write_history
from schedgap.bench.statistics.history import append_entry, entry_of, read_history
from schedgap.bench.suites.merge import merge
from schedgap.bench.suites.results import Results, write_plan
from schedgap.bench.suites.source import Source
from schedgap.bench.suites.suite import Suite, read_suite
from schedgap.instances.errors import SchedgapError
from schedgap.instances.family import FAMILIES
from schedgap.instances.provisioning import ProvisioningInstance, table3, write_instance, write_solution
from schedgap.instances.provisioning.solution import Provisioning

NUMBER = int(os.environ.get("SCHEDGAP_MUTATIONS", "12"))
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,11900,16384,1,1000,,LS,Running,0,100,10
p1,6000,12289,1,460,T4|P100,LS,Failed,5,50,5
p2,8000,16384,0,0,,BE,Pending,7,90,
"""
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\nn1,96000,786432,8,T4\n"
SACCT = """JobID|State|Submit|Start|ElapsedRaw|AllocCPUS|NNodes|ReqMem
1|TIMEOUT|2024-01-01T00:00:00|2024-01-01T00:01:00|60|2|1|4G
2|COMPLETED|2024-01-02T00:00:00|2024-01-02T00:01:00|600|1|2|4000M
"""
SWF = "; Version: 2.2\n" + "".join(f"{n} {n} 7 9 1 5.5 -1 -1 900 -1 1 1 1 1 -1 -1 -1 -1\n" for n in range(9))
MACHINES = "name,price,cpu,ram_gib,gpu,family,count\nsmall,0.1,4,8,0,a,\nbig,0.4,16,60,1,b,3\n"
EVA = "job,workload,arrival_seconds,duration_seconds,gpu,cpu,ram_gib\n1,openfoam,0,3600,0,4,8\n2,gcn,60,900,0,6,40\n"
SPOT = json.dumps({"metadata": {"gap_seconds": 3600}, "data": [3, 0, 2, 5, 5, 1]})
LSF = "submit_time,runtime,num_cores,total_MB_req\n0,60,1,100\n9,600.5,2,2000\n"
KWOK = [
    {"name": "a", "architecture": "amd64", "operatingSystems": ["linux"], "resources": {"cpu": "4", "memory": "8Gi"}}
]
KWOK[0]["offerings"] = [{"capacityType": "on-demand", "zone": "z", "price": 2}]
NODE = {"kind": "Node", "metadata": {"name": "n", "labels": {"node.kubernetes.io/instance-type": "a"}}}
NODE["status"] = {"capacity": {"cpu": "4", "memory": "8Gi"}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}
POD = {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "status": {"phase": "Running"}}
POD["spec"] = {"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
CLUSTER = json.dumps({"kind": "List", "items": [NODE, POD]})
STARTED = POD | {"status": {"phase": "Running", "startTime": "2026-01-01T01:00:00Z"}}
AUDIT = json.dumps(
    {
        "kind": "EventList",
        "apiVersion": "audit.k8s.io/v1",
        "items": [
            {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": verb}
            | {"stageTimestamp": f"2026-01-01T0{hour}:00:00.000000Z", "responseStatus": {"code": 201}}
            | {"objectRef": {"resource": what, "name": each["metadata"]["name"], "namespace": "d"}}
            | {"responseObject": each}
            for hour, verb, what, each in (
                (0, "create", "nodes", NODE),
                (1, "create", "pods", STARTED),
                (3, "delete", "pods", STARTED),
                (4, "delete", "nodes", NODE),
            )
        ],
    }
)
ON_NODES = "name,count,cpu,memory_gib,gpus,models,node,gang,movable\na,1,4,8,0.5,,n-0,,no\nb,2,4,8,1,T4,,g,\n"


def snapshot():
    """Return KAI's archive of the cluster, packed, so that a changed byte is one of the archive's."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("snapshot.json", json.dumps({"rawObjects": {"pods": [POD], "nodes": [NODE]}}))
    return packed.getvalue()


AZURE = {
    "flav_map.txt": "1,1.75 b\n4,7 k\n",
    "v1.interval_map.txt": "0 0\n300 1\n600 2\n3900 3\n7200 3\n",
    "v1.test.txt": "300 b,|,k,b,|\n600 b,b,b,|\n",
    "v1.test.c900.txt": "300 U0,|,U1,C2,|\n600 U3,U3,C0,|\n",
}
# Format: what its file holds. Others are read beside it.
IMPORTS: dict[str, str | bytes] = {
    "provisioning/alibaba-gpu-v2023": PODS,
    "provisioning/kubernetes": CLUSTER,
    "provisioning/vbp": "2\n10 20\n2\n6 3 1\n1 1 2\n",
    "provisioning/bpplib": "3\n10\n6\n3\n1\n",
    "provisioning/bpplib-csp": "3\n10\n6 2\n4 1\n1 1\n",
    "provisioning/mvp": "2\n2\n10 10 3 -1\n20 30 5 2\n2\n1 1\n6 3\n1 2\n11 30\n",
    "provisioning/orlib": "2\n u4_00\n10 4 2\n6\n4\n6\n1\n t3_00\n 100.0 3 1\n49.5\n25.1\n25.4\n",
    "fairness/openb-constraints": PODS,
    "placement/csv": "name,cpu,memory_gib,gpus,model,count\nn,16,64,2,T4,2\nm,8,32,,,\n",
    "placement/kai-snapshot": snapshot(),
    "placement/kubernetes": CLUSTER,
    "placement/openb": PODS,
    "harvest/spot-traces": SPOT,
    "reconfiguration/openb": PODS,
    "reconfiguration/eva-csv": EVA,
    "reconfiguration/kubernetes": AUDIT,
    "reconfiguration/slurm": SACCT,
    "waiting/swf": SWF,
    "waiting/lsf-csv": LSF,
    "waiting/slurm": SACCT,
}
GIVEN = {
    "provisioning/kubernetes": {"catalogue": "prices.json"},
    "harvest/spot-traces": {"history_h": 1.0},
    "reconfiguration/kubernetes": {"catalogue": "prices.json"},
    "reconfiguration/slurm": {"machines": "machines.csv"},
}
LEAF = {"scale": 1, "prices": [1_000_000, 0, 0]}
SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "Little"
question = "?"
family = "provisioning"
headline = "gap"
methods = ["no-packing", "patterns[backend=highs]"]
repetitions = 2
[limits]
time_limit_s = 1.5
memory_mib = 512
[[instances]]
group = "g"
generator = "table7"
parameters = { tasks = 6, cpu = "physical" }
seeds = [0, 3]
[[instances]]
importer = "bpplib"
file = "x.txt"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    load_families()
    monkeypatch.chdir(tmp_path)
    for name, text in {"prices.json": json.dumps(KWOK), "machines.csv": MACHINES, **AZURE}.items():
        (tmp_path / name).write_text(text)
    for kind in ("all", "gpu"):
        (tmp_path / f"openb_node_list_{kind}_node.csv").write_text(NODES)
    (tmp_path / "pods.csv").write_text(ON_NODES)
    return tmp_path


def refusals(path, content, read, mutation, number=NUMBER, *, json_lines=False):
    """Read damaged files; return how many are refused. Nothing else may go wrong."""
    refused = 0
    content = content.encode() if isinstance(content, str) else content
    is_json = json_lines or content.lstrip()[:1] in (b"{", b"[")
    for seed in range(number):
        random = Random(f"{path.name} {seed}")
        if not is_json or random.random() < 0.25:
            damaged = mutation.damaged_bytes(content, random)
        elif json_lines:
            lines = content.splitlines()
            chosen = random.randrange(len(lines))
            lines[chosen] = mutation.damaged_json(lines[chosen], random)
            damaged = b"\n".join(lines) + b"\n"
        else:
            damaged = mutation.damaged_json(content, random)
        path.write_bytes(damaged)
        try:
            read(path)
        except (SchedgapError, ProgramFailure) as error:
            assert str(error).isprintable()
            assert len(str(error)) < 2000
            refused += 1
    return refused


def test_every_format_is_here():
    formats = {f"{family.name}/{name}" for family in FAMILIES.values() for name in family.importers}
    assert formats - set(IMPORTS) == {"provisioning/csv", "harvest/azure-v1"}


@pytest.mark.parametrize("name", IMPORTS)
def test_imports(folder, mutation, name):
    family, _, importer = name.partition("/")

    def read(path):
        source = Source(family, "importer", importer, path, GIVEN.get(name, {}))
        assert source.build().digest

    content = IMPORTS[name]
    (folder / "whole").write_bytes(content.encode() if isinstance(content, str) else content)
    read(folder / "whole")
    assert refusals(folder / f"{importer}.x", IMPORTS[name], read, mutation) > NUMBER // 8
    for table in {"machines.csv", "prices.json"} & set(GIVEN.get(name, {}).values()):
        refusals(folder / table, (folder / table).read_bytes(), lambda _: read(folder / "whole"), mutation)


@pytest.mark.parametrize("name", ["machines", "tasks", "running"])
def test_tables(folder, mutation, name):
    texts = {
        "machines": "name,cpu,ram_gib,price\nsmall,4,8,0.1\nbig,16,60,0.4\n",
        "tasks": "name,count,cpu,ram_gib,machine\nx,2,1,1.5,n1\ny,3,0.25,0.25,\n",
        "running": "name,type\nn1,big\n",
    }
    for table, text in texts.items():
        (folder / table).write_text(text)
    source = Source("provisioning", "importer", "csv", None, {key: str(folder / key) for key in texts})
    assert source.build().digest
    assert refusals(folder / name, texts[name], lambda _: source.build(), mutation) > 0


def test_tables_of_nodes(folder, mutation):
    (folder / "nodes.csv").write_text(IMPORTS["placement/csv"])
    source = Source("placement", "importer", "csv", folder / "nodes.csv")
    assert source.build().num_pods == 3
    assert refusals(folder / "pods.csv", ON_NODES, lambda _: source.build(), mutation) > NUMBER // 4


@pytest.mark.parametrize("name", AZURE)
def test_folders_of_traces(folder, mutation, name):
    given = {"vms": 2, "servers": 20, "days": 0.5, "jobs": 2, "tasks": "2"}
    source = Source("harvest", "importer", "azure-v1", folder, given)
    assert source.build().digest
    assert refusals(folder / name, AZURE[name], lambda _: source.build(), mutation) > NUMBER // 8


def test_suites(folder, mutation):
    (folder / "x.txt").write_text(IMPORTS["provisioning/bpplib"])
    (folder / "whole.toml").write_text(SUITE)
    assert read_suite(folder / "whole.toml")[0].name == "little"
    assert refusals(folder / "suite.toml", SUITE, read_suite, mutation) > NUMBER // 4
    # As documents that are well-formed TOML.
    document = json.dumps(tomllib.loads(SUITE)).encode()
    for seed in range(NUMBER):
        try:
            Suite.model_validate(json.loads(mutation.damaged_json(document, Random(seed))))
        except (ValueError, RecursionError):
            continue


def test_certificates(folder, mutation):
    instance = table3()
    write_instance(instance, folder / "i.json")
    given = {"schema": CERTIFICATE, "instance": "table3", "digest": instance.digest, "bound": 1, "proof": LEAF}
    problem = read_problem(folder / "i.json")

    def read(path):
        check(problem, read_certificate(path))

    assert refusals(folder / "c.json", json.dumps(given), read, mutation) > NUMBER // 8


@pytest.mark.parametrize("name", ["i.json", "i.vbp", "i.txt"])
def test_instances_as_certificates_see_them(folder, mutation, name):
    write_instance(table3(), folder / "i.json")
    (folder / "c.json").write_text(json.dumps({"schema": CERTIFICATE, "instance": "table3", "bound": 1, "proof": LEAF}))
    given = read_certificate(folder / "c.json")
    texts = {"i.vbp": IMPORTS["provisioning/vbp"], "i.txt": IMPORTS["provisioning/bpplib"]}
    content = texts.get(name) or (folder / name).read_text()
    assert refusals(folder / name, content, lambda path: check(read_problem(path), given), mutation) > NUMBER // 8


def solution_of(instance: ProvisioningInstance) -> Provisioning:
    assert instance.reservation_type is not None
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def test_solutions_and_answers(folder, mutation):
    instance, family = table3(), FAMILIES["provisioning"]
    write_solution(instance, solution_of(instance), folder / "s.json")
    content = (folder / "s.json").read_bytes()

    def read(path):
        family.verify(instance, family.read_solution(instance, path))

    assert refusals(folder / "s.json", content, read, mutation) > NUMBER // 4
    answer = {"schema": "schedgap/answer/1", "solution": json.loads(content), "bound": 12.8, "status": "optimal"}

    def told(path):
        outcome_of(path.read_bytes(), family, instance)

    assert refusals(folder / "a.json", json.dumps(answer), told, mutation) > NUMBER // 4


def test_histories(folder, mutation, make_record):
    records = [make_record("a", name, objective=10, bound=10, wall_s=1.0) for name in ("i", "j")]
    suite = Suite.model_validate({**tomllib.loads(SUITE), "instances": [{"generator": "table7"}]})
    for commit in ("1", "2", "3"):
        results = Results(folder, suite, (), tuple(records), 2, {})
        append_entry(folder / "h.jsonl", entry_of(results, commit=commit, date=f"2030-01-0{commit}"))
    content = (folder / "h.jsonl").read_bytes()

    def read(path):
        entries, damaged = read_history(path)
        write_history(entries, folder / "page.html", damaged=damaged, force=True)

    refusals(folder / "h.jsonl", content, read, mutation, min(NUMBER, 100), json_lines=True)


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json", "pictures.jsonl", "hosts/host.json"])
def test_runs_and_merge(folder, mutation, make_record, name):
    """What `report` and `compare` read is damaged in `records/test_damaged.py`."""
    records = [make_record("a", "i", objective=5, bound=3), make_record("b", "i", objective=6)]
    there = folder / "runs" / "x"
    (there / "hosts").mkdir(parents=True)
    (there / "journal.jsonl").write_text("".join(json.dumps(each.to_row()) + "\n" for each in records))
    write_plan(there, read_suite("smoke")[0], ["schedgap"], [each.key for each in records])
    (there / "hosts" / "host.json").write_text(
        '{"schema": "schedgap/host/1", "name": "n", "packages": {"schedgap": "2"}, "commit": "a", "python": "3.11.2"}'
    )
    (there / "pictures.jsonl").write_text(
        "".join(f'{{"key":"{each.key}","axes":["cpu"],"bars":[],"left_out":0}}\n' for each in records)
    )

    def read(_):
        list_runs(folder / "runs", as_json=True)
        number = len(list(folder.glob("merged-*")))
        merge([there], folder / f"merged-{number}")

    content = (there / name).read_bytes()
    read(None)
    refusals(there / name, content, read, mutation, json_lines=name.endswith("l"))


def test_descriptions_of_plug_ins(folder, mutation):
    """Which a plug-in's process sends, and may forge."""
    method = {
        "name": "m",
        "family": "sharing",
        "version": 1,
        "parameters": {"x": 1},
        "stochastic": False,
        "bounds": True,
    }
    method |= {"exact": False, "summary": "s", "choices": {}, "wants": [], "module": "m", "file": None, "plugin": "p"}
    content = json.dumps({"methods": [method]})
    assert len(methods_of(content.encode())) == 1
    assert refusals(folder / "d.json", content, lambda path: methods_of(path.read_bytes()), mutation) > NUMBER // 8
