"""The importer tells what files are by what they hold; all forms of one invented week are one past."""

import pytest
from weeks import write_audit_log, write_event_log, write_prometheus, write_snapshots

from schedgap.instances import InstanceError
from schedgap.instances.reconfiguration import cluster_week, kubernetes
from schedgap.instances.reconfiguration.weeks import KINDS, simulate, write_prices


@pytest.fixture(scope="module", params=KINDS)
def week(request, tmp_path_factory):
    """A folder with the forms of a past, its price list, and what the generator makes of it."""
    folder = tmp_path_factory.mktemp(request.param)
    made = simulate(request.param, 8, 60, 0.3, 300, 5)
    write_snapshots(made, folder / "plain")
    write_snapshots(made, folder / "zipped", zipped=True)
    write_prometheus(made, folder / "answers")
    (folder / "answers" / "a-folder").mkdir()
    write_audit_log(made, folder / "audit.log.gz")
    write_event_log(made, folder / "events.json")
    return folder, str(write_prices(folder)), cluster_week(request.param, 8, 60, 0.3, 300, seed=5)


@pytest.mark.parametrize("form", ["plain", "zipped", "answers"])
def test_the_same_instance_digest_for_digest(week, form):
    folder, prices, made = week
    read = kubernetes(folder / form, catalogue=prices)
    assert read.digest == made.digest
    assert read.past.paid_micro(read.catalogue.price) == made.past.paid_micro(made.catalogue.price)


def test_logs_with_looks_beside(week):
    """The audit log has the same jobs, and what looks miss; events have no end of jobs, and thus less, with a last look, too."""
    folder, prices, made = week
    first, *_, last = sorted((folder / "plain").iterdir())
    logged = kubernetes(folder / "audit.log.gz", first, catalogue=prices)
    assert made.num_jobs <= logged.num_jobs <= 1.5 * made.num_jobs
    assert made.work_s.sum() <= logged.work_s.sum() <= 1.2 * made.work_s.sum()
    told = kubernetes(folder / "events.json", first, last, catalogue=prices)
    assert 0.5 * made.work_s.sum() < told.work_s.sum() < logged.work_s.sum()


def test_the_same_twice_is_refused(week):
    folder, prices, _ = week
    with pytest.raises(InstanceError, match=r"looks at a cluster and answers of Prometheus, which tell the same twice"):
        kubernetes(folder / "plain", folder / "answers", catalogue=prices)
    with pytest.raises(InstanceError, match=r"answers of Prometheus and logs, which tell the same twice"):
        kubernetes(folder / "answers", folder / "audit.log.gz", catalogue=prices)
