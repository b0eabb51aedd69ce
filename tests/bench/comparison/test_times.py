"""Times of two sides: told always, a regression only if asked, in units of each machine's own reference work."""

from pathlib import Path

from schedgap.bench.comparison import wording
from schedgap.bench.comparison.comparison import compare_results
from schedgap.bench.comparison.output import to_markdown
from schedgap.bench.suites.results import Results


def side(records):
    return Results(Path("side"), None, (), tuple(records), len(records), {})


def timed(make_record, factor, *, reference=1.0, base_s=0.1, references=(0.00025, 0.00025)):
    """Ten instances; NEW takes `factor` times as long, within a fifth, on a machine `reference` times as slow."""
    base, new = [], []
    for number in range(10):
        spread = 0.8 + 0.04 * number
        base.append(make_record("a", f"i{number}", objective=5, wall_s=base_s, reference_s=references[0]))
        wall_s = base_s * factor * spread * reference
        slow = None if references[1] is None else references[1] * reference
        new.append(make_record("a", f"i{number}", objective=5, wall_s=wall_s, reference_s=slow))
    return side(base), side(new)


def test_times_fail_only_if_asked(make_record):
    sides = timed(make_record, 3.0)
    assert compare_results(*sides).verdict == "ok"
    (finding,) = compare_results(*sides, time_factor=1.5).regressions
    assert (finding.kind, finding.method) == ("time", "a")
    assert 1.5 < finding.interval[0] < finding.change < finding.interval[1] < 3.2
    assert compare_results(*sides, time_factor=4.0).verdict == "ok"


def test_a_slower_machine_is_no_slower_method(make_record):
    (method,) = compare_results(*timed(make_record, 1.0, reference=7.0)).methods
    assert method.time.low < 1 < method.time.high


def test_microseconds_are_noise(make_record):
    """Ten times 20 us: less than a fifth of the shift of four reference works."""
    assert compare_results(*timed(make_record, 10.0, base_s=0.00002), time_factor=1.5).verdict == "ok"


def test_without_reference_times_a_time_gate_is_not_green(make_record):
    found = compare_results(*(sides := timed(make_record, 1.0, references=(None, 0.001))))
    assert (found.verdict, found.methods[0].time) == ("ok", None)
    assert found.notes[1:] == ("No times to compare, for want of a reference time or of a result on both sides: a.",)
    gated = compare_results(*sides, time_factor=1.5)
    assert (gated.verdict, gated.problem[:20]) == ("not-comparable", "no times to compare:")


def test_a_time_gate_sees_quality_too(make_record):
    found = compare_results(
        side([make_record("a", objective=5)]), side([make_record("a", objective=6)]), time_factor=2.0
    )
    assert (found.verdict, [finding.kind for finding in found.regressions]) == ("regression", ["objective"])


def test_a_method_that_is_surely_slower_is_in_the_headline(make_record):
    """200 times as long: not gated, and not to be overlooked either."""
    found = compare_results(*timed(make_record, 200.0))
    said = wording.verdict(found)
    assert said.startswith("No regression, 0 improvements in 10 pairs of runs. Slower, not gated: a 1")
    assert said.endswith("x.")
    assert to_markdown(found).startswith("### ⚠️ schedgap: No regression")
    # A gate on times says it as a regression; what is as quick is not told of.
    assert "Slower" not in wording.verdict(compare_results(*timed(make_record, 200.0), time_factor=1.5))
    assert "Slower" not in wording.verdict(compare_results(*timed(make_record, 1.0)))
    assert to_markdown(compare_results(*timed(make_record, 1.0))).startswith("### ✅")
