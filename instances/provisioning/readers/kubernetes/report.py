"""What an import has to say: what was taken, left out and relaxed, with numbers and names."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_NAMES = 5


@dataclass(slots=True)
class Report:
    """Pods by reason and name of their owner. sentences : what is no matter of pods."""

    left_out: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    relaxed: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    informed: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sentences: list[str] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return all as sentences: every kind with the number of pods, and some names."""
        return (
            *self.sentences,
            *_sentences("Left out", self.left_out),
            *_sentences("Relaxed", self.relaxed),
            *_sentences("For information", self.informed),
        )


def _sentences(what: str, kinds: Mapping[str, Counter[str]]) -> list[str]:
    made = []
    for kind, names in sorted(kinds.items()):
        total = names.total()
        shown = [name if count == 1 else f"{name} ({count})" for name, count in sorted(names.items())[:MOST_NAMES]]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        made.append(f"{what}: {kind}: {total} pod{'s' * (total != 1)}: {', '.join(shown)}{more}.")
    return made
