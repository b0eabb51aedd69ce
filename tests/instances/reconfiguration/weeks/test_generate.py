"""The generator `cluster-week`: what was paid is above what was needed, and all forms of a past are one instance."""

import pytest
from weeks import write_audit_log, write_prometheus

from schedgap.instances.reconfiguration import cluster_week
from schedgap.instances.reconfiguration.past.events import read_logs
from schedgap.instances.reconfiguration.past.instance import instance_of
from schedgap.instances.reconfiguration.past.prometheus import read_prometheus
from schedgap.instances.reconfiguration.weeks import KINDS, seen, simulate, write_prices


@pytest.mark.parametrize("kind", KINDS)
def test_prometheus_gives_the_same_instance(tmp_path, kind):
    """Digest for digest: no constraint of this past is one that kube-state-metrics does not show."""
    week = simulate(kind, 8, 60, 0.3, 300, 5)
    write_prometheus(week, tmp_path / "answers")
    history = read_prometheus(sorted((tmp_path / "answers").iterdir()))
    read = instance_of(history, catalogue=str(write_prices(tmp_path)))
    made = cluster_week(kind, 8, 60, 0.3, 300, seed=5)
    assert read.digest == made.digest
    assert (read.past.paid_micro(read.catalogue.price), read.past.names) == (
        made.past.paid_micro(made.catalogue.price),
        made.past.names,
    )


def test_the_audit_log_gives_the_same_jobs(tmp_path):
    """It has exact ends, looks the last look before: a job is at most one period longer, and no later."""
    week = simulate("nightly", 8, 60, 0.3, 300, 5)
    write_audit_log(week, tmp_path / "audit.log")
    looked = seen(week)
    logged = read_logs([tmp_path / "audit.log"], looked)
    known = {each.name: (each.first_s, each.last_s) for each in looked.pods}
    for each in logged.pods:
        first_s, last_s = known.get(each.name, (each.first_s, each.last_s))
        assert each.first_s == first_s and 0 <= each.last_s - last_s < 300
    assert known.keys() <= {each.name for each in logged.pods}
    prices = str(write_prices(tmp_path))
    of_looks, of_log = (instance_of(each, catalogue=prices, period_s=300) for each in (looked, logged))
    assert of_looks.num_jobs <= of_log.num_jobs
    assert of_looks.work_s.sum() <= of_log.work_s.sum() <= (of_looks.work_s + 300).sum() + 300 * of_log.num_jobs


@pytest.mark.parametrize("kind", KINDS)
def test_more_was_paid_than_the_pods_needed(kind):
    """Of what was paid, pods ask for no more than nine tenths of either cores or memory, and for no less than four tenths."""
    made = cluster_week(kind, 12, 120, 1.0, 300, seed=2)
    past, catalogue = made.past, made.catalogue
    hours = past.until_s - past.from_s
    whole = (catalogue.capacity[past.machine_type] * hours[:, None]).sum(axis=0)
    family = catalogue.type2family[past.machine_type[past.job_node]]
    asked = (catalogue.demand[family, made.job2class] * made.work_s[:, None]).sum(axis=0)
    assert 0.4 <= (asked / whole)[:2].max() <= 0.9
    assert made.name == f"cluster-week-{kind}-12-120-1d-s2"
    assert made.running.size == (past.from_s == 0).sum()
