"""What a run's answer may hold: data, and nothing that runs when it is read."""

import pickle

import numpy as np
import pytest

from schedgap.bench.isolation.unpickle import ForeignClassError, loads
from schedgap.instances.provisioning import Provisioning, table3


def test_solutions_and_plain_values_come_back():
    instance = table3()
    types = instance.reservation_type[instance.task_classes()]
    solution = Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
    back = loads(pickle.dumps({"solution": solution, "bound": 3, "details": {"a": np.float64(0.5)}}))
    assert back["bound"] == 3
    assert back["details"] == {"a": 0.5}
    assert back["solution"].task2machine.tolist() == list(range(instance.num_tasks))


def called(module, name, argument):
    """A pickle that calls `module.name(argument)` when it is read."""
    parts = [pickle.PROTO, b"\x04"]
    for text in (module, name):
        parts += [pickle.SHORT_BINUNICODE, bytes([len(text)]), text.encode()]
    parts += [pickle.STACK_GLOBAL, pickle.SHORT_BINUNICODE, bytes([len(argument)]), argument.encode()]
    return b"".join([*parts, pickle.TUPLE1, pickle.REDUCE, pickle.STOP])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("schedgap.instances.method", "re.compile"),
        ("schedgap.instances.method", "find_method"),
        ("schedgap.instances.method", "np.array"),
        ("schedgap.instances.files", "Path"),
    ],
)
def test_nothing_else_is_called(module, name):
    with pytest.raises(ForeignClassError, match=f"{module}.{name}"):
        loads(called(module, name, "touch /nowhere"))
