"""Pods as people write them: `cpu=4,gpu=1,memory=16Gi`."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import BoolArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.placement.model import MAX_AMOUNT, MAX_GPUS, ONE, PlacementInstance
from schedgap.instances.placement.stranded import CLOSED
from schedgap.instances.provisioning.readers.quantities import BILLION, THOUSAND, decimal, listed, nano

MEMORY, RAM = "memory", ("ram", "memory", "mem")
# Bytes in one integer unit of a resource, by the ending of its name.
BYTES = {"gib": 2**20, "mib": 2**20, "kib": 2**10, "bytes": 1}
EXAMPLE = "write cpu=4,gpu=1,memory=16Gi"


def with_shape(instance: PlacementInstance, text: str) -> tuple[PlacementInstance, int]:
    """Return the instance with one more class, of no pods, and its number.

    text : amounts by resource, in Kubernetes' quantities; `gpu` (0.5 for half of one), `model` of these (A|B for either).
    Amounts are rounded up to units of the instance. The pod may run where some that takes GPUs, or none, as it does may run.

    Raises
    ------
    InstanceError
        for what no resource of the instance is called, and amounts that are none.
    """
    given: dict[str, str] = {}
    for part in text.split(","):
        key, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not key or not value or key in given:
            raise InstanceError(f"--pod has '{part:.60}', which is no amount, or is there twice; {EXAMPLE}.")
        given[key] = value
    gpus, milli = _gpus(given.pop("gpu", given.pop("gpus", "0")))
    models = [model for model in given.pop("model", "").split("|") if model]
    demand = np.zeros(len(instance.resources), np.int64)
    for key, value in given.items():
        r, unit = _resource(instance, key)
        try:
            amount = -(-nano(value) // (BILLION if unit else BILLION // THOUSAND))
        except InstanceError as error:
            raise InstanceError(f"--pod: {key} is {error}.") from None
        demand[r] = min(-(-amount // unit) if unit else amount, MAX_AMOUNT)
    if "pods" in instance.resources:
        demand[instance.resources.index("pods")] = ONE
    if not demand.any() and not gpus:
        raise InstanceError(f"--pod asks for nothing; {EXAMPLE}.")
    admits = _admitted(instance, gpus > 0, models)
    name = next(n for k in range(len(instance.class_names) + 1) if (n := f"pod-{k}") not in instance.class_names)
    made = instance.replace(
        class_names=(*instance.class_names, name),
        demand=np.concatenate((instance.demand, demand[None])),
        gpus=np.append(instance.gpus, gpus),
        gpu_milli=np.append(instance.gpu_milli, milli),
        value=np.append(instance.value, ONE),
        admits=np.concatenate((instance.admits, admits[None])),
        expected=np.append(instance.expected, 0),
        slices=None if instance.slices is None else np.append(instance.slices, 0),
        starts=None if instance.starts is None else np.append(instance.starts, 0),
    )
    return made, len(instance.class_names)


def _gpus(text: str) -> tuple[int, int]:
    number = decimal(text)
    milli = None if number is None else number * ONE
    if milli is None or milli.denominator > 1 or (milli > ONE and milli % ONE) or milli > MAX_GPUS * ONE:
        raise InstanceError(f"--pod: gpu is '{text:.60}'; give whole GPUs, or thousandths of one such as 0.5.")
    return -(-int(milli) // ONE), min(ONE, int(milli))


def _resource(instance: PlacementInstance, key: str) -> tuple[int, int]:
    """Return the number of a resource and the bytes of its unit, 0 where it counts in thousandths."""
    for r, name in enumerate(instance.resources):
        stem, _, ending = name.rpartition("_")
        size = BYTES.get(ending, 0) if stem else 0
        if key == name or (size and (key == stem or (key == MEMORY and stem in RAM))):
            return r, size
    raise InstanceError(f"--pod: there is no resource '{key:.60}'; there are gpu, {listed(instance.resources, 20)}.")


def _admitted(instance: PlacementInstance, takes_gpus: bool, models: list[str]) -> BoolArray:
    """(T,) bool: the types that admit some class that takes GPUs, or takes none, and all if there is no such class."""
    alike = (instance.gpus > 0) == takes_gpus
    admits = instance.admits[alike].any(axis=0) if alike.any() else np.ones(len(instance.type_names), np.bool_)
    admits &= np.array([not name.startswith(CLOSED) for name in instance.type_names])
    if takes_gpus and models:
        if unknown := sorted(set(models) - set(instance.gpu_model)):
            known = sorted({model for model in instance.gpu_model if model})
            raise InstanceError(f"--pod: no node has GPUs of model '{unknown[0]:.60}'; there are {listed(known, 20)}.")
        admits &= np.isin(instance.gpu_model, models)
    found: BoolArray = admits
    return found
