"""What a pod asks for, as the scheduler counts it (component-helpers/resource/helpers.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.amounts import THOUSAND
from schedgap.instances.provisioning.readers.quantities import PODS, fine_units, nano

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedgap.instances.provisioning.readers.kubernetes.objects import Container, ContainerStatus, Pod, Quantities

ALWAYS = "Always"


def pod_request(pod: Pod) -> dict[str, int]:
    """Return a pod's request in fine units, without zeros, and one of `pods`.

    Containers and sidecars together, or the largest initial container with the sidecars that are listed before it,
    whichever is more; in its place, for the resources that they name, the pod's own requests; and the overhead.

    Raises
    ------
    InstanceError
        for a quantity that is none.
    """
    spec, status = pod.spec, pod.status
    total: dict[str, int] = {}
    # Up to Kubernetes 1.32 a field says so, since then a condition.
    infeasible = status.resize == "Infeasible" or any(
        c.type == "PodResizePending" and c.reason == "Infeasible" for c in status.conditions
    )
    for container in spec.containers:
        _add(total, _container(container, status.container_statuses, infeasible))
    if spec.init_containers:
        sidecars: dict[str, int] = {}
        largest: dict[str, int] = {}
        for container in spec.init_containers:
            asked = _container(container, status.init_container_statuses, infeasible)
            if container.restart_policy == ALWAYS:
                _add(sidecars, asked)
                continue
            _add(asked, sidecars)
            _raise(largest, asked)
        _add(total, sidecars)
        _raise(total, largest)
    if spec.resources is not None:
        total |= _exact(spec.resources.requests)
    if spec.overhead:
        _add(total, _exact(spec.overhead))
    request = {name: value for name, value in fine_units(total).items() if value}
    return request | {PODS: THOUSAND}


def _container(container: Container, statuses: Iterable[ContainerStatus], infeasible: bool) -> dict[str, int]:
    """Return a container's request; while it is resized, the larger of what it shall and what it does have."""
    asked = _exact(container.resources.requests) if container.resources is not None else {}
    for status in statuses:
        if status.name == container.name:
            has = status.resources.requests if status.resources is not None else status.allocated_resources
            if has:
                if infeasible:
                    return _exact(has)
                _raise(asked, _exact(has))
    return asked


def _exact(quantities: Quantities) -> dict[str, int]:
    return {resource: nano(quantity) for resource, quantity in quantities.items()}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for resource, value in more.items():
        total[resource] = total.get(resource, 0) + value


def _raise(total: dict[str, int], least: Mapping[str, int]) -> None:
    for resource, value in least.items():
        if value > total.get(resource, 0):
            total[resource] = value
