"""The placement family: which pods a cluster of given nodes holds, by node and by GPU."""

from schedgap.instances.family import Family, register_family
from schedgap.instances.placement.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.placement.generators import random_pods
from schedgap.instances.placement.measures import MARKS, measures, picture
from schedgap.instances.placement.model import FAMILY, ONE, Placement, PlacementInstance, features, shrink
from schedgap.instances.placement.openb import openb, openb_like
from schedgap.instances.placement.readers import csv_tables, kai_snapshot, kubernetes
from schedgap.instances.placement.verify import moves, verify

PLACEMENT = register_family(
    Family(
        name=FAMILY,
        instance=PlacementInstance,
        solution=Placement,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=ONE,
        objective_unit="GPUs",
        generators={"openb-like": openb_like, "random-pods": random_pods},
        importers={"csv": csv_tables, "kai-snapshot": kai_snapshot, "kubernetes": kubernetes, "openb": openb},
        shrink=shrink,
        measures=measures,
        headline=("placed_pods", "nodes_used", "allocated_percent", "moves"),
        picture=picture,
        features=features,
        bound_methods=("bound-node-patterns", "bound-resources"),
        told=("idle_percent", *(f"idle_at_{mark}" for mark in MARKS)),
        large=(("openb-like", {"nodes": 1213}),),
        size="pods",
    )
)

__all__ = [
    "FAMILY",
    "PLACEMENT",
    "Placement",
    "PlacementInstance",
    "csv_tables",
    "kai_snapshot",
    "kubernetes",
    "measures",
    "moves",
    "openb",
    "openb_like",
    "picture",
    "random_pods",
    "read_instance",
    "read_solution",
    "shrink",
    "verify",
    "write_instance",
    "write_solution",
]
