#!/usr/bin/env python3
"""First fit for reconfiguration, in Python without schedgap, which asks at each plan, by a line of JSON; a line answers.

Run: `schedgap gap jobs.json --policy 'first-fit=./first_fit_policy.py'`.

A task without a machine goes to the first one with room, else to a new one of the cheapest type that fits it.
"""

import json
import sys

FIELDS = ["market", "demand", "reservation_type", "task_class", "task_machine", "machine_type"]


def main():
    """Greet, then answer until the last decision."""
    input()
    say({"schema": "schedgap/policy/1", "observations": "changes", "fields": FIELDS})
    seen = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "end" in asked:
            break
        # What is not told is as it was told last.
        seen |= asked["observation"]
        say({"decision": asked["decision"], "actions": plan(seen)})


def say(content):
    """Write a line, at once."""
    print(json.dumps(content), flush=True)


def plan(seen):
    """Return where each task goes, and the types of the machines to rent."""
    market, classes = seen["market"], seen["task_class"]
    machine, types = list(seen["task_machine"]), list(seen["machine_type"])
    free = [list(market["capacity"][type_]) for type_ in types]

    def needs(task, m):
        return seen["demand"][market["type2family"][types[m]]][classes[task]]

    def put(task, m):
        machine[task] = m
        free[m] = [f - d for f, d in zip(free[m], needs(task, m), strict=True)]

    for task, m in enumerate(seen["task_machine"]):
        if m >= 0:
            put(task, m)
    for task, m in enumerate(seen["task_machine"]):
        if m >= 0:
            continue
        # A demand of -1 says that the class may not run there.
        for chosen in range(len(types)):
            if all(0 <= d <= f for d, f in zip(needs(task, chosen), free[chosen], strict=True)):
                break
        else:
            chosen = len(types)
            types.append(seen["reservation_type"][classes[task]])
            free.append(list(market["capacity"][types[chosen]]))
        put(task, chosen)
    return {"machine": machine, "new_types": types[len(seen["machine_type"]) :]}


main()
