"""Generators, fair shares and what an allocation gives."""

import numpy as np

from schedgap.instances import fairness as f

assert f.micro().num_users == f.micro(lie=False).num_users == 4
assert f.random_users(3, seed=1).num_users == f.datacentre(3, machines=4, seed=1).num_users == 3
instance = f.alice_bob()
# Shares in the instance's notion: of one task, the fair ones, and those of nobody's having anything.
assert f.share_of_a_task(instance).shape == (instance.num_users, len(instance.machine_count))
assert (f.fair_shares(instance) > 0).all()
nothing = f.allocation_of(instance, np.zeros((instance.num_users, len(instance.machine_count))))
assert (f.shares_of(instance, nothing) == 0).all()
assert f.tasks_per_class(instance, nothing).sum() == 0
assert f.verify(instance, nothing) >= 0
