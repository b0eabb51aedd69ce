"""What a plan tells the processes that do its runs."""

import pytest

from schedgap.bench.plan import plan_suite
from schedgap.bench.programs.program import Program
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SuiteError


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


def test_runs_of_programs(write_suite, alone):
    """Their key has the hash of their files, and another where one of them differs; who draws has several."""
    suite, folder = read_suite(write_suite(["mine", "drawing"]))
    suite = suite.model_copy(update={"repetitions": 3})

    def runs(**more):
        drawing = Program.make("drawing", alone, stochastic=True, **more)
        plan = plan_suite(suite, folder, plugins=(Program.make("mine", alone), drawing))
        return plan, list(plan.runs.values())

    plan, first = runs()
    assert [(run.label, run.repetition) for run in first] == [("mine", 0), *(("drawing", k) for k in range(3))]
    assert {(run.version, run.backend, *run.parameters.items()) for run in first} == {(1, None)}
    assert first[0].plugin == Program.make("mine", alone).hash
    task = plan.task(first[0].key)
    assert task.is_plugin
    assert [program.name for program in task.setting.plugins] == ["mine", "drawing"]
    _, again = runs()
    assert [run.key for run in again] == [run.key for run in first]
    _, other = runs(depends=[folder / "little.toml"])
    assert [a.key == b.key for a, b in zip(first, other, strict=True)] == [True, False, False, False]


def test_a_program_has_no_parameters(write_suite, alone):
    with pytest.raises(SuiteError, match="little: methods: method mine has no parameter 'fast'; it has: none"):
        plan_suite(*read_suite(write_suite(["mine[fast=1]"])), plugins=(Program.make("mine", alone),))
