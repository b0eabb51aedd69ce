"""Instances and solutions in one short line; their arrays may have millions of entries."""

from __future__ import annotations

import numpy as np


class Brief:
    """Has what it is, its name and its counts (`num_tasks`: `4 tasks`) as `repr`; without counts, its arrays' shapes.

    For dataclasses with `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        kind = type(self)
        counts = ((key[4:].replace("_", " "), getattr(self, key)) for key in dir(kind) if key.startswith("num_"))
        facts = [f"{count} {what}" for what, count in counts if isinstance(count, int)]
        if not facts:
            held = ((key, getattr(self, key)) for key in kind.__match_args__)  # type: ignore[attr-defined]
            facts = [f"{key} {value.shape}" for key, value in held if isinstance(value, np.ndarray)]
        name = getattr(self, "name", "")
        return f"<{kind.__name__}{name and f' {name:.80}'}: {', '.join(facts)}>"
