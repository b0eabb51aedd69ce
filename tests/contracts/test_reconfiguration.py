"""What every method of reconfiguration promises."""

import numpy as np
from promises import Promises

from schedgap.instances.provisioning.running import Budget, Disruption, Guard, Pool, Running
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.reconfiguration import alibaba_like, eva_synthetic
from schedgap.instances.reconfiguration.upkeep import Upkeep


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


def with_upkeep(instance):
    """A pool whose budget holds at times, guards, tasks left alone: two machines of it run at second 0."""
    jobs = np.arange(instance.num_jobs)
    pool = Pool("p", (Budget(50, True, window=Window("*/30 * * * *", 900)), Budget(1, False)), consolidate_after_s=300)
    machines = Disruption((pool,), [0, 0], [0, 0], [0], [0, 900], 1_700_000_000)
    guards = (Guard("g", 1, False, is_least=False),)
    of_jobs = {"held_s": jobs % 2 * 600, "kept": jobs % 2, "guard": jobs % 3 - 2, "guards": guards}
    new_pool = np.zeros(instance.catalogue.num_types, np.int64)
    return instance.replace(upkeep=Upkeep.of(machines, new_pool, instance.num_jobs, **of_jobs))


def with_stock(instance):
    """One machine of every other type."""
    stock = np.where(np.arange(instance.catalogue.num_types) % 2, 1, -1)
    return instance.replace(catalogue=instance.catalogue.replace(stock=stock))


MAKERS = {
    "one-job": lambda: short_jobs(1, 1),
    "short-jobs": lambda: short_jobs(3, 1),
    "no-interference": lambda: short_jobs(3, 5, interference="none"),
    "interference": lambda: short_jobs(3, 4, interference="0.8", tasks_per_job=1),
    "slow-moves": lambda: short_jobs(3, 6, migration_delay=8.0),
    "stock": lambda: with_stock(short_jobs(3, 2, tasks_per_job=1)),
    "running": lambda: with_start(short_jobs(3, 9, tasks_per_job=1)),
    "upkeep": lambda: with_upkeep(with_start(short_jobs(3, 8, tasks_per_job=1))),
    "many-tasks": lambda: short_jobs(2, 6, tasks_per_job=4),
    "alibaba-like": lambda: alibaba_like(2, seed=7, durations="alibaba", mean_gap_s=300.0),
}


class TestReconfiguration(Promises):
    family = "reconfiguration"
    makers = MAKERS
