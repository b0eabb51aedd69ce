"""`docs/protocol.md` against the code: its conversation, every key and field, and how runs end."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import Program, ProgramFailure, Terms
from schedgap.bench.programs.run import Greeting, ask, field_names, find_player, hello, see_off
from schedgap.heuristics.placement.observation import Mix, Nodes
from schedgap.heuristics.reconfiguration.actions import Market
from schedgap.heuristics.sharing.player import Machines
from schedgap.heuristics.waiting.player import Terms as WaitingTerms
from schedgap.instances.errors import VerifyError
from schedgap.instances.family import find_family
from schedgap.instances.method import derived_seed
from schedgap.instances.sharing import micro

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
FAMILIES = ("reconfiguration", "sharing", "waiting", "harvest", "placement")

# Says the program's lines of a conversation, and writes down what it hears.
REPLAY = """
import sys
with open("heard.txt", "w") as heard:
    for line in open("conversation.txt"):
        if line.startswith("> "):
            heard.write(sys.stdin.readline())
        else:
            print(line[2:], end="", flush=True)
    heard.write(sys.stdin.read())
"""


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.fixture
def instance(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(re.search(r"```json\n(.*?)```", PAGE, re.DOTALL).group(1))
    return find_family("reconfiguration").read_instance(path)


@pytest.fixture
def conversation():
    return re.search(r"```text\n(.*?)```", PAGE, re.DOTALL).group(1)


def terms(instance, time_limit_s=60.0):
    return Terms(derived_seed(0, instance.digest, 0), time_limit_s, 1)


def heard(folder, command, instance):
    program = Program.make("mine", command, kind="policy", folder=folder)
    outcome = ask(program, find_family("reconfiguration"), instance, terms(instance))
    see_off()
    return find_family("reconfiguration").verify(instance, outcome.solution)


def test_the_conversation_is_what_a_program_hears(tmp_path, instance, conversation):
    """Byte by byte, by a program that says the page's lines; both machines are rented, each once."""
    (tmp_path / "conversation.txt").write_text(conversation)
    (tmp_path / "replay.py").write_text(REPLAY)
    assert heard(tmp_path, [sys.executable, "replay.py"], instance) > 0
    told = "".join(line[2:] for line in conversation.splitlines(keepends=True) if line.startswith("> "))
    assert (tmp_path / "heard.txt").read_text() == told


def test_the_conversation_is_that_of_the_example_in_c(tmp_path, instance, conversation, commands, examples):
    """The page says which program it is: its lines, byte by byte, too."""
    program = examples / commands("c", "policy")[0]
    (tmp_path / "tee.sh").write_text('"$1" < /dev/stdin | tee said.txt\n')
    assert heard(tmp_path, ["sh", "tee.sh", str(program)], instance) > 0
    said = "".join(line[2:] for line in conversation.splitlines(keepends=True) if line.startswith("< "))
    assert (tmp_path / "said.txt").read_text() == said


def section(heading):
    return re.search(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE).group(1)


def tables(text):
    """The first cells' names, a set a table."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        cells = [re.split(r"(?<!\\)\|", line)[1] for line in table.splitlines()[2:]]
        found.append({name for cell in cells for name in re.findall(r"`(\w+)`", cell)})
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_every_field_and_action_is_named(family):
    player, observation = find_player(family)
    actions, fields = tables(section(family.capitalize()))
    assert fields == set(field_names(observation))
    struct = next((kind for kind in getattr(player.document, "__args__", (player.document,))), None)
    assert actions == set(getattr(struct, "__struct_fields__", ()))
    for name in (*player.knowledge, *player.options):
        assert f"`{name}`" in section(family.capitalize())


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("reconfiguration", Market),
        ("sharing", Machines),
        ("waiting", WaitingTerms),
        ("placement", Nodes),
        ("placement", Mix),
    ],
)
def test_every_member_of_an_object_is_named(family, kind):
    assert {field.name for field in dataclasses.fields(kind)} <= set(
        re.findall(r"`(\w+)`", section(family.capitalize()))
    )


def test_every_key_of_the_first_lines_is_named(instance):
    (first,) = tables(section("The first line"))
    assert first == set(json.loads(hello(*find_player("harvest"), terms(instance))))
    (greeting,) = tables(section("The greeting"))
    assert greeting == set(Greeting.__struct_fields__)


GREETING = '{"schema":"schedgap/policy/1"}'


def says(*lines):
    """A shell's script that answers with lines, whatever it hears."""
    return "".join(f"read line; echo '{line}'; " for line in lines)


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("read line; exit 3", "crashed"),
        ("read line; kill -9 $$", "crashed"),
        (says(GREETING), "crashed"),
        (says(GREETING) + "exec sleep 60", "timeout"),
        (says("{"), "invalid"),
        (says(GREETING, '{"decision":2,"actions":{"machine":[0],"new_types":[1]}}'), "invalid"),
        (says(GREETING, '{"decision":1,"actions":{"machine":["a"]}}'), "invalid"),
        (says(GREETING, '{"decision":1,"actions":{"machine":[0],"types":[1]}}'), "invalid"),
        (says(GREETING, '{"decision":1,"actions":{"machine":[0],"new_types":[1]}}\n\n'), "invalid"),
        (says('{"schema":"schedgap/policy/1","fields":["future"]}'), "invalid"),
        (says('{"schema":"schedgap/policy/1","knows":["arrivals"]}'), "error"),
        (says('{"schema":"schedgap/policy/1","options":{"acquirer":null}}'), "error"),
        (says(GREETING, '{"decision":1,"actions":{"machine":[0,0],"new_types":[1]}}'), "error"),
        (says(GREETING, '{"decision":1,"actions":{"machine":[0],"new_types":[7]}}'), "error"),
    ],
)
def test_what_ends_a_run(instance, script, status):
    program = Program.make("mine", ["sh", "-c", script], kind="policy")
    with pytest.raises(ProgramFailure) as failure:
        ask(program, find_family("reconfiguration"), instance, terms(instance, 0.1))
    assert failure.value.status == status


def test_a_plan_that_breaks_a_rule_is_refused_when_it_is_verified(instance):
    script = says(GREETING, '{"decision":1,"actions":{"machine":[-1]}}')
    program = Program.make("mine", ["sh", "-c", script], kind="policy")
    outcome = ask(program, find_family("reconfiguration"), instance, terms(instance))
    with pytest.raises(VerifyError):
        find_family("reconfiguration").verify(instance, outcome.solution)


def test_tasks_that_never_complete_are_an_error():
    """In sharing: machines stay idle, though nothing else runs."""
    leave = 'n=0; while read line; do n=$((n+1)); echo "{\\"decision\\":$n,\\"actions\\":null}"; done'
    program = Program.make("mine", ["sh", "-c", says(GREETING) + leave], kind="policy")
    instance = micro(tasks=2)
    with pytest.raises(ProgramFailure, match="never start") as failure:
        ask(program, find_family("sharing"), instance, terms(instance))
    assert failure.value.status == "error"
