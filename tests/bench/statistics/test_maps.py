"""Which method is the best where."""

import pytest

from schedgap.bench.statistics.profiles import Cell, build_maps
from schedgap.bench.suites.collection import Map
from schedgap.instances.method import Status

MAP = Map(title="Best", x="cluster", y="length", measure="wait")


@pytest.fixture
def made(make_record):
    """Make records of a field, one for each instance and method: `made("C1", 20, a=(1, 3), b=(2, 2))`."""

    def make(cluster, length, group="", **waits):
        return [
            make_record(
                method,
                f"{cluster}-{length}-{group}-{i}",
                group=group,
                source={"cluster": cluster, "length": length},
                objective=1,
                measures={"wait": float(wait)},
            )
            for method, own in waits.items()
            for i, wait in enumerate(own)
        ]

    return make


def test_the_lowest_mean_and_how_often_it_is_the_best(made):
    records = made("C2", 120.0, a=(1, 3, 5), b=(2, 2, 8)) + made("C1", 20.0, a=(4,), b=(4,)) + made("C1", 120.0, b=(7,))
    (found,) = build_maps([MAP], records)
    # Numbers ascend, names come as they do.
    assert (found.xs, found.ys) == (("C2", "C1"), (20.0, 120.0))
    assert found.cells == ((None, Cell("a", 4.0, 1, 1)), (Cell("a", 3.0, 2, 3), Cell("b", 7.0, 1, 1)))
    assert found.to_json() == {
        "title": "Best",
        "group": "",
        "measure": "wait",
        "cells": [
            {"cluster": "C1", "length": 20.0, "method": "a", "mean": 4.0, "won": 1, "instances": 1},
            {"cluster": "C2", "length": 120.0, "method": "a", "mean": 3.0, "won": 2, "instances": 3},
            {"cluster": "C1", "length": 120.0, "method": "b", "mean": 7.0, "won": 1, "instances": 1},
        ],
    }


def test_a_map_for_each_group_of_the_methods_that_are_asked_for(made):
    records = made("C1", 20, "light", a=(1,), b=(2,)) + made("C1", 20, "heavy", a=(3,), b=(2,), c=(1,))
    light, heavy = build_maps([MAP.model_copy(update={"methods": ["a", "b"]})], records)
    assert (light.name, heavy.name) == ("Best: light", "Best: heavy")
    assert (light.cells[0][0].method, heavy.cells[0][0].method) == ("a", "b")


def test_who_has_no_figure_of_each_instance_is_not_the_best(made, make_record):
    records = made("C1", 20, a=(1, 1), b=(2, 2), c=(3,))
    failed = make_record("a", "C1-20--1", source={"cluster": "C1", "length": 20}, status=Status.TIMEOUT)
    ((cell,),) = build_maps([MAP], [*records[:1], failed, *records[2:]])[0].cells
    assert cell == Cell("b", 2.0, 2, 2)
    assert build_maps([MAP], [failed])[0].cells == ((None,),)


def test_repetitions_count_as_one_instance(made):
    records = made("C1", 20, a=(1,), b=(2,)) + made("C1", 20, a=(5,), b=(2,))
    assert build_maps([MAP], records)[0].cells == ((Cell("b", 2.0, 1, 1),),)


def test_instances_without_the_parameters_are_in_no_map(made):
    assert build_maps([MAP.model_copy(update={"y": "load"})], made("C1", 20, a=(1,))) == ()


def test_ratios(made):
    (found,) = build_maps([MAP.model_copy(update={"measure": "wait/a"})], made("C1", 20, a=(4, 2), b=(1, 1)))
    assert found.cells == ((Cell("b", 0.375, 2, 2),),)
