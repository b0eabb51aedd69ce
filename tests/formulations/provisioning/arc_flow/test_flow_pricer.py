import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.arc_flow.flow_pricer import FlowPricer, is_coarse
from schedgap.instances.provisioning import distinct, table7
from schedgap.instances.provisioning.pricing import Pricer


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("by_family", [False, True])
def test_prices_as_the_search_does(varied_instance, seed, by_family):
    instance = varied_instance(seed)
    rng = np.random.default_rng(seed)
    shape = (len(instance.families), instance.num_classes) if by_family else (instance.num_classes,)
    values = rng.integers(0, 60, shape)
    none = np.full(instance.num_types, -1)
    flow, search = FlowPricer(instance, build_flow_graphs(instance)), Pricer(instance)
    for counts in (instance.counts, rng.integers(0, instance.counts + 1)):
        found = flow.price(values, none, counts=counts)
        assert found.upper.tolist() == found.value.tolist() == search.price(values, none, counts=counts).value.tolist()
        worth = np.broadcast_to(values, (len(instance.families), instance.num_classes))[instance.type2family]
        assert ((found.pattern * worth).sum(axis=1) == found.value).all()
        assert (found.pattern <= counts).all()
        for k, pattern in enumerate(found.pattern):
            demand = instance.demand[instance.type2family[k]]
            assert (pattern @ np.maximum(demand, 0) <= instance.capacity[k]).all()
    # What is worth no more than asked for is not spelled out.
    assert not flow.price(values, found.value.max() + np.zeros_like(none), counts=counts).pattern.any()


def test_only_coarse_demands_have_small_graphs():
    assert is_coarse(table7(50))
    assert not is_coarse(distinct(50))
