"""Prism: models on GPUs, so that the worst KV pressure is least. A family of one's own, in one file.

Given       G GPUs of 80 GB;  models j of s[j] GB, with r[j] requests a second and an SLO of l[j]
Decide      the GPU of each model
Pressure    of a GPU, over its models: (sum of r[j] / l[j]) / (80 - sum of s[j]); an empty one has 0, a full one 1,000,000
Minimise    the worst pressure of a GPU

The task is `prism` of SkyDiscover (SKY, commit 59643ef) and of the ADRS leaderboard (LB, commit f856497): docs/evolved/prism.md.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from prism_packing import pack_by_model, pack_by_table

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.instances.arrays import IntArray, content_hash, first_true, lock
from schedgap.instances.documents import Columns, Count, Field, Index, InstanceDocument, SolutionDocument, Value
from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError, SolutionError, VerifyError
from schedgap.instances.family import Family, Scored, register_family
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.model import InstanceModel, check_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAMILY, SCHEMA, COLUMNS = "prism", "schedgap/prism/1", ("size_gb", "req_rate", "slo")
MEMORY_GB, FULL = 80, Fraction(1_000_000)
# Pressures are rounded up to 1 / ONE, and so are proven bounds: rounding keeps the order, so that no solution's objective is
# below a bound. Two pressures of a published instance that differ do so by more than 1 / ONE.
ONE = 10**12
# Weights r / l are whole in units of 1 / lcm(l); of so many units, all sums here fit into 64 bits.
MAX_WEIGHT, TOO_MANY = 2**28, "more than 18 models have too many subsets; use threshold-model"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrismInstance(InstanceModel):
    """size_gb, req_rate, slo : (n,) int64, positive, of n models."""

    name: str
    gpus: int
    size_gb: IntArray
    req_rate: IntArray
    slo: IntArray
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(COLUMNS, ("gpus",))
        check_shapes(self, dict.fromkeys(COLUMNS, (self.size_gb.size,)))
        if not 1 <= min(self.gpus, self.size_gb.size) <= max(self.gpus, self.size_gb.size) <= 100_000:
            raise InstanceError(f"{self.name}: {self.size_gb.size} models, {self.gpus} GPUs; give 1 to 100000.")
        for key in COLUMNS:
            if (bad := first_true(getattr(self, key) < 1)) is not None:
                raise InstanceError(f"{self.name}: {key} of model {bad} is {getattr(self, key)[bad]}; give at least 1.")
        if (bad := first_true(self.size_gb > MEMORY_GB)) is not None:
            raise InstanceError(f"{self.name}: model {bad} has {self.size_gb[bad]} GB, over {MEMORY_GB}; leave it out.")
        rates = sum(self.req_rate.tolist())
        if rates >= FULL or rates * math.lcm(*self.slo.tolist()) >= MAX_WEIGHT:
            raise InstanceError(f"{self.name}: rates add up to {rates}, in too small parts; give less, or equal SLOs.")
        object.__setattr__(self, "digest", content_hash([SCHEMA, self.gpus, self.size_gb, self.req_rate, self.slo]))

    def weights(self) -> tuple[IntArray, int]:
        """Return r / l of each model, (n,) int64, in units of which the second number makes one."""
        scale = math.lcm(*self.slo.tolist())
        return self.req_rate * (scale // self.slo), scale


@dataclass(frozen=True, slots=True, eq=False)
class PrismSolution:
    """model2gpu : (n,) int64. Numbers only: nothing in it can change a model, give it twice or leave it out."""

    model2gpu: IntArray

    def __post_init__(self) -> None:
        lock(self, ("model2gpu",), error=SolutionError)


def pressure(instance: PrismInstance, model2gpu: IntArray) -> Fraction:
    """Return the worst pressure, exactly. A GPU over its memory counts as full."""
    weights, scale = instance.weights()
    load, left = np.zeros(instance.gpus, np.int64), np.full(instance.gpus, MEMORY_GB)
    np.add.at(load, model2gpu, weights)
    np.subtract.at(left, model2gpu, instance.size_gb)
    return max(Fraction(int(w), scale * int(room)) if room > 0 else FULL for w, room in zip(load, left, strict=True))


def verify(instance: PrismInstance, solution: PrismSolution) -> int:
    """Return the worst pressure in units of 1 / ONE, rounded up.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    gpu = solution.model2gpu
    if gpu.shape != instance.size_gb.shape:
        raise VerifyError(f"model2gpu has shape {gpu.shape}; give a GPU for each of {instance.size_gb.size} models.")
    if (bad := first_true((gpu < 0) | (gpu >= instance.gpus))) is not None:
        raise VerifyError(f"model {bad} is on GPU {gpu[bad]}; there are {instance.gpus}, the first is 0.")
    used_gb = np.bincount(gpu, instance.size_gb)
    if (bad := first_true(used_gb > MEMORY_GB)) is not None:
        raise VerifyError(f"GPU {bad} holds models of {used_gb[bad]:.0f} GB; it has {MEMORY_GB}.")
    return math.ceil(pressure(instance, gpu) * ONE)


