"""The tutorials as a reader follows them: files are written, commands and Python blocks run, in the order of the page."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(console|python|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.(?:py|toml))\n")
SCHEDGAP = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]


def followed(page, folder):
    """Return exit code and output of each command of a tutorial, and of each block that is no file."""
    done = {}
    for language, text in BLOCK.findall((DOCS / "tutorials" / page).read_text()):
        if named := FILE.match(text):
            (folder / named[1]).write_text(text)
        elif language == "python":
            done["python"] = run([sys.executable, "-c", text], folder)
        else:
            for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
                done[line] = command(line, folder)
    return done


def command(line, folder):
    program, *words = shlex.split(line, comments=True)
    if program == "kubectl":
        # Nobody has a cluster here: the next command writes what it would.
        return 0, ""
    if program == "python":
        return run([sys.executable, str(DOCS.parent / words[0]), *words[1:]], folder)
    assert program == "schedgap"
    return run([*SCHEDGAP, *words], folder)


def run(words, folder):
    ended = subprocess.run(words, capture_output=True, text=True, cwd=folder, env={**os.environ, "COLUMNS": "160"})
    return ended.returncode, ended.stdout + ended.stderr


def shown(page):
    return re.search(r"```text\n(.*?)```", (DOCS / "tutorials" / page).read_text(), re.DOTALL).group(1)


def codes(done):
    return {line: code for line, (code, _) in done.items()}


def test_all_tutorials_are_followed():
    assert {path.name for path in (DOCS / "tutorials").iterdir()} == {
        *("gate.md", "cluster.md", "capacity.md", "paper.md", "policy.md", "solver.md")
    }


def test_gate(tmp_path):
    """The changed scheduler is worse on each instance, and only the comparison fails."""
    done = followed("gate.md", tmp_path)
    *runs, verdict = done
    assert codes(done) == {**dict.fromkeys(runs, 0), verdict: 1}, done
    assert shown("gate.md").strip() in done[verdict][1]


def test_cluster(tmp_path):
    done = followed("cluster.md", tmp_path)
    assert codes(done) == dict.fromkeys(done, 0), done
    (floor,) = (text for line, (_, text) in done.items() if line.startswith("schedgap floor"))
    assert shown("cluster.md") in floor
    (gap,) = (text for line, (_, text) in done.items() if line.startswith("schedgap gap"))
    assert re.search(r"karpenter-consolidation +feasible", gap)
    assert re.search(r"plan +feasible +2\.002 ", gap), gap


def test_capacity(tmp_path):
    """Not all that waits fits, which is said and proven; the plan is verified, and one more of the big shape fits."""
    done = followed("capacity.md", tmp_path)
    _, _, first, _, _ = done
    assert codes(done) == {**dict.fromkeys(done, 0), first: 5}, done
    assert shown("capacity.md").strip() in done[first][1]


def test_policy(tmp_path):
    done = followed("policy.md", tmp_path)
    assert codes(done) == dict.fromkeys(done, 0), done
    (gap,) = (text for line, (_, text) in done.items() if line.startswith("schedgap gap"))
    assert re.search(r"most-to-do-first +feasible", gap)
    assert re.search(r"best proven bound [1-9]", gap)


def test_paper(tmp_path):
    done = followed("paper.md", tmp_path)
    assert codes(done) == dict.fromkeys(done, 0), done
    assert "patterns 0" in done["python"][1]
    assert (tmp_path / "report.html").exists() and (tmp_path / "figures" / "gaps.pdf").exists()
    dry, table = (text for line, (_, text) in done.items() if line.startswith("schedgap run"))
    assert "480" in dry
    assert "480 runs, 480 of them now, 0 failed" in table
    assert json.loads((tmp_path / "runs" / "eva-table4" / "plan.json").read_text())


def test_solver(tmp_path):
    """PuLP's HiGHS and ours find the same optimum; the bound of the method that is stated in PuLP is below it."""
    done = followed("solver.md", tmp_path)
    assert codes(done) == dict.fromkeys(done, 0), done
    _, by_pulp, ours, bounded = (text for _, text in done.values())
    costs = [re.search(r"optimal +([\d.]+) .* \1 +0 ", text)[1] for text in (by_pulp, ours)]
    assert costs[0] == costs[1]
    assert float(re.search(r"best proven bound ([\d.]+)", bounded)[1]) <= float(costs[0])
