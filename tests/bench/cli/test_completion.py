"""What shells complete."""

import pytest
from typer.testing import CliRunner

from schedgap.bench.cli.app import app
from schedgap.bench.cli.options import complete_family, complete_method, complete_suite
from schedgap.instances.family import FAMILIES


def test_names():
    assert complete_suite("eva-table1") == ["eva-table11", "eva-table13", "eva-table14"]
    assert complete_method("pattern") == ["pattern-rounding", "patterns"]
    assert complete_family("") == sorted(FAMILIES)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("schedgap flo", ["floor"]),
        ("schedgap run --dry", ["--dry-run"]),
        ("schedgap run smo", ["smoke"]),
        ("schedgap list methods --family f", ["fairness"]),
    ],
)
def test_a_shell_asks(words, found):
    environment = {
        "_SCHEDGAP_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    assert CliRunner().invoke(app, [], env=environment, prog_name="schedgap").stdout.split() == found
