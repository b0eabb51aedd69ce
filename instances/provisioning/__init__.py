"""The provisioning family: which machines to rent, which task where (Eva, sections 2.3 and 4)."""

from schedgap.instances.family import Cluster, Family, register_family
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes
from schedgap.instances.provisioning.cluster import (
    counts_moves,
    disrupted,
    folded,
    machines_now,
    machines_of,
    most_disruption,
    moved,
    pending,
    plan_remarks,
    price_now,
    whole_disruption,
    with_disruption,
)
from schedgap.instances.provisioning.files import (
    read_instance,
    read_solution,
    write_instance,
    write_plan,
    write_solution,
)
from schedgap.instances.provisioning.generators import (
    alibaba_like,
    alibaba_like_running,
    cluster_of_kind,
    consolidation,
    distinct,
    karpenter_basic,
    kubernetes_like,
    table3,
    table7,
    write_cluster,
)
from schedgap.instances.provisioning.measures import measures, picture
from schedgap.instances.provisioning.model import FAMILY, NOT_ALLOWED, ProvisioningInstance, shrink
from schedgap.instances.provisioning.moves import disruption, features, keeping, moves
from schedgap.instances.provisioning.plans import drain_order, shortage
from schedgap.instances.provisioning.readers import alibaba, bpplib, build_provisioning, csv_tables, kubernetes, vbp
from schedgap.instances.provisioning.running import ANY_NUMBER, ONE_TASK, Running
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import cost, lost_value, objective, price_step, verify

PROVISIONING = register_family(
    Family(
        name=FAMILY,
        instance=ProvisioningInstance,
        solution=Provisioning,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=1_000_000,
        objective_unit="$/h",
        generators={
            "table3": table3,
            "table7": table7,
            "distinct": distinct,
            "alibaba-like": alibaba_like,
            "alibaba-like-running": alibaba_like_running,
            "karpenter-basic": karpenter_basic,
            "kubernetes-like": kubernetes_like,
            "consolidation": consolidation,
            "cluster": cluster_of_kind,
        },
        importers={
            "alibaba-gpu-v2023": alibaba,
            "csv": csv_tables,
            "kubernetes": kubernetes,
            "vbp": vbp,
            "bpplib": bpplib,
        },
        shrink=shrink,
        measures=measures,
        picture=picture,
        features=features,
        cluster=Cluster(
            price_now=price_now,
            pending=pending,
            most_disruption=most_disruption,
            with_disruption=with_disruption,
            whole_disruption=whole_disruption,
            disrupted=disrupted,
            counts_moves=counts_moves,
            machines_now=machines_now,
            machines_of=machines_of,
            moved=moved,
            folded=folded,
            shortage=shortage,
            drain=drain_order,
            write_plan=write_plan,
            plan_remarks=plan_remarks,
            disruption_scale=ONE_TASK,
        ),
        floor_method="portfolio",
        floor_first=("karpenter", "karpenter-consolidation", "settled", "bound-resource-prices"),
        floor_beside=("bound-pooled",),
        bound_methods=("patterns", "column-generation", "interference"),
        large=(
            ("alibaba-like", {"tasks": 60_000}),
            ("distinct", {"tasks": 3_000}),
            ("table7", {"tasks": 2_000, "interference": True}),
        ),
    )
)

__all__ = [
    "ANY_NUMBER",
    "FAMILY",
    "NOT_ALLOWED",
    "ONE_TASK",
    "PROVISIONING",
    "Merged",
    "Provisioning",
    "ProvisioningInstance",
    "Running",
    "alibaba",
    "alibaba_like",
    "alibaba_like_running",
    "bpplib",
    "build_provisioning",
    "cluster_of_kind",
    "consolidation",
    "cost",
    "csv_tables",
    "disruption",
    "distinct",
    "karpenter_basic",
    "keeping",
    "kubernetes",
    "kubernetes_like",
    "lost_value",
    "merge_equal_classes",
    "moves",
    "objective",
    "price_step",
    "read_instance",
    "read_solution",
    "table3",
    "table7",
    "vbp",
    "verify",
    "write_cluster",
    "write_instance",
    "write_solution",
]
