"""Programs are asked what methods promise: honest ones keep it, and those that break a promise are told which."""

import json
import re
import sys

import pytest

from schedgap.bench.checks import contract
from schedgap.bench.checks import contract as check
from schedgap.bench.checks.contract import check_methods
from schedgap.bench.checks.trials import small_instances
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import Kind, Program
from schedgap.instances.provisioning import table7

AGAIN = "same answer in another process"
SEED = "depends on the seed as declared"
INSTANCES = [table7(23, seed=1), table7(23, seed=2)]
# What is put before the last line of the honest program, and the promises that are broken by it.
BROKEN = {
    "honest": ("", {}),
    "bounding": ("wrap(bound=0.5)", {}),
    "editing": ("open('given.json', 'w').write('{}')", {}),
    "drawing": ("shuffle(os.environ['SCHEDGAP_SEED'])", {SEED: "another solution of the same objective"}),
    "tossing": ("shuffle(time.time_ns())", {AGAIN: "(again): another solution of the same objective"}),
    "counting": (
        "open('count', 'a').write('x'); shuffle(len(open('count').read()))",
        {AGAIN: "(again): another solution of the same objective"},
    ),
    "infeasible": ("machines.pop()", {"answers verify": " are placed, the instance has "}),
    "boasting": ("wrap(status='optimal', bound=0.5)", {"claims are proven": "its bound 500000 does not prove that"}),
    "lying": ("wrap(bound=1e6)", {"answers verify": "its bound 1000000000000 is above the objective"}),
    "clumsy": ("sys.exit(3)", {"ends with an answer": "crashed: the program exited with code 3 (and 1 more)"}),
    "nowhere": (
        "say(status='unsupported', reason='only on Sundays')",
        {"says what it cannot take": "it takes none of 2 instances: only on Sundays"},
    ),
    "mute": (
        "if instance['name'].endswith('s1'): say(status='unsupported')",
        {"says what it cannot take": "it gives no reason"},
    ),
}
TOOLS = """
import os, random, time
def shuffle(seed):
    random.Random(str(seed)).shuffle(machines)
def say(**more):
    print(json.dumps({"schema": "schedgap/answer/1", **more}))
    sys.exit()
def wrap(**more):
    say(solution={"schema": "schedgap/provisioning-solution/1", "machines": machines}, **more)
"""


@pytest.fixture
def variant(alone):
    """Write the honest program with a line before its last: `variant("name", "time.sleep(1)")`; the program."""
    lines = alone.read_text().rstrip().splitlines()

    def write(name, line, **more):
        folder = alone.parent / name
        folder.mkdir()
        path = folder / "mysched"
        path.write_text("\n".join([*lines[:-1], *TOOLS.splitlines(), line, lines[-1]]))
        path.chmod(0o755)
        return Program.make(name, [path], folder=folder, **more)

    return write


@pytest.fixture
def checked(monkeypatch):
    """Check programs on two small instances; the failed checks of each, by its name."""
    monkeypatch.setattr(check, "large_instances", lambda family: [table7(40, seed=3)])

    def run(*programs, **more):
        names = [program.name for program in programs]
        found = check_methods(names, plugins=programs, jobs=2, **{"instances": INSTANCES, **more})
        return {each.method: {c.check: c.detail for c in each.checks if c.result == "failed"} for each in found}

    return run


def test_the_broken_promise_is_named(variant, checked):
    failed = checked(*(variant(name, line) for name, (line, _) in BROKEN.items()))
    for name, (_, expected) in BROKEN.items():
        assert failed[name].keys() == expected.keys(), name
        for rule, detail in expected.items():
            assert detail in failed[name][rule]
    assert failed["drawing"][SEED].endswith("(and 1 more)")
    assert "; give --stochastic" in failed["drawing"][SEED]


def test_who_draws_may_say_so(variant, checked):
    assert checked(variant("drawing", BROKEN["drawing"][0], stochastic=True)) == {"drawing": {}}


def test_who_is_late_is_told_by_its_time(variant, checked, monkeypatch):
    """Two seconds with a limit of a half are late; half a second is not, and nor is who looks at the limit."""
    monkeypatch.setattr(check, "SHORT_LIMIT_S", 0.5)
    monkeypatch.setattr(contract, "FACTOR", 1.0)
    monkeypatch.setattr(contract, "GRACE_S", 0.9)
    only_large = (
        "if len(instance['tasks']) > 23 or sum(t.get('count', 1) for t in instance['tasks']) > 23: time.sleep({})"
    )
    failed = checked(
        variant("late", only_large.format("2")),
        variant("in-time", only_large.format("0.1")),
        variant("obedient", "time.sleep(float(os.environ['SCHEDGAP_TIME_LIMIT_S']))"),
        time_limit_s=0.2,
    )
    assert failed["in-time"] == failed["obedient"] == {}
    assert failed["late"].keys() == {"keeps to the time limit"}
    assert re.search(
        r"table7-40\S* \(large\): 2\.\d s with a limit of 0\.5 s", failed["late"]["keeps to the time limit"]
    )


def test_policies(serve, checked):
    """Their limit is that of a decision, so there is none to keep to; who tosses a coin is told, and who leaves tasks."""
    load_families()
    text = serve.read_text()
    texts = {
        "serving": text,
        "tossing": text.replace("import json", "import random, json").replace("[0]", "[-random.randrange(2)]"),
        "idle": re.sub(r'"actions": .*}', '"actions": None}', text),
    }
    programs = []
    for name, changed in texts.items():
        path = serve.with_name(f"{name}.py")
        path.write_text(changed)
        programs.append(Program.make(name, [sys.executable, "-IS", path], kind=Kind.POLICY))
    failed = checked(*programs, family="sharing", instances=small_instances("sharing")[:2])
    assert failed["serving"] == {}
    # Which of the calls differ is up to the coins.
    assert any(promise.startswith("same answer") for promise in failed["tossing"])
    assert "error: job " in failed["idle"]["ends with an answer"]


def test_command(schedgap, variant, monkeypatch):
    """Exit code 1 where a promise is broken; with `--stochastic` the program may draw."""
    monkeypatch.setattr(check, "small_instances", lambda family: INSTANCES[:1])
    monkeypatch.setattr(check, "large_instances", lambda family: [])
    monkeypatch.setattr(check, "default_instances", lambda family: [])
    program = variant("drawing", BROKEN["drawing"][0])
    for more, code in (((), 1), (("--stochastic",), 0)):
        ended, out, err = schedgap("check", "--program", program.text, *more, "--json")
        assert (ended, err) == (code, "")
        document = json.loads(out)
        assert (document["method"], document["passed"]) == ("drawing", code == 0)
    policy = ("--policy", f"other={program.command[0]}")
    ended, _, err = schedgap("check", "drawing", "--program", program.text, *policy, "--family", "cooking")
    assert (ended, "there is no family 'cooking'" in err) == (2, True)
