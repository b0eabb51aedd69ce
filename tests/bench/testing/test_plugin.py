"""The pytest plug-in as a user of another repository meets it: a scheduler, a plug-in file of ten lines, a test."""

import json
import xml.etree.ElementTree as ElementTree

from schedgap.bench.records.journal import read_journal

pytest_plugins = ["pytester"]


def kept(repository):
    return read_journal(repository.path / ".pytest_cache" / "d" / "schedgap")


def test_a_scheduler_is_judged_and_bounds_are_proven_once(repository, example):
    """The second session adds no row to the journal of bounds; the failing one names instance and gap."""
    repository.makepyfile(test_mine=example("test_mine.py"))
    first = repository.runpytest_subprocess("--junitxml=junit.xml")
    first.assert_outcomes(passed=2)
    first.stdout.fnmatch_lines(
        [
            "*schedgap: gaps to the best proven bounds*",
            "test *method *suite *runs *mean gap *worst gap *proven optimal",
            "test_mine.py::test_mine_on_each_instance *mine *tiny *2 * 0 of 2",
            "test_mine.py::test_mine_stays_near_the_optimum *mine *tiny *2 * 0 of 2",
        ]
    )
    rows = kept(repository)
    assert {row.run.instance for row in rows.values()} == {"table3", "table7-6-physical-s0"}
    assert {row.run.label for row in rows.values()} <= {"column-generation", "patterns"}
    case = ElementTree.parse(repository.path / "junit.xml").find(".//property[@name='schedgap']")
    assert json.loads(case.get("value"))["proven_optimal"] == 0
    repository.makepyfile(test_mine=example("test_mine.py").replace("0.25", "0.02"))
    second = repository.runpytest_subprocess("-k", "near")
    second.assert_outcomes(failed=1, deselected=1)
    second.stdout.fnmatch_lines(
        [
            "E *assert mean gap *% <= 2.00%, worst on table*",
            "E *mine on tiny: 2 runs, 0 proven optimal",
            "E *20.99% on table3: 16.2 $/h, bound 12.8",
        ]
    )
    second.stdout.no_fnmatch_line("*Traceback*")
    assert kept(repository) == rows


def test_failures_are_told_and_fail(repository, with_bounds):
    repository.makepyfile(
        test_mine="""
        import threading
        import numpy as np
        from schedgap.instances.provisioning import Provisioning, table3
        from mine import mine

        def crashing(instance):
            if instance.name == "table3":
                raise RuntimeError("boom")
            return mine(instance)

        def cheating(instance):
            # One machine of the first type for all.
            return Provisioning.from_tasks(instance, np.zeros(instance.num_tasks, int), np.zeros(instance.num_tasks, int))

        def test_crashing(gap):
            assert gap(crashing, suite="tiny.toml").mean <= 1

        def test_allowed(gap):
            gaps = gap(crashing, suite="tiny.toml", allow_failures=True)
            assert (gaps.runs, gaps.failed) == (2, 1)
            assert list(gaps.per_instance) == ["table7-6-physical-s0"]
            assert gaps.problems == ("table3: error, RuntimeError: boom",)

        def test_nothing_left(gap):
            gap(cheating, instances=[table3()], allow_failures=True)

        def test_locked(gap):
            lock = threading.Lock()
            gap(lambda instance: lock and mine(instance), instances=[table3()])

        def test_unknown(gap):
            gap("full-reconfigurations")
        """
    )
    answer = repository.runpytest_subprocess(with_bounds)
    answer.assert_outcomes(passed=1, failed=4)
    answer.stdout.fnmatch_lines(
        [
            "E *Failed: crashing has no gap in 1 of 2 runs on tiny:",
            "E *table3: error, RuntimeError: boom",
            "E *On table3 it printed:",
            'E *raise RuntimeError("boom")',
            "E *Failed: cheating has no gap in 1 of 1 runs on given instances:",
            "E *table3: invalid, *",
            "E *Failed: MethodError: lambda cannot be sent to a process of its own (TypeError: *lock*",
            "E *Failed: MethodError: family provisioning has no method 'full-reconfigurations'; did you mean *",
            "test_mine.py::test_crashing *crashing *tiny *2 (1 failed) *",
        ]
    )


def test_callables_of_every_kind_reach_their_processes(repository):
    """Test modules that a run's process cannot import, packages in a folder on sys.path, and what they hold.

    Without pytest's cache the session keeps the bounds for itself.
    """
    (repository.path / "src" / "own").mkdir(parents=True)
    (repository.path / "src" / "own" / "__init__.py").write_text("from mine import mine\n\nWANTED = 3\n")
    repository.makeconftest("LIMIT = 2\n\ndef below(number):\n    return number < LIMIT\n")
    repository.makepyfile(
        test_mine="""
        from functools import partial
        import pytest
        import own
        from schedgap.instances import Outcome, method
        from schedgap.instances.provisioning import table3

        EIGHT = 8

        class Careful:
            def __init__(self, wanted):
                self.wanted = wanted

            def __call__(self, instance):
                assert self.wanted == own.WANTED
                return own.mine(instance)

        def drawing(instance, rng, tries=1):
            assert rng.integers(EIGHT) < tries
            return Outcome(own.mine(instance))

        @method("declared", family="provisioning", version=7, supports=lambda instance: "no")
        def declared(instance):
            return None

        @pytest.fixture
        def three():
            return 3

        @pytest.fixture
        def below(pytestconfig):
            return next(p for p in pytestconfig.pluginmanager.get_plugins() if hasattr(p, "LIMIT")).below

        def test_closure_under_a_name_that_is_taken(gap, three, below):
            def synergy(instance):
                assert below(1) and three == 3
                return Careful(three)(instance)
            gaps = gap(synergy, instances=[table3()])
            assert gaps.method == "synergy-2"
            assert gaps.per_instance == {"table3": pytest.approx(3.4 / 16.2)}

        def test_partial_with_rng(gap):
            assert gap(partial(drawing, tries=EIGHT), instances=[table3()]).method == "drawing"

        def test_declared(gap):
            with pytest.raises(pytest.fail.Exception, match="table3: unsupported, no"):
                gap("declared", instances=[table3()])

        def test_shipped_method_on_the_default_suite(gap):
            assert gap("full-reconfiguration[tie_break=paper]").proven_optimal == 2
        """
    )
    answer = repository.runpytest_subprocess("--import-mode=importlib", "-p", "no:cacheprovider")
    answer.assert_outcomes(passed=4)
    assert not (repository.path / ".pytest_cache").exists()
