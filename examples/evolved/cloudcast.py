"""Copies of data from one cloud region to others: over which links is it cheapest? A family in one file, with its methods.

Partitions of equal size go from a source to destinations. For each partition and destination a path is chosen; at a branch a
partition is copied, so that a link carries it once. What is minimised is egress and machines:

    sum over links of (partitions on it) x size x price + (regions in use) x machine price x size / (least rate of a link in use)

The rate of a link is what providers allow a machine to send from its tail, or to receive at its head, whichever is less. Rates
that were measured are lower, so this is at most what the same paths cost with any grid of measured rates: a bound on it is a
bound on that. With k machines a region all is k times as fast, at k times the price an hour: their number cancels out.

Source: cloudcast of ADRS (skydiscover-ai/skydiscover @59643ef, 2026-08-18; UCB-ADRS/ADRS-Leaderboard @f856497), whose evaluator
divides gigabytes by gigabits a second, and so does this. Letters used for shapes: R regions, D destinations, H hops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from cloudcast_reader import MICRO, read_configuration
from cloudcast_trees import cheapest_tree, flow_model, shortest

from schedgap.formulations.backends import solve
from schedgap.instances.arrays import IntArray, content_hash, first_true, lock
from schedgap.instances.documents import (
    Amount,
    Columns,
    Count,
    Field,
    Index,
    InstanceDocument,
    Rows,
    SolutionDocument,
    Value,
)
from schedgap.instances.draws import drawn, generator
from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.family import Family, Scored, register_family
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.model import InstanceModel, check_names, check_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FAMILY, SCHEMA = "cloudcast", "schedgap/cloudcast/1"
NANO = 10**9
# Machines of the published configurations, micro-dollars an hour.
MACHINE_PRICE = 540_000
# Pairs of a set of destinations and a region that a table may have.
MAX_TABLE = 2**22


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CloudcastInstance(InstanceModel):
    """Regions, the links between them, and what is to be copied.

    egress, ingress : (R,) int64, Gbit/s that a machine may send and receive. tail, head, price : (L,) int64, links and what a GB
    costs on them in micro-dollars. source : a region. destinations : (D,) int64. gigabytes : of a partition. machine_price :
    micro-dollars an hour. Raises `InstanceError` on anything inconsistent.
    """

    name: str
    regions: tuple[str, ...]
    egress: IntArray
    ingress: IntArray
    tail: IntArray
    head: IntArray
    price: IntArray
    source: int
    destinations: IntArray
    partitions: int
    gigabytes: int
    machine_price: int = MACHINE_PRICE
    digest: str = ""

    def __post_init__(self) -> None:
        arrays = ("egress", "ingress", "tail", "head", "price", "destinations")
        self._lock(arrays, ("source", "partitions", "gigabytes", "machine_price"))
        size, links = len(self.regions), (self.tail.size,)
        check_names(self.name, "region", self.regions, size)
        check_shapes(self, {"egress": (size,), "ingress": (size,), "tail": links, "head": links, "price": links})
        ends = (*self.tail.tolist(), *self.head.tolist(), *self.destinations.tolist(), self.source)
        if not all(0 <= region < size for region in ends) or (self.tail == self.head).any():
            raise InstanceError(
                f"{self.name}: links, source and destinations are between 0 and {size - 1}; links join two regions."
            )
        if len(set(zip(self.tail.tolist(), self.head.tolist(), strict=True))) < self.tail.size:
            raise InstanceError(f"{self.name}: a link is given twice; leave one out.")
        chosen = {*self.destinations.tolist(), self.source}
        if self.destinations.size == 0 or len(chosen) != self.destinations.size + 1:
            raise InstanceError(f"{self.name}: give different destinations, at least one, and not the source.")
        if min(self.partitions, self.gigabytes, *self.egress.tolist(), *self.ingress.tolist()) < 1:
            raise InstanceError(f"{self.name}: partitions, gigabytes and rates are at least 1.")
        if min(self.machine_price, *self.price.tolist(), 0) < 0 or self.dearest() >= 2**53:
            raise InstanceError(
                f"{self.name}: prices are from 0 to where a solution costs ${2**53 // NANO}; use smaller ones."
            )
        reached = shortest(*self.network(slice(None), self.price + 1), self.source)[0][self.destinations]
        if (lost := first_true(np.isinf(reached))) is not None:
            raise InstanceError(
                f"{self.name}: no path leads to {self.regions[self.destinations[lost]]}; give links, or leave it out."
            )
        numbers = [self.source, self.partitions, self.gigabytes, self.machine_price]
        object.__setattr__(
            self, "digest", content_hash([SCHEMA, *self.regions, *numbers, *(getattr(self, key) for key in arrays)])
        )

    def rate(self) -> IntArray:
        """Return the rate of each link that its providers allow a machine, (L,)."""
        return np.minimum(self.egress[self.tail], self.ingress[self.head])

    def region_cost(self, rate: int) -> int:
        """Return what a region's machines cost in nano-dollars where the slowest link has this rate; rounded down."""
        return self.machine_price * 1000 * self.gigabytes // (3600 * rate)

    def dearest(self) -> int:
        """Return what no solution exceeds, in nano-dollars."""
        egress = self.partitions * self.gigabytes * 1000 * sum(self.price.tolist())
        return egress + len(self.regions) * self.region_cost(1)

    def by_rate(self) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Yield each rate that may be the least, the links that are as fast, and the cost of each with its head's machines."""
        egress = self.price * self.partitions * self.gigabytes * 1000
        for rate in np.unique(self.rate()).tolist():
            links = np.flatnonzero(self.rate() >= rate)
            yield rate, links, egress[links] + self.region_cost(rate)

    def network(self, links: IntArray | slice, weight: Any) -> tuple[int, IntArray, IntArray, Any]:
        """Return the number of regions, and tail, head and weight of some links."""
        return len(self.regions), self.tail[links], self.head[links], weight


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The hops of all paths, (H,) int64 each; those of one partition and destination (its place in the list) in their order.

    No price and no rate: these are the instance's.
    """

    partition: IntArray
    destination: IntArray
    tail: IntArray
    head: IntArray

    def __post_init__(self) -> None:
        lock(self, ("partition", "destination", "tail", "head"))


def verify(instance: CloudcastInstance, solution: Paths) -> int:
    """Return the cost in nano-dollars, in Python's integers; raise `VerifyError` naming the first violation. O(H + L)."""
    columns = (solution.partition, solution.destination, solution.tail, solution.head)
    if len({each.shape for each in columns}) > 1 or solution.tail.ndim != 1:
        raise VerifyError("the columns of hops differ in length; give partition, destination, tail and head of each.")
    links = zip(instance.tail.tolist(), instance.head.tolist(), strict=True)
    known = {link: each for each, link in enumerate(links)}
    names, at = instance.regions, dict[tuple[int, int], int]()
    seen, used = set[tuple[int, int, int]](), set[tuple[int, int]]()
    for partition, place, tail, head in zip(*(each.tolist() for each in columns), strict=True):
        if not (0 <= partition < instance.partitions and 0 <= place < instance.destinations.size):
            raise VerifyError(
                f"a hop is of partition {partition} to destination {place}; their numbers go up to "
                f"{instance.partitions - 1} and {instance.destinations.size - 1}."
            )
        here = at.get((partition, place), instance.source)
        if (tail, head) not in known:
            raise VerifyError(f"partition {partition} takes a link from region {tail} to {head}, which is not there.")
        if tail != here:
            raise VerifyError(f"partition {partition} goes on from {names[tail]}; it is at {names[here]}.")
        if head == instance.source or (partition, place, head) in seen:
            raise VerifyError(f"partition {partition} comes to {names[head]} twice on one path; leave out the round.")
        at[partition, place] = head
        seen.add((partition, place, head))
        used.add((partition, known[tail, head]))
    for partition in range(instance.partitions):
        for place, region in enumerate(instance.destinations.tolist()):
            if (end := at.get((partition, place), instance.source)) != region:
                raise VerifyError(
                    f"partition {partition} ends at {names[end]}, not at its destination {names[region]}."
                )
    price, rates = instance.price.tolist(), instance.rate().tolist()
    egress = sum(price[link] for _, link in used) * instance.gigabytes * 1000
    regions = {instance.source, *solution.head.tolist()}
    return egress + len(regions) * instance.region_cost(min(rates[link] for _, link in used))


