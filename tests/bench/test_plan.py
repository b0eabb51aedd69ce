"""What a plan tells the processes that do its runs."""

from schedgap.bench.plan import plan_suite
from schedgap.bench.suite import read_suite


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
