"""From one text to the next: what a walk finds is what a reader of the whole text sees."""

import json

import msgspec
import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.past.looks import read_look


class Seen(msgspec.Struct):
    key: int
    text: bytes


def read(text, kind):
    """Objects go by their number; what is no JSON is refused."""
    try:
        return Seen(json.loads(text)["metadata"]["number"], text)
    except ValueError as error:
        raise InstanceError(str(error)) from None


def item(number, version=0, **more):
    meta = {
        "annotations": {"last": json.dumps({"resourceVersion": "7"})},
        "number": number,
        "resourceVersion": str(version),
    }
    owners = [{"apiVersion": "v1", "kind": "x"}, {"apiVersion": "v1", "kind": "y"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta | more, "owners": owners}


def text_of(items, indent=None):
    document = {"apiVersion": "v1", "items": items, "kind": "List"}
    return json.dumps(document, indent=indent, separators=None if indent else (",", ":")).encode()


def edited(rng, items, number):
    """Objects with some gone, come, changed, moved, and all of their versions others."""
    kept = [each for each in items if rng.random() > 0.2]
    for _ in range(int(rng.integers(0, 4))):
        kept.insert(int(rng.integers(0, len(kept) + 1)), item(number := number + 1))
    for at in range(len(kept)):
        if rng.random() < 0.2:
            kept[at] = item(kept[at]["metadata"]["number"], size="x" * int(rng.integers(0, 9)))
        if rng.random() < 0.5:
            kept[at] = json.loads(json.dumps(kept[at]))
            kept[at]["metadata"]["resourceVersion"] = str(rng.integers(0, 30))
    if rng.random() < 0.2 and len(kept) > 2:
        kept.append(kept.pop(0))
    return kept, number


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("seed", range(6))
def test_a_walk_sees_what_a_reader_of_the_whole_text_sees(seed, indent):
    rng, number = np.random.default_rng(seed), 8
    items = [item(n) for n in range(number)]
    look = read_look(text_of(items, indent), read)
    known = {each.key: each.text for each in look.come}
    for _ in range(30):
        before = {each["metadata"]["number"]: each for each in items}
        items, number = edited(rng, items, number)
        look = read_look(text_of(items, indent), read, look)
        whole = read_look(look.text, read)
        for key in ("keys", "first", "last", "passing", "kind"):
            assert np.array_equal(getattr(look, key), getattr(whole, key)), key
        came, gone = {each.key: each.text for each in look.come}, set(look.gone)
        now = {each["metadata"]["number"]: each for each in items}
        assert before.keys() - now.keys() <= gone <= (before.keys() - now.keys()) | came.keys()
        known |= came
        for key, each in now.items():
            last = json.loads(known[key])
            assert last["metadata"] | {"resourceVersion": 0} == each["metadata"] | {"resourceVersion": 0}


def test_only_what_changed_is_read():
    """Of 50 objects the third is gone, the tenth other, one is new at the end; all have other versions."""
    read_now = []

    def counting(text, kind):
        read_now.append(text)
        return read(text, kind)

    look = read_look(text_of([item(n, 10 + n) for n in range(50)]), counting)
    read_now.clear()
    items = [item(n, 30 + n, **{"size": 1} if n == 10 else {}) for n in range(51) if n != 3]
    look = read_look(text_of(items), counting, look)
    assert [each.key for each in look.come] == [10, 50]
    assert look.gone == [3]
    assert len(read_now) <= 4


def test_a_list_with_a_version_is_walked_too():
    """Only the object that changed is read, though the list is of another version, one figure longer."""
    read_now = []

    def counting(text, kind):
        read_now.append(kind)
        return read(text, kind)

    def raw(version, *items):
        head = {"kind": "PodList", "metadata": {"resourceVersion": version}}
        return json.dumps(head | {"items": items}).encode()

    look = read_look(raw("99", *(item(n) for n in range(9))), counting)
    read_now.clear()
    look = read_look(raw("100", *(item(n, **{"size": 1} if n == 4 else {}) for n in range(9))), counting, look)
    assert (read_now, [each.key for each in look.come]) == (["Pod"], [4])


def test_what_ends_a_version_is_no_part_of_one():
    """Where a version was, there is one of a figure now, and another field."""
    look = read_look(text_of([item(0, 12345678), item(1)]), read)
    text = look.text.replace(b'"12345678"', b'"1","x":""')
    assert [each.text for each in read_look(text, read, look).come] == [text[look.first[0] : look.last[0]]]


@pytest.mark.parametrize("damage", [slice(0, -1), slice(3, None), slice(0, 40)])
def test_a_damaged_text_is_refused(damage):
    look = read_look(text_of([item(n) for n in range(5)]), read)
    with pytest.raises(InstanceError):
        read_look(look.text[damage], read, look)


def test_damage_within_an_object_is_refused():
    look = read_look(text_of([item(n) for n in range(5)]), read)
    for at in range(len(look.text)):
        text = look.text[:at] + b"}" + look.text[at:]
        try:
            json.loads(text)
        except ValueError:
            with pytest.raises(InstanceError):
                read_look(text, read, look)
