"""A document of everything that tables can be, there and back."""

import json
import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from schedgap.instances.documents import (
    DOCUMENTS,
    Array,
    Columns,
    Count,
    Field,
    Index,
    InstanceDocument,
    Lookup,
    Positive,
    Rows,
    Stored,
    Value,
    inline_up_to,
    optional_names,
)
from schedgap.instances.errors import InstanceError


def known(owner):
    return owner.kind_names


DOCUMENT = InstanceDocument(
    "schedgap/test/1",
    SimpleNamespace,
    Value("limit", Positive, "limit_ms", scale=1000, default=None, omitted=True),
    Rows("kinds", Field("name", str, "kind_names"), Field("cores", Count, default=1, omitted=True), label="kind"),
    Rows("users", optional_names("user_names"), Lookup("kind", str, "user2kind", known=known), label="user"),
    Stored(
        "jobs",
        Columns(
            "jobs",
            Lookup("kind", str, "job2kind", known=known),
            Field("after", Index, default=-1, null=-1, omitted=True),
        ),
        arrays=[Array("job2kind"), Array("after")],
        size=lambda made: made.job2kind.size,
        inline=3,
    ),
)
# No family's: other tests, in the same process, go over all the formats there are.
del DOCUMENTS[DOCUMENT.schema]
GIVEN = {
    "schema": "schedgap/test/1",
    "name": "x",
    "limit": 1.5,
    "kinds": [{"name": "a"}, {"name": "b", "cores": 4}],
    "users": [{"kind": "b"}],
    "jobs": {"kind": ["b", "a"], "after": [None, 0]},
}


def read(tmp_path, **changes):
    document = {key: value for key, value in (GIVEN | changes).items() if value is not None}
    (tmp_path / "x.json").write_text(json.dumps(document))
    return DOCUMENT.read(tmp_path / "x.json")


def test_there_and_back(tmp_path):
    made = read(tmp_path)
    assert (made.limit_ms, made.kind_names, made.user_names) == (1500, ("a", "b"), None)
    assert [made.cores.tolist(), made.user2kind.tolist(), made.after.tolist()] == [[1, 4], [1], [-1, 0]]
    DOCUMENT.write(made, tmp_path / "y.json")
    assert json.loads((tmp_path / "y.json").read_text()) == GIVEN


def test_what_is_the_default_is_left_out(tmp_path):
    made = read(tmp_path, limit=None, jobs={"kind": ["a"]})
    assert (made.limit_ms, made.after.tolist()) == (None, [-1])
    DOCUMENT.write(made, tmp_path / "y.json")
    written = json.loads((tmp_path / "y.json").read_text())
    assert (written["jobs"], "limit" in written) == ({"kind": ["a"]}, False)


def test_large_parts_are_beside(tmp_path):
    made = read(tmp_path, jobs={"kind": ["a"] * 4})
    DOCUMENT.write(made, tmp_path / "y.json")
    written = json.loads((tmp_path / "y.json").read_text())
    assert (written["jobs_file"], "jobs" in written) == ("y.arrays.npz", False)
    again = DOCUMENT.read(tmp_path / "y.json")
    assert np.array_equal(again.job2kind, made.job2kind)
    assert np.array_equal(again.after, made.after)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": None}, "give either 'jobs' or 'jobs_file', not both and not neither"),
        ({"jobs_file": "y.npz"}, "give either 'jobs' or 'jobs_file', not both and not neither"),
        ({"jobs": {"kind": ["a"], "after": [0, 1]}}, "jobs: after has 2 entries, kind has 1; give one each"),
        ({"jobs": {"kind": ["a", "z"]}}, "jobs.kind.1 is 'z'; the instance has a, b"),
        ({"users": [{"kind": "z"}]}, "user 0 has kind 'z'; the instance has a, b"),
        ({"users": [{"name": "u", "kind": "z"}]}, "user u has kind 'z'; the instance has a, b"),
        ({"limit": 0.0001}, "limit: 0.0001 is not a whole number of 1/1000"),
        ({"kinds": [{"name": "a", "core": 1}]}, "kinds.0.core: unknown field"),
    ],
)
def test_messages(tmp_path, changes, message):
    with pytest.raises(InstanceError, match=f"^x.json: {message}"):
        read(tmp_path, **changes)


def test_inline_up_to(tmp_path):
    """Four jobs go to a file beside, unless the document is to be whole, and one if it is not; what is read is the same."""
    many = read(tmp_path, jobs={"kind": ["b", "a", "a", "b"], "after": [None, 0, 1, None]})
    for folder, how, is_whole in (
        (tmp_path / "usual", nullcontext(), False),
        (tmp_path / "whole", inline_up_to(math.inf), True),
        (tmp_path / "apart", inline_up_to(-1), False),
    ):
        folder.mkdir()
        with how:
            DOCUMENT.write(many, folder / "y.json")
        assert (folder / "y.arrays.npz").exists() is not is_whole
        back = DOCUMENT.read(folder / "y.json")
        assert back.job2kind.tolist() == many.job2kind.tolist()
        assert back.after.tolist() == [-1, 0, 1, -1]
