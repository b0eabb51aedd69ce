"""How much of a journal one page shows: a page stays small whatever the journal holds, and says what it left out."""

from __future__ import annotations

from dataclasses import dataclass, fields

# More methods than these would share their marks in the figures.
MAX_METHODS = 48
# Besides all instances together, the figures show this many of the groups apart.
MAX_SCOPES = 8


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper limits of what a page holds.

    rows : of each table. points : single runs in the figures. curve : points of a curve. sweeps : figures over
    parameters. instances, runs : that can be looked at one by one. picture_bytes, curve_bytes : JSON of their pictures
    and of the curves in these. curve_figures : figures of curves for papers. text : characters of a name or a reason.
    """

    rows: int = 600
    points: int = 6000
    curve: int = 240
    sweeps: int = 24
    instances: int = 400
    runs: int = 6000
    picture_bytes: int = 1_000_000
    curve_bytes: int = 800_000
    curve_figures: int = 24
    text: int = 400

    def halved(self) -> Budget:
        """Return a budget of half the size."""
        return Budget(**{field.name: max(1, getattr(self, field.name) // 2) for field in fields(self)})


def clipped(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, with an ellipsis where it was cut.

    Half a surrogate pair, of which no font and no encoding knows, is replaced.
    """
    if not text.isascii():
        text = text.encode(errors="replace").decode()
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"
