"""Logs: what they tell of births and ends, with and without looks at the cluster; never more time than there was."""

import gzip
import json

import pytest
from weeks import write_audit_log, write_event_log, write_prometheus

from schedgap.instances import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import Node, Pod, decode
from schedgap.instances.reconfiguration.past.events import read_logs
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife
from schedgap.instances.reconfiguration.past.prometheus import read_prometheus
from schedgap.instances.reconfiguration.weeks import simulate

BEGIN = 1_772_323_200


def at(second):
    return f"2026-03-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.250000Z"


def pod(name, node="", **status):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]} | (
        {"nodeName": node} if node else {}
    )
    meta = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def node(name, born):
    meta = {"name": name, "creationTimestamp": at(born).replace(".250000", "")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}},
    }


def call(second, verb, resource, name="", part="", code=200, stage="ResponseComplete", **bodies):
    reference = {"resource": resource, "namespace": "shop"} if resource == "pods" else {"resource": resource}
    reference |= ({"name": name} if name else {}) | ({"subresource": part} if part else {})
    head = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": stage, "verb": verb, "objectRef": reference}
    return head | {"responseStatus": {"code": code}, "stageTimestamp": at(second)} | bodies


def bind(second, name, to):
    target = {"kind": "Binding", "target": {"kind": "Node", "name": to}}
    return call(second, "create", "pods", name, "binding", 201, requestObject=target)


ENDED = [{"state": {"terminated": {"finishedAt": "2026-03-01T00:15:00Z"}}}]
AUDIT = [
    call(60, "create", "nodes", responseObject=node("n", 58)),
    call(100, "create", "pods", stage="RequestReceived", responseObject=pod("never")),
    call(100, "create", "pods", code=409, responseObject=pod("refused")),
    # The API server makes up the name.
    call(100, "create", "pods", code=201, responseObject=pod("web-a")),
    bind(110, "web-a", "n"),
    call(112, "patch", "pods", "web-a", "status", responseObject=pod("web-a", "n", startTime="2026-03-01T00:01:52Z")),
    call(120, "create", "pods", code=201, responseObject=pod("job-b")),
    bind(121, "job-b", "n"),
    call(
        905, "patch", "pods", "job-b", "status", responseObject=pod("job-b", phase="Succeeded", containerStatuses=ENDED)
    ),
    call(1500, "delete", "pods", "job-b"),
    call(1000, "create", "pods", code=201, responseObject=pod("web-c")),
    bind(1001, "web-c", "n"),
    call(1300, "create", "pods", code=201, responseObject=pod("web-d")),
    # Asked to go, and gone half a minute later; then one of the same name.
    call(2000, "delete", "pods", "web-a"),
    call(2030, "delete", "pods", "web-a"),
    call(2100, "create", "pods", code=201, responseObject=pod("web-a")),
    bind(2110, "web-a", "n"),
    call(2500, "create", "pods", "web-c", "eviction", 201),
    call(3000, "delete", "nodes", "n"),
    call(3100, "create", "nodes", responseObject=node("n", 3099)),
    call(3600, "get", "pods", "web-a"),
    call(3600, "patch", "nodes", "n", "status", responseObject=node("n", 3099)),
]


def written(path, records):
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def spans(history):
    return [(each.name, each.node, each.first_s - BEGIN, each.last_s - BEGIN) for each in history.pods]


def test_an_audit_log(tmp_path):
    """Births up, ends down to whole seconds. What was asked to go counts no longer; a node takes its pods along."""
    history = read_logs([written(tmp_path / "audit.log", AUDIT)])
    assert spans(history) == [
        ("shop/job-b", "n", 122, 900),
        ("shop/web-a", "n", 111, 2000),
        ("shop/web-a", "n", 2111, 3000),
        ("shop/web-c", "n", 1002, 2500),
    ]
    assert [(each.name, each.first_s - BEGIN, each.last_s - BEGIN) for each in history.nodes] == [
        ("n", 58, 3000),
        ("n@2", 3099, 3600),
    ]
    assert (history.start_s - BEGIN, history.end_s - BEGIN, history.looks) == (61, 3600, ())
    assert any(each.startswith("1 pods have no end in the log") for each in history.sentences)
    assert any(each.startswith("1 pods are left out: they never ran") for each in history.sentences)
    assert any("neither came nor went" in each for each in history.sentences)


def test_in_any_order_zipped_and_in_parts(tmp_path):
    first = written(tmp_path / "1.log", AUDIT[11:])
    rest = tmp_path / "0.log.gz"
    rest.write_bytes(gzip.compress(json.dumps({"kind": "EventList", "items": AUDIT[:11]}, indent=1).encode()))
    assert spans(read_logs([first, rest])) == spans(read_logs([written(tmp_path / "all", AUDIT)]))


def test_all_pods_of_a_namespace_deleted_at_once(tmp_path):
    records = [each for each in AUDIT if each["verb"] != "delete" or each["objectRef"]["resource"] != "pods"]
    records.append(call(1200, "deletecollection", "pods"))
    history = read_logs([written(tmp_path / "audit.log", records)])
    assert max(each.last_s for each in history.pods) - BEGIN <= 3000
    assert ("shop/web-a", "n", 111, 1200) in spans(history)


