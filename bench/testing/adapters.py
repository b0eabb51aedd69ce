"""What programs that search for schedulers ask of an evaluator: openevolve, SkyDiscover, ShinkaEvolve and GEPA.

None of their packages is imported unless it is used. `schedgap search new SUITE --for openevolve` writes files that call this.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from schedgap.bench.testing.evaluator import Evaluation, Evaluator, evaluator

FEEDBACK = "text_feedback"


@cache
def judge(suite: str, **how: Any) -> Evaluator:
    """Return the evaluator of this process for a suite, see `evaluator`: some tools import their evaluator for each candidate."""
    return evaluator(suite, **how)


def numbers(evaluation: Evaluation) -> dict[str, float]:
    """Return the metrics without the text: always the same names, whatever the candidate did."""
    return {name: float(value) for name, value in evaluation.to_dict().items() if name != FEEDBACK}


def openevolve(evaluation: Evaluation) -> Any:
    """Return what OpenEvolve takes: an `EvaluationResult`, with the feedback as an artifact, which is in the next prompt."""
    result = import_module("openevolve.evaluation_result").EvaluationResult
    return result(metrics=numbers(evaluation), artifacts={"feedback": evaluation.feedback})


def skydiscover(judge: Evaluator, arguments: Sequence[str] | None = None) -> None:
    """Print what SkyDiscover takes from a container: one JSON object. arguments : PATH and `train` or `test`."""
    parser = argparse.ArgumentParser(description="Score a candidate; test is on instances that were held out.")
    parser.add_argument("program", help="the candidate's file")
    parser.add_argument("part", choices=("train", "test"), nargs="?", default="train")
    given = parser.parse_args(arguments)
    evaluation = (judge.final if given.part == "test" else judge)(given.program)
    content = {
        "status": "success",
        "combined_score": evaluation.score,
        "metrics": numbers(evaluation),
        "artifacts": {"feedback": evaluation.feedback},
    }
    print(json.dumps(content, allow_nan=False))


def shinka(judge: Evaluator, arguments: Sequence[str] | None = None) -> None:
    """Write what ShinkaEvolve reads: metrics.json and correct.json. arguments : --program_path FILE --results_dir FOLDER."""
    parser = argparse.ArgumentParser(description="Score a candidate.")
    parser.add_argument("--program_path", required=True)
    parser.add_argument("--results_dir", required=True, type=Path)
    given = parser.parse_args(arguments)
    evaluation = judge(given.program_path)
    solved = evaluation.failed < evaluation.runs
    metrics = {
        "combined_score": evaluation.score,
        "public": {name: value for name, value in numbers(evaluation).items() if name != "combined_score"},
        "private": {},
        FEEDBACK: evaluation.feedback,
    }
    given.results_dir.mkdir(parents=True, exist_ok=True)
    correct = {"correct": solved, "error": None if solved else evaluation.feedback}
    for name, content in (("metrics", metrics), ("correct", correct)):
        (given.results_dir / f"{name}.json").write_text(json.dumps(content, allow_nan=False), encoding="utf-8")


def gepa(judge: Evaluator) -> Callable[..., tuple[float, dict[str, Any]]]:
    """Return the function that GEPA calls: score and side information of a candidate, on one instance where one is named.

    A candidate is the text of a program, or several texts by name: each is a file NAME.py, and the first registers the method.
    """

    def evaluate(candidate: str | Mapping[str, str], example: str | None = None) -> tuple[float, dict[str, Any]]:
        texts = {"candidate": candidate} if isinstance(candidate, str) else candidate
        with tempfile.TemporaryDirectory(prefix="schedgap-candidate-") as folder:
            paths = [Path(folder, f"{name}.py") for name in texts]
            for path, text in zip(paths, texts.values(), strict=True):
                path.write_text(text, encoding="utf-8", errors="replace")
            evaluation = judge(paths[0]) if example is None else judge.one(paths[0], example)
        return evaluation.score, {"feedback": evaluation.feedback, "metrics": numbers(evaluation)}

    return evaluate