def measures(instance: CloudcastInstance, solution: Paths) -> dict[str, float]:
    """Return `regions` and `links` in use."""
    links = np.unique(solution.tail * len(instance.regions) + solution.head)
    return {"regions": float(np.unique(solution.head).size + 1), "links": float(links.size)}


def native_score(runs: Sequence[Scored]) -> dict[str, float]:
    """Return the scores of two public evaluators over the sum of costs: 0 where a run failed; `lb` is meant for the published."""
    if not runs or any(run.objective is None for run in runs):
        return {"sky": 0.0, "lb": 0.0}
    dollars = sum(run.objective or 0 for run in runs) / NANO
    return {"sky": 1 / (1 + dollars), "lb": min(max(100 * (1199 - dollars) / 572.76, 0.0), 100.0)}


def configurations(path: Path, configuration: str = "intra_aws") -> CloudcastInstance:
    """Read a configuration of a folder with one `*configurations.json` and one `*cost_matrix.csv`, dollars a GB by region."""
    return CloudcastInstance(**read_configuration(path, configuration))


def random_regions(
    regions: int = 12, destinations: int = 4, partitions: int = 4, *, seed: int = 0
) -> CloudcastInstance:
    """Draw three clouds: a region sends to its own cloud for less than to others, and not to all of these."""
    if not 1 <= destinations < regions:
        raise InstanceError(
            f"generator random-regions: {destinations} destinations of {regions} regions; give fewer, at least 1."
        )
    rng = generator(FAMILY, "random-regions", regions, destinations, partitions, seed)
    cloud = drawn(rng, [0, 1, 2], [1, 1, 1], regions).astype(np.int64)
    tail, head = np.nonzero(~np.eye(regions, dtype=np.bool_))
    is_near = cloud[tail] == cloud[head]
    price = np.where(
        is_near, drawn(rng, [10, 20, 80], [1, 2, 2], regions)[tail], drawn(rng, [80, 120, 150], [1, 2, 1], tail.size)
    )
    # Links from the source are all there, so that every region is reached.
    is_there = is_near | (tail == 0) | (rng.random(tail.size) < 0.7)
    return CloudcastInstance(
        f"random-{regions}-{destinations}-{partitions}-s{seed}",
        tuple(f"{'abc'[each]}:{place}" for place, each in enumerate(cloud.tolist())),
        np.array([5, 7, 16])[cloud],
        np.array([10, 16, 16])[cloud],
        tail[is_there],
        head[is_there],
        price[is_there] * 1000,
        0,
        1 + np.argsort(rng.random(regions - 1), kind="stable")[:destinations],
        partitions,
        30,
    )


