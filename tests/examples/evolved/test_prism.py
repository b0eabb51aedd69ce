"""Prism: worked examples, two exact methods and all placements, the published instances, and what a verifier must refuse."""

import csv
import os
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from outside import Outside

from schedgap.bench import run_suite
from schedgap.bench.statistics.headlines.measures import native_scores
from schedgap.instances.errors import InstanceError, SolutionError, VerifyError
from schedgap.instances.family import Scored

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "examples" / "evolved" / "prism.py"
ONE = 10**12
# GPUs, sizes, rates and SLOs of two of the published instances.
PUBLISHED = {
    0: (
        8,
        [24, 16, 20, 13, 11, 15, 10, 21, 19, 29, 14, 18, 13, 23, 18, 29],
        [8, 3, 8, 8, 8, 2, 6, 9, 3, 9, 3, 7, 9, 2, 5, 7],
        [9, 7, 9, 7, 8, 8, 9, 5, 8, 7, 9, 6, 8, 6, 6, 8],
    ),
    49: (
        5,
        [18, 11, 27, 20, 17, 24, 22, 21, 17, 20],
        [9, 1, 8, 7, 6, 1, 3, 1, 8, 1],
        [5, 6, 9, 6, 5, 8, 9, 9, 5, 9],
    ),
}
CHEATS = """
import numpy as np
import prism
from prism import PrismSolution, greedy
from schedgap.instances import Outcome, method


@method("more-gpus", family="prism")
def more_gpus(instance):
    return PrismSolution(np.arange(instance.size_gb.size))


@method("smaller-models", family="prism")
def smaller_models(instance):
    object.__setattr__(instance, "size_gb", np.ones_like(instance.size_gb))
    return greedy(instance)


@method("unlocked-rates", family="prism")
def unlocked_rates(instance):
    instance.req_rate.setflags(write=True)
    instance.req_rate[:] = 1
    return greedy(instance)


@method("easy-ones-alone", family="prism")
def easy_ones_alone(instance):
    if instance.gpus > 5:
        raise ValueError("too hard")
    return greedy(instance)


@method("own-claim", family="prism")
def own_claim(instance):
    return Outcome(greedy(instance), bound=10**15, status="optimal")


@method("another-class", family="prism")
def another_class(instance):
    class Better(PrismSolution):
        pass

    return Better(greedy(instance).model2gpu)


@method("another-verifier", family="prism")
def another_verifier(instance):
    prism.verify = prism.pressure = lambda *_: 0
    return greedy(instance)


@method("endless", family="prism")
def endless(instance):
    while True:
        pass
"""
SUITE = """
schema = "schedgap/suite/1"
name = "cheats"
title = "Cheats"
question = "What is believed?"
family = "prism"
families = ["FILE"]
headline = "scores"
methods = ["more-gpus", "smaller-models", "unlocked-rates", "easy-ones-alone", "own-claim", "another-class",
           "another-verifier", "endless", "greedy", "bound-volume"]

[limits]
time_limit_s = 1
wall_s = 2

[[instances]]
generator = "random-models"
parameters = { gpus = [5, 6] }
"""


@pytest.fixture(scope="module")
def family():
    """The family of the file, with its methods by name."""
    outside = Outside(FILE)
    with outside.known():
        yield outside


@pytest.fixture(scope="module")
def prism(family):
    """The module of the file."""
    return family.module


def small(prism, *models, gpus=2):
    """Return an instance of models (size, rate, SLO)."""
    return prism.PrismInstance("small", gpus, *np.array(models).T)


