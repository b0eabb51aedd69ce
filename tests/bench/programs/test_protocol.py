"""The lines of `schedgap/policy/1`: what they say, that nothing of the future is in them, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from schedgap.bench.checks.trials import small_instances
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import ProgramFailure
from schedgap.bench.programs.run import Teller, field_names, find_player, hello, read_answer, read_greeting
from schedgap.heuristics.waiting import Buy, Observation, Player

# What a policy may answer that has nothing in mind.
ANSWERS = {
    "reconfiguration": lambda seen: seen.draft().plan(),
    "sharing": lambda seen: seen.job[seen.fitting[0]],
    "waiting": lambda seen: Buy(1) if seen.num_machines is None else None,
    "harvest": lambda seen: None,
}


@dataclass
class Seen:
    """An observation with a field of each kind."""

    now_s: int
    free: Any
    share: Any
    runs: Any
    terms: Any
    names: tuple[str, ...]
    limit: int | None
    memory: dict[str, Any]


@dataclass
class Terms:
    """A part of an observation that never changes."""

    price: Any


TERMS = Terms(np.array([3, 1]))


def seen(**more):
    given = {
        "now_s": 0,
        "free": np.array([[1, 2], [3, 4]]),
        "share": np.array([0.5, np.inf]),
        "runs": np.array([True, False]),
        "terms": TERMS,
        "names": ("a", '\u2603\n"'),
        "limit": None,
        "memory": {"secret": 1},
    }
    return Seen(**{**given, **more})


def test_the_first_line(terms):
    line = hello(Player, Observation, terms)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "schema": "schedgap/policy/1",
        "family": "waiting",
        "knowledge": ["runtimes"],
        "options": {},
        "fields": field_names(Observation),
        "seed": 7,
        "time_limit_s": 5.0,
        "threads": 2,
    }


def test_options_are_told_with_their_values(terms):
    player, observation = find_player("harvest")
    options = json.loads(hello(player, observation, terms))["options"]
    assert None in options["acquirer"]
    assert options["scaling"][0] == "none"


def test_a_policys_own_memory_is_no_field():
    assert field_names(Seen) == ["now_s", "free", "share", "runs", "terms", "names", "limit"]
    for family in ANSWERS:
        _, observation = find_player(family)
        names = {field.name for field in dataclasses.fields(observation)}
        assert {name for name in names - set(field_names(observation)) if not name.startswith("memory")} == set()
    # Of a VM, and told.
    assert "memory" in field_names(find_player("harvest")[1])


def test_a_whole_observation():
    """In plain JSON: what is not finite is null, and a line feed in a name ends no line."""
    line = Teller(Seen, None, changes=False).line(3, seen())
    assert line.count(b"\n") == 1
    assert b" " not in line
    assert json.loads(line) == {
        "decision": 3,
        "observation": {
            "now_s": 0,
            "free": [[1, 2], [3, 4]],
            "share": [0.5, None],
            "runs": [True, False],
            "terms": {"price": [3, 1]},
            "names": ["a", '\u2603\n"'],
            "limit": None,
        },
    }


def test_the_fields_that_were_asked_for():
    line = Teller(Seen, ["limit", "now_s"], changes=False).line(1, seen())
    assert json.loads(line)["observation"] == {"now_s": 0, "limit": None}
    assert json.loads(Teller(Seen, [], changes=False).line(1, seen()))["observation"] == {}


def test_changes():
    """What equals what was told last is left out; arrays are compared by what they hold, and by their shape."""
    teller = Teller(Seen, None, changes=True)

    def told(**more):
        return json.loads(teller.line(1, seen(**more)))["observation"]

    assert len(told()) == 7
    assert told(free=np.array([[1, 2], [3, 4]])) == {}
    assert told(now_s=5) == {"now_s": 5}
    assert told(now_s=5, free=np.array([[1, 2], [3, 5]])) == {"free": [[1, 2], [3, 5]]}
    assert told(now_s=5, free=np.empty((0, 2), int)) == {"free": []}
    assert told(now_s=5, free=np.array([[1, 2], [3, 4]])) == {"free": [[1, 2], [3, 4]]}
    assert told(now_s=5, limit=0) == {"limit": 0}
    assert told(now_s=5, limit=None) == {"limit": None}
    assert told(now_s=5, limit=None, names=("a",)) == {"names": ["a"]}
    # Another object of arrays is told again: nobody looks into it.
    assert told(now_s=5, limit=None, names=("a",), terms=Terms(np.array([3, 1]))) == {"terms": {"price": [3, 1]}}


def test_false_is_not_0():
    teller = Teller(Seen, ["limit"], changes=True)
    lines = [json.loads(teller.line(1, seen(limit=value)))["observation"] for value in (0, False, 0.0)]
    assert lines == [{"limit": 0}, {"limit": False}, {"limit": 0.0}]


@pytest.mark.parametrize("family", ANSWERS)
def test_observations_of_every_family_cross_the_pipe(family):
    """Whole or by changes, a program knows the same; all of it is what the Python policy sees."""
    load_families()
    player_class, observation_class = find_player(family)
    instance = small_instances(family)[0]
    player = player_class(instance, frozenset(player_class.knowledge))
    whole, changes = (Teller(observation_class, None, changes=each) for each in (False, True))
    known = {}
    for decision in range(1, 6):
        observation = player.observe()
        if observation is None:
            break
        told = json.loads(whole.line(decision, observation))["observation"]
        known.update(json.loads(changes.line(decision, observation))["observation"])
        assert known == told
        for name, value in told.items():
            shown = getattr(observation, name)
            if isinstance(shown, np.ndarray):
                assert value == shown.tolist()
            elif not dataclasses.is_dataclass(shown):
                assert value == (list(shown) if isinstance(shown, tuple) else shown)
        player.act(ANSWERS[family](observation))


@pytest.mark.parametrize(
    ("said", "greeting"),
    [
        ({}, ([], {}, "whole", None)),
        (
            {"knows": ["runtimes"], "options": {"a": None, "b": "c"}},
            (["runtimes"], {"a": None, "b": "c"}, "whole", None),
        ),
        ({"observations": "changes", "fields": ["now_us", "job"]}, ([], {}, "changes", ["now_us", "job"])),
        ({"fields": []}, ([], {}, "whole", [])),
    ],
)
def test_a_greeting(said, greeting):
    line = json.dumps({"schema": "schedgap/policy/1", **said}).encode() + b"\n"
    read = read_greeting(line, Observation)
    assert (read.knows, read.options, read.observations, read.fields) == greeting


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\n", "its greeting is not as docs/protocol.md has it: Input data was truncated"),
        (b"hello\n", "JSON is malformed"),
        (b"{}\n", "Object missing required field `schema`"),
        (b'{"schema": "schedgap/policy/2"}\n', "Invalid enum value 'schedgap/policy/2'"),
        (b'{"schema": "schedgap/policy/1", "know": []}\n', "unknown field `know`"),
        (b'{"schema": "schedgap/policy/1", "knows": "all"}\n', "Expected `array`, got `str` - at `$.knows`"),
        (b'{"schema": "schedgap/policy/1", "observations": "some"}\n', "Invalid enum value 'some'"),
        (b'{"schema": "schedgap/policy/1", "knows": ["%b"]}\n' % (b"x" * 201), "length <= 200"),
        (
            b'{"schema": "schedgap/policy/1", "fields": ["future"]}\n',
            "its greeting asks for the field 'future'; fields are now_us, terms, num_machines,",
        ),
    ],
)
def test_no_greeting(line, message):
    with pytest.raises(ProgramFailure) as caught:
        read_greeting(line, Observation)
    assert caught.value.status == "invalid"
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_answer():
    assert read_answer(b'{"decision": 4, "actions": [1, 2]}\n', 4, list[int]) == [1, 2]
    assert read_answer(b'{"actions":null,"decision":4}\n', 4, int | None) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}\n", "decision 4: its answer is not as docs/protocol.md has it: Object missing required field `decision`"),
        (b'{"decision": 4}\n', "Object missing required field `actions`"),
        (b'{"decision": 4, "actions": [], "why": ""}\n', "unknown field `why`"),
        (b'{"decision": 3, "actions": []}\n', "decision 4: it answers decision 3; answer each once, in order"),
        (b'{"decision": 5, "actions": []}\n', "decision 4: it answers decision 5"),
        (b'{"decision": "4", "actions": []}\n', "Expected `int`, got `str` - at `$.decision`"),
        (
            b'{"decision": 4, "actions": [1.5]}\n',
            "decision 4: 'actions' is not as docs/protocol.md has it: Expected `int`",
        ),
        (b'{"decision": 4, "actions": %b%b}\n' % (b"[" * 9999, b"]" * 9999), "recursion"),
        (b'{"decision": 4, "actions": [NaN]}\n', "JSON is malformed"),
        (b'{"decision": 4, "actions": ["\xff"]}\n', "decision 4: "),
        (b"[4, []]\n", "Expected `object`, got `array`"),
    ],
)
def test_no_answer(line, message):
    with pytest.raises(ProgramFailure) as caught:
        read_answer(line, 4, list[int])
    assert caught.value.status == "invalid"
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
