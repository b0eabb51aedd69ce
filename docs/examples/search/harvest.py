"""A rule of which task starts where, with two expressions to search for."""

from schedgap.heuristics.harvest import policy
from schedgap.instances.expressions import expression

SEARCH = {
    "first": {"left", "saved", "kills", "age", "tasks"},
    "score": {"free", "size", "calm", "grew", "hours"},
}


@policy("candidate")
def candidate(observation, first: str = "age", score: str = "free"):
    """Start tasks, the highest `first` before others, each on the VM of the highest `score` with room.

    left, saved, age, hours : hours of work left and done, since the job came, and of the task to place. calm : hours since the VM
    changed. free, size : its cores.
    """
    job = observation.task_job
    left = observation.left_ms / 3.6e6
    ranks = expression(first, SEARCH["first"])(
        left=left,
        saved=observation.saved_ms / 3.6e6,
        kills=observation.kills,
        age=(observation.now_ms - observation.job_arrival_ms[job]) / 3.6e6,
        tasks=observation.job_tasks[job],
    )
    of_vms = expression(score, SEARCH["score"])
    free, memory, started = observation.free.copy(), observation.free_memory.copy(), []
    calm = (observation.now_ms - observation.changed_ms) / 3.6e6
    for i in (-ranks).argsort(kind="stable"):
        cores, mib = observation.job_cores[job[i]], observation.job_memory[job[i]]
        roomy = ((free >= cores) & (memory >= mib)).nonzero()[0]
        if roomy.size:
            vms = {"free": free[roomy], "size": observation.cores[roomy], "calm": calm[roomy]}
            vm = roomy[of_vms(**vms, grew=observation.grew[roomy], hours=left[i]).argmax()]
            free[vm] -= cores
            memory[vm] -= mib
            started.append((observation.task[i], observation.vm[vm]))
    return started
