"""An invented past in all its forms: each says what was, and a zipped file is the plain one."""

import gzip
import json

import pytest
from weeks import write_audit_log, write_event_log, write_prometheus, write_snapshots

from schedgap.instances.reconfiguration.past.prometheus import read_prometheus
from schedgap.instances.reconfiguration.weeks import simulate, write_prices


@pytest.fixture(scope="module")
def week():
    return simulate("nightly", 6, 40, 0.25, 600, 1)


def test_a_snapshot_shows_what_was_there(week, tmp_path):
    write_snapshots(week, tmp_path / "plain")
    write_snapshots(week, tmp_path / "zipped", zipped=True)
    paths = sorted((tmp_path / "plain").iterdir())
    assert len(paths) == len(week.looks)
    assert paths[0].name == "20260301T000007Z.json"
    for path, now in zip(paths, week.looks, strict=True):
        packed = tmp_path / "zipped" / f"{path.name}.gz"
        assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
        items = json.loads(path.read_text())["items"]
        shown = {each["metadata"]["name"] for each in items if each["kind"] == "Node"}
        assert shown == {each.made.name for each in week.nodes if each.created_s <= now < each.gone_s}
        phases = {each["metadata"]["name"]: each["status"]["phase"] for each in items if each["kind"] == "Pod"}
        assert phases == {
            life.name: "Pending" if now < life.start_s else "Running" if now < life.end_s else "Succeeded"
            for life in week.lives()
            if life.created_s <= now < life.gone_s
        }
    assert {"Running", "Succeeded"} <= set(phases.values()) | {
        each["status"].get("phase") for path in paths for each in json.loads(path.read_text())["items"]
    }


def test_prometheus_says_when(week, tmp_path):
    """A pod runs from its start to its last sample: the last look before it left, or its end if it completed and was seen."""
    write_prometheus(week, tmp_path, zipped=True)
    history = read_prometheus(sorted(tmp_path.iterdir()))
    assert history.looks == tuple(week.looks)
    spans = {each.name: (each.first_s, each.last_s) for each in history.pods}
    for life in week.lives():
        name = f"{life.template.namespace}/{life.name}"
        seen = [now for now in week.looks if life.created_s <= now < life.gone_s]
        ran = [now for now in seen if life.start_s <= now < life.stops_s]
        if not ran and (not seen or life.end_s > seen[-1]):
            assert name not in spans
        else:
            ended = seen and life.end_s <= seen[-1]
            assert spans[name] == (life.start_s, life.end_s if ended else ran[-1])
    assert {each.name: each.first_s for each in history.nodes} == {
        each.made.name: each.created_s
        for each in week.nodes
        if any(each.created_s <= n < each.gone_s for n in week.looks)
    }


def test_logs_have_births_and_ends(week, tmp_path):
    write_audit_log(week, tmp_path / "audit.log")
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert all(line["apiVersion"] == "audit.k8s.io/v1" for line in lines)
    verbs = {(line["verb"], line["objectRef"]["resource"], line["objectRef"].get("subresource", "")) for line in lines}
    assert {
        ("create", "pods", "binding"),
        ("delete", "pods", ""),
        ("create", "nodes", ""),
        ("delete", "nodes", ""),
    } <= verbs
    assert [line["stageTimestamp"] for line in lines] == sorted(line["stageTimestamp"] for line in lines)
    write_event_log(week, tmp_path / "events.json.gz")
    items = json.loads(gzip.decompress((tmp_path / "events.json.gz").read_bytes()))["items"]
    reasons = {each["reason"] for each in items}
    assert reasons == {"Scheduled", "Started", "Killing", "RegisteredNode", "RemovingNode"}
    started = sum(week.looks[0] <= life.start_s <= week.looks[-1] for life in week.pods)
    assert sum(each["reason"] == "Scheduled" for each in items) == started


def test_the_price_list(tmp_path):
    lines = write_prices(tmp_path).read_text().splitlines()
    assert lines[0] == "name,price,spot_price,cpu,memory_gib,gpu,pods"
    assert "m5.2xlarge,0.3840,0.1344,8,32,0,58" in lines
