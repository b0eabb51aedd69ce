"""A gap, a suite twice, the comparison of both, and what a search is told of a candidate."""

from pathlib import Path

from schedgap.bench import compare, evaluator, gap, run_suite
from schedgap.instances.provisioning import table3

SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "Little"
question = "Worse?"
family = "provisioning"
methods = ["no-packing", "bound-resource"]
instances = [{ generator = "table7", parameters = { tasks = 6 } }]
"""

CANDIDATE = """
from schedgap.instances import method
from schedgap.instances.provisioning import Provisioning

@method("alone", family="provisioning")
def alone(instance):
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, range(instance.num_tasks))
"""

if __name__ == "__main__":
    found = gap(table3(), ["no-packing", "patterns"])
    # Micro-dollars an hour: $12.8 is the optimum.
    assert found.best.bound == found.best.objective == 12_800_000
    Path("little.toml").write_text(SUITE)
    for side in ("base", "new"):
        assert run_suite("little.toml", out=side).failed == 0
    assert compare("base", "new").verdict == "ok"
    Path("candidate.py").write_text(CANDIDATE)
    judge = evaluator("little.toml")
    # One machine for each task costs more than the bound: less than 1.
    assert 0 < judge("candidate.py").score < 1
