"""`run_suite` and `gap` as library functions."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import pytest

from schedgap.bench import gap, run_suite
from schedgap.bench.forecast import forecast
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import Program
from schedgap.bench.records.journal import read_journal
from schedgap.instances.errors import InstanceError, JournalError, MethodError, SchedgapError, SuiteError
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.provisioning import Provisioning, read_solution, table3, table7, verify, write_instance


def test_resume_does_exactly_what_is_missing(tmp_path, write_suite, hostile):
    """Two of four instances first; then all four: two are measured now, and the order of the file does not matter."""
    out = tmp_path / "out"
    first = run_suite(write_suite(["x-honest"], seeds=2), out=out, plugins=[hostile])
    assert (first.measured_now, len(first.records)) == (2, 2)
    both = run_suite(write_suite(["x-random", "x-honest"], seeds=4), out=out, plugins=[hostile])
    assert (both.measured_now, len(both.records)) == (6, 8)
    turned = run_suite(write_suite(["x-honest", "x-random"], seeds=4), out=out, plugins=[hostile])
    assert turned.measured_now == 0
    assert {r.key: r.measurement for r in turned.records} == {r.key: r.measurement for r in both.records}


def test_threads_do_not_end_each_others_runs(hostile):
    """The first is done long before the last, whose runs go on."""
    with ThreadPoolExecutor(3) as threads:
        pauses = (0.0, 0.3, 0.6)
        labels = [f"x-random[pause_s={pause}]" for pause in pauses]
        calls = [threads.submit(gap, table7(6), [label], plugins=[hostile], bound="bound-resource") for label in labels]
        results = [call.result() for call in calls]
    for label, pause, result in zip(labels, pauses, results, strict=True):
        (record, _) = result.records
        assert (record.run.label, record.status) == (label, Status.FEASIBLE)
        assert record.measurement.wall_s >= pause


def test_changed_limits_are_new_runs(tmp_path, write_suite, hostile):
    out = tmp_path / "out"
    run_suite(write_suite(["x-honest"]), out=out, plugins=[hostile])
    assert run_suite(write_suite(["x-honest"], wall_s=21), out=out, plugins=[hostile]).measured_now == 1
    assert len(read_journal(out)) == 2


def test_same_seed_same_answer(tmp_path, write_suite, hostile):
    """The seed comes from instance and repetition: two directories, two processes, the same draws."""
    drawn = [
        [
            record.measurement.details["drawn"]
            for record in run_suite(
                write_suite(["x-random", "x-random[pause_s=0.001]"], seeds=2), out=tmp_path / name, plugins=[hostile]
            ).records
        ]
        for name in ("a", "b")
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0][0] == drawn[0][1]
    assert drawn[0][0] != drawn[0][2]


def test_quiet_liar_is_found_out_by_others(tmp_path, write_suite, hostile):
    """No single run contradicts itself; together they do: the verified solution stands, the liar alone is invalid."""
    out = tmp_path / "out"
    result = run_suite(write_suite(["x-honest", "x-quiet-liar"]), out=out, plugins=[hostile])
    assert [str(record.status) for record in result.records] == ["feasible", "invalid"]
    assert "bound 1000000000000000 of x-quiet-liar is above a verified solution" in result.records[1].measurement.reason
    assert result.failed == 1
    assert result.to_json()["methods"][0]["gap_mean"] is None
    alone = run_suite(write_suite(["x-honest"]), out=out, plugins=[hostile])
    assert [str(record.status) for record in alone.records] == ["feasible"]


def test_gap_chooses_a_bound(hostile):
    """`patterns` proves the optimum, against which the honest method is measured."""
    result = gap(table7(6), ["x-honest"], plugins=[hostile])
    honest, exact = result.records
    assert (honest.run.label, exact.run.label) == ("x-honest", "patterns")
    assert result.best.is_proven
    assert result.best.bound == exact.measurement.objective
    content = result.to_json()
    assert content["bound"] == result.best.bound / 1e6
    assert content["results"][0]["gap"] == result.best.gap(honest.measurement.objective) > 0


def test_unknown_method_is_known_before_anything_runs(tmp_path, write_suite, hostile):
    with pytest.raises(SuiteError, match=r"no method 'x-onest'; did you mean x-honest"):
        run_suite(write_suite(["x-onest"]), out=tmp_path / "out", plugins=[hostile])
    assert not (tmp_path / "out").exists()
    with pytest.raises(MethodError, match="no parameter 'speed'"):
        gap(table7(6), ["x-random[speed=1]"], plugins=[hostile])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"isolation": "bla"}, "isolation is one of process-group, runexec, not 'bla'"),
        ({"retry": "bla"}, "retry is one of none, errors, failed, not 'bla'"),
    ],
)
def test_a_suite_is_refused_before_anything_is_written(tmp_path, write_suite, hostile, given, message):
    suite, out = write_suite(["x-honest"]), tmp_path / "out"
    for function in (run_suite, forecast):
        with pytest.raises(SchedgapError, match=message):
            function(suite, out=out, plugins=[hostile], **given)
    assert not out.exists()


def test_a_directory_of_another_suite_is_refused(tmp_path, write_suite, hostile):
    out, suite = tmp_path / "out", write_suite(["x-honest"])
    run_suite(suite, out=out, plugins=[hostile])
    before = (out / "plan.json").read_bytes()
    name = json.loads(before)["suite"]["name"]
    suite.write_text(suite.read_text().replace(f'"{name}"', '"other"'))
    for function in (run_suite, forecast):
        with pytest.raises(JournalError, match=rf"out is of suite {name}, not of suite other; choose another --out\."):
            function(suite, out=out, plugins=[hostile])
    assert (out / "plan.json").read_bytes() == before
    (out / "plan.json").write_bytes(before[:50])
    with pytest.raises(JournalError, match=r"plan\.json: no plan of a suite; choose another --out, or remove it\."):
        run_suite(suite, out=out, plugins=[hostile])
    assert (out / "plan.json").read_bytes() == before[:50]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jobs": 0}, "jobs is 0; give how many runs at a time, 1 or more"),
        ({"methods": None}, "None is no method; give a function"),
        ({"time_limit_s": "5"}, "time_limit_s: .*valid number .found '5'"),
        ({"time_limit_s": float("nan")}, "time_limit_s: .*finite number .found nan"),
        ({"time_limit_s": -1}, "time_limit_s: .*greater than or equal to 0 .found -1"),
        ({"memory_mib": -1}, "memory_mib: .*greater than 0 .found -1"),
        ({"family": "sharing"}, "table7-.* is of family provisioning, 'sharing' was asked for"),
    ],
)
def test_what_gap_refuses(given, message):
    """In one sentence, as the command line does, before anything runs."""
    with pytest.raises(SchedgapError, match=message):
        gap(table7(6), **{"methods": ["no-packing"], **given})


def test_held_directory(tmp_path, write_suite, hostile):
    from schedgap.bench.records.journal import Journal

    with Journal(tmp_path / "out"), pytest.raises(JournalError, match="another schedgap writes here"):
        run_suite(write_suite(["x-honest"]), out=tmp_path / "out", plugins=[hostile])


def test_progress_is_told(tmp_path, write_suite, hostile):
    seen = []
    run_suite(write_suite(["x-honest"], seeds=3), out=tmp_path / "out", plugins=[hostile], on_progress=seen.append)
    assert [(progress.done, progress.total) for progress in seen] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert seen[0].record is None
    assert seen[1].record.run.label == "x-honest"


def test_a_program_beside_methods(tmp_path, alone):
    """It costs what `no-packing` costs, and its gap is to the bound that is proven; its solution is kept."""
    instance = table7(6)
    programs = [Program.make("mine", alone), Program.make("again", [sys.executable, alone])]
    result = gap(instance, ["no-packing"], plugins=programs, solutions=tmp_path / "kept")
    ours, *theirs, exact = result.records
    assert [record.run.label for record in theirs] == ["mine", "again"]
    assert [record.measurement.reason for record in result.records] == [None] * 4
    assert {record.measurement.objective for record in (ours, *theirs)} == {ours.measurement.objective}
    assert result.best.bound == exact.measurement.bound
    assert {record.measurement.warm for record in theirs} == {"none"}
    assert all(record.measurement.details["program_s"] > 0 for record in theirs)
    kept = read_solution(instance, tmp_path / "kept" / "mine.json")
    assert verify(instance, kept) == ours.measurement.objective
    # A solution that was made elsewhere is verified as any other.
    made = Program.make("made", [tmp_path / "kept" / "mine.json"], kind="solution")
    (record, _) = gap(instance, [], plugins=[made]).records
    assert (record.run.label, record.measurement.objective) == ("made", ours.measurement.objective)


def test_a_bound_of_a_program_counts_unless_it_is_refuted(script):
    """It is above no verified solution of its own, since it has none; above one of another method."""
    envelope = '{{"schema": "schedgap/answer/1", "bound": {}}}'
    programs = [
        Program.make(name, script(name, f"echo '{envelope.format(bound)}'"))
        for name, bound in (("low", 0.5), ("high", 1e6))
    ]
    result = gap(table7(6), ["no-packing"], plugins=programs, bound="bound-resource")
    found = {record.run.label: record for record in result.records}
    assert (found["low"].status, found["low"].measurement.bound) == ("no_solution", 500_000)
    assert found["high"].status == "invalid"
    assert "bound 1000000000000 of high is above a verified solution" in found["high"].measurement.reason


def test_the_environment_of_a_program(script):
    """Seed, threads and limit are those of the run; two runs of a seed have the same."""
    names = ("SEED", "TIME_LIMIT_S", "THREADS")
    told = " ".join(f"$SCHEDGAP_{name}" for name in names)
    answer = f'{{\\"schema\\": \\"schedgap/answer/1\\", \\"reason\\": \\"{told}\\"}}'
    program = Program.make("mine", script("mine", f'echo "{answer}"'))
    reasons = []
    for seed in (1, 1, 2):
        result = gap(table7(6), [], plugins=[program], seed=seed, time_limit_s=0.5, bound="bound-resource")
        (record, _) = result.records
        assert record.measurement.details["reason"] == f"{record.run.seed} 0.5 1"
        reasons.append(record.measurement.details["reason"])
    assert reasons[0] == reasons[1] != reasons[2]


def test_a_policy_plays_beside_the_familys_own(serve):
    load_families()
    instance = find_family("sharing").generators["micro"](tasks=5)
    result = gap(instance, ["fifo"], family="sharing", plugins=[Program.make("mine", serve, kind="policy")])
    _, record, *_ = result.records
    assert record.status == "feasible"
    assert record.measurement.details["knows"] == ""
    assert record.measurement.details["decisions"] == 20
    assert record.measurement.warm == "child"


def test_programs_run_beside_a_suite_and_its_own(tmp_path, write_suite, alone):
    """On all instances; the suite's own by the paths of its folder, in lists that name them."""
    path = write_suite(["no-packing", "own"], seeds=2)
    path.write_text(path.read_text() + '[[programs]]\nname = "own"\ncommand = ["./alone.py"]\n')
    result = run_suite(path, out=tmp_path / "out", plugins=[Program.make("mine", alone)])
    labels = [record.run.label for record in result.records]
    assert sorted(labels) == ["mine", "mine", "no-packing", "no-packing", "own", "own"]
    assert result.failed == 0
    # What follows the arguments means the same wherever it is called.
    command = json.loads((tmp_path / "out" / "plan.json").read_text())["command"]
    assert command[3:] == ["--program", f"mine={alone}"]


