"""A rule of who waits and who rents, with three parameters to search for."""

from schedgap.heuristics.waiting import Buy, Rent, Start, policy
from schedgap.instances.expressions import expression

SEARCH = {
    "machines": (0, 6),
    "first": {"waited", "cores", "rent", "hours"},
    "patience": {"cores", "rent", "hours"},
}


@policy("candidate", knows=("runtimes",))
def candidate(observation, machines: int = 1, first: str = "waited", patience: str = "1"):
    """Start the job of the highest `first` that fits; who has waited for more than `patience` hours rents.

    waited, hours : hours that a job has waited, and will run. rent : dollars per hour of its own machine.
    """
    if observation.num_machines is None:
        return Buy(machines)
    hours = observation.runtime_us / 3.6e9
    features = {"cores": observation.cores, "rent": observation.rent / 1e6, "hours": hours}
    waited = observation.waited_us / 3.6e9
    ranks = expression(first, SEARCH["first"])(waited=waited, **features)
    for i in (-ranks).argsort(kind="stable"):
        machine = observation.first_fit(i)
        if machine >= 0:
            return Start(observation.job[i], machine)
    late = (waited >= expression(patience, SEARCH["patience"])(**features)).nonzero()[0]
    return [Rent(job) for job in observation.job[late]]
