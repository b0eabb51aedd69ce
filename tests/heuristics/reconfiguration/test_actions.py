"""Drafts: what fits, what is rented, what is moved."""

import numpy as np

from schedgap.heuristics.reconfiguration.actions import ELSEWHERE

BIG, SMALL = 0, 1


def test_a_draft_begins_with_the_last_plan(make_observation):
    plan = make_observation([(5,)], [(0, 0), (0, -1)], [BIG]).draft().plan()
    assert (plan.machine.tolist(), plan.new_types.tolist(), plan.keep) == ([0, -1], [], None)


def test_room_is_what_the_drafted_tasks_leave(make_observation):
    draft = make_observation([(5,), (6,)], [(0, 0), (0, -1), (1, -1)], [BIG]).draft()
    assert (draft.fits(1, 0), draft.fits(2, 0)) == (True, False)
    draft.put(1, 0)
    assert not draft.fits(1, 0)
    draft.put(0, ELSEWHERE)
    new = draft.rent(SMALL)
    draft.put(0, new)
    assert (new, draft.fits(2, new), draft.fits(0, 0)) == (1, False, True)
    assert (draft.plan().machine.tolist(), draft.plan().new_types.tolist()) == ([1, 0, -1], [SMALL])


def test_a_class_that_may_not_run_on_a_family_fits_none_of_its_machines(make_observation):
    observation = make_observation([[(1,)], [(-1,)]], [(0, -1)], [BIG, SMALL], family=[0, 1])
    assert [observation.draft().fits(0, m) for m in (0, 1)] == [True, False]


def test_a_draft_leaves_the_view_as_it_was(make_observation):
    observation = make_observation([(5,)], [(0, 0)], [BIG])
    observation.draft().put(0, ELSEWHERE)
    assert observation.task_machine.tolist() == [0]
    assert (observation.num_tasks, observation.num_machines) == (1, 1)
    assert isinstance(observation.task_machine, np.ndarray)
