"""Candidates that are after the score and not after the problem: each is worth 0, or what it is honestly worth, for one reason.

Those under `KNOWN` are holes that evaluators of published search tasks had; what a stranger's method may do to its process and
around it is in tests/bench/plugins.
"""

import re
import shutil
import textwrap

import pytest

from schedgap.bench import evaluator
from schedgap.bench.isolation.confinement import LANDLOCK, MAY_WRITE, MOUNTS, Confinement
from schedgap.bench.suites.bounds import write_bounds
from schedgap.bench.testing import evaluator as candidates
from schedgap.instances.errors import SuiteError

SUITE = """
schema = "schedgap/suite/1"
name = "few"
title = ""
question = ""
family = "provisioning"
methods = ["patterns"]
limits = { time_limit_s = 2, wall_s = 3 }
[[instances]]
generator = "table7"
parameters = { tasks = [6, 8] }
seeds = 2
"""
HEAD = """
import os, sys, time
from pathlib import Path
import numpy as np
from schedgap.instances.method import Outcome, Status, REGISTRY, method
from schedgap.instances.provisioning import Provisioning

HERE = Path(__file__).parent


def alone(instance):
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


{before}

@method("candidate", family="provisioning")
def candidate(instance):
    honest = alone(instance)
{body}
"""
ZERO, HONEST = "zero", "honest"
# What it does in its method, what it is worth, why.
KNOWN = {
    "takes machines that nobody offers": (
        "return Provisioning.from_tasks(instance, honest.machine_type + 10**6, np.arange(instance.num_tasks))",
        ZERO,
        "machine",
    ),
    "makes its input easier": (
        """
        instance.demand.setflags(write=True)
        instance.demand[:] = 0
        return honest
        """,
        ZERO,
        "WRITEABLE|read-only",
    ),
    "makes its input easier, around the lock": (
        """
        object.__setattr__(instance, "price", instance.price * 0)
        return honest
        """,
        ZERO,
        "changed",
    ),
    "answers the easiest instance alone": (
        """
        if instance.num_tasks > 6 or instance.name.endswith("1"):
            raise ValueError("too hard")
        return honest
        """,
        0.25,
        "too hard",
    ),
    "sleeps so that hard instances drop out": (
        "time.sleep(60 if instance.num_tasks > 6 else 0)\nreturn honest",
        0.5,
        "took all its time",
    ),
    "has a table of answers by the number of its call": (
        """
        CALLS.append(1)
        return honest if len(CALLS) == 1 else None
        """,
        ZERO,
        "no_solution",
    ),
    "keeps what it was given for later calls": (
        """
        CALLS.append(instance)
        return alone(CALLS[0])
        """,
        ZERO,
        "invalid",
    ),
    "reports a makespan of its own": (
        'return Outcome(honest, details={"objective": -1, "makespan": 0, "combined_score": 1})',
        HONEST,
        "candidate on few",
    ),
    "says that it is optimal": ("return Outcome(honest, status=Status.OPTIMAL)", HONEST, "candidate on few"),
    "leaves tasks out": (
        "return Provisioning.from_tasks(instance, honest.machine_type[:1], np.zeros(1, np.int64))",
        ZERO,
        "task",
    ),
    "has prices of its own": (
        "return alone(instance.replace(price=instance.price * 0 + 1, name='cheap', digest=''))",
        0.99,
        "candidate on few",
    ),
    "is late by the clock of its own": (
        "time.perf_counter = time.monotonic = lambda: 0.0\ntime.sleep(60)\nreturn honest",
        ZERO,
        "took all its time",
    ),
}
OWN = {
    "returns half machines": (
        "return Provisioning.from_tasks(instance, honest.machine_type + 0.5, np.arange(instance.num_tasks))",
        ZERO,
        "",
    ),
    "puts tasks on machine -1": (
        "return Provisioning.from_tasks(instance, honest.machine_type, np.full(instance.num_tasks, -1))",
        ZERO,
        "",
    ),
    "puts all on one machine": (
        "return Provisioning.from_tasks(instance, honest.machine_type[:1], np.zeros(instance.num_tasks, np.int64))",
        ZERO,
        "invalid",
    ),
    "returns the solution of another instance": (
        "from schedgap.instances.provisioning import table7\nreturn alone(table7(5, seed=9))",
        ZERO,
        "invalid",
    ),
    "says that there is no solution": ("return Outcome(status=Status.INFEASIBLE)", ZERO, "infeasible"),
    "ends its process as if all were well": ("sys.exit(0)", ZERO, "crashed|error|SystemExit"),
    "raises what cannot be printed": (
        """
        class Silent(Exception):
            def __str__(self):
                raise RuntimeError("no text")
        raise Silent
        """,
        ZERO,
        "Silent|error|crashed",
    ),
    "raises the score as text": (
        "raise ValueError('\\x1b[2J\\n' + '{\"combined_score\": 1.0}')",
        ZERO,
        "combined_score",
    ),
    "prints the score": (
        'print(\'{"combined_score": 1.0, "correct": true}\' * 10**5)\nreturn None',
        ZERO,
        "no_solution",
    ),
    "puts better bounds in their place": (
        """
        for path in (HERE / "bounds").glob("*.jsonl"):
            path.write_text("")
        return honest
        """,
        ZERO,
        "it may write to",
    ),
    "rewrites itself": ("Path(__file__).write_text('x = 1')\nreturn honest", ZERO, "it may write to"),
    "deletes itself": ("Path(__file__).unlink()\nreturn honest", ZERO, "it may write to"),
    "patches the verifier": (
        """
        import schedgap.instances.provisioning.verify as rules
        from schedgap.instances.family import FAMILIES
        rules.verify = rules.objective = lambda *given: 1
        object.__setattr__(FAMILIES["provisioning"], "verify", rules.verify)
        return honest
        """,
        HONEST,
        "candidate on few",
    ),
    "patches what proves bounds": (
        """
        REGISTRY.clear()
        return honest
        """,
        ZERO,
        "has no method 'candidate'",
    ),
    "works on tiny instances alone": (
        "if instance.num_tasks > 5:\n    time.sleep(60)\nreturn honest",
        ZERO,
        "took all its time",
    ),
    "solves nothing else than what it knows by name": (
        "return honest if instance.name.startswith('table7-6') else None",
        0.5,
        "no_solution",
    ),
    "leaves a process that goes on": (
        "if os.fork() == 0:\n    time.sleep(600)\n    os._exit(0)\nreturn honest",
        HONEST,
        "candidate on few",
    ),
}
# Whole files, and why they cannot be loaded.
FILES = {
    "registers two": ("", "@method('other', family='provisioning')\ndef other(instance): ...", "registers 2 methods"),
    "registers for another family": ('family="provisioning"', 'family="sharing"', "registers 0 methods"),
    "has the name of a prover": ('"candidate"', '"patterns"', "registered twice"),
    "has a name that leads elsewhere": ('"candidate"', '"../../patterns"', "kebab-case"),
    "does not end when it is imported": ("", "while True: pass", "importing took more than 2 s"),
    "ends when it is imported": ("", "os._exit(0)", "ended with code 0"),
    "exits when it is imported": ("", "sys.exit('1.0')", "SystemExit"),
    "eats memory when it is imported": ("", "x = b'x' * 2**33", "MemoryError|memory"),
    "is deep": ("", "x = " + "(" * 5000 + ")" * 5000, "SyntaxError|MemoryError|RecursionError|too many"),
    "is no text": ("", "x = '\udcff\udcfe'", "SyntaxError|UnicodeDecodeError"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("holes")
    (folder / "few.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        # As for users: tests elsewhere let runs write beside them.
        patch.delenv(MAY_WRITE, raising=False)
        yield folder


@pytest.fixture(scope="module")
def cannot_write(folder):
    """Whether the kernel keeps a run from writing elsewhere."""
    found = Confinement.prepared(folder)
    found.close()
    return bool({LANDLOCK, MOUNTS} & set(found.held))


@pytest.fixture(scope="module")
def judge(folder):
    return evaluator(folder / "few.toml", directory=folder / "bounds", jobs=2)


@pytest.fixture(scope="module")
def scored(judge, folder):
    def score(body, before="CALLS = []", change=("", "")):
        path = folder / "candidate.py"
        text = HEAD.format(before=before, body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))
        text = text.replace(*change) if change[0] else text
        path.write_bytes(text.encode(errors="surrogateescape"))
        return judge(path)

    return score


@pytest.fixture(scope="module")
def honest(scored):
    found = scored("return honest")
    assert 0 < found.score < 1
    return found


@pytest.mark.parametrize("hole", [*KNOWN, *OWN])
def test_a_candidate_is_worth_what_it_solves(scored, honest, cannot_write, hole):
    body, worth, reason = {**KNOWN, **OWN}[hole]
    if reason == "it may write to" and not cannot_write:
        pytest.skip("this kernel does not keep a run from writing elsewhere")
    found = scored(body)
    ratios = [each.bound / each.objective for each in honest.gaps.details]
    print(found.score, found.feedback)
    if worth == HONEST:
        assert found.score == pytest.approx(honest.score), found.feedback
    elif worth == ZERO:
        assert found.score == 0, found.feedback
        assert found.failed == 4 or "no_solution" in found.feedback
    else:
        assert 0 < found.score <= worth * max(ratios), found.feedback
    assert re.search(reason, found.feedback), found.feedback
    assert set(found.to_dict()) == set(honest.to_dict())


@pytest.mark.parametrize("hole", FILES)
def test_a_file_that_does_not_load_is_worth_nothing(scored, honest, monkeypatch, hole):
    monkeypatch.setattr(candidates, "IMPORT_S", 2.0)
    old, new, reason = FILES[hole]
    found = scored("return honest", before=new) if not old else scored("return honest", change=(old, new))
    print(found.score, found.feedback)
    assert found.score == 0, found.feedback
    assert re.search(reason, found.feedback), found.feedback
    assert set(found.to_dict()) == set(honest.to_dict())


def test_a_file_that_is_changed_while_it_runs_is_worth_nothing(judge, scored, folder, monkeypatch):
    """By whoever starts candidates: what ran then is not what the file says now."""
    perform = candidates.perform

    def changing(task):
        (folder / "candidate.py").write_text("x = 1")
        return perform(task)

    monkeypatch.setattr(candidates, "perform", changing)
    found = scored("return honest")
    assert (found.score, found.failed) == (0, 4)
    assert "changed meanwhile" in found.feedback
    monkeypatch.setattr(
        candidates, "perform", lambda task: (folder / "candidate.py").unlink(missing_ok=True) or perform(task)
    )
    assert "changed meanwhile" in scored("return honest").feedback


def test_a_bound_above_a_verified_objective_is_told_and_counts_as_nothing(folder, scored, honest):
    """One of the two is wrong; nobody is better than proven."""
    frozen = folder / "frozen.json"
    scored("return honest")
    bounds = evaluator(folder / "few.toml", directory=folder / "bounds").prepared()
    first = bounds.instances[0]
    higher = first.model_copy(update={"bound": first.bound * 2})
    write_bounds(bounds.model_copy(update={"instances": [higher, *bounds.instances[1:]]}), frozen)
    found = evaluator(folder / "few.toml", bounds=frozen)(folder / "candidate.py")
    lost = next(each for each in honest.gaps.details if each.instance == first.instance)
    assert found.score == pytest.approx(honest.score - lost.bound / lost.objective / 4)
    assert (found.contradictions, found.failed) == (1, 1)
    assert f"on {first.instance} the bound {first.bound * 2} of patterns is above a verified solution" in found.feedback


def test_two_folders_give_one_score(folder, scored, honest, tmp_path):
    """With one file of bounds, whatever is proven elsewhere."""
    scored("return honest")
    write_bounds(evaluator(folder / "few.toml", directory=folder / "bounds").prepared(), tmp_path / "frozen.json")
    shutil.copy(folder / "few.toml", tmp_path)
    shutil.copy(folder / "candidate.py", tmp_path)
    found = evaluator(tmp_path / "few.toml", bounds=tmp_path / "frozen.json")(tmp_path / "candidate.py")
    assert (found.score, found.native) == (honest.score, honest.native)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["candidate.py", "few.toml", "frozen.json"]
    (tmp_path / "few.toml").write_text(SUITE.replace("[6, 8]", "[7]"))
    with pytest.raises(SuiteError, match="the file of its bounds knows none of that name"):
        evaluator(tmp_path / "few.toml", bounds=tmp_path / "frozen.json")(tmp_path / "candidate.py")


def test_a_budget_is_for_all_runs_together(folder, scored):
    scored("time.sleep(0.7)\nreturn honest")
    judge = evaluator(folder / "few.toml", directory=folder / "bounds", jobs=1, budget_s=3)
    found = judge(folder / "candidate.py")
    assert 1 <= found.failed <= 3
    assert "not run" in found.feedback
    assert found.runs == 4