MODELS = Columns("models", *(Field(key, Count) for key in COLUMNS))
INSTANCE = InstanceDocument(SCHEMA, PrismInstance, Value("gpus", Count), MODELS)
SOLUTION: SolutionDocument[PrismInstance, PrismSolution] = SolutionDocument(
    "schedgap/prism-solution/1", PrismSolution, Columns("", Field("gpu", Index, "model2gpu"))
)


def published(*, seed: int = 0) -> PrismInstance:
    """Return an instance of the task. seed : its number, 0 to 49; all 50 are one stream of NumPy's legacy seed 42."""
    if not 0 <= seed < 50:
        raise InstanceError(f"generator published: seed is {seed}; the instances are 0 to 49.")
    rng = np.random.RandomState(42)
    for _ in range(seed + 1):
        gpus = int(rng.randint(5, 10))
        models = [[rng.randint(10, 30), rng.randint(1, 10), rng.randint(5, 10)] for _ in range(2 * gpus)]
    return PrismInstance(f"published-{seed}", gpus, *np.array(models).T)


def random_models(gpus: int = 5, *, seed: int = 0) -> PrismInstance:
    """Draw two models for each GPU from the ranges of the published instances."""
    rng = generator(FAMILY, "random-models", gpus, seed)
    size_gb, rate, slo = (rng.integers(low, high, 2 * gpus) for low, high in ((10, 30), (1, 10), (5, 10)))
    return PrismInstance(f"random-models-{gpus}-s{seed}", gpus, size_gb, rate, slo)


def shrink(instance: PrismInstance) -> PrismInstance:
    """Return an instance with at most four models on three GPUs."""
    few = {key: getattr(instance, key)[:4] for key in COLUMNS}
    return instance.replace(name=f"{instance.name}-shrunk", gpus=min(instance.gpus, 3), **few)


def volume(instance: PrismInstance) -> Fraction:
    """Return a bound: all weights over all memory that is left. The worst of several ratios is at least that of the sums."""
    weights, scale = instance.weights()
    left = instance.gpus * MEMORY_GB - int(instance.size_gb.sum())
    return Fraction(int(weights.sum()), scale * left) if left > 0 else FULL


def measures(instance: PrismInstance, _: PrismSolution) -> dict[str, float]:
    """Return what LB's points are measured between: the pressures of round robin and of the volume bound."""
    turns = pressure(instance, round_robin(instance).model2gpu)
    return {"round_robin": float(turns), "volume": float(volume(instance))}


def native_score(runs: Sequence[Scored]) -> dict[str, float]:
    """Return SKY's score, 1 / mean + 1, and LB's, the mean of 100 sqrt((RR - x) / (RR - V)). A failed run makes 0 of both."""
    worst = [run.objective for run in runs if run.objective is not None]
    if not worst or len(worst) < len(runs):
        return {"sky": 0.0, "leaderboard": 0.0}
    scores = {"sky": len(runs) * ONE / sum(worst) + 1}
    if all(run.measures for run in runs):
        ends = [(run.measures["round_robin"], run.measures["volume"]) for run in runs]
        shares = [
            (high - x / ONE) / (high - low) if high > low else 1.0 for x, (high, low) in zip(worst, ends, strict=True)
        ]
        scores["leaderboard"] = 100 * math.fsum(math.sqrt(max(share, 0.0)) for share in shares) / len(runs)
    return scores


