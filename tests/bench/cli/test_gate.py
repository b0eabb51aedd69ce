"""`schedgap gate`: another commit and this folder, in turn."""

import re
import subprocess
from pathlib import Path

import pytest

from schedgap.bench.cli.app import load_command

ROOT = Path(__file__).resolve().parents[3]

SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "Little"
question = "Worse?"
family = "provisioning"
methods = ["mine", "bound-resource"]

[[instances]]
generator = "table7"
parameters = { tasks = [5, 6] }
"""
MINE = """
import numpy as np
from schedgap.instances.method import method
from schedgap.instances.provisioning.solution import Provisioning

@method("mine", family="provisioning")
def mine(instance):
    machine_type = instance.reservation_type[instance.task_classes()] {change}
    return Provisioning.from_tasks(instance, machine_type, np.arange(instance.num_tasks))
"""
# The dearest type takes whatever the cheapest does.
DEARER = "* 0 + instance.price.argmax()"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a suite and a plug-in below a folder, all committed, in which the test stands."""
    folder = tmp_path / "project" / "bench"
    folder.mkdir(parents=True)
    (folder / "little.toml").write_text(SUITE)
    (folder / "mine.py").write_text(MINE.format(change=""))
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", str(folder.parent)]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.chdir(folder)
    return folder


ASKED = ("gate", "main", "--suite", "little.toml", "--plugin", "mine.py", "--parts", "1", "--jobs", "1")


def test_what_is_worse_here_fails(repository, schedgap):
    (repository / "mine.py").write_text(MINE.format(change=DEARER))
    code, out, _ = schedgap(*ASKED)
    assert (code, "2 regressions" in out, "| objective | mine |" in out) == (1, True, True)
    assert {path.name for path in Path("runs/gate").iterdir()} == {"base", "new"}
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1
    code, _, err = schedgap(*ASKED)
    assert (code, "runs/gate exists and is not written over" in err) == (2, True)


def test_a_suite_that_is_new_is_asked_of_both(repository, schedgap):
    (repository / "other.toml").write_text(SUITE.replace("[5, 6]", "[7]"))
    # A path that begins at the root, and a commit that is called like the other side.
    subprocess.run(["git", "branch", "here"], check=True)
    names = {"little.toml": repository / "other.toml", "main": "here"}
    code, out, _ = schedgap(*(names.get(each, each) for each in ASKED), "--setup", "touch was-here")
    assert (code, "No regression" in out, "in 2 pairs of runs" in out) == (0, True, True)
    assert not Path("was-here").exists()


def test_a_suite_from_elsewhere_is_left_alone(repository, schedgap, tmp_path):
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(SUITE)
    before = elsewhere.stat()
    code, out, _ = schedgap(*(str(elsewhere) if each == "little.toml" else each for each in ASKED))
    assert (code, "No regression" in out) == (0, True)
    assert elsewhere.stat().st_mtime_ns == before.st_mtime_ns


def test_the_commit_of_a_step(repository, schedgap):
    """The second of three commits makes the method dearer; the third cannot help it."""
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@n"]
    for subject, text in (("dearer", MINE.format(change=DEARER)), ("later", MINE.format(change=DEARER) + "#")):
        (repository / "mine.py").write_text(text)
        subprocess.run([*git, "commit", "-qam", subject], check=True)
    asked = ("history", "bisect", "HEAD~2", "HEAD", *ASKED[2:6], "--jobs", "1")
    code, out, err = schedgap(*asked)
    assert (code, out.rstrip().endswith(" n: dearer")) == (0, True), err
    # The first, the last, and the one between.
    assert len(list(Path("runs/bisect").iterdir())) == 3
    code, _, err = schedgap(*(each.replace("HEAD~2", "HEAD") for each in asked), "--out", "other")
    assert (code, "no commit leads from HEAD to HEAD" in err) == (2, True)


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"main": "nowhere"}, 2, "git rev-parse: Needed a single revision; give a commit of the repository"),
        ({"mine.py": "new.py"}, 4, "main: `schedgap run` ended with code 2"),
        ({"--parts": "--setup", "1": "false"}, 2, "--setup fails in the tree of main"),
    ],
)
def test_what_cannot_be_compared(repository, schedgap, changes, code, message):
    (repository / "new.py").write_text(MINE.format(change=""))
    asked = [changes.get(each, each) for each in ASKED[:8]]
    ended, _, err = schedgap(*asked)
    assert (ended, message in err) == (code, True), err


def test_the_action_and_the_workflow_ask_for_what_there_is():
    """Options of the action are the command's, and what our own workflow gives are inputs of the action."""
    action = (ROOT / ".github/actions/schedgap/action.yml").read_text()
    options = {each for parameter in load_command("gate").params for each in parameter.opts}
    (line,) = re.findall(r" gate .*", action)
    assert set(re.findall(r"--\w+", line)) <= options
    inputs = set(re.findall(r"^  (\w+):$", action, re.MULTILINE))
    given = (ROOT / ".github/workflows/ci.yml").read_text().rpartition("actions/schedgap")[2]
    assert set(re.findall(r"^          (\w+):", given, re.MULTILINE)) <= inputs
    assert set(re.findall(r"inputs\.(\w+)", action)) <= inputs
