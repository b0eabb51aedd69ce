"""Random proofs against enumeration: what is proven holds, and what holds by prices alone is proven."""

import itertools
import random
from functools import partial

from schedgap.bench.certify.problem import Problem
from schedgap.bench.certify.proof import check

BIN = 10**6


def random_problem(rng):
    resources, tasks = rng.randint(1, 3), rng.randint(2, 6)
    sizes = tuple(tuple(rng.randint(0, 5) for _ in range(resources)) for _ in range(tasks))
    return Problem("x", (BIN,), ((6,) * resources,), (0,), (sizes,), (1,) * tasks)


def contents(problem):
    sizes, capacity = problem.demands[0], problem.capacities[0]
    for size in range(1, len(sizes) + 1):
        for content in itertools.combinations(range(len(sizes)), size):
            if all(sum(sizes[t][d] for t in content) <= room for d, room in enumerate(capacity)):
                yield content


def least(problem, allowed):
    """The fewest bins, by trying partitions of the tasks into allowed contents."""
    every = [frozenset(content) for content in contents(problem) if allowed(content)]

    def fewest(left):
        if not left:
            return 0
        first = min(left)
        tries = [fewest(left - content) for content in every if first in content and content <= left]
        return min((1 + each for each in tries if each is not None), default=None)

    return fewest(frozenset(range(len(problem.counts))))


def is_both_or_none(pair, content):
    return len(pair & set(content)) != 1


def is_not_both(pair, content):
    return not pair <= set(content)


def random_leaf(rng, problem):
    tasks = len(problem.counts)
    cuts = [
        {
            "tasks": (chosen := sorted(rng.sample(range(tasks), rng.randint(1, tasks)))),
            "numerators": [rng.randint(0, 3) for _ in chosen],
            "denominator": rng.randint(1, 4),
            "price": rng.randint(0, 8),
        }
        for _ in range(rng.randint(0, 3))
    ]
    return {"scale": 1, "prices": [rng.randint(-2, 12) for _ in range(tasks)], "cuts": cuts}


def worth(leaf, content):
    penalty = 0
    for cut in leaf["cuts"]:
        held = sum(n for t, n in zip(cut["tasks"], cut["numerators"], strict=True) if t in content)
        penalty += cut["price"] * (held // cut["denominator"])
    return sum(leaf["prices"][t] for t in content) - penalty


def dearest(problem, leaf, bound, allowed=lambda content: True, *, must_be_full):
    """The worth of the dearest content, of those that a solution of fewer bins than the bound may have, or of all."""
    spare, (capacity,) = problem.spare((bound - 1) * BIN), problem.capacities
    worths = [0]
    for content in filter(allowed, contents(problem)):
        sizes = zip(*(problem.demands[0][t] for t in content), strict=True) if content else [()] * len(capacity)
        free = [room - sum(size) for room, size in zip(capacity, sizes, strict=True)]
        if not must_be_full or all(f <= s for f, s in zip(free, spare, strict=True)):
            worths.append(worth(leaf, content))
    return max(worths)


def test_random_leaves_are_refused_where_some_content_is_too_dear():
    """A leaf proves b bins where worth(all) / b' > the dearest content, with b' = b - 1: then no b - 1 bins hold all."""
    rng = random.Random(4)
    proven = [0, 0]
    for _ in range(900):
        problem = random_problem(rng)
        leaf = random_leaf(rng, problem)
        bound = rng.randint(1, 4)
        all_worth = worth(leaf, range(len(problem.counts)))
        holds, may_hold = (
            all_worth > (bound - 1) * dearest(problem, leaf, bound, must_be_full=must_be_full)
            for must_be_full in (False, True)
        )
        # At the largest scale at which the leaf's own sum still gives the bound.
        fine = {**leaf, "prices": [p * 10 * BIN for p in leaf["prices"]]}
        fine["cuts"] = [{**cut, "price": cut["price"] * 10 * BIN} for cut in leaf["cuts"]]
        said = check(problem, {"bound": bound, "proof": fine}).reason
        assert holds <= (said is None) <= may_hold, (problem, leaf, bound, said)
        proven[holds] += said is None and bound > 1
        if said is None:
            assert bound <= least(problem, lambda _: True)
    assert min(proven) > 50


def test_random_branches_prove_no_more_than_the_optimum():
    rng = random.Random(5)
    proven = 0
    for _ in range(300):
        problem = random_problem(rng)
        s, t = rng.sample(range(len(problem.counts)), 2)
        sides = {"together": partial(is_both_or_none, {s, t}), "apart": partial(is_not_both, {s, t})}
        proof, holds, bound = {"pair": [s, t]}, True, rng.randint(2, 4)
        may_hold = True
        for side, allowed in sides.items():
            leaf = random_leaf(rng, problem)
            proof[side] = {
                **leaf,
                "prices": [p * 10 * BIN for p in leaf["prices"]],
                "cuts": [{**cut, "price": cut["price"] * 10 * BIN} for cut in leaf["cuts"]],
            }
            all_worth = worth(leaf, range(len(problem.counts)))
            holds &= all_worth > (bound - 1) * dearest(problem, leaf, bound, allowed, must_be_full=False)
            may_hold &= all_worth > (bound - 1) * dearest(problem, leaf, bound, allowed, must_be_full=True)
        is_proven = check(problem, {"bound": bound, "proof": proof}).reason is None
        assert holds <= is_proven <= may_hold
        if is_proven:
            proven += 1
            assert all(
                least(problem, allowed) is None or bound <= least(problem, allowed) for allowed in sides.values()
            )
    assert proven > 10
