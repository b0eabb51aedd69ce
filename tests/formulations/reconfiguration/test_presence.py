import numpy as np

from schedgap.formulations.reconfiguration.presence import must_plans, spells, start_up_s
from schedgap.instances.provisioning.running import Running


def test_from_the_first_plan_until_the_earliest_end(plain):
    # Start-up 3 + 4 s: ends at 50 + 7 + 93 = 150 s at the earliest, so the plan of 150 s need not have it; 94 s must.
    instance = plain((93, 94), arrival_s=[1, 50], fetch_s=[3], init_s=[4])
    assert start_up_s(instance).tolist() == [7]
    first, last = must_plans(instance)
    assert first.tolist() == [1, 1]
    assert last.tolist() == [3, 4]


def test_whoever_runs_at_second_0_need_not_start_up(plain):
    # Of 100 s of work, the job on the machine may end at 100 s, the other at 107 s.
    running = Running.from_contents(("a",), [0], np.array([[1, 0]]))
    first, last = must_plans(plain((100, 100), fetch_s=[3], init_s=[4], running=running))
    assert (first.tolist(), last.tolist()) == ([0, 0], [2, 3])


def test_spells_sum_presence(plain):
    # Plans 0 and 1 hold both, plan 2 the second; nobody at plans 3 to 9; then the third for one.
    instance = plain((100, 150, 50), arrival_s=[0, 0, 500], num_tasks=[1, 2, 1])
    fine = spells(instance, 10)
    assert fine.most[:, 0].tolist() == [3, 2, 1]
    assert fine.presence[:, 0].tolist() == [6, 2, 1]
    assert fine.late[:, 0].tolist() == [0, 1, 3]
    coarse = spells(instance, 1)
    assert (coarse.most[0, 0], coarse.presence[0, 0], coarse.late[0, 0]) == (3, 9, 3)


def test_any_cut_has_the_same_presence(oddities):
    instance = oddities(7)
    whole = spells(instance, 1).presence.sum(axis=0)
    assert all((spells(instance, number).presence.sum(axis=0) == whole).all() for number in (2, 3, 100))
    first, last = must_plans(instance)
    by_class = np.zeros_like(whole)
    np.add.at(by_class, instance.job2class, (last - first) * instance.num_tasks)
    assert (by_class == whole).all()
