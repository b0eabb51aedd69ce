"""Seeds that depend on what is compared, never on who is compared: two methods always see the same randomness."""

from __future__ import annotations

import hashlib


def derived_seed(*parts: object) -> int:
    """Return a seed in [0, 2**63) hashed from the parts, e.g. (base seed, instance digest, repetition)."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
