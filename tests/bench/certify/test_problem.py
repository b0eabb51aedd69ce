"""The checker's own readers, against the others."""

import random

import pytest

from schedgap.bench.certify.problem import Problem, read_problem
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import bpplib, distinct, read_instance, table7, vbp, write_instance

VECTORS = "2\n10 20\n4\n6 3 1\n0 20 1\n5 5 2\n6 3 1\n"


def document(*tasks, capacity="0.9", price="1"):
    """One machine type of one resource, in thousandths."""
    rows = ", ".join(f'{{"name": "t{t}", {task}}}' for t, task in enumerate(tasks))
    return (
        '{"schema": "schedgap/provisioning/1", "name": "x", "resources": ["cpu"], "machine_types": ['
        f'{{"name": "m", "family": "f", "capacity": [{capacity}], "price": {price}}}], "tasks": [{rows}]}}'
    )


@pytest.fixture
def read(tmp_path):
    def read(name, text):
        (tmp_path / name).write_text(text)
        return read_problem(tmp_path / name)

    return read


def test_vectors(read):
    expected = Problem("x", (10**6,), ((10, 20),), (0,), (((6, 3), (0, 20), (5, 5)),), (2, 1, 2))
    assert read("x.vbp", VECTORS) == read("x.vbp", "\ufeff" + VECTORS) == expected
    assert (expected.task_classes, expected.price_step) == ([0, 0, 1, 2, 2], 10**6)


def test_weights(read):
    assert read("x.txt", "3\n10\n6\n4\n6\n") == Problem("x", (10**6,), ((10,),), (0,), (((6,), (4,)),), (2, 1))


def test_limits_on_the_tasks_of_a_class_that_share_a_machine(read):
    tasks = '"demand": {"f": [0.1]}', '"demand": {"f": [0.2]}, "count": 3, "per_machine": 2'
    assert read("x.json", document(*tasks)).together == (None, 2)
    assert read("x.json", document(tasks[0])).together == ()
    with pytest.raises(InstanceError, match="0 tasks of a class"):
        read("x.json", document(tasks[0] + ', "per_machine": 0'))


@pytest.mark.parametrize("make", [lambda: table7(30), lambda: distinct(20)])
def test_documents_say_what_the_other_reader_says(make, tmp_path):
    """Up to the unit of a resource: here the greatest in which all amounts are whole."""
    instance = make()
    write_instance(instance, tmp_path / "x.json")
    problem = read_problem(tmp_path / "x.json")
    assert problem.prices == tuple(instance.price.tolist())
    assert problem.counts == tuple(instance.counts.tolist())
    assert problem.families == tuple(instance.type2family.tolist())
    for r in range(len(instance.resources)):
        whole = [row[r] for row in problem.capacities]
        exact = instance.capacity[:, r].tolist()
        k = max(range(len(whole)), key=whole.__getitem__)
        assert all(a * exact[k] == b * whole[k] for a, b in zip(whole, exact, strict=True))
        for f, rows in enumerate(problem.demands):
            for row, demand in zip(rows, instance.demand[f].tolist(), strict=True):
                assert (row is None) == (demand[r] < 0)
                assert row is None or row[r] * exact[k] == demand[r] * whole[k]


def test_packing_sets_are_the_same_as_their_documents(read, tmp_path):
    for name, text, importer in (("x.vbp", VECTORS, vbp), ("x.txt", "3\n10\n6\n4\n6\n", bpplib)):
        direct = read(name, text)
        write_instance(importer(tmp_path / name), tmp_path / "x.json")
        through = read_problem(tmp_path / "x.json")
        assert (through.capacities, through.demands) == (direct.capacities, direct.demands)
        assert (through.counts, through.prices) == (direct.counts, direct.prices)


def test_a_fee_is_paid_and_any_stands_for_families_that_are_not_named(read):
    problem = read(
        "x.json",
        '{"schema": "schedgap/provisioning/1", "name": "x", "resources": ["cpu"], "machine_types": ['
        '{"name": "a", "family": "f", "capacity": [0.5], "price": 0.7, "fee": 0.1},'
        '{"name": "b", "family": "g", "capacity": [2], "price": 1}],'
        '"tasks": [{"name": "t", "demand": {"any": [0.25], "g": [1]}}, {"name": "u", "demand": {"g": [0.75]}}]}',
    )
    # In quarters of a core.
    assert (problem.prices, problem.capacities) == ((800_000, 1_000_000), ((2,), (8,)))
    assert problem.demands == (((1,), None), ((4,), (3,)))


def test_noise_of_floats_is_none(read, tmp_path):
    """0.1 + 0.2 is 0.3, as the other reader has it, and three of them fit into 0.9; so are prices."""
    problem = read(
        "x.json", document('"count": 3, "demand": {"any": [0.30000000000000004]}', price="0.30000000000000004")
    )
    assert (problem.capacities, problem.demands, problem.prices) == (((9,),), (((3,),),), (300_000,))
    assert read_instance(tmp_path / "x.json").demand.tolist() == [[[300]]]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_read_is_what_the_other_reader_reads(read, tmp_path, seed):
    """Amounts a few last digits beside whole units: read as the same ones, or refused here."""
    rng, same = random.Random(seed), 0
    for _ in range(20):
        units = [rng.randrange(2 ** rng.randrange(1, 50)) for _ in range(3)]
        given = [unit / 1000 * (1 + rng.choice((0, 0, 1, -1, 2)) * 2**-52) for unit in units]
        text = document(*(f'"demand": {{"any": [{number!r}]}}' for number in given), capacity=str(2**40))
        try:
            problem = read("x.json", text)
        except InstanceError:
            continue
        # Every number that is one of whole thousandths is told by its share of the capacity.
        whole = problem.capacities[0][0]
        other = read_instance(tmp_path / "x.json").demand[0].tolist()
        assert [row[0] * 2**40 * 1000 for row in problem.demands[0]] == [row[0] * whole for row in other]
        same += 1
    assert same


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.vbp", "2\n10 20\n1\n6 3 1\n7"),
        ("x.vbp", "2\n10 20\n1\n6 3 0"),
        ("x.vbp", "1\n10\n0"),
        ("x.vbp", "2\n10"),
        ("x.vbp", "1\n10\n1\n6 10000001"),
        ("x.vbp", f"1\n{2**50 + 1}\n1\n6 1"),
        ("x.vbp", "2\n10 20\n2\n6 3 1"),
        ("x.txt", "1\n10\n-6"),
        ("x.txt", "1\n10\nsix"),
        ("x.json", "{}"),
        ("x.json", "[1]"),
        ("x.json", document('"demand": {"any": [1]}').replace('"resources": ["', '"resources": [5, "')),
        ("x.json", document('"demand": [1]')),
        ("x.json", '{"tasks": 3}'),
        ("x.json", "no JSON"),
        ("x.json", document()),
        ("x.json", document('"demand": {"any": [1]}').replace('"price"', '"cost"')),
        *[
            ("x.json", document(f'"demand": {{"any": [{amount}]}}'))
            for amount in ("0.3000000000000005", "1e999", '"1"', "", "1, 1")
        ],
        ("x.json", document('"demand": {"any": [1]}', capacity="1125899906842.625")),
        ("x.json", document('"demand": {"any": [1]}', price="1e-999999999")),
    ],
)
def test_what_is_no_instance(read, name, text):
    with pytest.raises(InstanceError, match=r"no instance that can be checked"):
        read(name, text)
