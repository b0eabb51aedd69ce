"""The certificate of an instance, made of cuts of its fluid problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.fairness.solution import Certificate

if TYPE_CHECKING:
    from schedgap.formulations.fairness.levels.cuts import Cut
    from schedgap.formulations.fairness.levels.fluid import Fluid
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.fairness.model import FairnessInstance


def certificate_of(instance: FairnessInstance, gain: FloatArray, fluid: Fluid, cuts: list[Cut]) -> Certificate:
    """Return the certificate that cuts make, in the units of the instance. gain : (N, K), a task's share."""
    room = instance.capacity * instance.machine_count[:, None].astype(np.float64)
    shares: list[tuple[IntArray, FloatArray]] = []
    prices: list[tuple[IntArray, IntArray, FloatArray]] = []
    for cut in cuts:
        weights = cut.weights[fluid.user2group] * fluid.user_part / fluid.scale
        users = np.flatnonzero(weights > 0)
        merged = cut.prices[fluid.class2group] * fluid.class_part[:, None]
        price = np.divide(merged, room, out=np.zeros(room.shape), where=room > 0)
        _price_what_is_not_there(instance, gain, users, weights, price)
        classes, resources = np.nonzero(price)
        shares.append((users, weights[users]))
        prices.append((classes, resources, price[classes, resources]))
    return Certificate(
        np.repeat(np.arange(len(cuts)), [user.shape[0] for user, _ in shares]),
        np.concatenate([user for user, _ in shares]),
        np.concatenate([weight for _, weight in shares]),
        np.repeat(np.arange(len(cuts)), [classes.shape[0] for classes, _, _ in prices]),
        np.concatenate([classes for classes, _, _ in prices]),
        np.concatenate([resources for _, resources, _ in prices]),
        np.concatenate([price for _, _, price in prices]),
    )


def _price_what_is_not_there(
    instance: FairnessInstance, gain: FloatArray, users: IntArray, weights: FloatArray, price: FloatArray
) -> None:
    """Price resources of which a class has none, which adds nothing to the bound: nobody gains where it cannot run."""
    for k, r in np.argwhere(instance.capacity == 0).tolist():
        needs = users[instance.demand[users, r] > 0]
        worth = weights[needs] * gain[needs, k] / instance.demand[needs, r]
        price[k, r] = float(worth.max(initial=0.0)) * (1 + 1e-9)
