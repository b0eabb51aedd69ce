"""What is printed of a suite besides its table."""

import pytest

from schedgap.bench.cli.show import MOST_COLUMNS, show_figures
from schedgap.bench.suites.collection import Map, Sweep


class Figures:
    """What `show_figures` reads of a suite."""

    def __init__(self, maps=(), sweeps=()):
        self.map, self.sweep = list(maps), list(sweeps)


@pytest.fixture
def printed(make_record, capsys, monkeypatch):
    """Print figures of waits of `a` and `b`, for loads and two groups."""

    monkeypatch.setenv("COLUMNS", "120")

    def show(suite, loads=(0.5, 1, 2), groups=("",)):
        records = [
            make_record(
                method,
                f"{load}-{group}-{seed}",
                group=group,
                source={"load": load, "kind": "x"},
                objective=1,
                measures={"wait_s": factor * load + seed},
            )
            for group in groups
            for load in loads
            for seed in (0, 1)
            for method, factor in (("a", 10.0), ("b", 20.0))
        ]
        show_figures(suite, records)
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return show


def test_a_sweep_over_a_parameter_of_instances_is_a_table(printed):
    lines = printed(Figures(sweeps=[Sweep(title="Load", x="load", y="wait_s")]))
    assert lines[:3] == ["", "Load: mean wait (s) by load", "method 0.5 1 2"]
    assert lines[4:6] == ["a 5.5 10.5 20.5", "b 10.5 20.5 40.5"]


def test_groups_have_lines_of_their_own(printed):
    lines = printed(Figures(sweeps=[Sweep(title="Load", x="load", y="wait_s", methods=["b"])]), groups=("C1", "C2"))
    assert lines[4:6] == ["C1 b 10.5 20.5 40.5", "C2 b 10.5 20.5 40.5"]


def test_sweeps_without_a_table(printed, make_record):
    assert printed(Figures(sweeps=[Sweep(title="Load", x="load", y="wait_s")]), loads=(1,)) == []
    many = Sweep(title="Load", x="load", y="wait_s")
    assert printed(Figures(sweeps=[many]), loads=range(1, MOST_COLUMNS + 2)) == []
    # Text is on no axis.
    assert printed(Figures(sweeps=[Sweep(title="Kinds", x="kind", y="wait_s")])) == []


def test_a_map(printed):
    lines = printed(Figures(maps=[Map(title="Best", x="kind", y="load", measure="wait_s")]), loads=(1, 2))
    assert lines[:3] == ["", "Best", "load \\ kind x"]
    assert lines[4:8] == ["1 a", "10.5 (2 of 2)", "2 a", "20.5 (2 of 2)"]
    assert lines[-1] == "The lowest mean wait (s), and on how many of the instances it is the best."
