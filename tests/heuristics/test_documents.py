"""Actions as programs answer them, in JSON: they mean what the Python actions mean, and what is malformed is refused."""

import json
from random import Random

import msgspec
import numpy as np
import pytest

from schedgap.bench.checks.trials import small_instances
from schedgap.bench.plugins.discover import load_families
from schedgap.heuristics import placement, reconfiguration, sharing, waiting
from schedgap.heuristics.harvest import Decision
from schedgap.heuristics.harvest.player import Player as HarvestPlayer
from schedgap.heuristics.player import play
from schedgap.heuristics.waiting import Buy, Rent, Start
from schedgap.instances.errors import MethodError, VerifyError
from schedgap.instances.family import find_family
from schedgap.instances.fields import fields_hash

PLAYERS = {
    each.family: each
    for each in (reconfiguration.Player, sharing.Player, waiting.Player, HarvestPlayer, placement.Player)
}


@pytest.fixture(scope="module")
def instances():
    """Three small instances of each family that its player plays; of harvest the pools differ."""
    load_families()
    found = {}
    for family in PLAYERS:
        shown = find_family(family).features
        played = [each for each in small_instances(family) if shown is None or "accepts" not in shown(each)]
        found[family] = played[-3:]
    return found


def sends_each_somewhere(observation):
    """Each new task on a new machine or the last one, and every other idle machine is kept."""
    draft = observation.draft()
    for task in np.flatnonzero(observation.task_machine < 0):
        type_ = observation.reservation_type[observation.task_class[task]]
        last = len(draft.types) - 1
        draft.put(task, last if last >= 0 and draft.fits(task, last) else draft.rent(type_))
    plan = draft.plan()
    keep = np.arange(observation.num_machines) % 2 == 0
    return reconfiguration.Plan(plan.machine, plan.new_types, keep if observation.now_s % 1200 else None)


def serves_some(observation):
    """The last one that fits, or nobody now and then."""
    idle = observation.to_start.sum() > 1 and observation.now_ms % 3 == 1 and observation.running.any()
    return None if idle else observation.job[observation.fitting[-1]]


def buys_starts_and_rents(observation):
    if observation.num_machines is None:
        return Buy(2, 600.0)
    actions = []
    for i, job in enumerate(observation.job[:1]):
        machine = observation.first_fit(i)
        actions.append(Start(job, machine) if machine >= 0 else Rent(job) if job % 2 else None)
    return [action for action in actions if action is not None]


def places_and_acquires(observation):
    """Tasks on VMs with room, one each; of a pool that is its own it asks for more, and gives one back that is idle."""
    needed = observation.job_cores[observation.task_job].max(initial=0)
    fits = observation.vm[observation.free >= needed]
    place = [(int(t), int(v)) for t, v in zip(observation.task, fits, strict=False)]
    idle = set(observation.vm[~observation.drains].tolist()) - set(observation.run_vm.tolist()) - {v for _, v in place}
    own = observation.is_epoch and observation.memory_of_policy.get("acquires")
    back = [min(idle)] if own and idle and observation.now_ms % 7 == 3 else []
    return Decision(place, back, 2 if own else 0, 60_000 if own else 0)


def places_on_last(observation):
    """The last node, on the last GPUs with room, and every fifth pod is refused."""
    if observation.pod % 5 == 4:
        return None
    node = int(observation.fitting[-1])
    able = np.flatnonzero(observation.open_gpus[node])
    return (node, able[able.size - observation.gpus :].tolist()) if observation.pod % 2 else node


POLICIES = {
    "placement": places_on_last,
    "reconfiguration": sends_each_somewhere,
    "sharing": serves_some,
    "waiting": buys_starts_and_rents,
    "harvest": places_and_acquires,
}


def document(actions):
    """Return Python's actions as a program writes them."""
    match actions:
        case reconfiguration.Plan():
            keep = {} if actions.keep is None else {"keep": actions.keep.tolist()}
            return {"machine": actions.machine.tolist(), "new_types": actions.new_types.tolist(), **keep}
        case Buy():
            return {"buy": actions.machines, "wait_limit_s": actions.wait_limit_s}
        case Decision():
            return {name: getattr(actions, name) for name in ("place", "decommission", "request", "ask_again_ms")}
        case (node, gpus):
            return [node, gpus]
        case list():
            start = [[int(a.job), int(a.machine)] for a in actions if isinstance(a, Start)]
            return {"start": start, "rent": [int(a.job) for a in actions if isinstance(a, Rent)]}
        case _:
            return None if actions is None else int(actions)


def read(family, content):
    player = PLAYERS[family]
    return player.read(msgspec.json.decode(content, type=player.document))


