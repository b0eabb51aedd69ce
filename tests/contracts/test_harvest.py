"""What every method of harvest promises."""

from promises import Promises

from schedgap.instances.harvest import quick, two_kinds

MAKERS = {
    "one-job": lambda: quick(2, 1, "2", seed=1),
    "coarse": lambda: quick(3, 2, "1-3", seed=2, grid_s=300.0),
    "tasks": lambda: quick(3, 2, "1-3", seed=3, grid_s=300.0, objective="tasks"),
    "makespan": lambda: quick(2, 2, "1-2", seed=4, grid_s=300.0, objective="makespan"),
    "several-sizes": lambda: quick(3, 3, "1-2", seed=5, cores="1,2,4", kills="newest"),
    "checkpoints": lambda: quick(2, 2, "2", seed=6, checkpoint_s=60.0, restore_s=30.0),
    "interruptible": lambda: quick(2, 2, "2", seed=7, interruptible=1.0),
    "leased": lambda: two_kinds(8, 3, seed=8, jobs=2),
}


class TestHarvest(Promises):
    family = "harvest"
    makers = MAKERS
