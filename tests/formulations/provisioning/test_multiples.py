from schedgap.formulations.provisioning.bounds import joined_pairs, type_multiples
from schedgap.instances.provisioning import table7


def test_multiples_hold_and_cost_as_much():
    instance = table7(5)
    names = instance.type_names
    found = {(names[small], names[large]): number for small, large, number in type_multiples(instance)}
    assert found["p3.2xlarge", "p3.8xlarge"] == 4
    assert found["p3.8xlarge", "p3.16xlarge"] == 2
    assert ("p3.16xlarge", "p3.8xlarge") not in found
    for small, large, number in type_multiples(instance):
        assert number * instance.price[small] == instance.price[large]
        assert (number * instance.capacity[small] <= instance.capacity[large]).all()


def test_joined_pairs_of_different_types():
    instance = table7(5)
    names = instance.type_names
    found = {(names[a], names[b]): names[large] for a, b, large in joined_pairs(instance)}
    # 16 + 32 cores are a 12xlarge, 32 + 64 a 24xlarge; three of a type is what `type_multiples` knows.
    assert found["c7i.4xlarge", "c7i.8xlarge"] == "c7i.12xlarge"
    assert found["r7i.8xlarge", "r7i.16xlarge"] == "r7i.24xlarge"
    assert not any(a.startswith("p3") or a == b for a, b in found)


def test_one_large_machine_does_not_hold_what_several_hold_of_a_limited_class():
    instance = table7(5)
    limited = instance.replace(per_machine=[1] * instance.num_classes)
    assert type_multiples(instance) and joined_pairs(instance)
    assert type_multiples(limited) == joined_pairs(limited) == []