@pytest.mark.parametrize("family", PLAYERS)
def test_a_document_means_what_the_actions_mean(instances, family):
    player, policy = PLAYERS[family], POLICIES[family]
    for instance in instances[family]:
        ends = []
        for way in (lambda actions: actions, lambda actions: read(family, json.dumps(document(actions)).encode())):
            outcome = play(player(instance, frozenset()), lambda seen, way=way: way(policy(seen)))
            find_family(family).verify(instance, outcome.solution)
            ends.append((fields_hash(outcome.solution), outcome.details))
        assert ends[0] == ends[1]


def test_the_pool_may_be_a_programs_own(instances):
    """Requests and VMs that are given back, by a document with all of a decision."""
    acquired = 0
    for instance in small_instances("harvest"):
        if instance.is_fixed:
            continue
        ends = []
        for way in (lambda actions: actions, lambda actions: read("harvest", json.dumps(document(actions)).encode())):
            asked = []

            def decide(seen, way=way, asked=asked):
                seen.memory_of_policy["acquires"] = True
                actions = places_and_acquires(seen)
                asked.append(actions.request)
                return way(actions)

            outcome = play(HarvestPlayer(instance, frozenset(), acquirer=None), decide)
            ends.append((outcome.claimed_status, outcome.details, sum(asked)))
        assert ends[0] == ends[1]
        acquired += ends[0][2]
    assert acquired > 0


MALFORMED = {
    "reconfiguration": [
        ("null", "Expected `object`, got `null`"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field `machine`"),
        ('{"machine": 0}', "Expected `array`, got `int` - at `$.machine`"),
        ('{"machine": [0.5]}', "Expected `int`, got `float` - at `$.machine["),
        ('{"machine": [true]}', "Expected `int`, got `bool`"),
        ('{"machine": ["0"]}', "Expected `int`, got `str`"),
        ('{"machine": [null]}', "Expected `int`, got `null`"),
        ('{"machine": [9223372036854775808]}', "Expected `int` <= 9223372036854775807"),
        ('{"machine": [-9223372036854775809]}', "Expected `int` >= -9223372036854775808"),
        (f'{{"machine": [1{"0" * 400}]}}', "Expected `int` <= 9223372036854775807"),
        ('{"machine": [NaN]}', "JSON is malformed"),
        ('{"machine": [], "keep": [1]}', "Expected `bool`, got `int`"),
        ('{"machine": [], "new_type": []}', "unknown field `new_type`"),
    ],
    "sharing": [
        ("{}", "got `object`"),
        ("[0]", "got `array`"),
        ("true", "got `bool`"),
        ('"0"', "got `str`"),
        ("0.5", "got `float`"),
        ("Infinity", "JSON is malformed"),
        ("9223372036854775808", "<= 9223372036854775807"),
    ],
    "placement": [
        ("{}", "got `object`"),
        ("true", "got `bool`"),
        ("0.5", "got `float`"),
        ('[0, "a"]', "Expected `int | array`, got `str`"),
        ('[0, ["a"]]', "Expected `int`, got `str`"),
        ("9223372036854775808", "<= 9223372036854775807"),
    ],
    "waiting": [
        ("[]", "Expected `object | null`, got `array`"),
        ('{"buy": 1.5}', "Expected `int | null`, got `float` - at `$.buy`"),
        ('{"buy": 1, "wait_limit_s": "1"}', "Expected `float | null`, got `str`"),
        ('{"buy": 1, "wait_limit_s": 1e400}', "out of range"),
        ('{"start": [[0]]}', "Expected `array` of length 2"),
        ('{"start": [[0, 0, 0]]}', "Expected `array` of length 2"),
        ('{"start": [0]}', "Expected `array`, got `int`"),
        ('{"rent": [[0]]}', "Expected `int`, got `array`"),
        ('{"stop": []}', "unknown field `stop`"),
    ],
    "harvest": [
        ("[[0, 0]]", "Expected `object | null`, got `array`"),
        ('{"place": [0]}', "Expected `array`, got `int`"),
        ('{"place": [[0, "a"]]}', "Expected `int`, got `str`"),
        ('{"place": null}', "Expected `array`, got `null`"),
        ('{"decommission": [[0]]}', "Expected `int`, got `array`"),
        ('{"request": 1e3}', "Expected `int`, got `float`"),
        ('{"ask_again_ms": true}', "Expected `int`, got `bool`"),
        ('{"requests": 1}', "unknown field `requests`"),
    ],
}


@pytest.mark.parametrize(
    ("family", "content", "message"), [(family, *each) for family, many in MALFORMED.items() for each in many]
)
def test_what_is_malformed_is_refused(family, content, message):
    with pytest.raises(msgspec.MsgspecError) as caught:
        read(family, content.encode())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"wait_limit_s": 5}', "the policy answers wait_limit_s without buy; give it at the first decision."),
        ('{"buy": 1, "rent": [0]}', "the policy buys, and starts or rents at once; no job has come when it buys."),
        ('{"buy": 1, "start": [[0, 0]]}', "the policy buys, and starts or rents at once"),
    ],
)
def test_machines_are_bought_alone(content, message):
    with pytest.raises(MethodError, match=message):
        read("waiting", content.encode())


