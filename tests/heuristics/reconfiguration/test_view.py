"""Drafts: what fits, what is rented, what is moved."""

import numpy as np

from schedgap.heuristics.reconfiguration.view import ELSEWHERE

BIG, SMALL = 0, 1


def test_a_draft_begins_with_the_last_plan(make_view):
    plan = make_view([(5,)], [(0, 0), (0, -1)], [BIG]).draft().plan()
    assert (plan.machine.tolist(), plan.new_types.tolist(), plan.keep) == ([0, -1], [], None)


def test_room_is_what_the_drafted_tasks_leave(make_view):
    draft = make_view([(5,), (6,)], [(0, 0), (0, -1), (1, -1)], [BIG]).draft()
    assert (draft.fits(1, 0), draft.fits(2, 0)) == (True, False)
    draft.put(1, 0)
    assert not draft.fits(1, 0)
    draft.put(0, ELSEWHERE)
    new = draft.rent(SMALL)
    draft.put(0, new)
    assert (new, draft.fits(2, new), draft.fits(0, 0)) == (1, False, True)
    assert (draft.plan().machine.tolist(), draft.plan().new_types.tolist()) == ([1, 0, -1], [SMALL])


def test_a_class_that_may_not_run_on_a_family_fits_none_of_its_machines(make_view):
    view = make_view([[(1,)], [(-1,)]], [(0, -1)], [BIG, SMALL], family=[0, 1])
    assert [view.draft().fits(0, m) for m in (0, 1)] == [True, False]


def test_a_draft_leaves_the_view_as_it_was(make_view):
    view = make_view([(5,)], [(0, 0)], [BIG])
    view.draft().put(0, ELSEWHERE)
    assert view.task_machine.tolist() == [0]
    assert (view.num_tasks, view.num_machines) == (1, 1)
    assert isinstance(view.task_machine, np.ndarray)
