"""What every registered method promises, on tiny instances of every kind; a new method is tested by being there."""

from __future__ import annotations

import json
import os
import pickle
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from schedgap.bench.certify.problem import read_certificate, read_problem
from schedgap.bench.certify.proof import check
from schedgap.bench.checks.contract import judge_trial
from schedgap.bench.checks.trials import RunKind, Seen, Trial
from schedgap.bench.isolation.answer import certificate_of
from schedgap.bench.isolation.child import measured
from schedgap.bench.isolation.judge import judge
from schedgap.bench.isolation.messages import Ending, Request
from schedgap.bench.plan import make_run
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.records.runs import Limits, Record
from schedgap.instances.fairness import alice_bob, random_users
from schedgap.instances.fairness import micro as four_users
from schedgap.instances.family import find_family
from schedgap.instances.harvest import quick, two_kinds
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.placement import openb_like, random_pods
from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like, distinct, table3, table7
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration import alibaba_like as alibaba_like_jobs
from schedgap.instances.reconfiguration import eva_synthetic
from schedgap.instances.sharing import micro, random_jobs
from schedgap.instances.waiting import bursty, mms

TIME_LIMIT_S = 20.0
# By method: instance, certificate and the bound that was given.
CERTIFICATES = defaultdict(list)
load_methods(["fairness", "harvest", "placement", "provisioning", "reconfiguration", "sharing", "waiting"])
METHODS = {f"{family}/{name}": method for (family, name), method in sorted(REGISTRY.items()) if method.is_shipped}


def each(is_meant=lambda method: True):
    """All methods that are meant; those of a family share compiled code, and therefore a worker of pytest-xdist."""
    named = [(name, method) for name, method in METHODS.items() if is_meant(method)]
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=pytest.mark.xdist_group(method.family)) for name, method in named]
    )


def one_task() -> ProvisioningInstance:
    """The smallest instance there is."""
    return ProvisioningInstance(
        name="one-task",
        resources=("cpu",),
        families=("x",),
        type_names=("small",),
        type2family=np.array([0]),
        capacity=np.array([[1000]]),
        price=np.array([7]),
        demand=np.array([[[1000]]]),
        counts=np.array([1]),
    )


def zero_demand() -> ProvisioningInstance:
    """A class that asks for nothing, and a type that is cheaper for nobody."""
    return ProvisioningInstance(
        name="zero-demand",
        resources=("gpu", "cpu"),
        families=("x",),
        type_names=("small", "large"),
        type2family=np.array([0, 0]),
        capacity=np.array([[0, 2000], [1000, 4000]]),
        price=np.array([1_000_000, 3_000_000]),
        demand=np.array([[[0, 0], [0, 1500], [1000, 1000]]]),
        counts=np.array([3, 2, 1]),
    )


def running(**limits) -> ProvisioningInstance:
    """Tasks of Table 7, most of them on machines that run: one is dear, one empty, one holds more than it can."""
    instance = table7(8, seed=6)
    content = np.zeros((3, instance.num_classes), np.int64)
    content[0, ::2], content[2, 1] = instance.counts[::2], instance.counts[1]
    dear, cheap = int(np.argmax(instance.price)), int(np.argmin(instance.price))
    machines = Running.from_contents(("dear", "empty", "overfull"), (dear, dear, cheap), content)
    return instance.replace(running=machines, **limits)


def apart_and_moves() -> ProvisioningInstance:
    """Machines hold more of a class than may share one; three tasks may move, of which two must."""
    instance = table3()
    instance = instance.replace(
        counts=[4, *instance.counts[1:]], task2class=None, task_names=None, name="apart-and-moves"
    )
    large = int(np.argmax(instance.price))
    content = np.zeros((2, instance.num_classes), np.int64)
    content[0, 0], content[1, 1] = 3, 1
    machines = Running.from_contents(("crowded", "other"), (large, large), content)
    limits = np.where(np.arange(instance.num_classes) == 0, 1, -1)
    return instance.replace(running=machines, max_moves=3, per_machine=limits)


def short_jobs(jobs, seed, **parameters):
    """Jobs of minutes, a few at a time."""
    return eva_synthetic(jobs, seed=seed, mean_gap_s=400.0, min_hours=0.1, max_hours=0.4, **parameters)


def with_start(instance):
    """Two machines of the dearest type that fits the first job run at second 0, with that job's task on one of them."""
    catalogue = instance.catalogue
    kind = int(np.argmax(np.where(catalogue.fits()[:, instance.job2class[0]], catalogue.price, 0)))
    content = np.zeros((2, instance.num_jobs), np.int64)
    content[0, 0] = 1
    arrival_s = instance.arrival_s - instance.arrival_s[0]
    return instance.replace(arrival_s=arrival_s, running=Running.from_contents(("a", "b"), (kind, kind), content))


