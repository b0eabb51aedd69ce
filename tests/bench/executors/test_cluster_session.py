"""What a worker's process does, in this one."""

from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from schedgap.bench.executors import execute
from schedgap.bench.executors.execute import close_pools, end_session, make_session, perform_there
from schedgap.bench.isolation.pool import PoolClosedError
from schedgap.bench.plan import plan_suite
from schedgap.bench.programs.program import Program
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import ExecutorError, MethodError

PLUGIN = Path(__file__).parents[1] / "plugins" / "cluster.py"


def spawners():
    commands = [child.as_dict(["cmdline"])["cmdline"] or [] for child in psutil.Process().children()]
    return [command for command in commands if "schedgap.bench.isolation.spawner" in command]


@pytest.fixture
def task(write_suite):
    suite, folder = read_suite(write_suite(["x-slow[pause_s=0.0]"]))
    plan = plan_suite(suite, folder, plugins=(str(PLUGIN),))
    # It has asked what the plug-in registers.
    close_pools()
    return next(plan.task(key) for key in plan.runs)


def test_the_end_of_one_does_not_end_another(task):
    """Two harnesses on one worker; the first one's runs are over for good, the second's go on."""
    first, second = make_session(task.setting), make_session(task.setting)
    files = [perform_there(each, task, task.pickled).answer.measurement.details["file"] for each in (first, second)]
    assert files[0] != files[1]
    end_session(first.identity)
    assert [Path(file).exists() for file in files] == [False, True]
    with pytest.raises(PoolClosedError):
        perform_there(first, task, task.pickled)
    assert perform_there(second, task, task.pickled).answer.measurement.details["file"] == files[1]
    end_session(second.identity)
    assert not spawners()


def test_a_run_that_comes_as_its_session_ends(task, monkeypatch):
    """Nobody would end what it starts."""
    session, performed = make_session(task.setting), execute.perform

    def perform(run):
        end_session(session.identity)
        return performed(run)

    monkeypatch.setattr(execute, "perform", perform)
    with pytest.raises(PoolClosedError):
        perform_there(session, task, task.pickled)
    assert not spawners()


def test_a_worker_with_other_versions_does_nothing(task):
    session = make_session(task.setting)
    other = replace(session, versions={**session.versions, "python": "2.7", "cplex": "22"})
    with pytest.raises(ExecutorError, match=r"has python 3\.\d+ \(here 2\.7\), cplex is missing \(here 22\); install"):
        perform_there(other, task, task.pickled)


def test_plugin_that_is_gone(task):
    with pytest.raises(MethodError, match=r"plug-in /none\.py cannot be read"):
        make_session(replace(task.setting, plugins=("/none.py",)))


@pytest.mark.parametrize("kind", ["method", "policy"])
def test_programs_stay_on_this_machine(task, alone, kind):
    """Nobody knows which of their files a worker's machine has."""
    program = Program.make("mine", alone, kind=kind)
    message = "program mine runs on this machine only; leave --executor out, or the program"
    with pytest.raises(MethodError, match=message):
        make_session(replace(task.setting, plugins=(str(PLUGIN), program)))
