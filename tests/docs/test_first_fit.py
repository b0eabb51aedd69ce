"""The example programs: whatever the language, whatever the way in, first fit gives the same solutions."""

import importlib.util
from unittest import mock

import numpy as np
import pytest

from schedgap.bench import gap
from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.bench.programs.program import Program, Terms
from schedgap.bench.programs.run import ask
from schedgap.instances.family import find_family
from schedgap.instances.fields import fields_hash
from schedgap.instances.method import REGISTRY, Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like, distinct, table3, table7
from schedgap.instances.reconfiguration import alibaba_like as jobs_like_alibaba
from schedgap.instances.reconfiguration import eva_synthetic

LANGUAGES = ("c", "awk", "python")
TERMS = Terms(0, 60.0, 1, 4096)


def drawn(seed):
    """Two families, classes that may run on one of them only, equal prices, amounts down to a thousandth and a MiB."""
    rng = np.random.default_rng(seed)
    classes = 40
    demand = rng.integers([0, 1, 1], [500, 9_000, 60_000], (2, classes, 3))
    demand[0, ::5], demand[1, 1::5] = -1, -1
    return ProvisioningInstance(
        name=f"drawn-{seed}",
        resources=("gpu", "cpu", "ram_gib"),
        families=("p3.x", "any other"),
        type_names=("p3.x/large", "p3.x, small", 'the "other"', "other\\cheap"),
        type2family=np.array([0, 0, 1, 1]),
        capacity=np.array(
            [[2_000, 16_001, 120_007], [500, 9_000, 60_000], [501, 9_003, 60_005], [4_000, 9_000, 60_001]]
        ),
        price=np.array([3_000_001, 1_500_000, 1_500_000, 1_499_999]),
        demand=demand,
        counts=rng.integers(1, 6, classes),
        class_names=tuple(f'{{class}} "{c}", \\ [ü]' for c in range(classes)),
    )


PROVISIONING = [
    *(drawn(seed) for seed in range(4)),
    *(table7(120, seed=seed) for seed in range(2)),
    table3(),
    distinct(60),
    alibaba_like(300),
]
RECONFIGURATION = [
    *(jobs_like_alibaba(40, seed=seed, mean_gap_s=200.0) for seed in range(2)),
    jobs_like_alibaba(40, multi_gpu=0.5, multi_task=0.5, durations="alibaba"),
    eva_synthetic(40),
]


@pytest.fixture(scope="module")
def built_in(examples):
    """First fit as the plug-in has it, by family; it is forgotten afterwards."""
    load_families()
    load_methods(["provisioning", "reconfiguration"])
    with mock.patch.dict(REGISTRY):
        spec = importlib.util.spec_from_file_location("first_fit_plugin", examples / "first_fit_plugin.py")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return {family: find_method(family, "first-fit") for family in ("provisioning", "reconfiguration")}


def solved_by(program, family, instance):
    return ask(program, find_family(family), instance, TERMS).solution


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("instance", PROVISIONING, ids=lambda instance: instance.name)
def test_methods_agree(built_in, commands, examples, language, instance):
    program = Program.make("mine", commands(language, "method"), folder=examples)
    expected = built_in["provisioning"].run(instance).solution
    assert find_family("provisioning").verify(instance, expected) > 0
    assert fields_hash(solved_by(program, "provisioning", instance)) == fields_hash(expected)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("instance", RECONFIGURATION, ids=lambda instance: instance.name)
def test_policies_agree(built_in, commands, examples, language, instance):
    program = Program.make("mine", commands(language, "policy"), folder=examples, kind="policy")
    expected = built_in["reconfiguration"].run(instance).solution
    assert find_family("reconfiguration").verify(instance, expected) > 0
    assert fields_hash(solved_by(program, "reconfiguration", instance)) == fields_hash(expected)


def test_the_drawn_instances_need_what_they_shall_test(built_in):
    """Machines of both families are rented, and hold several classes."""
    for instance in PROVISIONING[:4]:
        solution = built_in["provisioning"].run(instance).solution
        assert set(instance.type2family[solution.machine_type]) == {0, 1}
        assert np.diff(solution.indptr).max() > 1


@pytest.mark.parametrize(
    ("family", "role", "bound", "instance"),
    [
        ("provisioning", "method", "bound-resource", PROVISIONING[0]),
        ("reconfiguration", "policy", "bound-work", RECONFIGURATION[-1]),
    ],
)
def test_they_agree_in_the_harness(examples, commands, family, role, bound, instance):
    """In limited processes of their own, verified and recorded: the same objective, by the same solution."""
    programs = [Program.make(each, commands(each, role), folder=examples, kind=role) for each in LANGUAGES]
    plugins = [examples / "first_fit_plugin.py", *programs]
    with mock.patch.dict(REGISTRY):
        result = gap(instance, ["first-fit"], family=family, bound=bound, plugins=plugins, jobs=2)
    records = [record for record in result.records if record.run.label != bound]
    assert [record.status for record in records] == [Status.FEASIBLE] * 4
    assert len({record.measurement.solution_hash for record in records}) == 1
