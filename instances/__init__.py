"""What is given, what is a solution, what it costs; generators and traces. The lowest floor: it imports no other.

    from schedgap.instances.provisioning import build_provisioning, table3, verify, write_instance

    instance = table3()                  # or build_provisioning(types=[...], tasks=[...]), or read_instance("file.json")
    verify(instance, solution)           # its exact objective, or VerifyError

Here are what families share: `method`, which registers a function as a method, `Outcome`, which one may return, and the
errors. Each family is a package beside: provisioning, reconfiguration, fairness, sharing, waiting, harvest, placement.
"""

from schedgap.instances.errors import (
    BackendError,
    InstanceError,
    JournalError,
    MethodError,
    SchedgapError,
    SolutionError,
    SuiteError,
    VerifyError,
)
from schedgap.instances.family import FAMILIES, Family, find_family, register_family
from schedgap.instances.method import (
    REGISTRY,
    Incumbent,
    Method,
    Outcome,
    Status,
    derived_seed,
    find_method,
    method,
    parse_method,
)
from schedgap.instances.traces import TRACES, Trace, fetch

__all__ = [
    "FAMILIES",
    "REGISTRY",
    "TRACES",
    "BackendError",
    "Family",
    "Incumbent",
    "InstanceError",
    "JournalError",
    "Method",
    "MethodError",
    "Outcome",
    "SchedgapError",
    "SolutionError",
    "Status",
    "SuiteError",
    "Trace",
    "VerifyError",
    "derived_seed",
    "fetch",
    "find_family",
    "find_method",
    "method",
    "parse_method",
    "register_family",
]
