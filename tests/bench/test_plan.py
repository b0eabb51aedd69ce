"""What a plan tells the processes that do its runs."""

from schedgap.bench.plan import plan_suite
from schedgap.bench.suites.suite import read_suite


def test_a_block_has_the_processes_of_its_threads(write_suite):
    """Libraries read their number of threads when they start: two blocks, two kinds of processes."""
    path = write_suite(["no-packing"])
    path.write_text(
        path.read_text()
        + """
        [[instances]]
        generator = "table7"
        parameters = { tasks = 7 }
        limits = { threads = 2 }
        """
    )
    plan = plan_suite(*read_suite(path), isolation="runexec")
    settings = [plan.task(key).setting for key in plan.runs]
    assert [setting.threads for setting in settings] == [1, 2]
    assert [setting.isolation for setting in settings] == ["runexec"] * 2


def test_the_order_of_methods_changes_no_label(write_suite):
    """A default that is given is the same run; results are compared by label, so it must be the same one."""
    texts = ["full-reconfiguration", "full-reconfiguration[downsizing=true]"]
    plans = [plan_suite(*read_suite(write_suite(methods))) for methods in (texts, texts[::-1])]
    assert [[run.label for run in plan.runs.values()] for plan in plans] == [["full-reconfiguration"]] * 2
