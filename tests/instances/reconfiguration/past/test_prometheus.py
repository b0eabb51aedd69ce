"""Answers of Prometheus: what they say of pods and nodes, whatever they are cut into, and what is refused."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import decode
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import pod_request
from schedgap.instances.reconfiguration.past.prometheus import escaped, read_prometheus, snake_case

ANSWERS = sorted((Path(__file__).parent / "prometheus").iterdir())
BEGIN = 1_772_323_200


@pytest.fixture(scope="module")
def past():
    return read_prometheus(ANSWERS)


def answered(folder, name, **changes):
    """The files, one of which says something else, or is away."""
    paths = []
    for path in ANSWERS:
        document = json.loads(path.read_text())
        if path.stem == name and not changes:
            continue
        paths.append(folder / path.name)
        paths[-1].write_text(json.dumps(document | (changes if path.stem == name else {})))
    return paths


def test_when_pods_ran(past):
    """From the start that is told, until the last sample or until all containers had ended, whoever answered."""
    spans = {each.name: (each.node, each.first_s - BEGIN, each.last_s - BEGIN) for each in past.pods}
    assert spans == {
        "shop/web-7d4b9c6f5-x2x4z": ("node-a", -86400, 2400),
        "shop/db-0": ("node-a", 421, 3600),
        "ml/train-29-q8r7t": ("gpu-1", 634, 1377),
        "logging/fluent-bit-k2m4n": ("node-a", -172800, 3600),
    }


def test_when_nodes_were_there(past):
    """One whose name came back is another one."""
    spans = [(each.name, each.first_s - BEGIN, each.last_s - BEGIN) for each in past.nodes]
    assert spans == [("gpu-1", 540, 1500), ("gpu-1@2", 2610, 3600), ("node-a", -172900, 3600)]
    assert past.looks == tuple(range(BEGIN, BEGIN + 3601, 300))
    assert (past.start_s, past.end_s) == (past.looks[0], past.looks[-1])


def test_what_pods_ask_for(past):
    pods = {each.name: each.pod for each in past.pods}
    asked = {name: pod_request(pod) for name, pod in pods.items()}
    assert asked["shop/web-7d4b9c6f5-x2x4z"] == {"cpu": 350, "ram_bytes": 2**29, "pods": 1000}
    assert asked["shop/db-0"] == {"cpu": 1000, "ram_bytes": 2**32, "ephemeral_bytes": 2**31, "pods": 1000}
    assert asked["ml/train-29-q8r7t"] == {"cpu": 4000, "nvidia.com/gpu": 1000, "pods": 1000}
    assert [(each.kind, each.name) for each in pods["logging/fluent-bit-k2m4n"].metadata.owner_references] == [
        ("DaemonSet", "fluent-bit")
    ]
    tolerated = decode(pods["ml/train-29-q8r7t"].spec.tolerations, list[dict[str, str]])
    assert tolerated == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert decode(pods["shop/db-0"].spec.tolerations, list[dict[str, str]]) == []


def test_what_nodes_are(past):
    node = next(each.node for each in past.nodes if each.name == "gpu-1")
    labels = decode(node.metadata.labels, dict[str, str])
    assert labels["node.kubernetes.io/instance-type"] == "g4dn.2xlarge"
    assert labels["eks.amazonaws.com/capacityType"] == "SPOT"
    assert node.status.allocatable["nvidia.com/gpu"] == "1"
    assert [taint.key for taint in node.spec.taints] == ["nvidia.com/gpu"]


def test_names_as_kube_state_metrics_shows_them():
    """Its own functions, SanitizeLabelName and toSnakeCase: labels are lower case, resources keep theirs."""
    assert snake_case("eks.amazonaws.com/capacityType") == "eks_amazonaws_com_capacity_type"
    assert snake_case("node.kubernetes.io/instance-type") == "node_kubernetes_io_instance_type"
    assert escaped("hugepages-2Mi") == "hugepages_2Mi"


def test_zipped_and_indented_answers_say_the_same(past, tmp_path):
    for path in ANSWERS:
        text = json.dumps(json.loads(path.read_text()), indent=2).encode()
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(text))
    again = read_prometheus(sorted(tmp_path.iterdir(), reverse=True))
    assert [(each.name, each.first_s, each.last_s) for each in again.pods] == [
        (each.name, each.first_s, each.last_s) for each in past.pods
    ]
    assert (again.looks, again.sentences) == (past.looks, past.sentences)


def test_without_tolerations_all_is_tolerated(past, tmp_path):
    """A bound may not rise because something is not known."""
    history = read_prometheus(answered(tmp_path, "tolerations"))
    assert all(bytes(each.pod.spec.tolerations) == b'[{"operator":"Exists"}]' for each in history.pods)
    assert any("tolerations, since there is no answer to kube_pod_tolerations" in each for each in history.sentences)
    assert not any("kube_pod_tolerations" in each for each in past.sentences)


def test_gaps_are_told(past):
    """One pod has no sample at 2,700 s, between others; one never ran."""
    assert any(each.startswith("1 pods have moments without a sample") for each in past.sentences)
    assert any(each.startswith("Left out: 1 pods that never ran") for each in past.sentences)


ERROR = {"status": "error", "errorType": "bad_data", "error": "exceeded maximum resolution of 11,000 points"}
NAMELESS = {"resultType": "matrix", "result": [{"metric": {"pod": "a"}, "values": [[BEGIN, "1"]]}]}
ZERO = {"resultType": "matrix", "result": [{"metric": {"__name__": "kube_pod_status_phase", "phase": "Running"}}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            ERROR,
            "info.json: Prometheus answered error: exceeded maximum resolution of 11,000 points; correct the query",
        ),
        ({"data": {"resultType": "vector", "result": []}}, "info.json: its resultType is 'vector', not matrix"),
        ({"status": 3}, "info.json: no answer of Prometheus"),
        ({"data": NAMELESS}, "info.json series 0: it has no __name__, .* query without sums"),
        (
            {"data": {"resultType": "matrix", "result": []}},
            r"no series of kube_pod_info in .* last_over_time\(kube_pod_info",
        ),
        ({"data": ZERO}, "info.json series 0: "),
        ({}, r"no series of kube_pod_info in .*; add the answer to the query last_over_time\(kube_pod_info\[1h\]\)"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, changes, message):
    with pytest.raises(InstanceError, match=message):
        read_prometheus(answered(tmp_path, "info", **changes))


def test_phases_that_are_not_have_samples_of_zero(tmp_path):
    paths = answered(tmp_path, "none")
    document = json.loads((tmp_path / "phase-1.json").read_text())
    document["data"]["result"][0]["values"][0][1] = "0"
    (tmp_path / "phase-1.json").write_text(json.dumps(document))
    with pytest.raises(InstanceError, match=r'query kube_pod_status_phase\{phase="Running"\} == 1'):
        read_prometheus(paths)


def test_cut_off_files_are_refused(tmp_path):
    for path in ANSWERS:
        shutil.copy(path, tmp_path)
    cut = tmp_path / "info.json"
    cut.write_text(cut.read_text()[:300])
    with pytest.raises(InstanceError, match=r"info.json: no answer of Prometheus \(Input data was truncated\)"):
        read_prometheus(sorted(tmp_path.iterdir()))
