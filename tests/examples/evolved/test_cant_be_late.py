"""Can't be late: plans by hand, the table and all plans, policies that see no future, and what a verifier must refuse."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from outside import Outside

from schedgap.bench import gap, run_suite
from schedgap.bench.programs.program import Program
from schedgap.bench.statistics.headlines.measures import native_scores
from schedgap.heuristics.player import play
from schedgap.instances.errors import InstanceError, MethodError, SolutionError, VerifyError
from schedgap.instances.family import Scored

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "examples" / "evolved" / "cant_be_late.py"
SPOT_PRICE, PRICE = 9731, 30600
# Dollars at which LB's score is 0.
WORTHLESS = 146.88
CHEATS = """
import sys
import cant_be_late
import cant_be_late_rules
from cant_be_late import LateSolution, policy
from schedgap.instances import Outcome, method


@policy("own-list-of-work")
def own_list_of_work(observation):
    observation.memory["task_done_time"] = [observation.work_s]
    object.__setattr__(observation, "left_s", 0)
    return 0


@policy("spot-alone")
def spot_alone(observation):
    return 1


@policy("no-answer")
def no_answer(observation):
    return None


@policy("raises-where-it-is-dear")
def raises_where_it_is_dear(observation):
    if not observation.spot:
        raise ValueError("too dear")
    return 1


@method("past-the-rule", family="cant-be-late")
def past_the_rule(instance):
    return LateSolution(instance.spot)


@method("all-spot", family="cant-be-late")
def all_spot(instance):
    object.__setattr__(instance, "spot", instance.spot * 0 + 1)
    return cant_be_late.clairvoyant(instance)


@method("nothing-at-all", family="cant-be-late")
def nothing_at_all(instance):
    return Outcome(LateSolution(instance.spot * 0), status="optimal")


@method("cheaper-prices", family="cant-be-late")
def cheaper_prices(instance):
    cant_be_late_rules.PRICE = (0, 0, 0)
    cant_be_late_rules.Job.refusal = lambda *_: None
    return LateSolution(instance.spot * 0 + 2)


@method("own-price", family="cant-be-late")
def own_price(instance):
    plan = cant_be_late.clairvoyant(instance)
    return Outcome(plan.solution, bound=plan.bound + 1, status="optimal")
"""
WAITS = """
import json
import sys

sys.stdin.readline()
print(json.dumps({"schema": "schedgap/policy/1"}), flush=True)
for line in sys.stdin:
    told = json.loads(line)
    if told.get("end"):
        break
    print(json.dumps({"decision": told["decision"], "actions": int(told["observation"]["spot"])}), flush=True)
"""
SUITE = """
schema = "schedgap/suite/1"
name = "cheats"
title = "Cheats"
question = "What is believed?"
family = "cant-be-late"
families = ["FILE"]
headline = "scores"
methods = ["own-list-of-work", "spot-alone", "no-answer", "raises-where-it-is-dear", "past-the-rule", "all-spot",
           "nothing-at-all", "cheaper-prices", "own-price", "spot-or-wait", "clairvoyant"]

