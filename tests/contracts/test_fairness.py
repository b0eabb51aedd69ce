"""What every method of fairness promises."""

from promises import Promises

from schedgap.instances.fairness import alice_bob, random_users
from schedgap.instances.fairness import micro as four_users


def few_users(seed, **parameters):
    """Half a dozen, on half a dozen machines."""
    return random_users(6, classes=3, machines=6, seed=seed, **parameters)


MAKERS = {
    "alice-bob": alice_bob,
    "micro": four_users,
    "mixed": lambda: few_users(1),
    "interval": lambda: few_users(2, kind="interval", weights="random"),
    "machine-speeds": lambda: few_users(3, resources=1, speeds="machine"),
    "limited": lambda: few_users(4, limited=True),
    "limited-machine-speeds": lambda: few_users(5, resources=1, speeds="machine", limited=True),
    "pooled": lambda: few_users(6, pooled=True, notion="drf"),
    "tsf": lambda: few_users(7, notion="tsf"),
    "cmmf": lambda: few_users(8, notion="cmmf"),
}


class TestFairness(Promises):
    family = "fairness"
    makers = MAKERS
