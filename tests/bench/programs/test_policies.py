"""Programs as policies: they decide what a Python policy decides, are told what they ask for, and fail by name."""

import json

import numpy as np
import pytest

from schedgap.bench.checks.trials import small_instances
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs import run as conversation
from schedgap.bench.programs.program import ProgramFailure
from schedgap.bench.programs.run import find_player, play_program
from schedgap.heuristics.player import play
from schedgap.heuristics.waiting import Buy, Rent, Start
from schedgap.instances.errors import MethodError, VerifyError
from schedgap.instances.family import find_family
from schedgap.instances.fields import fields_hash

# Answers each decision by the function `decide`, of all that it has been told so far.
LOOP = """
import json, sys
def say(said): print(json.dumps(said), flush=True)
hello = json.loads(input())
say({"schema": "schedgap/policy/1", **GREETING})
seen, told = {}, 0
for line in sys.stdin:
    asked = json.loads(line)
    if "end" in asked: break
    seen.update(asked["observation"])
    say({"decision": asked["decision"], "actions": decide(seen)})
"""
DECIDE = {
    "reconfiguration": """
def decide(seen):
    place, types = list(seen["task_machine"]), []
    for task, machine in enumerate(place):
        if machine < 0:
            place[task] = len(seen["machine_type"]) + len(types)
            types.append(seen["reservation_type"][seen["task_class"][task]])
    return {"machine": place, "new_types": types}
""",
    "sharing": """
def decide(seen):
    return seen["job"][seen["fitting"][-1]]
""",
    "placement": """
def decide(seen):
    return seen["fitting"][-1]
""",
    "waiting": """
def decide(seen):
    if seen["num_machines"] is None: return {"buy": 2, "wait_limit_s": 600}
    for machine, (cores, memory) in enumerate(zip(seen["free_cores"], seen["free_memory_mib"])):
        if cores >= seen["cores"][0] and memory >= seen["memory_mib"][0]:
            return {"start": [[seen["job"][0], machine]]}
    return {"rent": [seen["job"][0]]} if seen["job"][0] % 2 else None
""",
    "harvest": """
def decide(seen):
    needed = max([seen["job_cores"][job] for job in seen["task_job"]], default=0)
    fits = [vm for vm, free in zip(seen["vm"], seen["free"]) if free >= needed]
    return {"place": list(zip(seen["task"], fits))}
""",
}


def one_machine_each(seen):
    draft = seen.draft()
    for task in np.flatnonzero(seen.task_machine < 0):
        draft.put(task, draft.rent(seen.reservation_type[seen.task_class[task]]))
    return draft.plan()


def last_fitting(seen):
    return seen.job[seen.fitting[-1]]


def last_node(seen):
    return seen.fitting[-1]


def first_fit_or_rent(seen):
    if seen.num_machines is None:
        return Buy(2, 600.0)
    machine, job = seen.first_fit(0), seen.job[0]
    return Start(job, machine) if machine >= 0 else Rent(job) if job % 2 else None


def on_free_vms(seen):
    needed = seen.job_cores[seen.task_job].max(initial=0)
    return list(zip(seen.task, seen.vm[seen.free >= needed], strict=False))


TWINS = {
    "reconfiguration": one_machine_each,
    "sharing": last_fitting,
    "placement": last_node,
    "waiting": first_fit_or_rent,
    "harvest": on_free_vms,
}


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.fixture
def program(python):
    """Return a policy: the text of its `decide`, and its greeting beside the schema."""

    def make(decide, **greeting):
        return python(f"GREETING = {greeting!r}\n{decide}\n{LOOP}", kind="policy")

    return make


@pytest.fixture
def refused(terms, program, monkeypatch):
    """Play a policy that fails on a small instance of sharing; status and reason."""
    monkeypatch.setattr(conversation, "CLOSING_S", 0.2)

    def run(decide, family="sharing", **greeting):
        with pytest.raises(ProgramFailure) as caught:
            play_program(program(decide, **greeting), family, small_instances(family)[0], terms)
        return str(caught.value.status), str(caught.value)

    return run


@pytest.mark.parametrize("observations", ["whole", "changes"])
@pytest.mark.parametrize("family", DECIDE)
def test_a_program_and_its_twin_in_python(program, terms, family, observations):
    player, _ = find_player(family)
    for instance in small_instances(family)[:2]:
        ours = play(player(instance, frozenset()), TWINS[family])
        theirs = play_program(program(DECIDE[family], observations=observations), family, instance, terms)
        assert fields_hash(theirs.solution) == fields_hash(ours.solution)
        find_family(family).verify(instance, theirs.solution)
        facts = {key: theirs.details[key] for key in theirs.details if key not in ours.details}
        assert theirs.details == {**ours.details, **facts}
        assert set(facts) == {"knows", "told_bytes", "heard_bytes", "program_s"}
        assert facts["knows"] == ""
        assert facts["program_s"] > 0