def event(second, kind, name, reason, message="", **more):
    about = {"kind": kind, "name": name} | ({"namespace": "shop"} if kind == "Pod" else {})
    head = {"apiVersion": "v1", "kind": "Event", "involvedObject": about, "reason": reason, "message": message}
    return head | {"lastTimestamp": at(second), "metadata": {"name": "e"}} | more


EVENTS = [
    event(10, "Node", "n", "RegisteredNode"),
    event(100, "Pod", "web-a", "Scheduled", "Successfully assigned shop/web-a to n"),
    event(
        200, "Pod", "web-b", "Scheduled", "Successfully assigned shop/web-b to n", lastTimestamp=None, eventTime=at(205)
    ),
    event(300, "Pod", "web-b", "Killing", "Container c failed liveness probe, will be restarted"),
    event(302, "Pod", "web-b", "Started", source={"host": "n"}),
    event(900, "Pod", "web-b", "Killing", "Stopping container c"),
    event(1000, "Pod", "web-a", "Pulled"),
    event(1100, "Pod", "web-z", "FailedScheduling"),
    event(2000, "Node", "n", "RemovingNode"),
]


def seen():
    """A look at the cluster: one node, one pod."""
    looked = History([], [], BEGIN, BEGIN, (BEGIN,))
    looked.nodes.append(NodeLife("n", decode(json.dumps(node("n", 5)).encode(), Node), BEGIN + 5, BEGIN + 5))
    looked.pods.append(
        PodLife("shop/web-x", decode(json.dumps(pod("web-x", "n")).encode(), Pod), "n", BEGIN + 6, BEGIN + 7)
    )
    return looked


@pytest.mark.parametrize("as_lines", [True, False])
def test_events(tmp_path, as_lines):
    """A container that was restarted goes on. What has no end counts until what last tells of it; sizes are those of its kin."""
    path = tmp_path / "events.json"
    if as_lines:
        written(path, EVENTS)
    else:
        path.write_text(json.dumps({"kind": "List", "items": EVENTS}, indent=4))
    history = read_logs([path], seen())
    assert spans(history) == [
        ("shop/web-a", "n", 101, 1000),
        ("shop/web-b", "n", 206, 900),
        ("shop/web-x", "n", 6, 7),
    ]
    assert all(each.pod.spec.containers[0].resources.requests == {"cpu": "1"} for each in history.pods)
    assert [(each.first_s - BEGIN, each.last_s - BEGIN) for each in history.nodes] == [(5, 2000)]
    assert any(
        each.startswith("2 pods have no end in the log, which has none of completed ones") for each in history.sentences
    )


def test_pods_of_which_nothing_says_what_they_ask_for(tmp_path):
    other = event(100, "Pod", "else-a", "Scheduled", "Successfully assigned shop/else-a to n")
    history = read_logs([written(tmp_path / "events.json", [*EVENTS, other])], seen())
    assert "Left out: 1 pods of which nothing says what they ask for: shop/else-a." in history.sentences


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [json.dumps(each) for each in EVENTS],
            "events do not say what pods ask for .* add what `kubectl get pods,nodes",
        ),
        ([json.dumps(AUDIT[0]), json.dumps(EVENTS[0])], "a.log: audit logs and events tell the same twice"),
        ([json.dumps(AUDIT[0]), "{"], "a.log line 2: no line of a log"),
        (["no log"], "a.log: no line of a log"),
        (['{"kind":"Pod"}'], "a.log line 1: its kind is 'Pod', neither Event nor a List of them"),
        ([json.dumps(AUDIT[1])], "a.log: nothing of pods or nodes is in this log; log both"),
        (
            [json.dumps(AUDIT[0] | {"stageTimestamp": "noon"})],
            "a.log line 1: Invalid isoformat string: 'noon'; correct the line",
        ),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, lines, message):
    (tmp_path / "a.log").write_text("\n".join(lines) + "\n")
    with pytest.raises(InstanceError, match=message):
        read_logs([tmp_path / "a.log"])


def test_the_log_of_a_week_is_what_was(tmp_path):
    """With a look at its beginning an audit log has every pod from its start to its end; events never have more than that."""
    week = simulate("nightly", 6, 40, 0.3, 600, 1)
    write_audit_log(week, tmp_path / "audit.log")
    write_event_log(week, tmp_path / "events.json")
    write_prometheus(week, tmp_path / "answers")
    looked = read_prometheus(sorted((tmp_path / "answers").iterdir()))
    first, last = week.looks[0], week.looks[-1]
    ran = {
        f"{life.template.namespace}/{life.name}": (life.start_s, min(life.stops_s, last))
        for life in week.lives()
        if life.start_s <= last and life.stops_s > first
    }
    audit = read_logs([tmp_path / "audit.log"], looked)
    assert {each.name: (each.first_s, each.last_s) for each in audit.pods if each.last_s > first} == ran
    events = read_logs([tmp_path / "events.json"], looked)
    assert all(ran[each.name][0] <= each.first_s <= each.last_s <= ran[each.name][1] for each in events.pods)
    assert len(events.pods) > 0.8 * len(ran)
    assert all(each.last_s <= last for each in (*audit.nodes, *events.nodes))
