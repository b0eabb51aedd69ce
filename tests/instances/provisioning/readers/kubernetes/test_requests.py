"""What a pod asks for."""

import json

import msgspec
import pytest

from schedgap.instances.provisioning.readers.kubernetes.objects import Pod
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import pod_request

MIB = 2**20


@pytest.fixture
def request_of(k8s):
    def request_of(*containers, status=(), **spec):
        document = k8s.pod("p", "a", containers=containers, status=status, **spec)
        return pod_request(msgspec.json.decode(json.dumps(document), type=Pod))

    return request_of


def initial(name, resources, **more):
    return {"name": name, "resources": resources, **more}


def test_containers_add_up_and_thousandths_are_rounded_once(request_of, k8s):
    """0.0004 + 0.0004 CPU are 0.8 thousandths."""
    two = k8s.requests("400u", "0.4")
    assert request_of(two, two) == {"cpu": 1, "ram_bytes": 1, "pods": 1000}
    assert request_of({}) == {"pods": 1000}


@pytest.mark.parametrize(
    ("order", "cpu"),
    [("is", 1000 + 300), ("si", 1000 + 300), ("sI", 2000 + 300), ("Is", 2000), ("sIs", 2000 + 300), ("ss", 500 + 600)],
)
def test_initial_containers_run_beside_the_sidecars_before_them(request_of, k8s, order, cpu):
    """500m beside sidecars of 300m; i asks 1 CPU, I 2 CPU."""
    kinds = {
        "i": initial("i", k8s.requests("1")),
        "I": initial("I", k8s.requests("2")),
        "s": initial("s", k8s.requests("300m"), restartPolicy="Always"),
    }
    expected = max(cpu, 500 + 300 * order.count("s"))
    if order == "is":
        expected = 1000
    assert request_of(k8s.requests("500m"), initContainers=[kinds[each] for each in order])["cpu"] == expected


def test_requests_of_the_pod_itself_and_overhead(request_of, k8s):
    """They replace what the containers ask, for the resources that they name."""
    spec = {"resources": k8s.requests("3"), "overhead": {"cpu": "250m", "memory": "1Mi"}}
    assert request_of(k8s.requests("1", "2Mi"), **spec) == {"cpu": 3250, "ram_bytes": 3 * MIB, "pods": 1000}


@pytest.mark.parametrize(
    ("has", "reason", "cpu"), [("2", None, 2000), ("500m", None, 1000), ("500m", "Infeasible", 500)]
)
def test_a_resize_on_its_way(request_of, k8s, has, reason, cpu):
    """The larger of what a container has and shall have; where it cannot be done, what it has."""
    resized = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    for key in ("resources", "allocatedResources"):
        value = k8s.requests(has) if key == "resources" else {"cpu": has}
        status = {"conditions": resized, "containerStatuses": [{"name": "main", key: value}]}
        assert request_of(k8s.requests("1"), status=status)["cpu"] == cpu


@pytest.mark.parametrize(("resize", "cpu"), [("Infeasible", 500), ("Deferred", 1000), ("", 1000)])
def test_a_resize_that_cannot_be_done_as_a_field_says_it(request_of, k8s, resize, cpu):
    """Up to Kubernetes 1.32: `status.resize`."""
    has = {"name": "main", "resources": k8s.requests("500m"), "allocatedResources": {"cpu": "500m"}}
    assert request_of(k8s.requests("1"), status={"resize": resize, "containerStatuses": [has]})["cpu"] == cpu
