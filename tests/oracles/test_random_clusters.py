"""Random tiny clusters: no floor above what the oracle finds, nor above the one without what is of no matter."""

from math import inf
from random import Random

import pytest


@pytest.fixture
def drawn(cluster_seed, clusters):
    return clusters.draw(Random(cluster_seed))


def test_no_floor_is_above_what_can_be_had(drawn, least_price, proven):
    found = least_price(*drawn)
    assert proven(*drawn) <= (inf if found is None else found)


def test_an_object_of_no_matter_raises_no_floor(drawn, cluster_seed, clusters, proven):
    objects, prices = drawn
    before = proven(objects, prices)
    random = Random(cluster_seed)
    for each in random.sample(clusters.beside(random, objects, prices, "-2"), 3):
        assert proven([*objects, *each], prices) <= before


def test_a_line_of_no_matter_raises_no_floor(drawn, cluster_seed, clusters, proven):
    objects, prices = drawn
    before = proven(objects, prices)
    random = Random(cluster_seed)
    for longer in random.sample(clusters.longer(random, prices), 2):
        assert proven(objects, longer) <= before


def test_lists_that_say_the_same_give_one_floor(drawn, cluster_seed, clusters, proven):
    objects, prices = drawn
    before = proven(objects, prices)
    random = Random(cluster_seed)
    for other in random.sample(clusters.said_otherwise(random, prices), 3):
        assert proven(objects, other) == before
