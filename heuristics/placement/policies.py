"""Policies, compiled: a pod goes to the node of the highest score, of equals the first; `kernels_scores` has the rules.

A pod that fits somewhere is never refused. Pods that run stay where they are. A gang whose pods do not all find room is undone.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.placement import kernels_scores as scores
from schedgap.heuristics.placement.kernels_play import play
from schedgap.heuristics.placement.kernels_scores import Rule
from schedgap.heuristics.placement.state import state_of
from schedgap.instances.method import method
from schedgap.instances.placement.measures import is_known
from schedgap.instances.placement.model import FAMILY, Placement, PlacementInstance

HANDLED = ("running", "gangs", "slices", "accepts")
STRATEGIES = {
    "least-allocated": scores.LEAST,
    "most-allocated": scores.MOST,
    "requested-to-capacity-ratio": scores.RATIO,
    "balanced-allocation": scores.BALANCED,
}


def played(instance: PlacementInstance, rule: Rule, seed: int = 0) -> Placement:
    """Return the placement of a rule. seed : of what is drawn."""
    looks = rule.kind in (scores.FGD, scores.FGD_EXACT, scores.PWR_FGD)
    state = state_of(instance, mix=looks, prices=rule.kind == scores.PRICED, seed=seed)
    play(state, rule)
    return Placement(state.pods.node, state.pods.held, state.pods.start)


def _power_is_known(instance: PlacementInstance) -> str | None:
    return None if is_known(instance) else "has GPU models of whose power nothing is known, or no resource called cpu"


@method("random", family=FAMILY, stochastic=True, handles=HANDLED)
def random(instance: PlacementInstance, rng: np.random.Generator) -> Placement:
    """Draw a node with room, and a GPU of it."""
    return played(instance, Rule(scores.RANDOM), int(rng.integers(2**63)))


@method("first-fit", family=FAMILY, handles=HANDLED)
def first_fit(instance: PlacementInstance) -> Placement:
    """Take the first node with room."""
    return played(instance, Rule(scores.FIRST_FIT))


@method("best-fit", family=FAMILY, handles=HANDLED)
def best_fit(instance: PlacementInstance) -> Placement:
    """Leave the least CPU and GPU, each as a share of the largest node's."""
    return played(instance, Rule(scores.BEST_FIT))


@method("dot-product", family=FAMILY, handles=HANDLED)
def dot_product(instance: PlacementInstance) -> Placement:
    """Take the node whose free CPU and GPUs have the least product with the pod's (Tetris, as the FGD simulator has it)."""
    return played(instance, Rule(scores.DOT_PRODUCT))


@method("clustering", family=FAMILY, handles=HANDLED)
def clustering(instance: PlacementInstance) -> Placement:
    """Keep pods of one kind together: shares, and those of as many GPUs (Gandiva, as the FGD simulator has it)."""
    return played(instance, Rule(scores.CLUSTERING))


@method("packing", family=FAMILY, handles=HANDLED)
def packing(instance: PlacementInstance) -> Placement:
    """Take GPUs in use first, then free ones of nodes in use, then idle nodes (as the FGD simulator has it)."""
    return played(instance, Rule(scores.PACKING))


@method("fgd", family=FAMILY, handles=HANDLED)
def fgd(instance: PlacementInstance) -> Placement:
    """Let what is no use to the expected mix grow least, in whole scores from 0 to 100 (FGD as published)."""
    return played(instance, Rule(scores.FGD))


@method("fgd-exact", family=FAMILY, handles=HANDLED)
def fgd_exact(instance: PlacementInstance) -> Placement:
    """Let what is no use to the expected mix grow least; FGD without its truncated scores."""
    return played(instance, Rule(scores.FGD_EXACT))


@method("pwr", family=FAMILY, handles=HANDLED, supports=_power_is_known)
def pwr(instance: PlacementInstance) -> Placement:
    """Let the power that nodes draw grow least (PWR)."""
    return played(instance, Rule(scores.PWR))


@method("pwr-fgd", family=FAMILY, handles=HANDLED, supports=_power_is_known)
def pwr_fgd(instance: PlacementInstance, power_weight: int = 100, fragment_weight: int = 900) -> Placement:
    """Weigh PWR's score, from 0 to 100, and FGD's; the GPU is FGD's choice."""
    return played(instance, Rule(scores.PWR_FGD, power=power_weight, fragment=fragment_weight))


@method("kube-scheduler", family=FAMILY, handles=HANDLED, choices={"score": tuple(STRATEGIES)})
def kube_scheduler(instance: PlacementInstance, score: str = "least-allocated", balanced: bool = True) -> Placement:
    """Take the node of the highest score of NodeResourcesFit over CPU, memory, and GPUs for pods that take some.

    score : the mean of the free shares (`least-allocated`, the default of clusters), of the shares in use, the same by the
        shape (0, 0), (100, 10), or none but the next. balanced : whether NodeResourcesBalancedAllocation is added, as is default.

    All nodes are looked at, and other scores, all equal here, left out. A share goes to the GPU with the least that suffices.
    """
    return played(instance, Rule(scores.KUBE, strategy=STRATEGIES[score], balances=balanced))


@method("volcano-binpack", family=FAMILY, handles=HANDLED)
def volcano_binpack(instance: PlacementInstance) -> Placement:
    """Take the node that is fullest of what the pod asks for: CPU, memory and GPUs of equal weight (Volcano's binpack)."""
    return played(instance, Rule(scores.VOLCANO))


@method("kai-binpack", family=FAMILY, handles=HANDLED)
def kai_binpack(instance: PlacementInstance) -> Placement:
    """Join shared GPUs first, then take the node with the fewest GPUs left, or the least CPU (KAI's binpack)."""
    return played(instance, Rule(scores.KAI_BINPACK))


@method("kai-spread", family=FAMILY, handles=HANDLED)
def kai_spread(instance: PlacementInstance) -> Placement:
    """Take the node with the largest share of its GPUs left, or of its CPU, and the GPU with most left (KAI's spread)."""
    return played(instance, Rule(scores.KAI_SPREAD))


@method("priced-fit", family=FAMILY, handles=HANDLED)
def priced_fit(instance: PlacementInstance) -> Placement:
    """Let the worth of what is left fall least: of holes in GPUs, by the prices of cutting GPUs into the expected shares.

    A node loses worth in four ways. A share leaves a hole that is worth less than the hole was, beyond the share's own price
    (`hole_prices`). GPUs are stranded: the CPU or the memory beside them is less than what the expected pods take with a GPU.
    CPU is stranded, which counts as 0.3. A model is taken that others cannot do without. Losses within a hundredth of a GPU are
    equal, and of equals the first node is taken: so nodes fill up one after the other.
    """
    return played(instance, Rule(scores.PRICED))
