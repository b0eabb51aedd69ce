"""What is the same instance has the same bound, and no bound falls by a type that nobody would rent."""

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.fairness import random_users
from schedgap.instances.harvest import quick
from schedgap.instances.method import REGISTRY
from schedgap.instances.placement import random_pods
from schedgap.instances.provisioning import alibaba_like, table7
from schedgap.instances.reconfiguration import eva_synthetic
from schedgap.instances.sharing import random_jobs
from schedgap.instances.waiting import bursty

load_methods(["fairness", "harvest", "placement", "provisioning", "reconfiguration", "sharing", "waiting"])
# Bounds that take a solver to an end, or stop by its tolerances, may differ by so much between orders of the same numbers.
SAME = 1e-3
MAKERS = {
    "fairness": (lambda: random_users(5, classes=3, machines=5, seed=1),),
    "harvest": (lambda: quick(3, 2, "1-3", seed=2, grid_s=300.0),),
    "placement": (lambda: random_pods(seed=1), lambda: random_pods(seed=3, running=0.5, moves=1)),
    "provisioning": (lambda: table7(12, seed=1), lambda: alibaba_like(12, seed=1)),
    "reconfiguration": (
        lambda: eva_synthetic(4, seed=1, mean_gap_s=400.0, min_hours=0.3, max_hours=0.8, tasks_per_job=1),
        lambda: eva_synthetic(3, seed=4, mean_gap_s=400.0, min_hours=0.1, max_hours=0.4, interference="none"),
    ),
    "sharing": (lambda: random_jobs(3, seed=2),),
    "waiting": (lambda: bursty(12, seed=6, machine_cores=16, step_s=300.0, wait_price=0.1, max_wait_h=2.0),),
}
# By family, and where in the instance they are: what machine types have.
TYPES = {
    "provisioning": ("type_names", "type2family", "capacity", "price"),
    "reconfiguration": ("acquire_s", "setup_s"),
    "waiting": ("rented_cores", "rented_memory_mib", "rented_price"),
}
NAMED = [
    key
    for key, method in sorted(REGISTRY.items())
    # What a clock stops in its search proves another bound each time.
    if method.is_shipped and method.bounds and not method.exact and key != ("reconfiguration", "clairvoyant-program")
]


def types(instance, family, change):
    """The instance whose arrays of machine types are changed; `change` gets a field's name and its array."""
    changes = {key: change(key, np.asarray(getattr(instance, key))) for key in TYPES[family]}
    changes = {key: tuple(value.tolist()) if key == "type_names" else value for key, value in changes.items()}
    if family == "reconfiguration":
        changes["catalogue"] = types(instance.catalogue, "provisioning", change)
    return instance.replace(**changes)


def more(dearer, smaller, slower, later=0):
    """A second one of each type, at a multiple of its price, smaller where that is left of it, set up and acquired later.

    Only a dearer one is acquired later: on a machine that is paid later tasks wait for less.
    """

    def change(key, values):
        if key == "type_names":
            return np.append(values, [f"useless-{name}" for name in values])
        if key in ("capacity", "rented_cores", "rented_memory_mib"):
            return np.concatenate((values, np.where(values > smaller, values - smaller, values)))
        added = {
            "price": values * dearer,
            "rented_price": values * dearer,
            "setup_s": values + slower,
            "acquire_s": values + later,
        }
        return np.concatenate((values, added.get(key, values)))

    return change


def reversed_types(instance, family):
    """Backwards within each of the machine families, whose order has to stay."""
    catalogue = getattr(instance, "catalogue", instance)
    of_family = catalogue.type2family if family != "waiting" else np.zeros(instance.rented_price.size, np.int64)
    order = np.lexsort((-np.arange(of_family.size), of_family))
    return types(instance, family, lambda key, values: values[order])


def twice_as_dear(instance, family):
    changed = types(instance, family, lambda key, values: values * 2 if key in ("price", "rented_price") else values)
    return (
        changed
        if family != "waiting"
        else changed.replace(fixed_price=2 * instance.fixed_price, wait_price=2 * instance.wait_price)
    )


def bound(family, name, instance):
    # Long, since kernels may have to be compiled within it.
    return REGISTRY[family, name].run(instance, time_limit_s=300.0).bound


@pytest.mark.parametrize(("family", "name"), NAMED)
def test_no_bound_falls_by_what_changes_nothing(family, name):
    for make in MAKERS[family]:
        instance = make()
        before = bound(family, name, instance)
        if before is None:
            continue
        assert bound(family, name, instance.replace(name="renamed")) == before
        if family not in TYPES:
            continue
        for worse in ((1, 0, 0), (1, 1, 0), (3, 1, 100), (2, 0, 0, 100), (2, 0, 0, 300)):
            added = types(instance, family, more(*worse))
            assert bound(family, name, added) >= before - 1, worse
        assert bound(family, name, reversed_types(instance, family)) == pytest.approx(before, rel=SAME)
        assert bound(family, name, twice_as_dear(instance, family)) == pytest.approx(2 * before, rel=SAME, abs=2)