[[instances]]
generator = "random-spot"
parameters = { rule = [true, false], seed = [3, 4] }
"""


@pytest.fixture(scope="module")
def family():
    """The family of the file, with its methods by name."""
    outside = Outside(FILE)
    with outside.known():
        yield outside


@pytest.fixture(scope="module")
def late(family):
    """The module of the file."""
    return family.module


def given(late, spot, *, work=2, deadline=None, overhead_s=60, forced=0):
    """Return an instance of so many ticks of work, of 600 s."""
    deadline = len(spot) - forced if deadline is None else deadline
    return late.LateInstance("given", round(work * 600), deadline, overhead_s, forced, np.array(spot))


def replayed(instance, kinds):
    """Return what a plan costs, None if it is none: the rules once more, in other words and plain Python."""
    on, left, cost = 0, instance.work_s, 0
    for tick, kind in enumerate(kinds):
        needs = -((left + instance.overhead_s) // -600)
        must = None
        if instance.forced and left and needs >= instance.deadline - tick:
            must = (1 if instance.spot[tick] else 0) if on == 1 else 2
        if (must is not None and kind != must) or (kind == 1 and not instance.spot[tick]) or (kind and not left):
            return None
        if kind:
            left = max(0, left - 600 + (instance.overhead_s if kind != on else 0))
        cost += (0, SPOT_PRICE, PRICE)[kind]
        on = kind
    return None if left else cost


def test_a_start_eats_of_its_tick(late):
    """Two ticks of work: three on spot, as the first does 540 s; or on demand. A change is a start, and so is a pause."""
    instance = given(late, [1, 1, 1, 1, 0])
    cost = {k: late.verify(instance, late.LateSolution(k)) for k in ((1, 1, 1, 0, 0), (0, 2, 2, 2, 0), (1, 0, 1, 2, 0))}
    assert cost == {
        (1, 1, 1, 0, 0): 3 * SPOT_PRICE,
        (0, 2, 2, 2, 0): 3 * PRICE,
        (1, 0, 1, 2, 0): 2 * SPOT_PRICE + PRICE,
    }


def test_without_an_overhead_whole_ticks_count(late):
    instance = given(late, [1, 0, 1], overhead_s=0)
    assert late.verify(instance, late.LateSolution([1, 0, 1])) == 2 * SPOT_PRICE


def test_the_rule_by_hand(late):
    """One tick of work and D = 60 in 4 ticks: ceil(660 / 600) = 2, so from tick 2 on it is on demand, for two ticks.

    Who is on spot at tick 1 has 60 s left, and may stop; at tick 3, with the last tick left, nobody may.
    """
    instance = given(late, [1, 1, 0, 0, 0], work=1, forced=1)
    assert late.verify(instance, late.LateSolution([0, 0, 2, 2, 0])) == 2 * PRICE
    assert late.verify(instance, late.LateSolution([0, 1, 0, 2, 0])) == SPOT_PRICE + PRICE
    with pytest.raises(VerifyError, match="tick 2 is 0, but the rule makes it 2: 600 s of work are left"):
        late.verify(instance, late.LateSolution([0, 0, 0, 2, 2]))


def test_on_spot_the_rule_makes_the_job_a_tick_late(late):
    """1140 s of work in 3 ticks. After one on spot 600 s are left, and ceil(660 / 600) = 2 ticks.

    So the job stays on spot, loses a tick where that is gone, and is on demand for a tick after the deadline.
    """
    instance = given(late, [1, 0, 0, 0], work=1.9, forced=1)
    assert late.verify(instance, late.LateSolution([1, 0, 2, 2])) == SPOT_PRICE + 2 * PRICE
    with pytest.raises(VerifyError, match="tick 1 is 2, but the rule makes it 0"):
        late.verify(instance, late.LateSolution([1, 2, 2, 0]))


@pytest.mark.parametrize("forced", [0, 1])
@pytest.mark.parametrize("overhead_s", [0, 200, 450])
def test_the_table_and_all_plans_meet(late, family, forced, overhead_s):
    """All 3^8 plans, by the rules in other words; the verifier agrees on each."""
    rng = np.random.default_rng(overhead_s)
    for _ in range(2):
        instance = given(late, rng.integers(0, 2, 8), work=4, forced=forced, overhead_s=overhead_s)
        costs = {}
        for plan in product(range(3), repeat=8):
            if (cost := replayed(instance, plan)) is not None:
                costs[plan] = cost
                assert late.verify(instance, late.LateSolution(plan)) == cost
        outcome = family.methods["clairvoyant"].run(instance)
        assert (outcome.status, outcome.bound) == ("optimal", min(costs.values()))
        assert tuple(outcome.solution.kind.tolist()) in costs


def test_refusals_are_the_same_in_other_words(late):
    rng = np.random.default_rng(1)
    for _ in range(300):
        instance = given(late, rng.integers(0, 2, 6), work=2, forced=int(rng.integers(2)))
        plan = rng.integers(0, 3, 6)
        try:
            cost = late.verify(instance, late.LateSolution(plan))
        except VerifyError:
            cost = None
        assert cost == replayed(instance, plan.tolist())


@pytest.mark.parametrize("name", ["on-demand", "spot-or-wait", "uniform-progress"])
@pytest.mark.parametrize("seed", range(3))
def test_policies_are_never_below_the_clairvoyant(late, family, name, seed):
    instance = late.random_spot(seed=seed, deadline_h=8)
    cost = late.verify(instance, family.methods[name].run(instance).solution)
    assert family.methods["clairvoyant"].run(instance).bound <= cost <= 25 * PRICE


def test_a_policy_sees_the_present_alone(late):
    """Two traces that differ from tick 9 on only: until then all that it sees is equal."""
    first = late.random_spot(seed=5)
    spot = first.spot.copy()
    spot[9:] = 1 - spot[9:]
    seen = []
    for instance in (first, first.replace(spot=spot)):
        player, shown = late.Player(instance), []
        while (observation := player.observe()) is not None and observation.tick < 9:
            shown.append(observation)
            player.act(late.spot_or_wait(observation))
        seen.append(shown)
    assert len(seen[0]) == 9
    assert seen[0] == seen[1]
    assert {type(getattr(seen[0][0], key)) for key in seen[0][0].__slots__} == {int, bool, dict}


@pytest.mark.parametrize("answer", [None, True, 3, -1, 1.0, "spot", [1]])
def test_what_is_no_answer(late, answer):
    player = late.Player(given(late, [1, 1, 1, 1]))
    player.observe()
    with pytest.raises(MethodError, match="give 0, 1 for spot or 2"):
        player.act(answer)


def test_spot_is_taken_only_where_it_is(late):
    player = late.Player(given(late, [0, 1, 1, 1]))
    player.observe()
    with pytest.raises(MethodError, match="tick 0 is 1, spot, which is not there"):
        player.act(1)


def test_without_the_rule_a_policy_may_be_too_late(late):
    with pytest.raises(MethodError, match="1200 s of work are left at the deadline"):
        play(late.Player(given(late, [0] * 6)), lambda _: 0)


@pytest.mark.parametrize("name", ["spot-or-wait", "uniform-progress"])
def test_our_policies_are_in_time_without_the_rule(late, family, name):
    """Spot is gone for good when it is least welcome."""
    for length in range(12):
        instance = given(late, [1] * length + [0] * (12 - length), work=6, overhead_s=300)
        late.verify(instance, family.methods[name].run(instance).solution)


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        ([1, 1, 1], "shape"),
        ([1, 1, 1, 0, 0, 0], "shape"),
        ([[1, 1, 1, 0, 0]], "shape"),
        ([1, 1, 0, 0, 0], "60 s of 1200 s of work are left"),
        ([0, 0, 0, 0, 0], "1200 s of 1200 s of work are left"),
        ([1, 1, 1, 1, 0], "tick 3 is 1, but the work is done"),
        ([2, 2, 0, 0, 1], "tick 4 is 1, spot, which is not there"),
        ([3, 0, 0, 0, 0], "tick 0 is 3; give 0"),
        ([-1, 2, 2, 2, 0], "tick 0 is -1; give 0"),
    ],
)
def test_what_is_no_plan(late, kinds, reason):
    with pytest.raises(VerifyError, match=reason):
        late.verify(given(late, [1, 1, 1, 1, 0]), late.LateSolution(kinds))


@pytest.mark.parametrize("kinds", [[0.5] * 5, ["spot"] * 5, [float("nan")] * 5, None])
def test_what_names_no_kinds(late, kinds):
    with pytest.raises(SolutionError):
        late.LateSolution(kinds)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"work_s": 2400}, "give 1 to 2340"),
        ({"work_s": 0}, "give 1 to"),
        ({"overhead_s": 600}, "overhead_s is 600"),
        ({"forced": 2}, "forced is 2"),
        ({"deadline": 3}, "spot has shape"),
        ({"spot": np.array([0, 1, 2, 0])}, "spot is 2 at tick 2"),
    ],
)
def test_what_is_no_instance(late, changes, reason):
    with pytest.raises(InstanceError, match=reason):
        given(late, [0, 1, 1, 0]).replace(**changes)


def test_traces(late, tmp_path):
    """Runs in turn with spot and without: 3 ticks of it, 400 without, and 27 of it."""
    table = tmp_path / "traces.csv"
    table.write_text("environment,trace,runs\nwest,7,0 10 420\nwest,8,3 400 27\n")
    instance = late.traces(table, "west", 8, deadline_h=70)
    assert (instance.name, instance.deadline, instance.ticks, instance.work_s) == ("west-8-70h-72s", 420, 421, 172_800)
    assert np.flatnonzero(instance.spot).tolist() == [0, 1, 2, *range(403, 421)]
    assert late.traces(table, trace=7, rule=False).spot.tolist() == [0] * 10 + [1] * 302
    with pytest.raises(InstanceError, match="there is no trace 9 of 'west'"):
        late.traces(table, "west", 9)
    table.write_text("environment,trace,runs\nwest,7,3 x 5\n")
    with pytest.raises(InstanceError, match="line 2: a run of ticks is 'x'"):
        late.traces(table, "west", 7)


def test_scores_of_the_task(late):
    """All on demand for 48 hours is worth 0, all on spot 100; one failed run, and all is worth nothing."""

    def score(*costs):
        return late.native_score([Scored("a", cost, {}) for cost in costs])["leaderboard"]

    assert score(288 * PRICE) == score(300 * PRICE) == 0
    assert score(288 * SPOT_PRICE) == pytest.approx(100)
    assert score(288 * PRICE, 288 * SPOT_PRICE) == pytest.approx(50)
    assert score(288 * SPOT_PRICE, None) == 0


def test_files_give_back_what_was_written(late, tmp_path):
    instance = late.random_spot(seed=2)
    late.INSTANCE.write(instance, tmp_path / "a.json")
    assert late.INSTANCE.read(tmp_path / "a.json").digest == instance.digest
    plan = late.clairvoyant(instance).solution
    late.SOLUTION.write(instance, plan, tmp_path / "b.json")
    assert late.SOLUTION.read(instance, tmp_path / "b.json").kind.tolist() == plan.kind.tolist()


def test_candidates_are_not_believed(family, tmp_path):
    """Each ends with no score, or with that of what it really did."""
    (tmp_path / "cheats.toml").write_text(SUITE.replace("FILE", str(FILE)))
    (tmp_path / "cheats.py").write_text(CHEATS)
    result = run_suite(tmp_path / "cheats.toml", plugins=[tmp_path / "cheats.py"], out=tmp_path / "runs", jobs=2)
    scores, statuses = {}, {}
    for name in {record.run.method for record in result.records}:
        own = [record for record in result.records if record.run.method == name]
        scores[name] = native_scores(family.family, own).get("dollars", WORTHLESS)
        statuses[name] = {str(record.status) for record in own}
    assert statuses == {
        # The rule has it on demand in the end; on the instances without the rule work is left.
        "own-list-of-work": {"feasible", "error"},
        "spot-alone": {"error"},
        "no-answer": {"error"},
        "raises-where-it-is-dear": {"error"},
        "past-the-rule": {"invalid"},
        "all-spot": {"invalid"},
        "nothing-at-all": {"invalid"},
        "cheaper-prices": {"invalid"},
        "own-price": {"invalid"},
        "spot-or-wait": {"feasible"},
        "clairvoyant": {"optimal"},
    }
    assert scores.pop("clairvoyant") < scores.pop("spot-or-wait") < WORTHLESS
    assert set(scores.values()) == {WORTHLESS}


def test_a_policy_in_another_language(late, tmp_path):
    """It is told what a function sees, but for the function's own memory, and answers a kind."""
    (tmp_path / "waits.py").write_text(WAITS)
    instance = late.random_spot(seed=3)
    program = Program.make("waits", [sys.executable, str(tmp_path / "waits.py")], kind="policy", folder=tmp_path)
    result = gap(instance, methods=["spot-or-wait", "waits"], plugins=[program])
    costs = {record.run.method: record.measurement.objective for record in result.records}
    assert costs["waits"] == costs["spot-or-wait"] >= costs["clairvoyant"]
