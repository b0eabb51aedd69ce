"""What every method of sharing promises."""

from promises import Promises

from schedgap.instances.sharing import micro, random_jobs

MAKERS = {
    "micro": lambda: micro(tasks=3),
    "one-job": lambda: random_jobs(1, seed=1),
    "random": lambda: random_jobs(3, seed=2),
    "own-performance": lambda: random_jobs(3, seed=3, own_performance=True),
    "tsf": lambda: random_jobs(3, seed=4, notion="tsf"),
}


class TestSharing(Promises):
    family = "sharing"
    makers = MAKERS
