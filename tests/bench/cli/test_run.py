"""`schedgap run` of a public set whose published figures are contradicted."""

import pytest
from typer.testing import CliRunner

from schedgap.bench.cli.app import app

SUITE = """
schema = "schedgap/suite/1"
name = "s"
title = "A set"
question = "?"
family = "provisioning"
headline = "closed"
methods = ["assignment"]

[[collection]]
importer = "vbp"
origin = "nobody's set"
listed = [{ name = "two", file = "two.vbp", lower = 1.0, upper = OPTIMUM, optimum = OPTIMUM }]
"""


@pytest.mark.parametrize(("optimum", "code"), [("2.0", 0), ("1.0", 3), ("3.0", 3)])
def test_a_contradiction_to_what_is_published_is_never_silent(tmp_path, optimum, code):
    """Two items of 6 in bins of 10 need two."""
    (tmp_path / "two.vbp").write_text("1\n10\n1\n6 2\n")
    (tmp_path / "s.toml").write_text(SUITE.replace("OPTIMUM", optimum))
    words = ["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--trace", str(tmp_path), "--quiet"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code
    assert ("WRONG, theirs or ours: two: " in done.stderr) == (code == 3)
    # In the table, too.
    shown = CliRunner().invoke(app, ["report", str(tmp_path / "out")])
    assert "WRONG" in shown.stdout
    assert ("WRONG, theirs or ours: two: " in shown.stdout) == (code == 3)
