"""What programs that search for schedulers ask of an evaluator: openevolve, SkyDiscover, ShinkaEvolve and GEPA.

None of their packages is imported unless it is used. `schedgap search new SUITE --for openevolve` writes files that call this.

What programs that search for schedulers start from: a first candidate, an evaluator, frozen bounds, a configuration.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from schedgap.bench.suites.bounds import write_bounds
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.suite import read_suite
from schedgap.bench.testing.evaluator import Evaluation, Evaluator, evaluator
from schedgap.instances.errors import MethodError, SuiteError, about_file, one_of
from schedgap.instances.method import REGISTRY, Method, find_method

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


TOOLS = ("openevolve", "skydiscover", "shinka", "gepa")
# What all runs of a candidate may take together, in seconds; the tools wait longer than that.
BUDGET_S, PATIENCE_S = 240.0, 600

_JUDGE = '''"""Scores candidates on suite {name}: proven bound / objective, with the bounds of bounds.json."""

from pathlib import Path

from schedgap.bench.testing import adapters

JUDGE = adapters.judge({suite}, bounds=Path(__file__).with_name("bounds.json"), {how})
'''
_OPENEVOLVE = '''

def evaluate_stage1(path):
    """One tiny instance: does it load, and solve anything?"""
    return adapters.openevolve(JUDGE.tiny(path))


def evaluate_stage2(path):
    """Some of the instances."""
    return adapters.openevolve(JUDGE.sample(path))


def evaluate_stage3(path):
    """All instances."""
    return adapters.openevolve(JUDGE(path))


evaluate = evaluate_stage3
'''
_CALLED = """
if __name__ == "__main__":
    adapters.{tool}(JUDGE)
"""
_TASK = (
    "Improve a scheduler, a Python function under @method that takes an instance and returns a solution. "
    "The score is the mean of proven bound / verified objective: 1 is optimal, and a run that fails counts as 0. "
    "Register exactly one method of family {family}."
)
_CONFIG = """# openevolve-run initial_program.py evaluator.py --config config.yaml
max_iterations: 100
checkpoint_interval: 10
llm:
  primary_model: gpt-5
  api_base: https://api.openai.com/v1
prompt:
  system_message: >-
    {task}
database:
  # Any metric of the evaluator will do; all are there for candidates that fail, too.
  feature_dimensions: [complexity, {feature}]
evaluator:
  timeout: {patience}
  cascade_evaluation: true
  # To pass the tiny instance is 1. Of the sample, whatever solves anything goes on.
  cascade_thresholds: [0.5, 0.01]
