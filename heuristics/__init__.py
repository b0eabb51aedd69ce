"""Methods that prove nothing, a package a family; they register themselves when their module is imported.

    from schedgap.bench import gap
    from schedgap.instances.provisioning import table3

    print(gap(table3(), ["full-reconfiguration", "first-fit-decreasing"]))

`schedgap list methods` names them all, with their families and parameters. Policies, which decide over time, are
registered by `from schedgap.heuristics.FAMILY import policy`.
"""
