import time

import pytest

from schedgap.formulations.provisioning.branch_price.diving import Depths, Dive
from schedgap.formulations.provisioning.branch_price.first_values import first_values
from schedgap.formulations.provisioning.branch_price.program import Program
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation

NEVER = 10**15


@pytest.fixture
def relaxation(random_bins):
    program = Program.of_classes(random_bins(3, 30, 3))
    relaxation = Relaxation(program)
    relaxation.start([], first_values(program), proven=True)
    relaxation.solve(time.perf_counter() + 60, NEVER)
    return relaxation


def test_a_dive_packs_everything(relaxation):
    machines = Dive(relaxation, time.perf_counter() + 60, NEVER).run(Depths(0, 0))
    assert sum(content for _, content in machines).tolist() == relaxation.program.counts.tolist()
    assert len(machines) * 1_000_000 >= relaxation.bound
    for _, content in machines:
        assert (content @ relaxation.program.demand[0] <= relaxation.program.capacity[0]).all()


def test_stepping_back_looks_at_more_and_leaves_the_master_as_it_was(bins):
    """Three items, two a bin, in half bins at best: 1.5 bins in the relaxation, and no solution below 2."""
    relaxation = Relaxation(Program.of_classes(bins([6], [3, 3, 3], prices=(1_000_000, 500_000))))
    relaxation.start([], first_values(relaxation.program), proven=True)
    relaxation.solve(time.perf_counter() + 60, NEVER)
    assert relaxation.master.solve(10.0).objective == pytest.approx(1.5)
    first, second = (Dive(relaxation, time.perf_counter() + 60, 2_000_000) for _ in range(2))
    assert first.run(Depths(0, 0)) == second.run(Depths(3, 2)) == []
    assert second.nodes > first.nodes
    assert relaxation.master.left.tolist() == relaxation.program.counts.tolist()
    assert relaxation.master.solve(10.0).objective == pytest.approx(1.5)


def test_a_deadline_that_has_passed_finds_nothing(relaxation):
    assert Dive(relaxation, time.perf_counter() - 1, NEVER).run(Depths(0, 0)) == []
