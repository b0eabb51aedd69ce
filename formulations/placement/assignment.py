"""The placement program: which pods each node takes, on which GPUs, and which of those that run stay.

Sets        c pod classes, n nodes that an empty one of their type fits, g GPUs of n, p pods that run, a gangs
            s slices of g at which a pod of c may start; 0 alone where MIG does not divide g
Variables   x[c, n] pods that arrive or move to n;  y[c, n, g, s] those that share GPU g;  z[n, g] in {0, 1}: given as a whole
            stays[p] in {0, 1};  refused[c] pods in no gang;  refused[a] in {0, 1}: the whole gang
Minimise    sum_c value[c] refused[c] + sum_a value[a] refused[a]
Rows        sum_n x[c, n] + sum_{p of c} stays[p] + refused[c] + sum_a size[a, c] refused[a] = pods[c]
            sum_c demand[c, r] x[c, n] + sum_{p on n} demand[p, r] stays[p] <= capacity[n, r]
            sum_g sum_s y[c, n, g, s] = x[c, n]                         for each c that shares a GPU, or takes slices of one
            sum_g z[n, g] = sum_c gpus[c] x[c, n]                       over c that take whole GPUs
            sum_c sum_s milli[c] y[c, n, g, s] + 1000 z[n, g] + sum_{p on g} milli[p] stays[p] <= 1000
            sum_{c, s over slice i} y[c, n, g, s] + sum_{p over slice i of g} stays[p] <= 1    for each slice i of g
            sum_p stays[p] >= pods that run - max_moves

A pod that may not move stays. Equal pods are counted, not named, so that equal tasks make no symmetry; equal nodes do.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, Rows, improving, is_feasible, proven_cost, whole_claims
from schedgap.formulations.separable import inseparable
from schedgap.instances.arrays import FloatArray, IntArray, ranges
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.placement.model import (
    ANY,
    FAMILY,
    NO_GANG,
    NOWHERE,
    ONE,
    Placement,
    PlacementInstance,
    devices_of,
)
from schedgap.instances.placement.verify import verify

HANDLES = ("running", "gangs", "slices")
MAX_VARIABLES = 200_000


def too_large(instance: PlacementInstance) -> str | None:
    """Return None, or why the program is not built for the instance."""
    return too_many_variables(instance, MAX_VARIABLES, "node-patterns")


def too_many_variables(instance: PlacementInstance, most: int, instead: str) -> str | None:
    """Return None, or why the program is too large for a method that takes so many variables."""
    number = int((instance.fits()[:, instance.node2type] * (1 + int(instance.num_gpus.max()))).sum())
    if number <= most:
        return None
    return f"the placement program has some {number} variables, over {most}; use {instead}"


def objective_step(instance: PlacementInstance) -> int:
    """Return the greatest common divisor of all values, 1 where all are 0."""
    return int(np.gcd.reduce(instance.value)) or 1


class AssignmentProgram:
    """The program's variables, and where to find them."""

    def __init__(self, instance: PlacementInstance) -> None:
        self.instance = instance
        self.running = np.flatnonzero(instance.is_running)
        self.gangs, self.gang_size = gangs_of(instance)
        alone = instance.pod2class[~instance.is_running & (instance.gang == NO_GANG)]
        self.alone = np.bincount(alone, minlength=len(instance.class_names))
        self.x_class, self.x_node = np.nonzero(instance.fits()[:, instance.node2type])
        node_gpus = instance.num_gpus[instance.node2type]
        self.slices = np.zeros(instance.gpus.size, np.int64) if instance.slices is None else instance.slices
        self.shares = (self.slices > 0) | ((instance.gpu_milli > 0) & (instance.gpu_milli < ONE))
        places = [
            (e, g, s)
            for e in np.flatnonzero(self.shares[self.x_class]).tolist()
            for g in range(node_gpus[self.x_node[e]])
            for s in self.starts(int(self.x_class[e]), int(self.x_node[e]))
        ]
        self.y_x, self.y_gpu, self.y_start = np.array(places, np.int64).reshape(-1, 3).T
        self.z_node = np.repeat(np.arange(instance.num_nodes), node_gpus)
        self.z_gpu = _counted(self.z_node)
        sizes = [self.x_class.size, self.y_x.size, self.z_node.size, self.running.size, len(instance.class_names)]
        self.first = np.cumsum([0, *sizes, self.gangs.size])

    def starts(self, c: int, node: int) -> list[int]:
        """Return the slices of a GPU of a node at which a pod of a class that shares it may start."""
        instance = self.instance
        if instance.starts is None or instance.gpu_slices is None or not self.slices[c]:
            return [0]
        most = int(instance.gpu_slices[instance.node2type[node]] - self.slices[c])
        return [s for s in range(most + 1) if instance.starts[c] >> s & 1]

    def columns(self, kind: int) -> IntArray:
        """Return the columns of a kind: x, y, z, stays, refused pods, refused gangs."""
        return np.arange(self.first[kind], self.first[kind + 1])

    def model(self, name: str) -> LinearModel:
        """Return the program as arrays."""
        instance = self.instance
        x, y, z, stays, refused, no_gang = map(self.columns, range(6))
        rows = Rows(int(self.first[-1]))
        pods = instance.class_counts()
        run_class, run_node = instance.pod2class[self.running], instance.running_node[self.running]
        gang, of_class = np.nonzero(self.gang_size)
        held = (of_class, no_gang[gang], self.gang_size[gang, of_class])
        classes = np.arange(pods.size)
        rows.add(
            "pods", (self.x_class, x, 1), (run_class, stays, 1), (classes, refused, 1), held, lower=pods, upper=pods
        )
        for r, resource in enumerate(instance.resources):
            new, kept = (
                (self.x_node, x, instance.demand[self.x_class, r]),
                (run_node, stays, instance.demand[run_class, r]),
            )
            rows.add(resource, new, kept, upper=instance.capacity[instance.node2type, r])
        sharing = np.unique(self.y_x)
        place = np.searchsorted(sharing, self.y_x)
        own = (np.arange(sharing.size), sharing, -1)
        rows.add("share", (place, y, 1), own, lower=np.zeros(sharing.size), upper=0)
        whole = np.flatnonzero((~self.shares & (instance.gpus > 0))[self.x_class])
        taken = (self.x_node[whole], x[whole], -instance.gpus[self.x_class[whole]])
        rows.add("whole", (self.z_node, z, 1), taken, lower=np.zeros(instance.num_nodes), upper=0)
        gpu = np.searchsorted(self.z_node, np.arange(instance.num_nodes))
        pod, held_gpu = np.nonzero(devices_of(instance.running_gpus[self.running], int(instance.num_gpus.max())))
        milli = instance.gpu_milli[run_class[pod]]
        shared = (gpu[self.x_node[self.y_x]] + self.y_gpu, y, instance.gpu_milli[self.x_class[self.y_x]])
        stayed = (gpu[run_node[pod]] + held_gpu, stays[pod], milli)
        rows.add("gpu", shared, (np.arange(z.size), z, ONE), stayed, upper=np.full(z.size, ONE))
        self._slice_rows(rows, gpu, y, stays)
        if instance.max_moves != ANY:
            rows.add("moves", (0, stays, 1), lower=[max(0, stays.size - instance.max_moves)])
        step = objective_step(instance)
        cost, lower, upper = np.zeros(rows.num_variables), np.zeros(rows.num_variables), np.ones(rows.num_variables)
        cost[refused], cost[no_gang] = instance.value // step, self.gang_size @ instance.value // step
        lower[stays] = ~instance.movable[self.running]
        upper[x], upper[y] = pods[self.x_class], pods[self.x_class[self.y_x]]
        upper[refused] = self.alone
        return rows.model(name, cost, upper, step, lower=lower)

    def _slice_rows(self, rows: Rows, gpu: IntArray, y: IntArray, stays: IntArray) -> None:
        """Let each slice be taken once. gpu : (N,), the first GPU of each node in the order of all."""
        instance = self.instance
        if instance.gpu_slices is None or instance.running_start is None:
            return
        has = instance.gpu_slices[instance.node2type[self.z_node]]
        first = np.concatenate(([0], np.cumsum(has)))
        size = self.slices[self.x_class[self.y_x]]
        begin = first[gpu[self.x_node[self.y_x]] + self.y_gpu] + self.y_start
        pods = np.flatnonzero(self.slices[instance.pod2class[self.running]])
        running = self.running[pods]
        size_now = self.slices[instance.pod2class[running]]
        of_gpu = np.log2(instance.running_gpus[running]).astype(np.int64)
        begin_now = first[gpu[instance.running_node[running]] + of_gpu] + instance.running_start[running]
        new = (np.repeat(begin, size) + ranges(0, size), np.repeat(y, size), 1)
        kept = (np.repeat(begin_now, size_now) + ranges(0, size_now), np.repeat(stays[pods], size_now), 1)
        rows.add("slice", new, kept, upper=np.ones(first[-1]))

    def solution(self, values: FloatArray) -> Placement:
        """Return the placement that values of the variables mean."""
        instance = self.instance
        x, y, z, stays, _, no_gang = (np.rint(values[self.columns(kind)]).astype(np.int64) for kind in range(6))
        node, gpus, start = np.full(instance.num_pods, NOWHERE), *np.zeros((2, instance.num_pods), np.int64)
        kept = self.running[stays > 0]
        node[kept], gpus[kept] = instance.running_node[kept], instance.running_gpus[kept]
        if instance.running_start is not None:
            start[kept] = instance.running_start[kept]
        left_out = np.isin(instance.gang, self.gangs[no_gang > 0]) & (instance.gang != NO_GANG)
        # Of a class, pods that must be placed come first: those that move, those of gangs, then the others as they arrive.
        order = np.lexsort(
            (np.arange(instance.num_pods), ~instance.is_running & (instance.gang == NO_GANG), instance.pod2class)
        )
        order = order[(node[order] == NOWHERE) & ~left_out[order]]
        begins = np.searchsorted(instance.pod2class[order], np.arange(len(instance.class_names)))
        given_whole = {n: self.z_gpu[(self.z_node == n) & (z > 0)].tolist() for n in np.unique(self.z_node).tolist()}
        for e in np.flatnonzero(x).tolist():
            c, n = int(self.x_class[e]), int(self.x_node[e])
            pods = order[begins[c] : begins[c] + x[e]]
            begins[c] += x[e]
            node[pods] = n
            if instance.gpus[c] and not self.shares[c]:
                for pod in pods.tolist():
                    taken, given_whole[n] = given_whole[n][: instance.gpus[c]], given_whole[n][instance.gpus[c] :]
                    gpus[pod] = sum(1 << g for g in taken)
            elif instance.gpus[c]:
                mine = np.flatnonzero(self.y_x == e)
                gpus[pods] = 1 << np.repeat(self.y_gpu[mine], y[mine])
                start[pods] = np.repeat(self.y_start[mine], y[mine])
        return Placement(node, gpus, start)


