"""Public formats of bin packing."""

import zipfile

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import (
    PROVISIONING,
    Provisioning,
    bpplib,
    bpplib_csp,
    mvp,
    orlib,
    read_instance,
    vbp,
    verify,
    write_instance,
)

# Five items of three kinds; the first and the last line are equal.
VECTORS = "2\n10 20\n4\n6 3 1\n0 20 1\n5 5 2\n6 3 1\n"
WEIGHTS = "4\n10\n6\n4\n6\n1\n"


@pytest.fixture
def given(tmp_path):
    def given(read, text, **parameters):
        (tmp_path / "some.vbp").write_text(text)
        return read(tmp_path / "some.vbp", **parameters)

    return given


def test_vectors(given):
    made = given(vbp, VECTORS, name="mine")
    assert (made.name, made.resources, made.price.tolist()) == ("mine", ("size_0", "size_1"), [1_000_000])
    # Kept in thousandths, as all resources that are no memory.
    assert made.capacity.tolist() == [[10_000, 20_000]]
    assert made.demand.tolist() == [[[6000, 3000], [0, 20_000], [5000, 5000]]]
    assert made.counts.tolist() == [2, 1, 2]
    assert given(vbp, "\ufeff" + VECTORS, name="mine").digest == made.digest


def test_weights(given):
    made = given(bpplib, WEIGHTS)
    assert (made.resources, made.capacity.tolist()) == (("size",), [[10_000]])
    assert (made.demand.tolist(), made.counts.tolist()) == ([[[6000], [4000], [1000]]], [2, 1, 1])
    # 6 + 4 and 6 + 1.
    solution = Provisioning.from_tasks(made, [0, 0], [0, 1, 0, 1])
    assert verify(made, solution) == 2_000_000


def test_cutting_stock(given):
    """Three kinds of items, one of which there is twice: what `bpplib` reads of the single items."""
    made = given(bpplib_csp, "3\n10\n6 2\n4 1\n1 1\n", name="mine")
    assert made.digest == given(bpplib, WEIGHTS, name="mine").digest


def test_bins_of_several_types(given):
    """A small bin of price 3, as many as one likes, and two large ones of price 5; the second item is there twice."""
    made = given(mvp, "2\n2\n10 10 3 -1\n20 30 5 2\n2\n1 1\n6 3\n1 2\n11 30\n")
    assert made.type_names == ("bin-0", "bin-1")
    assert made.capacity.tolist() == [[10_000, 10_000], [20_000, 30_000]]
    assert (made.price.tolist(), made.stock.tolist()) == ([3_000_000, 5_000_000], [-1, 2])
    assert (made.demand.tolist(), made.counts.tolist()) == ([[[6000, 3000], [11_000, 30_000]]], [1, 2])
    assert PROVISIONING.unit_of(made) == "price of bins"
    assert verify(made, Provisioning.from_tasks(made, [0, 1, 1], [0, 1, 2])) == 13_000_000


# Two problems, the second with decimals.
LIBRARY = "2\n u4_00\n10 4 2\n6\n4\n6\n1\n t3_00\n 100.0 3 1\n49.5\n25.1\n25.4\n"


def test_problems_of_the_or_library(given):
    first, second = given(orlib, LIBRARY), given(orlib, LIBRARY, problem="t3_00")
    assert (first.name, second.name) == ("u4_00", "t3_00")
    # Whole numbers are tenths too, since others of the file are.
    assert first.capacity.tolist() == [[100_000]]
    assert (first.demand.tolist(), first.counts.tolist()) == ([[[60_000], [40_000], [10_000]]], [2, 1, 1])
    assert second.demand.tolist() == [[[495_000], [251_000], [254_000]]]
    with pytest.raises(
        InstanceError, match=r"some.vbp has no problem 'u4_01'; did you mean u4_00.* it has u4_00, t3_00"
    ):
        given(orlib, LIBRARY, problem="u4_01")


def test_the_name_is_that_of_the_file_and_its_folder(given, tmp_path):
    assert given(vbp, VECTORS).name.endswith("-some")
    with zipfile.ZipFile(tmp_path / "sets.zip", "w") as archive:
        archive.writestr("New/class1_20_3_0.vbp", VECTORS)
    assert vbp(tmp_path / "sets.zip", member="New/class1_20_3_0.vbp").name == "New-class1_20_3_0"


def test_bins_are_counted_and_no_dollars(given, tmp_path):
    """The unit survives in files, and is no part of the digest."""
    made = given(bpplib, WEIGHTS)
    write_instance(made, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert [PROVISIONING.unit_of(each) for each in (made, again, made.replace(unit=""))] == ["bins", "bins", "$/h"]
    assert made.digest == again.digest == made.replace(unit="").digest


def test_what_is_read_is_written_and_read_again(given, tmp_path):
    made = given(vbp, VECTORS)
    write_instance(made, tmp_path / "x.json")
    assert read_instance(tmp_path / "x.json").digest == made.digest


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (vbp, "2\n10 20\n1\n-1 3 1\n", "some.vbp line 4: a size is -1; it must not be negative"),
        (vbp, "2\n10 20\n1\n11 3 1\n", "line 4: size 11 in dimension 1 is above the capacity 10"),
        (vbp, "2\n10 20\n2\n6 3 1\n", "ends after line 4, where a size is missing"),
        (vbp, "2\n10 20\n1\n6 3 1\n7 7 1\n", "line 5: '7' follows the last of the items"),
        (vbp, "2\n10 20\n1\n6 x 1\n", "line 4: a size is 'x', not a whole number"),
        (vbp, "2\n10 20\n1\n6 3 0\n", "line 4: the number of such items is 0; it must be at least 1"),
        (vbp, "0\n", "line 1: the number of dimensions is 0; it must be at least 1"),
        (vbp, "", "ends after line 0, where the number of dimensions is missing"),
        (vbp, "999999999999\n1 1 1", "ends after line 2, where a capacity is missing"),
        (bpplib, "2\n10\n3.5\n4\n", "line 3: a size is '3.5', not a whole number"),
        (bpplib, "2\n10\n11\n4\n", "line 3: size 11 in dimension 1 is above the capacity 10"),
        (bpplib, "3\n10\n1\n4\n", "ends after line 4, where a size is missing"),
        (bpplib_csp, "1\n10\n4 0\n", "line 3: the number of such items is 0"),
        (mvp, "1\n1\n10 3 -1\n1\n2 1\n4\n5\n", "line 5: item 0 is packed in 2 ways; only items of one are read"),
        (mvp, "1\n1\n10 3 -2\n1\n1 1\n4\n", "the number of bins is -2; it must not be negative"),
        (orlib, "1\nu1\n10 1 1\n4.x\n", "line 4: a size is '4.x', not a whole number"),
        (orlib, "1\n", "ends after line 1, where the name of a problem is missing"),
    ],
)
def test_what_is_malformed_is_told_with_line_and_value(given, read, text, said):
    with pytest.raises(InstanceError, match=said):
        given(read, text)


def test_what_is_no_text(tmp_path):
    (tmp_path / "x.vbp").write_bytes(b"\xff\xfe1")
    with pytest.raises(InstanceError, match=r"x\.vbp: no text"):
        vbp(tmp_path / "x.vbp")
