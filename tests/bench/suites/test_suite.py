"""Suite files: what they mean, and one clear sentence for each way of getting them wrong."""

from pathlib import Path

import pytest

from schedgap.bench.catalogue import chosen_method
from schedgap.bench.plan import plan_suite
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.records.runs import Limits
from schedgap.bench.statistics.headlines.registry import check_names
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import MethodError, SuiteError
from schedgap.instances.method import method_label

MILLION = 1_000_000


def read_text(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    return read_suite(path)


def edited(tmp_path, write_suite, old, new):
    text = write_suite(["no-packing"]).read_text()
    assert old in text
    return read_text(tmp_path, text.replace(old, new))


@pytest.mark.parametrize("name", shipped_suites())
def test_shipped_suites_are_sound(name):
    """Their names are their files' names, their methods and makers exist, their instances differ, they show what they have."""
    suite, folder = read_suite(name)
    assert suite.name == name
    load_methods([suite.family])
    chosen = [chosen_method(suite.family, text) for block in suite.blocks for text in block.methods or suite.methods]
    check_names(suite, {method_label(method.name, given): method.name for method, given in chosen})
    suite = suite.model_copy(update={"reference": [], "setting": [], "sweep": [], "map": []})
    small = [_smaller(block, suite.family) for block in suite.instances if _is_small(block)]
    if not small:
        pytest.skip("all of its instances take long to make")
    assert plan_suite(suite.model_copy(update={"instances": small}), folder).runs


def _is_small(block):
    return all(
        _most(block.parameters.get(key, 0)) < most
        for key, most in (("tasks", 100_000), ("vms", 5_000), ("nodes", 1000))
    )


def _smaller(block, family):
    """Return a block with its first seed, a thousandth of millions of jobs, and one day in which VMs of a data centre change."""
    seeds = block.seeds[:1] if isinstance(block.seeds, list) else block.seeds and 1
    parameters = dict(block.parameters)
    if _most(parameters.get("jobs", 0)) > MILLION:
        parameters["jobs"] //= 1000
    if (family, block.generator) == ("harvest", "datacentre"):
        parameters.setdefault("days", 1.0)
    return block.model_copy(update={"seeds": seeds, "parameters": parameters})


def _most(given):
    # Ranges such as 20-120 are of each job.
    return max(0 if isinstance(size, str) else size for size in (given if isinstance(given, list) else [given]))


def test_lists_and_seeds_are_multiplied(tmp_path, write_suite):
    suite, folder = edited(tmp_path, write_suite, "tasks = 6", 'tasks = [6, 7], cpu = ["physical", "vcpu"]')
    sources = list(suite.sources(suite.instances[0].model_copy(update={"seeds": [3, 5]}), None, folder))
    shown = [(s.parameters["tasks"], s.parameters["cpu"], s.parameters["seed"]) for s in sources]
    assert shown == [(t, c, s) for t in (6, 7) for c in ("physical", "vcpu") for s in (3, 5)]


def test_a_block_may_have_its_own_limits(tmp_path, write_suite):
    suite, _ = edited(tmp_path, write_suite, "seeds = 1", "seeds = 1\nlimits = { memory_mib = 7 }")
    assert suite.limits_of(suite.instances[0]) == Limits(time_limit_s=1.0, wall_s=20.0, memory_mib=7)


def test_a_trace_replaces_the_generator(tmp_path, write_suite):
    trace = 'trace = { importer = "alibaba-gpu-v2023", parameters = { tasks = 9 } }'
    suite, folder = edited(tmp_path, write_suite, "seeds = 1", f"seeds = 1\n{trace}")
    (plain,) = suite.sources(suite.instances[0], None, folder)
    (traced,) = suite.sources(suite.instances[0], Path("pods.csv"), folder)
    assert (plain.kind, plain.name, plain.path) == ("generator", "table7", None)
    assert (traced.kind, traced.name, traced.path) == ("importer", "alibaba-gpu-v2023", Path("pods.csv"))
    assert traced.parameters == {"tasks": 9, "seed": 0}


def test_files_are_relative_to_the_suite(tmp_path, write_suite):
    block = 'file = "i.json"'
    suite, folder = edited(tmp_path, write_suite, 'generator = "table7"\nparameters = { tasks = 6 }\nseeds = 1', block)
    (source,) = suite.sources(suite.instances[0], None, folder)
    assert (source.kind, source.path) == ("file", tmp_path / "i.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A little suite"', "", r"s.toml: title: field required"),
        ('title = "A little suite"', 'titel = "A little suite"', r"s.toml: titel: unknown field; .*\(1 more like this"),
        ("time_limit_s = 1", "time_limit = 1", r"limits.time_limit: unknown field; did you mean time_limit_s\?"),
        ("time_limit_s = 1", "time_limit_s = -1", r"limits.time_limit_s: input should be greater than or equal to 0"),
        (
            "time_limit_s = 1",
            "time_limit_s = inf",
            r"limits.time_limit_s: input should be a finite number \(found inf\)",
        ),
        ("time_limit_s = 1", "time_limit_s = 1e9", r"limits.time_limit_s: .* less than or equal to 499990 \(found 1"),
        ("memory_mib = 512", "memory_mib = 100000000000000", r"limits.memory_mib: .* \(found 100000000000000\)"),
        ("memory_mib = 512", 'memory_mib = "512"', r"limits.memory_mib: input should be a valid integer"),
        ("seeds = 1", "seeds = 0", r"instances.0.seeds: give how many, 1 to 100000, or a list of .* \(found 0\)\.$"),
        ("seeds = 1", "seeds = 1000000000000", r"instances.0.seeds: give how many, 1 to 100000"),
        ("seeds = 1", "seeds = []", r"instances.0.seeds: give how many, .* not empty\.$"),
        ("tasks = 6", "tasks = []", r"instances.0.parameters: 'tasks' takes a number, .* not empty\.$"),
        ("tasks = 6", "tasks = { a = 1 }", r"instances.0.parameters: 'tasks' takes a number, .* not empty\.$"),
        ('generator = "table7"', 'file = "i.json"', r"instances.0: an instance file takes neither 'parameters' nor"),
        ("methods = ", f"methods = {'[' * 10_000}", r"s.toml: not TOML: "),
        ("methods = ", "methods == ", r"s.toml: not TOML: .*line 7"),
        ('schema = "schedgap/suite/1"', 'schema = "schedgap/suite/2"', r"schema: input should be 'schedgap/suite/1'"),
        ('generator = "table7"', "", r"give 'generator', or 'file', or 'importer' with 'file'"),
        ('"no-packing"', "", r"methods: list should have at least 1 item"),
        ("seeds = 1", 'headline = "best"', r"instances.0.headline: unknown field"),
    ],
)
def test_malformed_files(tmp_path, write_suite, old, new, message):
    with pytest.raises(SuiteError, match=message):
        edited(tmp_path, write_suite, old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "no-packing",
            "no-paking",
            r"little: methods: family provisioning has no method 'no-paking'; did you mean no-packing",
        ),
        (
            "no-packing",
            "zzzz",
            r"has no method 'zzzz'; `schedgap list methods` names ours, `--plugin FILE` brings others\.$",
        ),
        (
            "no-packing",
            "patterns[backend=gurobi]",
            r"little: methods: method patterns: parameter 'backend' is one of highs, ",
        ),
        ("no-packing", "no-packing[x=1]", r"method no-packing has no parameter 'x'"),
        ("no-packing", "no-packing[x", r"'no-packing\[x' is not a method"),
        (
            "tasks = 6",
            "taks = 6",
            r"instances\[0\]: generator table7 has no parameter 'taks'; did you mean tasks\? it has: tasks",
        ),
        (
            "tasks = 6",
            'tasks = "six"',
            r"instances\[0\]: generator table7: parameter 'tasks' takes a whole number, not 'six'",
        ),
        ("tasks = 6", "tasks = [6, 6]", r"instances table7-6-physical-s0 and table7-6-physical-s0 are the same"),
        ('"table7"', '"table8"', r"family provisioning has no generator 'table8'; did you mean table7 or "),
        (
            '"provisioning"',
            '"provision"',
            r"there is no family 'provision'; did you mean provisioning\? known are fairness, harvest, placement, provisioning",
        ),
    ],
)
def test_what_does_not_exist(tmp_path, write_suite, old, new, message):
    load_methods(["provisioning"])
    from schedgap.bench import run_suite
    from schedgap.instances.errors import SchedgapError

    text = write_suite(["no-packing"]).read_text()
    path = tmp_path / "s.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises(SchedgapError, match=message):
        run_suite(path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_trace_for_a_suite_without_one(tmp_path, write_suite):
    suite, folder = read_suite(write_suite(["no-packing"]))
    with pytest.raises(SuiteError, match="leave --trace out"):
        plan_suite(suite, folder, trace=tmp_path)


def test_unknown_suite_names_the_known():
    with pytest.raises(SuiteError, match=r"there is no suite 'nix'; `schedgap list suites` names them all; or"):
        read_suite("nix")


def test_a_byte_order_mark_is_no_matter(tmp_path, write_suite):
    path = write_suite(["no-packing"])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_suite(path)[0].name == "little"


def test_a_suite_is_utf8(tmp_path, write_suite):
    path = write_suite(["no-packing"])
    path.write_bytes(path.read_bytes().replace(b"A little", b"\xe9"))
    with pytest.raises(SuiteError, match=r"not UTF-8 \(.*; save it as UTF-8"):
        read_suite(path)


PROGRAMS = """
[[programs]]
name = "mine"
command = "./alone.py --fast 'a b'"

[[programs]]
name = "other"
command = ["sh", "alone.py", "{instance}"]
kind = "policy"
depends = ["little.toml"]
stochastic = true
"""


def test_programs_are_relative_to_the_suite(tmp_path, write_suite, alone, monkeypatch):
    """Wherever it is read; a command is text as a shell has it, or words."""
    path = write_suite(["mine", "other"])
    path.write_text(path.read_text() + PROGRAMS)
    monkeypatch.chdir("/")
    suite, folder = read_suite(path)
    mine, other = suite.own_programs(folder)
    assert (mine.name, mine.kind, mine.depends, mine.stochastic) == ("mine", "method", (), False)
    assert mine.command == (str(alone), "--fast", "a b")
    assert mine.folder == other.folder == str(tmp_path)
    assert (other.kind, other.depends, other.stochastic) == ("policy", (str(path),), True)
    assert other.command[1:] == ("alone.py", "{instance}")
    assert other.hash != mine.hash


def test_more_methods_are_on_all_instances(tmp_path, write_suite):
    suite, _ = edited(tmp_path, write_suite, "seeds = 1", 'seeds = 1\nmethods = ["patterns"]')
    more = suite.with_methods(["mine", "no-packing"])
    assert more.methods == ["no-packing", "mine"]
    assert more.instances[0].methods == ["patterns", "mine", "no-packing"]
    assert suite.with_methods([]) == suite


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "mine"', "programs.0.command: field required"),
        ('name = "mine"\ncommand = ""', "programs.0.command"),
        ('name = "nime"\ncommand = "cat"', "program 'nime' is in no list of methods; add it to 'methods'"),
        ('name = "mine"\ncommand = []', "programs.0.command"),
        ('name = "mine"\ncommand = "cat"\nkind = "solution"', "programs.0.kind: input should be 'method' or 'policy'"),
        ('name = "mine"\ncommand = "cat"\ndepend = []', r"programs.0.depend: unknown field; did you mean depends\?$"),
        ('name = "mine"\ncommand = "cat"\nstochastic = 1', "programs.0.stochastic: input should be a valid boolean"),
    ],
)
def test_malformed_programs(tmp_path, write_suite, text, message):
    path = write_suite(["mine"])
    path.write_text(f"{path.read_text()}\n[[programs]]\n{text}\n")
    with pytest.raises(SuiteError, match=message):
        read_suite(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "mine"\ncommand = "./none"', "program mine: there is no file .*/none; give its path from /"),
        ('name = "mine"\ncommand = "cat"\ndepends = ["none"]', "program mine: there is no file .*/none"),
        ('name = "mine"\ncommand = "little.toml"', "there is no command 'little.toml' on the PATH; .* ./little.toml"),
    ],
)
def test_programs_that_are_not_there(tmp_path, write_suite, text, message):
    path = write_suite(["mine"])
    path.write_text(f"{path.read_text()}\n[[programs]]\n{text}\n")
    suite, folder = read_suite(path)
    with pytest.raises(MethodError, match=message):
        suite.own_programs(folder)


def test_seeds_that_a_search_does_not_see(tmp_path):
    text = "\n".join(
        [
            'schema = "schedgap/suite/1"\nname = "x"\ntitle = "x"\nquestion = "x"',
            'family = "provisioning"\nmethods = ["patterns"]',
            "[search]\nvalidation = [5, 6]\ntest = [7]",
            '[[instances]]\ngenerator = "table7"\nseeds = 2',
        ]
    )
    (tmp_path / "x.toml").write_text(text)
    assert read_suite(tmp_path / "x.toml")[0].search.unseen == [5, 6, 7]
    (tmp_path / "x.toml").write_text(text.replace("[7]", "[7, 6]"))
    with pytest.raises(SuiteError, match="seed 6 is in 'validation' and in 'test'; give each its own"):
        read_suite(tmp_path / "x.toml")
