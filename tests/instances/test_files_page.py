"""`docs/files.md` against the code: its examples are read and verified."""

import json
import re
from pathlib import Path

import pytest

import schedgap.instances.fairness
import schedgap.instances.harvest
import schedgap.instances.placement
import schedgap.instances.provisioning
import schedgap.instances.reconfiguration
import schedgap.instances.sharing
import schedgap.instances.waiting  # noqa: F401 - registers the family
from schedgap.instances.family import find_family

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
EXAMPLES = re.findall(r"(?<!-->\n)```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
SCHEMAS = [json.loads(text)["schema"] for text in EXAMPLES]


def test_every_family_has_an_instance_and_a_solution():
    assert SCHEMAS == [
        "schedgap/provisioning/1",
        "schedgap/provisioning-solution/1",
        "schedgap/waiting/1",
        "schedgap/waiting-solution/1",
        "schedgap/reconfiguration/1",
        "schedgap/reconfiguration-solution/1",
        "schedgap/fairness/1",
        "schedgap/fairness-solution/1",
        "schedgap/sharing/1",
        "schedgap/sharing-solution/1",
        "schedgap/placement/1",
        "schedgap/placement-solution/1",
        "schedgap/harvest/1",
        "schedgap/harvest-solution/1",
    ]


@pytest.mark.parametrize("index", range(0, len(EXAMPLES), 2))
def test_examples_are_read_and_verified(tmp_path, index):
    family = find_family(SCHEMAS[index].split("/")[1])
    (tmp_path / "i.json").write_text(EXAMPLES[index])
    (tmp_path / "s.json").write_text(EXAMPLES[index + 1])
    instance = family.read_instance(tmp_path / "i.json")
    assert family.verify(instance, family.read_solution(instance, tmp_path / "s.json")) > 0