def gangs_of(instance: PlacementInstance) -> tuple[IntArray, IntArray]:
    """Return (A,) int64, the numbers of gangs, and (A, C) int64, how many pods of each class they have."""
    together = np.flatnonzero(instance.gang != NO_GANG)
    gangs, place = np.unique(instance.gang[together], return_inverse=True)
    size = np.zeros((gangs.size, len(instance.class_names)), np.int64)
    np.add.at(size, (place, instance.pod2class[together]), 1)
    return gangs, size


def _counted(owner: IntArray) -> IntArray:
    """Return the place of each entry among those of its owner; entries of an owner stand together."""
    return np.arange(owner.size) - np.searchsorted(owner, owner)


@model_builder("assignment", family=FAMILY)
def build(instance: PlacementInstance) -> LinearModel:
    """Build the program."""
    return AssignmentProgram(instance).model(f"assignment-{instance.name}")


@method("assignment", family=FAMILY, supports=too_large, exact=True, choices=MIP_CHOICES, handles=HANDLES)
def assignment(
    instance: PlacementInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Solve the placement program: pods of each class on each node and GPU, and which pods stay."""
    start = time.perf_counter()
    return solved(instance, AssignmentProgram(instance), start, time_limit_s, threads, backend)


def solved(
    instance: PlacementInstance,
    program: AssignmentProgram,
    start: float,
    time_limit_s: float | None,
    threads: int,
    backend: str,
) -> Outcome:
    """Solve a statement of the program, which was begun at `start` of `time.perf_counter()`."""
    model = program.model(f"assignment-{instance.name}")
    build_s = time.perf_counter() - start
    if (reason := inseparable(model)) is not None:
        return Outcome(status=Status.UNSUPPORTED, build_s=build_s, details={"reason": f"{reason}; use node-patterns"})
    left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
    result = solve(model, backend, time_limit_s=left, threads=threads)
    start = time.perf_counter()
    unit = model.objective_scale
    bound = None if result.bound is None else max(0, proven_cost(result.bound) * unit)
    solution = None if result.x is None else program.solution(result.x)
    if solution is not None and not is_feasible(verify, instance, solution):
        solution = None
    objective = None if solution is None else verify(instance, solution)
    status = result.status if solution is None else Status.OPTIMAL if objective == bound else Status.FEASIBLE
    return Outcome(
        solution,
        bound,
        Status.NO_SOLUTION if solution is None and status in (Status.OPTIMAL, Status.FEASIBLE) else status,
        build_s,
        result.solve_s,
        time.perf_counter() - start,
        improving(whole_claims(result.trajectory, after_s=build_s, unit=unit)),
        result.backend,
        {"columns": int(model.cost.shape[0]), "rows": int(model.row_lower.shape[0]), **result.details},
    )
