"""What plug-ins register: each by its own files, whatever files of others are called."""

import json
import os
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import described, methods_of
from schedgap.instances.method import REGISTRY
from schedgap.instances.provisioning import table3, write_instance

HEAD = "import numpy as np\nfrom schedgap.instances import method\nfrom schedgap.instances.provisioning import Provisioning\n"
MINE = (
    HEAD + "import x_place\n@method('{name}', family='{family}')\ndef mine(instance): return x_place.place(instance)\n"
)
PLACE = HEAD + (
    "def place(instance):\n"
    "    types = instance.reservation_type[instance.task_classes()] if {is_apt} else"
    " np.full(instance.num_tasks, instance.capacity[:, 0].argmax())\n"
    "    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))\n"
)


@pytest.fixture(autouse=True)
def _clean_registry(monkeypatch):
    for key, method in REGISTRY.copy().items():
        if method.plugin is not None:
            monkeypatch.delitem(REGISTRY, key)


@pytest.fixture
def files(tmp_path):
    """Two plug-ins, each with a file `x_place.py` beside it, and an instance."""
    for name, is_apt in (("mine-a", True), ("mine-b", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(MINE.format(name=name, family="provisioning"))
        (tmp_path / name / "x_place.py").write_text(PLACE.format(is_apt=is_apt))
    write_instance(table3(), tmp_path / "i.json")
    return tmp_path


def test_files_of_one_name_beside_two_plug_ins(files, schedgap):
    def objectives(*names):
        asked = [word for name in names for word in ("--plugin", files / name / "mine.py", "--method", name)]
        code, out, err = schedgap("gap", files / "i.json", *asked, "--jobs", 1, "--json")
        assert (code, err) == (0, "")
        return {run["method"]: run["objective"] for run in json.loads(out)["results"] if run["method"] in names}

    alone = objectives("mine-a") | objectives("mine-b")
    assert alone["mine-a"] < alone["mine-b"]
    assert objectives("mine-a", "mine-b") == objectives("mine-b", "mine-a") == alone


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import numpy\n", "mine.py registers no method; put @method(NAME, family=FAMILY) before one."),
        (
            MINE.format(name="mine-a", family="provisionin"),
            "mine.py registers method mine-a of another family: there is no family 'provisionin'; did you mean prov",
        ),
        (
            MINE.format(name="mine-a", family="sharing"),
            "family provisioning has no method 'mine-a'; did you mean mine-a of family sharing?",
        ),
        (
            MINE.format(name="mine-a", family="provisioning") * 2,
            "method mine-a of family provisioning is registered twice; rename one of them.",
        ),
    ],
)
def test_what_it_registers_is_told_where_that_is_not_what_is_asked_for(files, schedgap, text, message):
    path = files / "mine-a" / "mine.py"
    path.write_text(text)
    code, _, err = schedgap("gap", files / "i.json", "--plugin", path, "--method", "mine-a", "--jobs", 1)
    assert code == 2
    assert message in err


def test_a_bound_of_a_method_that_proves_none(files, schedgap):
    path = files / "mine-a" / "mine.py"
    text = path.read_text().replace("import method", "import Outcome, method")
    text = text.replace("return x_place.place(instance)", "return Outcome(x_place.place(instance), bound=1)")
    refusal = (
        "it returns a bound and is not registered as a method that proves any; add bounds=True to its @method(...)\n"
    )
    for declared, code, told in (("', bounds=True)", 0, ""), ("')", 3, refusal)):
        path.write_text(text.replace("')", declared))
        ended = schedgap("gap", files / "i.json", "--plugin", path, "--method", "mine-a", "--bound", "patterns")
        assert (ended[0], ended[2][-len(told) :] if told else ended[2]) == (code, told)


def test_one_name_by_modules_of_one_name(files, schedgap):
    """Functions of one name, of modules of one name, in two files."""
    for name in ("mine-a", "mine-b"):
        with (files / name / "x_place.py").open("a") as file:
            file.write("@method('x-same', family='provisioning')\ndef same(instance): return place(instance)\n")
    asked = [word for name in ("mine-a", "mine-b") for word in ("--plugin", files / name / "mine.py")]
    code, _, err = schedgap("gap", files / "i.json", *asked, "--method", "x-same", "--jobs", 1)
    assert (code, err) == (
        2,
        "MethodError: method x-same of family provisioning is registered twice; rename one of them.\n",
    )


def test_letters_that_the_locale_does_not_know(tmp_path):
    """As PYTHONUTF8=0 and LC_ALL=C have it of `\u00fc`, and every locale of bytes that are no text: halves of surrogates."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/pr\xfcf.py")
    Path(path).write_text(HEAD + "@method('mine-a', family='sharing')\ndef mine(instance): return None\n")
    try:
        (method,) = methods_of(described([path]))
        assert (method.name, method.file) == ("mine-a", path)
    finally:
        REGISTRY.pop(("sharing", "mine-a"), None)
