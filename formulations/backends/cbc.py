"""COIN-OR CBC: the binary that PuLP carries, fed with MPS and read back strictly.

PuLP's own reading of CBC's answer is not used: at a limit it says "Optimal" or "Infeasible". Here the first line of
the solution file decides, and optimality counts only where CBC's log says the same.
"""

from __future__ import annotations

import re
import subprocess
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.export import write_mps
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

# CBC prunes what is not better than its incumbent by this much; the default of 1e-5 would be 10 micro-dollars.
INCREMENT = 1e-7
# "Lower bound" is printed to three decimals.
PRINTED = 5e-4


@cache
def version() -> str:
    """Return the version that the binary prints."""
    output = subprocess.run([_binary(), "-stop"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"Version:\s*(\S+)", output)
    return match[1] if match else "unknown"


def _binary() -> str:
    import pulp

    path = str(pulp.PULP_CBC_CMD.pulp_cbc_path)
    if not Path(path).exists():
        raise BackendError(f"PuLP {pulp.__version__} carries no CBC for this machine; use another back end.")
    return path


def solve(model: LinearModel, limits: SolveLimits) -> ModelResult:
    """Minimise a model."""
    start = time.perf_counter()
    is_mip = bool(model.integral.any())
    with TemporaryDirectory(prefix="schedgap-cbc-") as folder:
        problem, answer = Path(folder) / "model.mps", Path(folder) / "answer.txt"
        write_mps(model, problem, names=False)
        command = [_binary(), str(problem)]
        if limits.time_limit_s is not None:
            command += ["-sec", str(limits.time_limit_s), "-timeMode", "elapsed"]
        command += ["-threads", str(limits.threads)] if limits.threads > 1 and is_mip else []
        if is_mip:
            command += ["-ratioGap", "0", "-allowableGap", "0", "-increment", str(INCREMENT)]
            if limits.warm_start is not None:
                point = Path(folder) / "start.mst"
                _write_start(point, limits.warm_start)
                command += ["-mipstart", str(point)]
        command += ["-solve" if is_mip else "-initialSolve", "-printingOptions", "all", "-solution", str(answer)]
        called = time.perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        in_time = limits.time_limit_s is None or time.perf_counter() - called < limits.time_limit_s
        if ended.returncode != 0 or not answer.exists():
            raise BackendError(f"{model.name}: CBC ended with code {ended.returncode}: {ended.stdout[-200:].strip()}")
        lines = answer.read_text(encoding="utf-8").splitlines()
    status = _status(lines[0], ended.stdout, is_mip, model, in_time=in_time)
    x, duals = _values(model, lines[1:]) if status in (Status.OPTIMAL, Status.FEASIBLE) else (None, None)
    objective = None if x is None else objective_of(model, x)
    bound = None
    if is_mip and status is Status.OPTIMAL and objective is not None:
        bound = objective - 2 * INCREMENT
    elif is_mip and status is not Status.INFEASIBLE:
        printed = re.search(r"^Lower bound:\s*(\S+)", ended.stdout, re.MULTILINE)
        bound = float(printed[1]) - PRINTED if printed else None
    return ModelResult(
        status,
        x,
        objective,
        bound,
        time.perf_counter() - start,
        "cbc",
        version(),
        duals if not is_mip and status is Status.OPTIMAL else None,
    )


def _write_start(path: Path, values: FloatArray) -> None:
    lines = ["Stopped on time - objective value 0"]
    lines += [f"{j} x{j} {value!r} 0" for j, value in enumerate(values.tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def _status(line: str, log: str, is_mip: bool, model: LinearModel, *, in_time: bool) -> Status:
    """Return what CBC's solution file means. in_time : it ended before its limit, so that nothing in it was cut short."""
    words = line.lower()
    if words.startswith("optimal"):
        # Beside a time limit CBC has been seen to call its best solution optimal in the file alone.
        agreed = not is_mip or "Result - Optimal solution found" in log
        return Status.OPTIMAL if agreed else Status.FEASIBLE
    if words.startswith(("infeasible", "integer infeasible")):
        # Preprocessing that the limit cuts short says "infeasible or unbounded", and the log nothing of the limit.
        stopped = not in_time or "Stopped on" in log or "stopped on" in log
        return Status.NO_SOLUTION if stopped else Status.INFEASIBLE
    if words.startswith("stopped"):
        if "no integer solution" in words or not is_mip:
            return Status.NO_SOLUTION
        return Status.FEASIBLE
    raise BackendError(f"{model.name}: CBC ended with '{line.strip()}'; bound every variable.")


def _values(model: LinearModel, lines: list[str]) -> tuple[FloatArray, FloatArray]:
    """Return the variables' values and the rows' duals; CBC marks what it finds infeasible by `**`."""
    x, duals = np.zeros(model.cost.shape[0]), np.zeros(model.row_lower.shape[0])
    for line in lines:
        name, value, dual = line.replace("**", "").split()[1:4]
        if name[0] == "x":
            x[int(name[1:])] = float(value)
        elif name[0] == "r":
            duals[int(name[1:])] = float(dual)
    return whole(model, x, "CBC"), duals
