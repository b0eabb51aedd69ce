"""Tables of machines, tasks and what runs."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import csv_tables

MACHINES = "name,cpu,ram_gib,gpu,price,family,count,fee\nsmall,4,8,,0.1,a,,0.01\nbig,16,60,2,0.4,b,3,\n"
TASKS = "name,count,cpu,ram_gib,families,machine\nx,2,1,1.5,,n1\nx,1,1,1.5,,\ny,3,0.25,0.25,b,n1\n"
RUNNING = "name,type\nn1,big\nn2,small\n"


@pytest.fixture
def tables(tmp_path):
    def tables(machines=MACHINES, tasks=TASKS, running=RUNNING, **parameters):
        given = {}
        for name, text in (("machines", machines), ("tasks", tasks), ("running", running)):
            if text is not None:
                (tmp_path / f"{name}.csv").write_text(text)
                given[name] = str(tmp_path / f"{name}.csv")
        return csv_tables(**given, **parameters)

    return tables


def test_three_tables(tables):
    made = tables()
    assert (made.resources, made.families, made.type_names) == (("cpu", "ram_gib"), ("a", "b"), ("small", "big"))
    assert made.capacity.tolist() == [[4000, 8192], [16000, 61440]]
    assert (made.price.tolist(), made.fee.tolist(), made.stock.tolist()) == ([110_000, 400_000], [10_000, 0], [-1, 3])
    assert (made.class_names, made.counts.tolist()) == (("x", "y"), [3, 3])
    assert made.demand.tolist() == [[[1000, 1536], [-1, -1]], [[1000, 1536], [250, 256]]]
    assert made.running.names == ("n1", "n2")
    assert made.running.contents(2).tolist() == [[2, 3], [0, 0]]
    assert made.notes == ("tasks.csv: no task asks for gpu, which are left out.",)


def test_the_machines_as_the_only_path(tables, tmp_path):
    made = tables()
    again = csv_tables(
        tmp_path / "machines.csv", tasks=str(tmp_path / "tasks.csv"), running=str(tmp_path / "running.csv")
    )
    assert again.digest == made.digest


@pytest.mark.parametrize(
    ("asked", "resource", "demand", "capacity"),
    [
        ("1.5", "ram_gib", 1536, 8192),
        ("0.0009765625", "ram_gib", 1, 8192),
        ("0.00000095367431640625", "ram_kib", 1, 8 * 2**20),
        ("1.7", "ram_bytes", 1_825_361_101, 8 * 2**30),
    ],
)
def test_memory_in_the_coarsest_unit_that_is_exact(tables, asked, resource, demand, capacity):
    made = tables(MACHINES, f"name,ram_gib\nx,{asked}\n", None)
    assert (made.resources, made.demand[0, 0, 0], made.capacity[0, 0]) == ((resource,), demand, capacity)
    rounded = "tasks.csv: 1 demands are no whole bytes or thousandths and were rounded up."
    assert (rounded in made.notes) == (asked == "1.7")


def test_pods_without_a_limit_and_no_running_machine(tables):
    made = tables("name,price,cpu,pods\na,1,4,2\nb,2,4,\n", "name,cpu,pods\nx,1,1\n", None)
    assert made.running is None
    assert made.capacity[:, 1].tolist() == [2000, 2**50]


@pytest.mark.parametrize(
    ("column", "size", "asked", "capacity"),
    [("bandwidth", 3_200_000_000_000, 800_000_000_000, 3_200_000_000_000_000), ("ram_gib", 2**21, 2**19, 2**31)],
)
def test_a_large_machine_keeps_its_size(tables, column, size, asked, capacity):
    """Four tasks fill it; in thousandths, and in bytes, it has more than 2^50."""
    made = tables(f"name,price,{column}\np,10,{size}\n", f"name,{column},count\nj,{asked},4\n", None)
    assert (made.capacity.tolist(), made.demand.tolist()) == ([[capacity]], [[[capacity // 4]]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": None}, "give one table of machines, in the parameter `machines`, and one of tasks, in `tasks`"),
        ({"machines": None}, "give one table of machines"),
        ({"tasks": "name,cpu\n"}, "tasks.csv: no tasks after the header"),
        ({"tasks": "name\nx\n"}, "tasks.csv line 1: no column is a resource; they have cpu, gpu, pods, ram_bytes"),
        ({"tasks": "name,disk\nx,1\n"}, "column 'disk' is no resource of the machines; they have cpu"),
        ({"tasks": "name,cpu\nx,1\nx,2\n"}, "tasks.csv line 3: task x was another one above; rename it"),
        ({"tasks": "name,cpu,families\nx,1,c\n"}, "line 2: family 'c' has no machine; they have a, b"),
        ({"tasks": "name,cpu,machine\nx,1,n9\n"}, "line 2: machine is 'n9', which is not among the running ones"),
        ({"tasks": "name,cpu\nx,-1\n"}, "line 2: cpu is '-1', not a number from 0 to 2"),
        ({"tasks": "name,cpu,count\nx,1,0\n"}, "task x has count 0; it must be at least 1"),
        ({"tasks": "name,cpu\nx,99\n"}, "task x needs 99 cpu on family a, the largest type there has 4 cpu"),
        ({"tasks": "name,ram_gib\nx,1125899906842624\n"}, "a demand for ram_bytes is .* it must be at most 2\\^50"),
        (
            {"machines": "name,price,cpu\na,1,1e13\n", "tasks": "name,cpu\nx,1\n", "running": None},
            "a capacity for cpu is 10000000000000000 of .* below 2\\^53",
        ),
        ({"running": "name,type\nn1,huge\n"}, "running.csv line 2: type is 'huge', which no machine has"),
        ({"running": "name,type\nn1,big\nn1,big\n"}, "running.csv line 3: machine n1 is there twice"),
    ],
)
def test_tables_that_do_not_do(tables, change, message):
    with pytest.raises(InstanceError, match=message):
        tables(**change)


def test_machines_of_which_there_are_so_many_at_a_price(tables):
    """Lines of one price are one type; of several, nobody can say of which there are how many. A price may be spot alone."""
    prices = "name,cpu,price,zone,count,spot_price\na,4,0.1,z1,2,\na,4,{},z2,3,\nb,4,,,,0.05\n"
    made = tables(prices.format("0.1"), "name,cpu\nx,1\n", None)
    assert (made.price.tolist(), made.stock.tolist()) == ([100_000, 50_000], [5, -1])
    assert made.notes == ("At their spot price, as the price list has no other of them: b.",)
    with pytest.raises(InstanceError, match="machine type a has only so many machines for one of several prices"):
        tables(prices.format("0.2"), "name,cpu\nx,1\n", None)
    assert tables("name,cpu,price,zone\na,4,1,\na,4,0.5,z1\n", "name,cpu\nx,1\n", None).price.tolist() == [500_000]


def test_machines_without_a_size_are_named(tables):
    made = tables("name,cpu,price\na,4,0.1\nb,,0.1\n", "name,pods,cpu\nx,1,1\n", None)
    assert made.notes == ("The price list has no cpu or no memory of these, which count as having none: b.",)


def test_limits_on_pods_that_no_task_counts_for_are_named(tables):
    made = tables("name,cpu,price,pods\na,4,0.1,2\n", "name,cpu\nx,1\n", None)
    assert made.notes == ("tasks.csv: no task asks for pods, which are left out.",)
    assert tables("name,cpu,price,pods\na,4,0.1,2\n", "name,cpu,pods\nx,1,1\n", None).notes == ()


def test_a_running_machine_that_holds_more_than_it_has_keeps_it(tables):
    """6 of 4 CPUs on n1, of which there are two in all, at a price that is rounded once."""
    machines = MACHINES.replace("0.1,a,,", "0.1000001,a,2,")
    made = tables(machines, "name,cpu,machine\nx,1.5,n1\nx,1.5,n1\ny,3,n1\n", "name,type\nn1,small\nn2,small\n")
    assert made.type_names == ("small", "big", "small (n1)")
    assert (made.capacity[:, 0].tolist(), made.stock.tolist()) == ([4000, 16000, 6000], [1, 3, 1])
    assert made.running.machine_type.tolist() == [2, 0]
    assert any("For information: on 1 running machines" in note for note in made.notes)
    assert made.price.tolist()[::2] == [110_000, 110_000]
    assert any(note.startswith("1 prices are finer than a micro-dollar") for note in made.notes)