def test_the_pressure_by_hand(prism):
    """r / l are 1/2, 1 and 1; the pressures (1/2 + 1)/(80 - 60), and 1/40; 1/2/60, and 2/10; (1/2 + 1)/30, and 1/40."""
    instance = small(prism, (20, 4, 8), (40, 5, 5), (30, 6, 6))
    cost = {gpus: prism.verify(instance, prism.PrismSolution(gpus)) for gpus in ((0, 0, 1), (0, 1, 1), (0, 1, 0))}
    assert cost == {(0, 0, 1): 75 * ONE // 1000, (0, 1, 1): ONE // 5, (0, 1, 0): ONE // 20}


def test_a_full_gpu_counts_a_million_and_an_empty_one_nothing(prism):
    assert prism.verify(small(prism, (50, 1, 5), (30, 1, 5)), prism.PrismSolution([1, 1])) == 1_000_000 * ONE


def test_rounding_up_keeps_bounds_below_solutions(prism):
    """1 / 3 is rounded to the same number as solution and as bound, although no float and no such number is a third."""
    instance = small(prism, (77, 1, 1), gpus=1)
    assert prism.verify(instance, prism.PrismSolution([0])) == ONE // 3 + 1
    assert prism.bound_volume(instance).bound == ONE // 3 + 1


@pytest.mark.parametrize("seed", range(4))
def test_two_methods_and_all_placements_meet(prism, family, seed):
    instance = prism.random_models(3, seed=seed)
    placements = product(range(3), repeat=6)
    valid = [gpus for gpus in placements if np.bincount(gpus, instance.size_gb).max() <= 80]
    least = min(prism.verify(instance, prism.PrismSolution(gpus)) for gpus in valid)
    for name in ("subset-table", "threshold-model"):
        outcome = family.methods[name].run(instance)
        assert (outcome.status, outcome.bound) == ("optimal", least), name
        assert prism.verify(instance, outcome.solution) == least


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "scip"])
def test_every_back_end_finds_the_optimum(prism, family, backend):
    outcome = family.methods["threshold-model"].run(prism.published(seed=44), parameters={"backend": backend})
    assert outcome.bound == -(-13 * ONE // 240)


@pytest.mark.parametrize("name", ["subset-table", "threshold-model"])
def test_where_greedy_finds_no_place(prism, family, name):
    """Three of 20 GB leave room for one of 75 only together; of three with 50 GB two share a GPU."""
    fits = small(prism, (20, 9, 9), (20, 8, 9), (20, 7, 9), (75, 1, 9))
    assert prism.greedy(fits) is None
    assert family.methods[name].run(fits).solution.model2gpu.tolist() in ([0, 0, 0, 1], [1, 1, 1, 0])
    none = small(prism, (50, 1, 9), (50, 1, 9), (50, 1, 9))
    assert family.methods[name].run(none).status == "infeasible"


@pytest.mark.parametrize(("seed", "p", "q"), [(29, 3, 80), (43, 19, 455)])
def test_optima_that_were_open(prism, family, seed, p, q):
    assert family.methods["subset-table"].run(prism.published(seed=seed)).bound == -(-p * ONE // q)


def test_the_published_instances(prism):
    for number, (gpus, *columns) in PUBLISHED.items():
        instance = prism.published(seed=number)
        held = [getattr(instance, key).tolist() for key in ("size_gb", "req_rate", "slo")]
        assert (instance.gpus, held) == (gpus, columns)
    with pytest.raises(InstanceError, match="the instances are 0 to 49"):
        prism.published(seed=50)


def test_all_published_instances_as_they_were_recorded(prism):
    """Set SCHEDGAP_FACTS to a folder that holds evolved/prism-instances.csv."""
    facts = Path(os.environ.get("SCHEDGAP_FACTS", ROOT.parent / "shared" / "facts"))
    table = facts / "evolved" / "prism-instances.csv"
    if not table.is_file():
        pytest.skip(f"the published instances are not there (SCHEDGAP_FACTS={facts})")
    with table.open() as file:
        rows = [tuple(map(int, row.values())) for row in csv.DictReader(file)]
    instances = [prism.published(seed=number) for number in range(50)]
    assert rows == [
        (number, each.gpus, model, *map(int, (each.size_gb[model], each.req_rate[model], each.slo[model])))
        for number, each in enumerate(instances)
        for model in range(each.size_gb.size)
    ]


def scored(prism, family, name):
    """Return the runs of a method on all published instances."""
    for number in range(50):
        instance = prism.published(seed=number)
        solution = family.methods[name].run(instance).solution
        yield Scored(instance.name, prism.verify(instance, solution), prism.measures(instance, solution))


def test_scores_of_the_task(prism, family):
    """SKY's initial program has 21.891622, LB's reference 17.17 and no points; one failed run, and all is worth nothing."""
    runs = list(scored(prism, family, "greedy"))
    assert prism.native_score(runs)["sky"] == pytest.approx(21.891622, abs=5e-7)
    turns = prism.native_score(list(scored(prism, family, "round-robin")))
    assert turns == {"sky": pytest.approx(17.1713, abs=5e-5), "leaderboard": 0}
    # The ceiling of instances that nobody solved: where round robin stands is not known.
    assert set(prism.native_score([*runs[:9], Scored("unsolved", ONE, {})])) == {"sky"}
    runs[3] = Scored(runs[3].instance, None, {})
    assert set(prism.native_score(runs).values()) == {0}


@pytest.mark.parametrize(
    ("model2gpu", "reason"),
    [
        ([0, 1, 2], "model 2 is on GPU 2; there are 2"),
        ([0, 1, -1], "model 2 is on GPU -1; there are 2"),
        ([0, 1, 2**40], "there are 2"),
        ([0, 1], "one GPU|shape"),
        ([0, 1, 1, 0], "shape"),
        ([], "shape"),
        ([[0, 1, 0]], "shape"),
        ([0, 0, 0], "GPU 0 holds models of 90 GB; it has 80"),
    ],
)
def test_what_is_no_placement(prism, model2gpu, reason):
    instance = small(prism, (20, 4, 8), (40, 5, 5), (30, 6, 6))
    with pytest.raises(VerifyError, match=reason):
        prism.verify(instance, prism.PrismSolution(np.array(model2gpu, np.int64)))


@pytest.mark.parametrize("model2gpu", [[0.5, 1, 0], [float("nan"), 0, 0], ["0", "1", "0"], [None, 0, 0], {0: [1, 2]}])
def test_what_names_no_gpu(prism, model2gpu):
    with pytest.raises(SolutionError):
        prism.PrismSolution(model2gpu)


@pytest.mark.parametrize(
    ("model", "reason"),
    [((0, 1, 5), "size_gb of model 0 is 0"), ((5, 0, 5), "req_rate"), ((5, 1, 0), "slo"), ((81, 1, 5), "81 GB")],
)
def test_what_is_no_model(prism, model, reason):
    """Rates of 0 would make any placement perfect."""
    with pytest.raises(InstanceError, match=reason):
        small(prism, model)


def test_files_give_back_what_was_written(prism, tmp_path):
    instance = prism.published(seed=49)
    prism.INSTANCE.write(instance, tmp_path / "a.json")
    assert prism.INSTANCE.read(tmp_path / "a.json").digest == instance.digest
    prism.SOLUTION.write(instance, prism.greedy(instance), tmp_path / "b.json")
    assert (
        prism.SOLUTION.read(instance, tmp_path / "b.json").model2gpu.tolist()
        == prism.greedy(instance).model2gpu.tolist()
    )


def test_candidates_are_not_believed(prism, family, tmp_path):
    """Each ends with no score, or with that of what it really found."""
    (tmp_path / "cheats.toml").write_text(SUITE.replace("FILE", str(FILE)))
    (tmp_path / "cheats.py").write_text(CHEATS)
    result = run_suite(tmp_path / "cheats.toml", plugins=[tmp_path / "cheats.py"], out=tmp_path / "runs", jobs=2)
    seen = {}
    for record in result.records:
        own = seen.setdefault(record.run.method, SimpleNamespace(status=set(), records=[]))
        own.status.add(str(record.status))
        own.records.append(record)
    scores = {name: native_scores(family.family, own.records).get("sky", 0.0) for name, own in seen.items()}
    honest = scores.pop("greedy")
    statuses = {name: own.status for name, own in seen.items()}
    assert statuses == {
        "more-gpus": {"invalid"},
        "smaller-models": {"invalid"},
        "unlocked-rates": {"error"},
        "easy-ones-alone": {"error", "feasible"},
        "own-claim": {"invalid"},
        "another-class": {"invalid"},
        "another-verifier": {"feasible"},
        "endless": {"timeout"},
        "greedy": {"feasible"},
        "bound-volume": {"no_solution"},
    }
    assert scores.pop("another-verifier") == honest > 0
    assert set(scores.values()) == {0.0}