def test_what_is_told_less_is_less(program, terms):
    """The same answers, by fewer bytes."""
    instance = small_instances("sharing")[0]
    greetings = [{}, {"observations": "changes"}, {"observations": "changes", "fields": ["job", "fitting"]}]
    outcomes = [play_program(program(DECIDE["sharing"], **g), "sharing", instance, terms) for g in greetings]
    assert len({fields_hash(each.solution) for each in outcomes}) == 1
    whole, changes, fields = (each.details["told_bytes"] for each in outcomes)
    assert whole > 2 * changes > 4 * fields


def test_knowledge_is_told_to_whom_asks_for_it(program, terms, tmp_path):
    """And what a program knows stands in the details of its run."""
    path = tmp_path / "told.json"
    decide = DECIDE["sharing"].replace(
        "return", f"open({str(path)!r}, 'w').write(json.dumps(seen['next_work_ms']))\n    return"
    )
    instance = small_instances("sharing")[0]
    outcome = play_program(program(decide), "sharing", instance, terms)
    assert (outcome.details["knows"], json.loads(path.read_text())) == ("", None)
    outcome = play_program(program(decide, knows=["durations"]), "sharing", instance, terms)
    assert outcome.details["knows"] == "durations"
    assert min(json.loads(path.read_text())) >= 0


def test_options_are_the_players(program, terms):
    """With `acquirer` null the program itself looks after the pool; else it may not."""
    instance = next(each for each in small_instances("harvest") if not each.is_fixed)
    decide = DECIDE["harvest"].replace("return {", 'return {"request": 1 if seen["is_epoch"] else 0, ')
    outcome = play_program(program(decide, options={"acquirer": None}), "harvest", instance, terms)
    assert find_family("harvest").verify(instance, outcome.solution) > 0
    with pytest.raises(ProgramFailure, match="requested 1 VMs, and its acquirer looks after the pool") as caught:
        play_program(program(decide), "harvest", instance, terms)
    assert caught.value.status == "error"


@pytest.mark.parametrize(
    ("decide", "status", "reason"),
    [
        ("decide = lambda seen: seen['job'][0] + 10**6", "error", "which is not there; return one of observation.job"),
        ("decide = lambda seen: None", "error", "tasks that never start: the policy left the machines idle"),
        (
            "decide = lambda seen: 'job-1'",
            "invalid",
            "decision 1: 'actions' is not as docs/protocol.md has it: Expected",
        ),
        (
            "decide = lambda seen: float('nan')",
            "invalid",
            "decision 1: its answer is not as docs/protocol.md has it: JSON",
        ),
        (
            "decide = lambda seen: 10**400",
            "invalid",
            "decision 1: 'actions' is not as docs/protocol.md has it: Expected",
        ),
        ("decide = lambda seen: sys.exit(4)", "crashed", "decision 1: the program exited with code 4"),
        ("decide = lambda seen: seen['future']", "crashed", "decision 1: the program exited with code 1"),
    ],
)
def test_how_a_policy_fails(refused, decide, status, reason):
    found = refused(decide)
    assert found[0] == status
    assert reason in found[1]
    assert "\n" not in found[1]


@pytest.mark.parametrize(
    ("greeting", "status", "reason"),
    [
        ({"knows": ["future"]}, "error", "policy mine knows 'future'; a policy may know durations."),
        ({"options": {"notion": "drf"}}, "error", "policy mine: there is no option 'notion'; options are shares."),
        ({"options": {"shares": "fair"}}, "error", "policy mine: shares is 'fair'; choose one of "),
        ({"fields": ["now_s"]}, "invalid", "its greeting asks for the field 'now_s'; fields are now_ms, machines,"),
        (
            {"hello": 1},
            "invalid",
            "its greeting is not as docs/protocol.md has it: Object contains unknown field `hello`",
        ),
    ],
)
def test_greetings_that_ask_for_what_there_is_not(refused, greeting, status, reason):
    found = refused(DECIDE["sharing"], **greeting)
    assert found[0] == status
    assert found[1].startswith(reason)


def test_a_plan_that_breaks_a_rule_ends_the_play(program, terms):
    """Its schedule is the outcome, and the verifier names the rule."""
    instance = small_instances("reconfiguration")[0]
    decide = "def decide(seen): return {'machine': [-1] * len(seen['task'])}"
    outcome = play_program(program(decide), "reconfiguration", instance, terms)
    with pytest.raises(VerifyError, match="task"):
        find_family("reconfiguration").verify(instance, outcome.solution)


@pytest.mark.parametrize("family", ["provisioning", "fairness", "cooking"])
def test_a_family_without_policies(family):
    with pytest.raises(
        MethodError, match=f"in family {family} nothing is decided over time, .* by --program, or another"
    ):
        find_player(family)
