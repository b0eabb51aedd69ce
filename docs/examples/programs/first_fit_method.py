#!/usr/bin/env python3
"""First fit for provisioning, in Python without schedgap: an instance on stdin, a solution on stdout.

Run: `schedgap gap instance.json --program 'first-fit=./first_fit_method.py'`.
"""

import json
import sys

SCALES = {"gib": 1024, "mib": 1}


def main():
    """Print the solution of an instance."""
    # Amounts become whole numbers, as schedgap has them: MiB, and thousandths of all else.
    instance = json.load(sys.stdin)
    scales = [SCALES.get(name.rpartition("_")[2], 1000) for name in instance["resources"]]
    types = instance["machine_types"]
    capacity = {type_["name"]: whole(type_["capacity"], scales) for type_ in types}
    machines = []
    for task in instance["tasks"]:
        demand = {family: whole(amounts, scales) for family, amounts in task["demand"].items()}
        needs = {type_["name"]: demand.get(type_["family"], demand.get("any")) for type_ in types}
        fitting = [type_ for type_ in types if fits(needs[type_["name"]], capacity[type_["name"]])]
        cheapest = min(fitting, key=lambda type_: type_["price"])["name"]
        m = 0  # Where one task of a class has no room, the next has none.
        for _ in range(task.get("count", 1)):
            while m < len(machines) and not fits(needs[machines[m]["type"]], machines[m]["free"]):
                m += 1
            if m == len(machines):
                machines.append({"type": cheapest, "free": capacity[cheapest], "counts": {}})
            machine = machines[m]
            machine["free"] = [f - d for f, d in zip(machine["free"], needs[machine["type"]], strict=True)]
            machine["counts"][task["name"]] = machine["counts"].get(task["name"], 0) + 1
    for machine in machines:
        del machine["free"]
    json.dump({"schema": "schedgap/provisioning-solution/1", "machines": machines}, sys.stdout)


def whole(amounts, scales):
    """Return decimal amounts as whole numbers."""
    return [round(amount * scale) for amount, scale in zip(amounts, scales, strict=True)]


def fits(needs, free):
    """Return whether a task has room; needs are None where it may not run."""
    return needs is not None and all(d <= f for d, f in zip(needs, free, strict=True))


main()
