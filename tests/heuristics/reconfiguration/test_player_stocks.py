"""Policies and stocks: what is left is shown, and more is refused."""

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration import (
    kubernetes,  # noqa: F401
)
from schedgap.heuristics.reconfiguration import rules as no_packing
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.errors import VerifyError
from schedgap.instances.method import Status, find_method
from schedgap.instances.reconfiguration import FAMILY, verify

FIELDS = ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine")


def alone(observation):
    draft = observation.draft()
    for task in np.flatnonzero(observation.task_machine < 0):
        draft.put(int(task), draft.rent(int(observation.reservation_type[observation.task_class[task]])))
    return draft.plan()


class TestStocks:
    POLICIES = ("no-packing", "karpenter", "cluster-autoscaler")

    @staticmethod
    def limited(instance, *stock):
        return instance.replace(catalogue=instance.catalogue.replace(stock=stock))

    @pytest.mark.parametrize("name", POLICIES)
    def test_policies_keep_to_them(self, make_instance, name):
        statuses = set()
        for seed in range(12):
            instance = self.limited(make_instance(seed), 1, -1 if seed % 2 else 2, 1, 4)
            found = find_method(FAMILY, name).run(instance, seed=seed)
            statuses.add(found.claimed_status)
            if found.solution is None:
                assert "Of some types only so many machines can be had" in found.details["reason"]
            else:
                verify(instance, found.solution)
        assert Status.FEASIBLE in statuses

    @pytest.mark.parametrize("name", POLICIES)
    def test_stocks_that_suffice_change_nothing(self, make_instance, name):
        for seed in range(3):
            instance = make_instance(seed)
            free, ample = (
                find_method(FAMILY, name).run(each, seed=seed).solution
                for each in (instance, self.limited(instance, 99, -1, 99, 99))
            )
            for key in FIELDS:
                assert np.array_equal(getattr(free, key), getattr(ample, key))

    def test_others_are_not_asked(self, make_instance):
        found = find_method(FAMILY, "eva").run(self.limited(make_instance(1), 1, 1, 1, 1))
        assert found.status is Status.UNSUPPORTED

    def test_what_is_left_is_told(self, make_instance):
        instance, told = self.limited(make_instance(1, terminate_s=1), 9, -1, 9, 9), []

        def watched(observation):
            told.append((observation.stock_left.tolist(), np.bincount(observation.machine_type, minlength=4).tolist()))
            return no_packing.no_packing(observation)

        solution = play(Player(instance), watched).solution
        verify(instance, solution)
        assert all(left[1] == -1 for left, _ in told)
        # Those of the last plan are taken; those that were just given back may still be paid.
        assert all(left[k] <= 9 - there[k] for left, there in told for k in (0, 2, 3))
        assert min(left[k] for left, _ in told for k in (0, 2, 3)) < 9

    def test_a_plan_with_too_many_is_invalid(self, make_instance):
        instance = self.limited(make_instance(1), 0, 0, 0, 0)
        found = play(Player(instance), alone)
        with pytest.raises(
            VerifyError, match=r"1 machines of type \w+ are ordered or paid for, there are 0; order one when"
        ):
            verify(instance, found.solution)
