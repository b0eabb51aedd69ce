"""How methods and families are found, named and registered."""

import dataclasses

import schedgap.instances.provisioning as home
from schedgap.instances import derived_seed, find_family, find_method, method, parse_method, register_family


@method("alone", family="provisioning")
def alone(instance):
    """Rent one machine for each task: the cheapest type that fits it."""
    types = instance.reservation_type[instance.task_classes()]
    return home.Provisioning.from_tasks(instance, types, range(instance.num_tasks))


assert find_method("provisioning", "alone").func is alone
assert find_family("provisioning").verify(home.table3(), alone(home.table3())) == 16_200_000
assert parse_method("rounds[depth=3,fast=true]") == ("rounds", {"depth": "3", "fast": "true"})
assert derived_seed(0, "instance", 1) == derived_seed(0, "instance", 1) != derived_seed(0, "instance", 2)
# A family of one's own, here a copy with another unit.
register_family(dataclasses.replace(home.PROVISIONING, name="in-euros", objective_unit="EUR/h"))
assert find_family("in-euros").objective_unit == "EUR/h"
