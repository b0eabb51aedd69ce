"""Tools that search, each started from the files that are written for it, with a model that answers by script, on loopback.

The tests of a tool are skipped where its package is not installed; `pip install 'schedgap[search]'` installs two of them.
"""

import itertools
import json
import os
import runpy
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from schedgap.bench.cli.app import main
from schedgap.bench.testing import adapters

SUITE = """
schema = "schedgap/suite/1"
name = "few"
title = ""
question = ""
family = "provisioning"
methods = ["patterns"]
limits = { time_limit_s = 2 }
[[instances]]
generator = "table7"
parameters = { tasks = 6 }
seeds = 4
"""
ITERATIONS = 10


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write what a tool starts from, once; bounds are proven once for all of them."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "few.toml").write_text(SUITE)

    def made(tool):
        out = folder / tool
        if not out.exists():
            words = [
                "search",
                "new",
                str(folder / "few.toml"),
                "--for",
                tool,
                "--out",
                str(out),
                "--from",
                "no-packing",
            ]
            done = subprocess.run(
                [sys.executable, "-m", "schedgap", *words, "--seeds", "0-2", "--held-out", "7,8"],
                cwd=folder,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
        return out

    return made


def replies(program):
    """What a model may say: every third program is broken."""
    line = next(line for line in program.splitlines() if line.startswith("def "))
    for number in itertools.count():
        new = f"# Try {number}.\n{line}" if number % 3 else f"def broken({number}:\n{line}"
        yield line, new, f"<NAME>\ntry_{number}\n</NAME>\n<DESCRIPTION>\nAnother.\n</DESCRIPTION>\n"


def said(program):
    """Return a function from a prompt to an answer, as one edit or as a whole program."""
    script, lock = replies(program), threading.Lock()

    def answer(prompt):
        with lock:
            line, new, head = next(script)
        if "SEARCH" in prompt:
            return f"{head}<DIFF>\n<<<<<<< SEARCH\n{line}\n=======\n{new}\n>>>>>>> REPLACE\n</DIFF>\n"
        return f"{head}<CODE>\n```python\n{program.replace(line, new)}```\n</CODE>\n"

    return answer


@contextmanager
def model(program):
    """A server that speaks as OpenAI's does, on loopback; yields its address and what it was asked."""
    answer, asked = said(program), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(json.dumps(request["messages"]))
            message = {"role": "assistant", "content": answer(asked[-1])}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            content = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "scripted",
                "choices": [choice],
                "usage": usage,
            }
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def started(command, folder):
    environment = {**os.environ, "OPENAI_API_KEY": "none", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def test_openevolve(written):
    pytest.importorskip("openevolve", reason="openevolve is not installed")
    folder = written("openevolve")
    program = (folder / "initial_program.py").read_text()
    with model(program) as (address, asked):
        command = "import sys; from openevolve.cli import main; sys.exit(main())"
        words = ["initial_program.py", "evaluator.py", "--config", "config.yaml", "--iterations", str(ITERATIONS)]
        started([sys.executable, "-c", command, *words, "--api-base", address, "--primary-model", "scripted"], folder)
    assert len(asked) >= ITERATIONS
    best = json.loads((folder / "openevolve_output" / "best" / "best_program_info.json").read_text())["metrics"]
    assert 0 < best["combined_score"] < 1
    assert best["runs"] == 3
    rows = [
        json.loads(path.read_text())["metrics"]
        for path in (folder / "openevolve_output").rglob("checkpoint_10/programs/*.json")
    ]
    assert 0.0 in [row["combined_score"] for row in rows]
    # None misses for a candidate that fails.
    assert {frozenset(row) for row in rows} == {frozenset(best)}


def test_skydiscover(written, tmp_path):
    """Its container without the container: what it calls, and the one object that it reads."""
    folder = written("skydiscover")
    scores = {}
    for part in ("train", "test"):
        done = subprocess.run(
            ["sh", folder / "evaluator" / "evaluate.sh", folder / "initial_program.py", part],
            cwd=tmp_path,
            env={**os.environ, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
        )
        answer = json.loads(done.stdout)
        assert set(answer) == {"status", "combined_score", "metrics", "artifacts"}
        scores[part] = answer["combined_score"], answer["metrics"]["runs"]
    assert 0 < scores["train"][0] < 1
    assert (scores["train"][1], scores["test"][1]) == (3, 2)
    assert "few.toml" in {path.name for path in (folder / "evaluator").iterdir()}
    assert (folder / "evaluator" / "Dockerfile").read_text().count("evaluate.sh") == 1


def test_shinka_reads_two_files(written, tmp_path):
    folder = written("shinka")
    judge = runpy.run_path(str(folder / "evaluate.py"))["JUDGE"]
    (tmp_path / "broken.py").write_text("def broken(:")
    for path, correct in ((folder / "initial_program.py", True), (tmp_path / "broken.py", False)):
        adapters.shinka(judge, ["--program_path", str(path), "--results_dir", str(tmp_path / "results")])
        metrics, told = (
            json.loads((tmp_path / "results" / f"{name}.json").read_text()) for name in ("metrics", "correct")
        )
        assert told["correct"] is correct
        assert (told["error"] is None) is correct
        assert (metrics["combined_score"] > 0) is correct
        assert metrics["public"]["runs"] == 3
        assert metrics["text_feedback"]


def test_shinka(written):
    pytest.importorskip("shinka", reason="shinka-evolve is not installed")
    folder = written("shinka")
    program = (folder / "initial_program.py").read_text()
    with model(program) as (address, asked):
        started([sys.executable, "run.py", str(ITERATIONS), f"local/scripted@{address}"], folder)
    assert len(asked) >= ITERATIONS - 1
    found = [json.loads(path.read_text())["combined_score"] for path in (folder / "results").rglob("metrics.json")]
    assert len(found) >= ITERATIONS
    assert 0.0 in found
    assert 0 < max(found) < 1


def test_gepa_asks_for_one_instance(written):
    judge = runpy.run_path(str(written("gepa") / "run.py"))["JUDGE"]
    text = (written("gepa") / "initial_program.py").read_text()
    evaluate = adapters.gepa(judge)
    score, told = evaluate(text)
    each = [evaluate({"candidate": text}, example=name) for name in judge.instances]
    assert score == pytest.approx(sum(one for one, _ in each) / 3)
    assert told["metrics"]["runs"] == 3
    assert [told["metrics"]["runs"] for _, told in each] == [1, 1, 1]
    parts = {"main": "from beside import candidate\n", "beside": text}
    assert evaluate(parts)[0] == pytest.approx(score)
    assert evaluate("nothing")[0] == 0


def test_gepa(written):
    pytest.importorskip("gepa", reason="gepa is not installed")
    folder = written("gepa")
    answer = said((folder / "initial_program.py").read_text())
    calls = []

    def scripted(prompt):
        calls.append(prompt)
        return answer("")

    runpy.run_path(str(folder / "run.py"))["main"](6 * ITERATIONS, scripted)
    assert len(calls) >= ITERATIONS


def test_slips_are_one_sentence(written, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = str(written("gepa").parent / "few.toml")
    for words, sentence in (
        (["--for", "nothing", "--out", "new"], "not 'nothing'"),
        (["--for", "skydiscover", "--out", "new"], "give --held-out"),
        (["--for", "gepa", "--out", str(written("gepa"))], "is not empty"),
        (["--for", "gepa", "--out", "new", "--from", "nothing"], "has no method 'nothing'"),
        (["--for", "gepa", "--out", "new", "--seeds", "x"], "names no seeds"),
    ):
        monkeypatch.setattr(sys, "argv", ["schedgap", "search", "new", suite, *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert sentence in capsys.readouterr().err
    assert not Path("new").exists()