def with_stock(instance):
    """One machine of every other type."""
    stock = np.where(np.arange(instance.catalogue.num_types) % 2, 1, -1)
    return instance.replace(catalogue=instance.catalogue.replace(stock=stock))


def few_users(seed, **parameters):
    """Half a dozen, on half a dozen machines."""
    return random_users(6, classes=3, machines=6, seed=seed, **parameters)


MAKERS = {
    "fairness": {
        "alice-bob": alice_bob,
        "micro": four_users,
        "mixed": lambda: few_users(1),
        "interval": lambda: few_users(2, kind="interval", weights="random"),
        "machine-speeds": lambda: few_users(3, resources=1, speeds="machine"),
        "limited": lambda: few_users(4, limited=True),
        "limited-machine-speeds": lambda: few_users(5, resources=1, speeds="machine", limited=True),
        "pooled": lambda: few_users(6, pooled=True, notion="drf"),
        "tsf": lambda: few_users(7, notion="tsf"),
        "cmmf": lambda: few_users(8, notion="cmmf"),
    },
    "harvest": {
        "one-job": lambda: quick(2, 1, "2", seed=1),
        "coarse": lambda: quick(3, 2, "1-3", seed=2, grid_s=300.0),
        "tasks": lambda: quick(3, 2, "1-3", seed=3, grid_s=300.0, objective="tasks"),
        "makespan": lambda: quick(2, 2, "1-2", seed=4, grid_s=300.0, objective="makespan"),
        "several-sizes": lambda: quick(3, 3, "1-2", seed=5, cores="1,2,4", kills="newest"),
        "checkpoints": lambda: quick(2, 2, "2", seed=6, checkpoint_s=60.0, restore_s=30.0),
        "interruptible": lambda: quick(2, 2, "2", seed=7, interruptible=1.0),
        "leased": lambda: two_kinds(8, 3, seed=8, jobs=2),
    },
    "placement": {
        "one-pod": lambda: random_pods(seed=1, nodes=1, pods=1),
        "shares": lambda: random_pods(seed=2),
        "pods": lambda: random_pods(seed=3, unit="pods"),
        "values": lambda: random_pods(seed=4, unit="value", pods=6),
        "gangs": lambda: random_pods(seed=5, gangs=True),
        "running": lambda: random_pods(seed=6, running=0.4, moves=2),
        "gangs-and-running": lambda: random_pods(seed=7, running=0.4, gangs=True, nodes=4),
        "openb-like": lambda: openb_like(seed=8, nodes=2, until=60),
    },
    "provisioning": {
        "one-task": one_task,
        "zero-demand": zero_demand,
        "table3": table3,
        "table7": lambda: table7(9, seed=1),
        "table7-vcpu": lambda: table7(9, seed=8, cpu="vcpu"),
        "interference": lambda: table7(5, seed=3, interference=True),
        "distinct": lambda: distinct(6, seed=5),
        "alibaba-like": lambda: alibaba_like(8, seed=5),
        "running": running,
        "stock-and-moves": lambda: running(stock=np.where(np.arange(21) % 2, 20, -1), max_moves=6),
        "apart": lambda: zero_demand().replace(name="apart", per_machine=[1, -1, -1]),
        "apart-and-moves": lambda: apart_and_moves(),
    },
    "reconfiguration": {
        "one-job": lambda: short_jobs(1, 1),
        "short-jobs": lambda: short_jobs(3, 10),
        "no-interference": lambda: short_jobs(3, 3, interference="none"),
        "interference": lambda: short_jobs(3, 4, interference="0.8", tasks_per_job=1),
        "slow-moves": lambda: short_jobs(3, 5, migration_delay=8.0),
        "stock": lambda: with_stock(short_jobs(3, 8, tasks_per_job=1)),
        "running": lambda: with_start(short_jobs(3, 9, tasks_per_job=1)),
        "many-tasks": lambda: short_jobs(2, 6, tasks_per_job=4),
        "alibaba-like": lambda: alibaba_like_jobs(2, seed=7, durations="alibaba", mean_gap_s=300.0),
    },
    "sharing": {
        "micro": lambda: micro(tasks=3),
        "one-job": lambda: random_jobs(1, seed=1),
        "random": lambda: random_jobs(3, seed=2),
        "own-performance": lambda: random_jobs(3, seed=3, own_performance=True),
        "tsf": lambda: random_jobs(3, seed=4, notion="tsf"),
    },
    "waiting": {
        "one-job": lambda: mms(1, seed=1, step_s=60.0),
        "mms": lambda: mms(6, seed=2, arrival_rate=0.01, step_s=60.0),
        "mms-fine": lambda: mms(5, seed=9, arrival_rate=0.01, wait_price=0.05),
        "mms-limited": lambda: mms(6, seed=4, arrival_rate=0.01, step_s=60.0, wait_price=0.05, max_wait_h=0.25),
        "mms-no-wait": lambda: mms(7, seed=5, arrival_rate=0.01, max_wait_h=0.0),
        "bursty": lambda: bursty(5, seed=6, machine_cores=16, step_s=300.0, wait_price=0.1),
        "bursty-limited": lambda: bursty(5, seed=7, machine_cores=8, step_s=300.0, max_wait_h=1.0),
    },
}


