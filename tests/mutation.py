"""Damage to files, as disks, editors and other programs do it: for tests that no reader ends with a traceback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

DEEP = "[" * 5000 + "]" * 5000
# Written as they stand, since not all of them can be made from a value.
TOKENS = (
    *("null", "true", "-1", "0", "0.5", "1e308", "1e999", "-1e999", "NaN", "Infinity", "9" * 30, "9" * 5000, "2e-320"),
    *('""', '"x"', '"1"', '"\\ud800"', '"a\\u0000b"', "[]", "{}", "[[]]", '{"a": 1}', DEEP),
)
MARK = "\u2603 here"


def damaged_json(content: bytes, random: Random) -> bytes:
    """Return a document of which a value or two were replaced, removed, doubled or renamed."""
    document = json.loads(content)
    tokens = []
    for _ in range(random.choice((1, 1, 2))):
        places = [place for place in _places(document) if place[1] is not None]
        if not places:
            break
        parent, key = random.choice(places)
        match random.choice(("set", "set", "set", "drop", "double", "rename", "wrap")):
            case "set":
                parent[key] = f"{MARK} {len(tokens)}"
                tokens.append(random.choice(TOKENS))
            case "drop":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.insert(key, parent[key])
            case "rename" if isinstance(parent, dict):
                parent[random.choice(("", "x", "\ud800", f"{key} "))] = parent.pop(key)
            case _:
                parent[key] = [parent[key]]
    text = json.dumps(document)
    for number, token in enumerate(tokens):
        text = text.replace(json.dumps(f"{MARK} {number}"), token)
    return text.encode()


def damaged_bytes(content: bytes, random: Random) -> bytes:
    """Return bytes of which some were flipped, cut out, doubled or put in."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8, 50))):
        place = random.randrange(len(changed) or 1)
        match random.choice(("flip", "flip", "cut", "drop", "double", "insert")):
            case "flip" if changed:
                changed[place] ^= 1 << random.randrange(8)
            case "cut" if random.random() < 0.3:
                del changed[place:]
            case "drop":
                del changed[place : place + random.randrange(1, 60)]
            case "double":
                changed[place:place] = changed[place : place + random.randrange(1, 200)]
            case _:
                changed[place:place] = random.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\x00", random.randbytes(5)))
    return bytes(changed)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key or index) of all that a document holds."""
    found: list[tuple[Any, Any]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        found.append((value, key))
        found += _places(entry)
    return found
