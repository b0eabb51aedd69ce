"""The reconfiguration family: provisioning over time, where a plan may change every few minutes (Eva)."""

from schedgap.instances.family import Family, Over, register_family
from schedgap.instances.provisioning.moves import RUNNING, features
from schedgap.instances.reconfiguration.files import read_instance, read_solution, write_instance, write_solution
from schedgap.instances.reconfiguration.generators import alibaba_like, eva_synthetic
from schedgap.instances.reconfiguration.losses import losses, paid, paid_hourly, ran, span
from schedgap.instances.reconfiguration.measures import measures, picture
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance, ReconfigurationSchedule, shrink
from schedgap.instances.reconfiguration.past import kubernetes
from schedgap.instances.reconfiguration.readers import eva_csv, openb, slurm
from schedgap.instances.reconfiguration.verify import verify
from schedgap.instances.reconfiguration.weeks import cluster_week

RECONFIGURATION = register_family(
    Family(
        name=FAMILY,
        instance=ReconfigurationInstance,
        solution=ReconfigurationSchedule,
        verify=verify,
        read_instance=read_instance,
        write_instance=write_instance,
        read_solution=read_solution,
        write_solution=write_solution,
        objective_scale=1_000_000,
        objective_unit="$",
        generators={"eva-synthetic": eva_synthetic, "alibaba-like": alibaba_like, "cluster-week": cluster_week},
        importers={"openb": openb, "eva-csv": eva_csv, "slurm": slurm, "kubernetes": kubernetes},
        shrink=shrink,
        measures=measures,
        headline=("machines", "mean_jct_h", "cpu_allocation"),
        picture=picture,
        bound_methods=("bound-progress", "bound-work"),
        features=lambda instance: features(instance.catalogue) | ({RUNNING} if instance.running is not None else set()),
        large=(("alibaba-like", {"jobs": 60_000}),),
        told=("full_share",),
        over=Over(
            span,
            ran,
            paid,
            paid_hourly,
            losses,
            floor="bound-presence",
            plan="hindsight",
            rivals=("karpenter", "cluster-autoscaler", "eva", "lookahead"),
        ),
    )
)

__all__ = [
    "FAMILY",
    "RECONFIGURATION",
    "ReconfigurationInstance",
    "ReconfigurationSchedule",
    "alibaba_like",
    "cluster_week",
    "eva_csv",
    "eva_synthetic",
    "kubernetes",
    "measures",
    "openb",
    "picture",
    "read_instance",
    "read_solution",
    "shrink",
    "slurm",
    "verify",
    "write_instance",
    "write_solution",
]
