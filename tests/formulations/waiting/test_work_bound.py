"""The bound from work."""

from schedgap.formulations.waiting.fluid_bound import bound_work


def test_never_above_the_optimum(random_instance, optimum):
    tight = 0
    for seed in range(80):
        instance = random_instance(seed)
        best = optimum(instance)
        assert bound_work(instance).bound <= best
        tight += bound_work(instance).bound == best
    assert tight > 25


def test_grows_with_prices(random_instance):
    for seed in range(100):
        instance = random_instance(seed)
        bound = bound_work(instance).bound
        assert bound_work(instance.replace(fixed_price=instance.fixed_price + 1000)).bound >= bound
        assert bound_work(instance.replace(rented_price=instance.rented_price + 1000)).bound >= bound