INSTANCE = InstanceDocument(
    SCHEMA,
    CloudcastInstance,
    Rows(
        "regions",
        Field("name", str, "regions"),
        Field("egress_gbit_per_s", Count, "egress"),
        Field("ingress_gbit_per_s", Count, "ingress"),
    ),
    Columns("links", Field("tail", Index), Field("head", Index), Field("dollars_per_gb", Amount, "price", scale=MICRO)),
    Value("source", Index),
    Columns("", Field("destinations", Index)),
    Value("partitions", Count),
    Value("gigabytes_each", Count, "gigabytes"),
    Value("dollars_per_machine_hour", Amount, "machine_price", scale=MICRO),
)
SOLUTION: SolutionDocument[CloudcastInstance, Paths] = SolutionDocument(
    "schedgap/cloudcast-solution/1",
    Paths,
    Columns("hops", *(Field(key, Index) for key in ("partition", "destination", "tail", "head"))),
)


def shrink(instance: CloudcastInstance) -> CloudcastInstance:
    """Return the same for one destination and one partition."""
    return instance.replace(name=f"{instance.name}-shrunk", destinations=instance.destinations[:1], partitions=1)


CLOUDCAST = register_family(
    Family(
        name=FAMILY,
        instance=CloudcastInstance,
        solution=Paths,
        verify=verify,
        read_instance=INSTANCE.read,
        write_instance=INSTANCE.write,
        read_solution=SOLUTION.read,
        write_solution=SOLUTION.write,
        objective_scale=NANO,
        objective_unit="$",
        generators={"random-regions": random_regions},
        importers={"configurations": configurations},
        shrink=shrink,
        measures=measures,
        native_score=native_score,
        bound_methods=("steiner", "bound-flow"),
        size="regions",
    )
)


