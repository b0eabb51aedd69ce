"""Mathematical programs and analytical models, which prove bounds and optima, a package a family.

    from schedgap.bench import gap
    from schedgap.instances.provisioning import table3

    print(gap(table3(), ["patterns[backend=cp-sat]", "column-generation"]))

`schedgap list methods` names them all. Only `formulations.backends` imports solvers.
"""