@cache
def instances_of(family):
    made = [make() for make in MAKERS[family].values()]
    return {instance.digest: instance for instance in made}


def seen(method, instance, kind):
    """One run in this process, judged as any other."""
    limits = Limits.from_time_limit(0.0 if kind is RunKind.NO_TIME else TIME_LIMIT_S)
    run = make_run(instance, method, {}, limits, group=kind)
    request = Request(method.family, method.name, {}, run.seed, limits, run.digest, None, keep=True)
    family = find_family(method.family)
    with open(os.devnull, "wb") as nobody:
        answer = measured(request, lambda: instance, nobody.fileno())
    measurement, solution = judge(family, instance, Ending(answer=answer), limits)
    content = None if solution is None else pickle.dumps(solution)
    certificate = certificate_of(answer, instance.name, instance.digest)
    if certificate is not None:
        CERTIFICATES[method.name].append((instance, certificate, measurement.bound))
    return Seen(Record(run.key, run, measurement, "", ""), content)


@cache
def trial_of(name):
    """A method on all instances, then on all of them once more, then without any time."""
    method = METHODS[name]
    instances = instances_of(method.family)
    names = {digest: instance.name for digest, instance in instances.items()}
    trial = Trial(method, {}, method.name, Limits.from_time_limit(TIME_LIMIT_S), names)
    for kind in (RunKind.ALONE, RunKind.AGAIN, RunKind.NO_TIME):
        trial.seen[kind] = {digest: seen(method, instance, kind) for digest, instance in instances.items()}
    return trial


@each(lambda method: "found" in method.wants)
def test_tells_what_is_so(name):
    """Each solution is feasible, no bound is above one, and the answer is no worse than the last of both."""
    method = METHODS[name]
    family = find_family(method.family)
    for instance in instances_of(method.family).values():
        objectives, bounds = [], []

        def found(solution=None, bound=None, instance=instance, objectives=objectives, bounds=bounds):
            objectives.extend([] if solution is None else [family.verify(instance, solution)])
            bounds.extend([] if bound is None else [bound])

        outcome = method.run(instance, time_limit_s=2.0, found=found)
        assert outcome.status is Status.UNSUPPORTED or objectives or bounds
        if objectives:
            assert max(bounds, default=0) <= min(objectives)
            assert family.verify(instance, outcome.solution) <= objectives[-1]
        assert max(bounds, default=0) <= (outcome.bound or 0)


@each()
def test_keeps_what_every_method_promises(name):
    """The rules of `schedgap check`, beside all other methods of the family."""
    others = [each for each in METHODS if each != name and METHODS[each].family == METHODS[name].family]
    checked = judge_trial(trial_of(name), [trial_of(other) for other in others])
    assert len(checked.checks) == 11
    assert [check for check in checked.checks if check.result == "failed"] == []


@each(lambda method: method.bounds)
def test_certificates_hold(name, tmp_path):
    """Read from a file by the checker's own reader: they prove no more than the bound that the method gives."""
    trial_of(name)
    family = find_family(METHODS[name].family)
    for instance, certificate, bound in CERTIFICATES[METHODS[name].name]:
        family.write_instance(instance, tmp_path / "i.json")
        (tmp_path / "c.json").write_text(json.dumps(certificate))
        found = check(read_problem(tmp_path / "i.json"), read_certificate(tmp_path / "c.json"))
        assert found.reason is None
        assert found.bound <= bound


@each(lambda method: method.exact)
def test_exact_methods_prove_tiny_instances(name):
    ends = [run.record.status for run in trial_of(name).supported().values()]
    assert ends == ["optimal"] * len(ends)
    assert ends


@each()
def test_has_a_summary_and_checked_parameters(name):
    method = METHODS[name]
    assert method.summary.endswith(".")
    assert method.checked(dict(method.parameters)) == dict(method.parameters)
    texts = {key: default for key, default in method.parameters.items() if isinstance(default, str)}
    assert set(method.choices) <= texts.keys()
    # A text that is none of several choices says nothing by default.
    assert {texts[key] for key in texts.keys() - method.choices} <= {""}