PRISM = register_family(
    Family(
        name=FAMILY,
        instance=PrismInstance,
        solution=PrismSolution,
        verify=verify,
        read_instance=INSTANCE.read,
        write_instance=INSTANCE.write,
        read_solution=SOLUTION.read,
        write_solution=SOLUTION.write,
        objective_scale=ONE,
        objective_unit="pressure",
        generators={"published": published, "random-models": random_models},
        importers={},
        shrink=shrink,
        measures=measures,
        native_score=native_score,
        bound_methods=("subset-table", "bound-volume"),
        large=(("random-models", {"gpus": 200}),),
        size="gpus",
    )
)


@method("round-robin", family=FAMILY)
def round_robin(instance: PrismInstance) -> PrismSolution:
    """Put model j on GPU j mod G, whatever its size."""
    return PrismSolution(np.arange(instance.size_gb.size) % instance.gpus)


@method("greedy", family=FAMILY)
def greedy(instance: PrismInstance) -> PrismSolution | None:
    """Put each model, the largest r / l first, where the pressure is least so far: SKY's initial program. O(n G)."""
    (weights, _), model2gpu = instance.weights(), np.zeros_like(instance.size_gb)
    load, left = np.zeros(instance.gpus), np.full(instance.gpus, MEMORY_GB)
    for model in np.argsort(-weights, kind="stable").tolist():
        roomy = np.flatnonzero((left > 0) & (left >= instance.size_gb[model]))
        if not roomy.size:
            return None
        gpu = model2gpu[model] = roomy[np.argmin(load[roomy] / left[roomy])]
        load[gpu] += weights[model]
        left[gpu] -= instance.size_gb[model]
    return PrismSolution(model2gpu)


@method("bound-volume", family=FAMILY, bounds=True)
def bound_volume(instance: PrismInstance) -> Outcome:
    """Prove that no placement is better than all weights over all memory that is left. O(n)."""
    return Outcome(bound=math.ceil(volume(instance) * ONE))


def search(instance: PrismInstance, limit_s: float | None, pack: Callable[..., Any], **how: str) -> Outcome:
    """Halve the range of pressures, then ask for less than the best, until there is proven to be none.

    No pressure above p / q, in units of the weights, is a packing: models of size q w + p s into bins of 80 p.
    pack, how : see `prism_packing`.
    """
    end = time.monotonic() + (math.inf if limit_s is None else limit_s)
    (weights, scale), low, best = instance.weights(), volume(instance), greedy(instance)
    if best is None:
        gpus, is_proven = pack(instance.size_gb, MEMORY_GB, instance.gpus, end - time.monotonic(), **how)
        if gpus is None:
            return Outcome(status=Status.INFEASIBLE if is_proven else None)
        best = PrismSolution(gpus)
    high = pressure(instance, best.model2gpu)
    while low < high and (left_s := end - time.monotonic()) > 0:
        # Fractions of small numbers; where none is between the two, the last question is for less than the best.
        middle = ((low + high) / 2 * scale).limit_denominator(8) / scale
        asked, less = (middle, 0) if low < middle < high else (high, 1)
        p, q = (asked * scale).as_integer_ratio()
        size, room = q * weights + p * instance.size_gb, p * MEMORY_GB - less
        gpus, is_proven = pack(size, room, instance.gpus, left_s, **how)
        if gpus is not None:
            best, high = PrismSolution(gpus), pressure(instance, gpus)
        elif is_proven:
            low = asked
        else:
            break
    return Outcome(best, math.ceil(low * ONE), Status.OPTIMAL if low == high else None, backend=how.get("backend"))


@method(
    "subset-table",
    family=FAMILY,
    exact=True,
    supports=lambda instance: TOO_MANY if instance.size_gb.size > 18 else None,
)
def subset_table(instance: PrismInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Find the optimum by a table over subsets of models for each of some twenty pressures."""
    return search(instance, time_limit_s, pack_by_table)


@method("threshold-model", family=FAMILY, exact=True, choices=MIP_CHOICES)
def threshold_model(instance: PrismInstance, *, time_limit_s: float | None = None, backend: str = "cp-sat") -> Outcome:
    """Find the optimum by a program in whole numbers for each of some twenty pressures."""
    return search(instance, time_limit_s, pack_by_model, backend=backend)
