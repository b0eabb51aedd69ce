"""A rule of who is served, with an expression to search for: the job of the highest score takes the offered machine."""

from schedgap.heuristics.sharing import policy
from schedgap.instances.expressions import expression

SEARCH = {"score": {"share", "to_start", "tasks", "demand", "speed", "age"}}


@policy("candidate")
def candidate(observation, score: str = "-share"):
    """Serve the job of the highest score; of equal ones the first."""
    jobs = observation.fitting
    total = (observation.machines.class_count @ observation.machines.capacity).clip(1)
    scores = expression(score, SEARCH["score"])(
        share=observation.share[jobs],
        to_start=observation.to_start[jobs],
        tasks=observation.num_tasks[jobs],
        demand=(observation.demand[jobs] / total).max(axis=1),
        speed=observation.performance[jobs, observation.machine_class] / 1000,
        age=(observation.now_ms - observation.arrival_ms[jobs]) / 1000,
    )
    return observation.job[jobs[scores.argmax()]]
