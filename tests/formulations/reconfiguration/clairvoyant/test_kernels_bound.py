"""Bounds on what is left to pay, on states whose future is known by hand."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.clairvoyant.decisions import decision_space
from schedgap.formulations.reconfiguration.clairvoyant.kernels_step import phases, rest
from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, rent
from schedgap.instances.reconfiguration.simulator.simulator import Simulator


def bounded(instance, state, now, work_price=0):
    space = decision_space(instance)
    prices = np.full(instance.catalogue.num_classes, work_price)
    return rest(state, now, instance.period_s, space.acquire, space.price, space.first_plan, space.cover, prices)


@pytest.mark.parametrize(("work_s", "plans"), [(100, 2), (101, 3), (1, 1), (50, 1)])
def test_a_job_that_is_not_there_yet_is_paid_for_its_plans(plain, work_s, plans):
    # A micro-dollar a second, plans every 50 s, no delays.
    instance = plain((work_s,))
    state = Simulator(instance).state
    assert bounded(instance, state, 0) == (plans * 50 * 3600, (plans - 1) * 50 * 3600)


def test_two_that_fit_one_machine_are_paid_once(plain):
    instance = plain((100, 150))
    assert bounded(instance, Simulator(instance).state, 0) == (3 * 50 * 3600, 2 * 50 * 3600)


def test_work_counts_where_it_costs_more(plain):
    # 100 s of work at 5,000,000 nano-dollars an hour.
    instance = plain((100,))
    assert bounded(instance, Simulator(instance).state, 0, 5_000_000)[0] == 100 * 5000


def test_starting_up_is_time_that_must_pass(plain):
    instance = plain((100,), fetch_s=[3], init_s=[4], build_s=[5])
    assert bounded(instance, Simulator(instance).state, 0)[0] == 3 * 50 * 3600


def test_phases_of_jobs(plain):
    instance = plain((100, 100), arrival_s=[0, 60], fetch_s=[5])
    state = Simulator(instance).state
    advance(state, 0)
    assert phases(state, 0).tolist() == [2, 0]
    state.target[0] = rent(state, 0, 0)
    assert apply_plan(state, 0) == codes.FINE
    assert phases(state, 0).tolist() == [1, 0]
    advance(state, 50)
    assert phases(state, 50).tolist() == [2, 0]
    advance(state, 105)
    assert phases(state, 105).tolist() == [0, 2]
