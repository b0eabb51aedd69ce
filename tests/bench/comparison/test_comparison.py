"""Two sides of made-up runs: verdicts, findings, methods and notes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from schedgap.bench.comparison.comparison import compare_results
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.method import Status


@pytest.fixture
def record(make_record):
    """Make a record with fields of its run changed: `record("a", "i", seed=3, objective=5)`."""
    of_run = {"seed", "stochastic", "version", "backend", "backend_version", "limits"}

    def make(label, instance="i", **given):
        made = make_record(label, instance, **{key: value for key, value in given.items() if key not in of_run})
        return structs.replace(made, run=structs.replace(made.run, **{key: given[key] for key in of_run & set(given)}))

    return make


def side(records, name="side", planned=None):
    records = tuple(records)
    return Results(Path(name), None, (), records, len(records) if planned is None else planned, {})


def kinds(findings):
    return [(finding.kind, finding.method, finding.instance) for finding in findings]


def test_equal_sides(record):
    runs = [record("a", name, objective=5, bound=4) for name in "ij"]
    found = compare_results(side(runs), side(runs))
    assert (found.verdict, found.compared, found.regressions, found.improvements) == ("ok", 2, (), ())
    assert (found.problem, found.notes[:-1]) == (None, ())
    (method,) = found.methods
    assert (method.label, method.pairs, method.same, method.gap_base, method.gap.mean) == ("a", 2, 2, 0.2, 0.0)


def test_two_suites_are_not_compared(record):
    """Whatever they have in common: what only one of them has would be called missing."""
    suites = [read_suite(name)[0] for name in ("smoke", "ci")]
    both = record("a", objective=5, bound=4)
    base, new = (
        replace(side([both, *more]), suite=suite)
        for suite, more in zip(suites, ([record("b", objective=5)], []), strict=True)
    )
    found = compare_results(base, new)
    assert (found.verdict, found.regressions) == ("not-comparable", ())
    assert found.problem.startswith("BASE is of suite smoke, NEW of suite ci: ")
    renamed = replace(new, suite=suites[0])
    assert kinds(compare_results(base, renamed).regressions) == [("missing", "b", "i")]
    assert kinds(compare_results(base, replace(new, suite=None)).regressions) == [("missing", "b", "i")]


def test_findings_have_names_and_both_values(record):
    """i: 200 -> 205, better bound; j: only the bound, 100 -> 90; k: 300 -> 270."""
    base = [
        record("a", "i", objective=200, bound=80),
        record("a", "j", objective=100, bound=100, status=Status.OPTIMAL),
        record("a", "k", objective=300),
    ]
    new = [
        record("a", "i", objective=205, bound=90),
        record("a", "j", objective=100, bound=90),
        record("a", "k", objective=270),
    ]
    found = compare_results(side(base), side(new))
    assert found.verdict == "regression"
    assert kinds(found.regressions) == [("objective", "a", "i"), ("proof", "a", "j")]
    assert kinds(found.improvements) == [("objective", "a", "k"), ("bound", "a", "i")]
    worse, unproven = found.regressions
    assert (worse.base, worse.new, worse.change, worse.digest, worse.seed) == (200, 205, 0.025, "i", 0)
    assert (unproven.base, unproven.new, unproven.change) == ("optimal", "feasible", None)
    assert [finding.change for finding in found.improvements] == [-0.1, 0.125]
    (method,) = found.methods
    assert (method.better, method.worse, method.same) == (1, 1, 1)


def test_what_new_lacks_is_a_regression_and_what_base_lacks_is_not(record):
    base = [record("a", "i", objective=5), record("a", "j", objective=5), record("b", "i", objective=5)]
    new = [record("a", "i", objective=5), record("c", "i", objective=5), record("a", "k", objective=5)]
    found = compare_results(side(base), side(new, planned=5))
    assert kinds(found.regressions) == [("missing", "a", "j"), ("missing", "b", "i")]
    assert [(finding.base, finding.new) for finding in found.regressions] == [("feasible", None)] * 2
    assert found.improvements == ()
    assert [(method.label, method.pairs, method.missing, method.added) for method in found.methods] == [
        ("a", 1, 1, 1),
        ("b", 0, 1, 0),
        ("c", 0, 0, 1),
    ]
    assert found.notes[:-2] == (
        "NEW is not complete: 2 of its 5 runs are not done.",
        "Methods in BASE only: b.",
        "Instances in BASE only: j.",
        "Methods in NEW only: c.",
        "Instances in NEW only: k.",
        "2 runs are in NEW only; refresh the baseline to have them compared.",
    )


def test_a_failed_run_says_why(record):
    base, new = record("a", objective=5), record("a", status=Status.CRASHED, reason="SIGSEGV")
    found = compare_results(side([base, record("b", objective=5)]), side([new, record("b", objective=5)]))
    (finding,) = found.regressions
    assert (finding.kind, finding.base, finding.new, finding.reason) == ("failed", "feasible", "crashed", "SIGSEGV")
    # Turned round, it is an improvement.
    found = compare_results(side([new, record("b", objective=5)]), side([base, record("b", objective=5)]))
    assert (found.verdict, kinds(found.improvements)) == ("ok", [("failed", "a", "i")])


def test_failed_on_both_sides_is_said(record):
    both = [record("a", status=Status.TIMEOUT), record("b", objective=5)]
    found = compare_results(side(both), side(both))
    assert found.verdict == "ok"
    assert "1 pairs failed on both sides; nothing is compared there." in found.notes


def test_contradictions_across_the_sides(record):
    base = [record("exact", objective=120, bound=90), record("greedy", objective=100)]
    new = [record("exact", objective=120, bound=120), record("greedy", objective=130)]
    found = compare_results(side(base), side(new))
    # The solution of 100 in BASE stands, so that 130 in NEW is worse.
    assert kinds(found.regressions) == [
        ("contradiction", "exact", "i"),
        ("invalid", "exact", "i"),
        ("objective", "greedy", "i"),
    ]
    assert found.regressions[0].reason.startswith("on i the bound 120 of exact (NEW) is above a verified solution")


def test_versions_defaults_limits_and_the_clock_are_told(record):
    base = record("a", objective=1000, bound=900, backend="highs", backend_version="1.13", wall_s=59.9)
    base = structs.replace(base, run=structs.replace(base.run, parameters={"tries": 10, "depth": 1}))
    other = structs.replace(base.run.limits, time_limit_s=61.0)
    new = record("a", objective=1001, bound=800, version=2, backend="highs", backend_version="1.14", limits=other)
    new = structs.replace(new, run=structs.replace(new.run, parameters={"depth": 1, "runs": 2, "tries": 1000}))
    found = compare_results(side([base]), side([new]))
    assert (found.verdict, found.regressions) == ("ok", ())
    assert found.notes[:4] == (
        "Changed versions: a: version 1 -> 2, a: highs 1.13 -> highs 1.14.",
        "Changed defaults: a: tries 10 -> 1000, a: runs none -> 2.",
        "1 pairs ran under other limits.",
        "1 pairs may have been stopped by the clock; only changes of gap beyond the minimum effect count there.",
    )
    assert compare_results(side([base]), side([new]), min_effect=0.0).verdict == "regression"


def drawn(record, changes):
    """Two runs an instance of a method that draws, objective 1000 to a bound of 500, the second side changed."""
    rng = np.random.default_rng(0)
    base, new = [], []
    for number, change in enumerate(changes):
        for seed in (1, 2):
            luck = int(rng.integers(-20, 21))
            options = {"seed": seed, "stochastic": True, "bound": 500}
            base.append(record("s", f"i{number}", objective=1000 + luck, **options))
            new.append(record("s", f"i{number}", objective=1000 + luck + change + int(rng.integers(-9, 10)), **options))
    return side(base), side(new)


def test_chance_alone_is_no_regression(record):
    found = compare_results(*drawn(record, [0] * 20))
    (method,) = found.methods
    assert (found.verdict, found.regressions, found.improvements) == ("ok", (), ())
    assert (method.stochastic, method.gap.instances) == (True, 20)
    assert method.worse > 0
    assert method.gap.low < 0 < method.gap.high


def test_among_many_methods_chance_is_no_regression_either(record):
    """Fifty methods, nothing changed: each has its interval, and in nearly every comparison one of them lies above 0."""
    rng = np.random.default_rng(0)
    alarms = wide = 0
    for _ in range(8):
        sides = ([], [])
        for label in (f"s{number}" for number in range(50)):
            for own, noise in zip(sides, rng.integers(1000, 1100, (2, 10)), strict=True):
                options = {"seed": 1, "stochastic": True, "bound": 500}
                own += [record(label, f"i{i}", objective=int(each), **options) for i, each in enumerate(noise)]
        found = compare_results(side(sides[0], "base"), side(sides[1], "new"))
        alarms += bool(found.regressions)
        wide += any(method.gap.low > 0 and method.gap.mean > found.min_effect for method in found.methods)
    assert alarms == 0
    assert wide >= 6


def test_a_planted_effect_is_found(record):
    """20 of 1000 more, each time: a gap of 0.5 grows by 0.01; turned round, it is an improvement."""
    base, new = drawn(record, [20] * 20)
    (finding,) = compare_results(base, new).regressions
    assert (finding.kind, finding.method, finding.instance, finding.seed) == ("gap", "s", "", None)
    assert 0 < finding.interval[0] < 0.0098 < finding.interval[1] < 0.02
    assert finding.new - finding.base == pytest.approx(finding.change, rel=1e-9)
    back = compare_results(new, base)
    assert (back.verdict, [found.kind for found in back.improvements]) == ("ok", ["gap"])


@pytest.mark.parametrize("bound", [0, 1, None])
def test_a_weak_bound_hides_nothing(record, bound):
    """Twice the cost, where gaps to the bound are all near 1: of a method that draws, and of one that the clock stopped."""
    for options in ({"stochastic": True}, {"wall_s": 60.0}):
        base = [record("s", f"i{number}", objective=10_000, bound=bound, **options) for number in range(3)]
        new = [record("s", f"i{number}", objective=20_000, bound=bound, **options) for number in range(3)]
        found = compare_results(side(base), side(new))
        assert found.verdict == "regression"
        assert found.methods[0].unbounded == 3
        assert (
            "In 3 of 3 pairs, no bound of at least a quarter of the best solution is proven: gaps are to it."
            in found.notes
        )


def test_an_effect_below_the_minimum_is_none(record):
    base, new = drawn(record, [20] * 20)
    assert compare_results(base, new, min_effect=0.02).verdict == "ok"


def test_a_method_that_begins_to_draw_is_no_freer(record):
    """One that drew already is judged as before, and so is one that does no more."""
    plain, drawn = (
        [record("s", objective=objective, bound=500, **options) for objective in (1000, 1001)]
        for options in ({}, {"stochastic": True})
    )
    begins = compare_results(side(plain[:1]), side(drawn[1:]))
    assert [found.kind for found in begins.regressions] == ["objective"]
    assert "s draws random numbers now." in begins.notes
    ends = compare_results(side(drawn[:1]), side(plain[1:]))
    assert ends.regressions == ()
    assert "s draws no random numbers any more." in ends.notes


def test_instances_count_once_however_many_seeds(record):
    """i: 5 seeds of +10, j: 1 seed of -10: no change on average."""
    options = {"stochastic": True, "bound": 500}
    base = [record("s", "i", seed=seed, objective=1000, **options) for seed in range(5)]
    new = [record("s", "i", seed=seed, objective=1010, **options) for seed in range(5)]
    base.append(record("s", "j", seed=0, objective=1010, **options))
    new.append(record("s", "j", seed=0, objective=1000, **options))
    (method,) = compare_results(side(base), side(new)).methods
    assert method.gap.mean == pytest.approx(0, abs=1e-12)
    assert method.gap.instances == 2


def test_of_one_instance_the_seeds_are_resampled(record):
    options = {"stochastic": True, "bound": 500}
    base = [record("s", seed=seed, objective=1000, **options) for seed in range(4)]
    new = [record("s", seed=seed, objective=1000 + step, **options) for seed, step in enumerate((-30, 40, -30, 40))]
    found = compare_results(side(base), side(new))
    assert found.verdict == "ok"
    assert found.methods[0].gap.low < 0 < found.methods[0].gap.high


def test_a_draw_that_fails_now_is_a_regression(record):
    base = [record("s", seed=seed, stochastic=True, objective=5) for seed in (1, 2)]
    new = [base[0], record("s", seed=2, stochastic=True, status=Status.INVALID)]
    assert [(f.kind, f.seed) for f in compare_results(side(base), side(new)).regressions] == [("invalid", 2)]


@pytest.mark.parametrize(
    ("base", "new", "problem"),
    [
        ([], ["good"], "BASE base: no run ended with a result (0 done of 0 planned)."),
        (["good"], [], "NEW new: no run ended with a result (0 done of 0 planned)."),
        (["good"], ["crashed", "unsupported"], "NEW new: no run ended with a result (2 done of 2 planned)."),
        (["good"], ["other"], "BASE and NEW are of different methods, a and c; compare runs of one suite."),
        (["good"], ["elsewhere"], "BASE and NEW are of different instances, i and k; compare runs of one suite."),
        (
            ["good", "both"],
            ["other", "mixed"],
            "BASE and NEW have no instance, method and seed in common; compare runs of one suite.",
        ),
    ],
)
def test_never_green_without_a_comparison(record, base, new, problem):
    runs = {
        "good": record("a", objective=5),
        "crashed": record("a", status=Status.CRASHED),
        "unsupported": record("b", status=Status.UNSUPPORTED),
        "other": record("c", objective=5),
        "elsewhere": record("a", "k", objective=5),
        "both": record("c", "k", objective=5),
        "mixed": record("a", "k", objective=5),
    }
    found = compare_results(side([runs[name] for name in base], "base"), side([runs[name] for name in new], "new"))
    assert (found.verdict, found.problem, found.methods) == ("not-comparable", problem, ())
