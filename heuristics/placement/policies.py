"""Published policies, compiled: a pod goes to the node of the highest score, of equals the first; see `kernels_scores`.

A pod that fits somewhere is never refused. Pods that run stay where they are. A gang whose pods do not all find room is undone.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.placement.kernels_play import play
from schedgap.heuristics.placement.kernels_scores import (
    BEST_FIT,
    CLUSTERING,
    DOT_PRODUCT,
    FGD,
    FGD_EXACT,
    FIRST_FIT,
    PACKING,
    RANDOM,
    Rule,
)
from schedgap.heuristics.placement.state import Target, fleet_of, no_target, scores_of, target_of
from schedgap.instances.method import method
from schedgap.instances.placement.model import FAMILY, Placement, PlacementInstance

HANDLED = ("running", "gangs")


KINDS = {
    "random": RANDOM,
    "first-fit": FIRST_FIT,
    "best-fit": BEST_FIT,
    "dot-product": DOT_PRODUCT,
    "clustering": CLUSTERING,
    "packing": PACKING,
    "fgd": FGD,
    "fgd-exact": FGD_EXACT,
}


def rule_of(instance: PlacementInstance, name: str) -> tuple[Rule, Target]:
    """Return a rule, and the mix that it looks at."""
    kind = KINDS[name]
    return Rule(kind), target_of(instance) if kind in (FGD, FGD_EXACT) else no_target(instance)


def played(instance: PlacementInstance, name: str, seed: int = 0) -> Placement:
    """Return the placement of a rule. seed : for `random`."""
    fleet, (rule, target) = fleet_of(instance), rule_of(instance, name)
    play(fleet, rule, target, scores_of(instance), np.array([seed], np.uint64))
    return Placement(fleet.node, fleet.held)


@method("random", family=FAMILY, stochastic=True, handles=HANDLED)
def random(instance: PlacementInstance, rng: np.random.Generator) -> Placement:
    """Draw a node with room, and a GPU of it."""
    return played(instance, "random", int(rng.integers(2**63)))


@method("first-fit", family=FAMILY, handles=HANDLED)
def first_fit(instance: PlacementInstance) -> Placement:
    """Take the first node with room."""
    return played(instance, "first-fit")


@method("best-fit", family=FAMILY, handles=HANDLED)
def best_fit(instance: PlacementInstance) -> Placement:
    """Leave the least CPU and GPU, each as a share of the largest node's."""
    return played(instance, "best-fit")


@method("dot-product", family=FAMILY, handles=HANDLED)
def dot_product(instance: PlacementInstance) -> Placement:
    """Take the node whose free CPU and GPUs have the least product with the pod's (Tetris, as the FGD simulator has it)."""
    return played(instance, "dot-product")


@method("clustering", family=FAMILY, handles=HANDLED)
def clustering(instance: PlacementInstance) -> Placement:
    """Keep pods of one kind together: shares, and those of as many GPUs (Gandiva, as the FGD simulator has it)."""
    return played(instance, "clustering")


@method("packing", family=FAMILY, handles=HANDLED)
def packing(instance: PlacementInstance) -> Placement:
    """Take GPUs in use first, then free ones of nodes in use, then idle nodes."""
    return played(instance, "packing")


@method("fgd", family=FAMILY, handles=HANDLED)
def fgd(instance: PlacementInstance) -> Placement:
    """Let what is no use to the expected mix grow least, in whole scores from 0 to 100 (FGD as published)."""
    return played(instance, "fgd")


@method("fgd-exact", family=FAMILY, handles=HANDLED)
def fgd_exact(instance: PlacementInstance) -> Placement:
    """Let what is no use to the expected mix grow least; FGD without its truncated scores."""
    return played(instance, "fgd-exact")
