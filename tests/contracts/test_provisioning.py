"""What every method of provisioning promises."""

import numpy as np
from promises import Promises

from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like, distinct, table3, table7
from schedgap.instances.provisioning.running import ONE_TASK, Running


def one_task() -> ProvisioningInstance:
    """The smallest instance there is."""
    return ProvisioningInstance(
        name="one-task",
        resources=("cpu",),
        families=("x",),
        type_names=("small",),
        type2family=np.array([0]),
        capacity=np.array([[1000]]),
        price=np.array([7]),
        demand=np.array([[[1000]]]),
        counts=np.array([1]),
    )


def zero_demand() -> ProvisioningInstance:
    """A class that asks for nothing, and a type that is cheaper for nobody."""
    return ProvisioningInstance(
        name="zero-demand",
        resources=("gpu", "cpu"),
        families=("x",),
        type_names=("small", "large"),
        type2family=np.array([0, 0]),
        capacity=np.array([[0, 2000], [1000, 4000]]),
        price=np.array([1_000_000, 3_000_000]),
        demand=np.array([[[0, 0], [0, 1500], [1000, 1000]]]),
        counts=np.array([3, 2, 1]),
    )


def running(**limits) -> ProvisioningInstance:
    """Tasks of Table 7, most of them on machines that run: one is dear, one empty, one holds more than it can."""
    instance = table7(8, seed=6)
    content = np.zeros((3, instance.num_classes), np.int64)
    content[0, ::2], content[2, 1] = instance.counts[::2], instance.counts[1]
    dear, cheap = int(np.argmax(instance.price)), int(np.argmin(instance.price))
    machines = Running.from_contents(("dear", "empty", "overfull"), (dear, dear, cheap), content)
    return instance.replace(running=machines, **limits)


def apart_and_moves() -> ProvisioningInstance:
    """Machines hold more of a class than may share one; three tasks may move, of which two must."""
    instance = table3()
    instance = instance.replace(
        counts=[4, *instance.counts[1:]], task2class=None, task_names=None, name="apart-and-moves"
    )
    large = int(np.argmax(instance.price))
    content = np.zeros((2, instance.num_classes), np.int64)
    content[0, 0], content[1, 1] = 3, 1
    machines = Running.from_contents(("crowded", "other"), (large, large), content)
    limits = np.where(np.arange(instance.num_classes) == 0, 1, -1)
    return instance.replace(running=machines, max_disruption=3 * ONE_TASK, per_machine=limits)


MAKERS = {
    "one-task": one_task,
    "zero-demand": zero_demand,
    "table3": table3,
    "table7": lambda: table7(7, seed=1),
    "table7-vcpu": lambda: table7(7, seed=8, cpu="vcpu"),
    "interference": lambda: table7(5, seed=3, interference=True),
    "distinct": lambda: distinct(5, seed=5),
    "alibaba-like": lambda: alibaba_like(6, seed=5),
    "running": running,
    "stock-and-moves": lambda: running(stock=np.where(np.arange(21) % 2, 20, -1), max_disruption=6 * ONE_TASK),
    "apart": lambda: zero_demand().replace(name="apart", per_machine=[1, -1, -1]),
    "apart-and-moves": apart_and_moves,
}


class TestProvisioning(Promises):
    family = "provisioning"
    makers = MAKERS