@pytest.mark.parametrize(
    ("family", "content", "actions"),
    [
        ("sharing", "null", None),
        ("sharing", "3", 3),
        ("placement", "3", 3),
        ("placement", "[3, [0, 2]]", (3, [0, 2])),
        ("waiting", "null", None),
        ("waiting", "{}", []),
        ("waiting", '{"buy": 2}', Buy(2)),
        ("waiting", '{"buy": 2, "wait_limit_s": 7}', Buy(2, 7.0)),
        # Whatever the order in the text: who starts is before who rents.
        ("waiting", '{"rent": [3], "start": [[1, 0]]}', [Start(1, 0), Rent(3)]),
        ("harvest", "null", None),
        ("harvest", "{}", Decision([], [], 0, 0)),
        ("harvest", '{"place": [[0, 1], [2, 3, 60000]]}', Decision([[0, 1], [2, 3, 60000]], [], 0, 0)),
    ],
)
def test_what_a_document_means(family, content, actions):
    assert read(family, content.encode()) == actions


@pytest.mark.parametrize(
    ("family", "content", "message"),
    [
        ("reconfiguration", '{"machine": [0, 0, 0, 0, 0, 0, 0, 0, 0]}', "machine has shape (9,) for"),
        ("reconfiguration", '{"machine": []}', "machine has shape (0,) for"),
        ("sharing", "9223372036854775807", "job 9223372036854775807, which is not there"),
        ("sharing", "-1", "job -1, which is not there"),
        ("placement", "-1", "returned node -1, and there are"),
        ("placement", "[0]", "the policy returned tuple; return a node, (node, gpus), or None"),
        ("placement", "[0, 0]", "the policy returned 0 for its GPUs; return a list"),
        ("placement", "[[0], [0]]", "the policy returned list; return a node"),
        ("waiting", "null", "first decision: the policy returned NoneType; where observation.num_machines is None"),
        ("waiting", '{"start": [[0, 0]]}', "first decision: the policy returned list"),
        ("waiting", '{"buy": -1}', "the policy buys -1 machines; buy 0 to"),
        ("waiting", '{"buy": 9223372036854775807}', "the policy buys 9223372036854775807 machines; buy 0 to"),
        ("waiting", '{"buy": 1, "wait_limit_s": -1}', "wait_limit_s"),
        ("harvest", '{"place": [[9223372036854775807, 0]]}', "starts task 9223372036854775807, which is not there"),
        ("harvest", '{"place": [[0]]}', "returned an entry of 1 numbers"),
        ("harvest", '{"request": -1}', "returned request -1; give 0 to"),
        ("harvest", '{"ask_again_ms": 9223372036854775807}', "returned ask_again_ms 9223372036854775807; give 0 to"),
        (
            "harvest",
            '{"decommission": [-9223372036854775808]}',
            "gives back VM -9223372036854775808, which there is not",
        ),
    ],
)
def test_actions_that_cannot_be_carried_out(instances, family, content, message):
    """One sentence with the way out, whatever the numbers."""
    with pytest.raises(MethodError) as caught:
        play(PLAYERS[family](instances[family][0], frozenset()), lambda _: read(family, content.encode()))
    said = str(caught.value)
    assert message in said
    assert "; " in said
    assert "\n" not in said


@pytest.mark.parametrize("family", PLAYERS)
def test_damaged_documents(instances, mutation, family):
    """Each is no document, or one that is carried out or refused; the schedule of those that are is verified or refused."""
    refused = 0
    for seed in range(60):
        random = Random(seed)
        instance = instances[family][seed % len(instances[family])]

        def decide(seen, random=random):
            content = json.dumps(document(POLICIES[family](seen))).encode()
            if random.random() < 0.2 and content not in (b"null", b"{}") and content[:1] == b"{":
                content = mutation.damaged_json(content, random)
            return read(family, content)

        try:
            outcome = play(PLAYERS[family](instance, frozenset()), decide)
            if outcome.solution is not None:
                find_family(family).verify(instance, outcome.solution)
        except (MethodError, VerifyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            refused += 1
    assert refused > 10 or family in ("sharing", "placement")