"""
_DOCKER = """# docker build -t judge . && docker run --rm -v $PWD:/candidates judge /candidates/program.py train
FROM python:3.12-slim
RUN pip install --no-cache-dir schedgap
COPY . /judge
ENTRYPOINT ["/judge/evaluate.sh"]
"""
_SHELL = """#!/bin/sh
# evaluate.sh PATH train|test: prints one JSON object. test is on instances that the search does not see.
exec "${PYTHON:-python}" "$(dirname "$0")/evaluate.py" "$@"
"""
_SHINKA = '''"""Start ShinkaEvolve: python run.py [GENERATIONS] [MODEL]."""

import sys
from pathlib import Path

from shinka.core import EvolutionConfig, ShinkaEvolveRunner
from shinka.database import DatabaseConfig
from shinka.launch import LocalJobConfig

HERE = Path(__file__).parent
TASK = """{task}"""

if __name__ == "__main__":
    models = sys.argv[2:] or ["gpt-5"]
    ShinkaEvolveRunner(
        EvolutionConfig(
            task_sys_msg=TASK,
            num_generations=int(sys.argv[1]) if len(sys.argv) > 1 else 50,
            llm_models=models,
            embedding_model=None,
            meta_rec_interval=None,
            init_program_path=str(HERE / "initial_program.py"),
            results_dir=str(HERE / "results"),
            use_text_feedback=True,
        ),
        LocalJobConfig(eval_program_path=str(HERE / "evaluate.py"), python_executable=sys.executable),
        DatabaseConfig(),
        max_evaluation_jobs=1,
    ).run()
'''
_GEPA = '''

def main(most_calls, model):
    """Search, and print the best program; each example is one instance."""
    from gepa.optimize_anything import EngineConfig, GEPAConfig, ReflectionConfig, optimize_anything

    result = optimize_anything(
        Path(__file__).with_name("initial_program.py").read_text(),
        evaluator=adapters.gepa(JUDGE),
        dataset=JUDGE.instances,
        objective="""{task}""",
        config=GEPAConfig(
            engine=EngineConfig(max_metric_calls=most_calls),
            reflection=ReflectionConfig(reflection_lm=model),
        ),
    )
    print(result.best_candidate)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2] if len(sys.argv) > 2 else "openai/gpt-5.1")
'''


def start(suite: str, tool: str, folder: Path, first: str | None, how: Mapping[str, object]) -> list[Path]:
    """Prove the bounds of a suite and write the files that a tool starts from; return them.

    first : method to begin with, by default the shortest of the family that works. how : arguments of `evaluator`.

    Raises
    ------
    SchedgapError
        for a folder that is not empty, an unknown tool or suite, and what nobody proves.
    """
    one_of("tool", tool, TOOLS, SuiteError)
    if folder.exists() and any(folder.iterdir()):
        raise SuiteError(f"{folder} is not empty; choose another --out.")
    own_test = None if how.get("seeds") is not None else read_suite(suite)[0].search.test
    if tool == "skydiscover" and (how.get("held_out") or own_test) is None:
        raise SuiteError("skydiscover tests candidates on instances that the search does not see; give --held-out.")
    judge = evaluator(suite, **how)  # type: ignore[arg-type]
    bounds = judge.prepared()
    beginnings = list(_beginnings(bounds.family, first))
    with about_file(folder, "made", SuiteError, "choose another --out"):
        folder.mkdir(parents=True, exist_ok=True)
    program = folder / "initial_program.py"
    for text in beginnings:
        program.write_text(text, encoding="utf-8")
        tried = judge.tiny(program)
        if tried.score:
            break
    else:
        raise MethodError(f"no method of family {bounds.family} can be begun with; name one by --from.")
    place = folder / "evaluator" if tool == "skydiscover" else folder
    place.mkdir(exist_ok=True)
    write_bounds(bounds, place / "bounds.json")
    told = {name: value for name, value in how.items() if value is not None and name != "jobs"}
    told |= {"budget_s": BUDGET_S}
    called = ", ".join(f"{name}={tuple(value) if isinstance(value, list) else value!r}" for name, value in told.items())
    head = _JUDGE.format(name=bounds.suite, suite=_copied(suite, place, tool), how=called)
    task = _TASK.format(family=bounds.family)
    feature = f"mean_{bounds.measures[0]}" if bounds.measures else "mean_wall_s"
    texts = {
        "openevolve": {
            "evaluator.py": head + _OPENEVOLVE,
            "config.yaml": _CONFIG.format(task=task, feature=feature, patience=PATIENCE_S),
        },
        "skydiscover": {"evaluate.py": head + _CALLED.format(tool=tool), "Dockerfile": _DOCKER, "evaluate.sh": _SHELL},
        "shinka": {"evaluate.py": head + _CALLED.format(tool=tool), "run.py": _SHINKA.format(task=task)},
        "gepa": {"run.py": head.replace("from pathlib", "import sys\nfrom pathlib") + _GEPA.format(task=task)},
    }[tool]
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
        if name.endswith(".sh"):
            (place / name).chmod(0o755)
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _copied(suite: str, place: Path, tool: str) -> str:
    """Return how the evaluator names its suite: for a container it is copied, with the families that it names."""
    if suite in shipped_suites():
        return repr(suite)
    if tool != "skydiscover":
        return repr(str(Path(suite).resolve()))
    chosen, folder = read_suite(suite)
    for name in (Path(suite).name, *chosen.families):
        shutil.copy(folder / name, place / Path(name).name)
    return f'str(Path(__file__).with_name("{Path(suite).name}"))'


def _beginnings(family: str, first: str | None) -> Iterator[str]:
    """Yield programs to begin with: the code of a heuristic, or where that cannot stand alone, a call of it."""
    if first is not None:
        chosen = [find_method(family, first)]
    else:
        ours = [each for (of, _), each in REGISTRY.items() if of == family and each.is_shipped and not each.bounds]
        chosen = sorted(ours, key=lambda method: len(inspect.getsource(sys.modules[method.module])))
    for method in chosen:
        alone = _alone(method)
        if alone:
            yield alone
    for method in chosen:
        yield (
            f'"""A first candidate: method {method.name} as it is."""\n\n'
            "from schedgap.instances.method import find_method, method\n\n\n"
            "# EVOLVE-BLOCK-START\n"
            f'@method("candidate", family="{family}")\n'
            "def candidate(instance):\n"
            f'    """Ask {method.name}."""\n'
            f'    return find_method("{family}", "{method.name}").run(instance)\n'
            "# EVOLVE-BLOCK-END\n"
        )


def _alone(method: Method) -> str:
    """Return the module of a method with the method under another name, nothing where that registers more than one."""
    source = inspect.getsource(sys.modules[method.module])
    if sum(each.module == method.module for each in REGISTRY.values()) != 1 or "register_family(" in source:
        return ""
    renamed, times = re.subn(rf'(@(?:method|policy)\(\s*)"{method.name}"', r'\1"candidate"', source)
    return f"# EVOLVE-BLOCK-START\n{renamed}# EVOLVE-BLOCK-END\n" if times == 1 else ""