def test_programs_of_one_name(tmp_path, write_suite, alone):
    path = write_suite(["own"])
    path.write_text(path.read_text() + '[[programs]]\nname = "own"\ncommand = ["./alone.py"]\n')
    with pytest.raises(MethodError, match="two programs are called own; give them different names"):
        run_suite(path, out=tmp_path / "out", plugins=[Program.make("own", alone)])
    assert not (tmp_path / "out").exists()


@pytest.fixture
def own_functions():
    """Functions of this module go by value, as those of a notebook do: no other process can import it."""
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


def each_alone(instance):
    """Every task of Table 3 on the cheapest machine that fits it: 12 + 3 + 0.8 + 0.4 = $16.2, where $12.8 is the optimum."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def test_gap_of_functions(tmp_path, own_functions):
    """They are verified as methods are, in processes of their own, and nothing stays registered."""
    before = dict(REGISTRY)
    write_instance(table3(), tmp_path / "table3.json")
    methods = [each_alone, "no-packing", lambda instance: [1, 2]]
    result = gap(str(tmp_path / "table3.json"), methods, solutions=str(tmp_path / "kept"))
    alone, same, listed, exact = result.records
    assert [record.run.label for record in result.records] == ["each-alone", "no-packing", "lambda", "patterns"]
    assert alone.measurement.objective == same.measurement.objective == 16_200_000
    assert result.best.gap(alone.measurement.objective) == pytest.approx(3.4 / 16.2)
    assert verify(table3(), read_solution(table3(), tmp_path / "kept" / "each-alone.json")) == 16_200_000
    assert listed.status == "invalid"
    assert listed.measurement.reason == (
        "it returned a list, and a solution is a Provisioning, made by its from_machines or "
        "from_tasks or from_patterns or from_cover; return one"
    )
    assert exact.status == "optimal"
    assert {key for key in REGISTRY if key not in before and REGISTRY[key].module == __name__} == set()


def test_gap_of_one_function_and_of_none(own_functions):
    assert gap(table3(), each_alone).records[0].run.label == "each-alone"
    with pytest.raises(MethodError, match="7 is no method; give a function from instance to solution"):
        gap(table3(), [7])
    with pytest.raises(InstanceError, match="nothing: cannot be read"):
        gap("nothing", [each_alone])
