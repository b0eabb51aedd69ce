"""The plain rule in Python gives the schedules of the compiled one."""

import numpy as np

from schedgap.heuristics import player
from schedgap.heuristics.harvest import rules  # noqa: F401
from schedgap.heuristics.harvest.player import Player
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import find_method


class Drawing:
    """The plain rule in Python, with the compiled one's random numbers (splitmix64)."""

    def __init__(self, seed):
        self.random = int(np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)[0])

    def below(self, bound):
        self.random = x = (self.random + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return (x ^ (x >> 31)) % bound

    def __call__(self, observation):
        free, free_memory, starts = observation.free.copy(), observation.free_memory.copy(), []
        for job in np.unique(observation.task_job).tolist():
            cores, memory = observation.job_cores[job], observation.job_memory[job]
            fitting = np.flatnonzero((free >= cores) & (free_memory >= memory)).tolist()
            for task in observation.task[observation.task_job == job].tolist():
                if fitting:
                    k = self.below(len(fitting))
                    i = fitting[k]
                    free[i] -= cores
                    free_memory[i] -= memory
                    starts.append((task, observation.vm[i]))
                    if free[i] < cores or free_memory[i] < memory:
                        fitting[k] = fitting[-1]
                        fitting.pop()
        return starts


def test_the_plain_rule_in_python_is_the_compiled_one(busy):
    for seed in range(40):
        instance = busy(seed, interruptible=0.5)
        memory = np.random.default_rng(seed).integers(0, 2000, instance.num_jobs)
        instance = instance.replace(task_memory_mib=memory, memory_mib=np.full(instance.num_vms, 4000))
        own = player.play(Player(instance, frozenset()), Drawing(0))
        simulator = Simulator(instance, seed=0)
        assert simulator.run_plain()
        ours = simulator.schedule()
        seed_of_method = int(np.random.default_rng(seed).integers(2**63))
        drawn = player.play(Player(instance, frozenset()), Drawing(seed_of_method)).solution
        found = find_method(FAMILY, "capacity-scheduler").run(instance, seed=seed).solution
        for key in ours.__slots__:
            assert getattr(drawn, key).tolist() == getattr(found, key).tolist()
            assert getattr(own.solution, key).tolist() == getattr(ours, key).tolist()
        assert verify(instance, ours) > 0
