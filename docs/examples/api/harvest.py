"""Generators, when tasks and jobs end, and what became of each run."""

from schedgap.bench.plugins.discover import load_methods
from schedgap.heuristics.harvest import policy
from schedgap.instances import find_method
from schedgap.instances import harvest as h

assert h.datacentre(vms=4, days=0.5, seed=1).num_vms == h.two_kinds(20, 4, days=0.5, jobs=2, seed=1).num_vms == 4
instance = h.quick(4, 2, seed=1)
load_methods(["harvest"])
schedule = find_method("harvest", "slacksched").func(instance)
schedule = getattr(schedule, "solution", schedule)
assert h.ends_ms(instance, schedule).max() >= h.job_times_ms(instance, schedule).max()
assert h.run_results(instance, schedule) is not None


@policy("wait")
def wait(observation):
    """Start nothing; a real policy returns a VM for each task that starts now."""
