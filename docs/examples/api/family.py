"""What every family has: an instance, a solution, its exact objective and figures, and both as files."""

import sys
from importlib import import_module
from pathlib import Path

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances import find_family, find_method

# A small instance of each family, and a quick method of it.
SMALL = {
    "provisioning": ("table7", {"tasks": 20}, "no-packing"),
    "reconfiguration": ("eva-synthetic", {"jobs": 4}, "no-packing"),
    "waiting": ("mms", {"jobs": 20}, "all-rented"),
    "fairness": ("random-users", {"users": 3}, "equal-split"),
    "sharing": ("random-jobs", {"jobs": 4}, "fifo"),
    "harvest": ("quick", {"vms": 4, "jobs": 2}, "slacksched"),
    "placement": ("random-pods", {"pods": 5}, "best-fit"),
}


def main(name):
    """Make an instance of a family, solve it, and write both down."""
    generator, parameters, method = SMALL[name]
    family, home = find_family(name), import_module(f"schedgap.instances.{name}")
    instance = family.generators[generator](**parameters, seed=1)
    load_methods([name])
    solution = find_method(name, method).func(instance)
    solution = getattr(solution, "solution", solution)
    # Whole units, such as micro-dollars; VerifyError names the first rule that is broken.
    objective = home.verify(instance, solution)
    assert objective >= 0
    assert all(isinstance(value, float) for value in family.measures(instance, solution).values())
    assert family.picture is None or family.picture(instance, solution) is not None
    home.write_instance(instance, Path("instance.json"))
    home.write_solution(instance, solution, Path("solution.json"))
    again = home.read_instance(Path("instance.json"))
    assert again.digest == instance.digest
    assert home.verify(again, home.read_solution(again, Path("solution.json"))) == objective
    # What methods are compiled on before they are measured.
    assert family.shrink(instance).digest


if __name__ == "__main__":
    import_module("schedgap.bench.plugins.discover").load_families()
    main(sys.argv[1])