def all_along(instance: CloudcastInstance, before: IntArray) -> Paths:
    """Return the paths along which all partitions go alike. before : (R,), the region before each on its path."""
    hops = list[tuple[int, int, int]]()
    for place, region in enumerate(instance.destinations.tolist()):
        path = list[tuple[int, int, int]]()
        while region != instance.source:
            path.append((place, int(before[region]), region))
            region = int(before[region])
        hops += reversed(path)
    columns = np.array(hops, np.int64).T
    partition = np.repeat(np.arange(instance.partitions), len(hops))
    return Paths(partition, *(np.tile(column, instance.partitions) for column in columns))


@method("direct", family=FAMILY)
def direct(instance: CloudcastInstance) -> Paths:
    """Take the path of the fewest links to each destination, of these a cheapest one."""
    return cheapest_paths(instance, instance.price + int(instance.price.sum()) + 1)


@method("shortest-paths", family=FAMILY)
def shortest_paths(instance: CloudcastInstance) -> Paths:
    """Take the cheapest path to each destination, as if none shared a link with another."""
    return cheapest_paths(instance, instance.price)


def cheapest_paths(instance: CloudcastInstance, weight: IntArray) -> Paths:
    """Return paths of the least weight, of these of few links. O(R^2 log R)."""
    ways = instance.network(slice(None), weight * len(instance.regions) + 1)
    return all_along(instance, shortest(*ways, instance.source)[1])


def is_large(instance: CloudcastInstance) -> str | None:
    """Return None, or what is too large for a table over all sets of destinations."""
    entries = 2**instance.destinations.size * len(instance.regions)
    return (
        None if entries <= MAX_TABLE else f"has {entries} pairs of a set of destinations and a region; use bound-flow"
    )


@method("steiner", family=FAMILY, exact=True, supports=is_large)
def steiner(instance: CloudcastInstance) -> Outcome:
    """Find the cheapest tree by dynamic programming (Dreyfus and Wagner, 1971), for each rate that may be the least; exact.

    One tree serves all partitions best: with the least rate given, the cost is a sum over trees of partitions, each with its
    part of what its regions cost, or more where they differ. A tree has as many links as regions, but the source.
    """
    best, bound = None, None
    for rate, links, weight in instance.by_rate():
        found = cheapest_tree(*instance.network(links, weight), instance.source, instance.destinations)
        total = None if found is None else found[0] + instance.region_cost(rate)
        if found is not None and total is not None and (bound is None or total < bound):
            bound, best = total, all_along(instance, found[1])
    return Outcome(best, bound)


@method("bound-flow", family=FAMILY, bounds=True, choices={"backend": ("highs", "glop", "scip", "cbc")})
def bound_flow(instance: CloudcastInstance, *, backend: str = "highs", threads: int = 1) -> Outcome:
    """Relax the tree to a flow of one unit to each destination within what links are rented; its duals prove the bound."""
    bounds = []
    for rate, links, weight in instance.by_rate():
        network = instance.network(links, weight / NANO)
        result = solve(flow_model(*network, instance.source, instance.destinations, NANO), backend, threads=threads)
        if result.bound is not None:
            # Less one of the smallest units, for what is rounded here.
            bounds.append(math.floor(result.bound * NANO) - 1 + instance.region_cost(rate))
        elif result.status is not Status.INFEASIBLE:
            return Outcome()
    return Outcome(bound=min(bounds), backend=backend)
