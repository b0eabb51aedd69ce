"""Instances from rows, generators and files; what a solution costs; what it moves."""

from pathlib import Path

from schedgap.instances import provisioning as p

types = [
    {"name": "small", "price": 0.17, "cores": 4, "gib": 8},
    {"name": "large", "price": 0.68, "cores": 16, "gib": 32},
]
built = p.build_provisioning(types, [{"cores": 2, "gib": 4, "count": 4}])
# Two small machines with two tasks each: $0.34 an hour, in micro-dollars.
plan = p.Provisioning.from_tasks(built, [0, 0], [0, 0, 1, 1])
assert p.verify(built, plan) == p.cost(built, plan) == p.objective(built, plan) == 340_000
assert p.price_step(built) == 170_000

# Generators: tasks of the paper, like a trace, on a cluster that runs, of many kinds.
assert p.table3().num_tasks == 4
for make in (p.table7, p.alibaba_like, p.distinct, p.karpenter_basic):
    assert make(50, seed=1).num_tasks == 50
# A cluster on which some tasks have ended.
assert 0 < p.consolidation(50, seed=1).num_tasks < 50
assert p.kubernetes_like(60, kinds=5, seed=1).num_classes == 5
assert p.alibaba_like_running(20.0, 2.0, seed=1).num_tasks > 0
running = p.consolidation(50, seed=1)
alone = p.Provisioning.from_tasks(running, running.reservation_type[running.task_classes()], range(running.num_tasks))
# Machines that run are kept where the plan has such: what is left moves.
kept = p.keeping(running, alone)
assert p.moves(running, kept) >= 0
assert p.disruption(running, kept) >= 0
assert p.merge_equal_classes(built).instance.num_classes == 1
# Beside others a task of this workload loses value.
assert p.lost_value(p.table7(20, seed=1, interference=True), [0, 1], [1, 1]) >= 0

# Public bin packing sets: two items of 6 and one of 4, into bins of 10.
for read, text in (
    (p.bpplib, "3\n10\n6\n6\n4\n"),
    (p.bpplib_csp, "2\n10\n6 2\n4 1\n"),
    (p.vbp, "1\n10\n2\n6 2\n4 1\n"),
    (p.mvp, "1\n1\n10 1 -1\n2\n1 2\n6\n1 1\n4\n"),
    (p.orlib, "1\nu3\n10 3 2\n6\n6\n4\n"),
):
    Path("set.txt").write_text(text)
    assert read(Path("set.txt")).counts.tolist() == [2, 1]
