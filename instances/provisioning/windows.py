"""Times at which a budget holds: a cron line in UTC, and for how long from each of its times on.

The five fields are minute, hour, day of the month, month and day of the week (0 is Sunday), as Kubernetes reads them: `*`,
`?`, numbers, three-letter names of months and days, ranges `1-5`, steps `*/15`, and lists of these. `@daily` and its like
are short for five fields. Where neither day field begins with a star, a day of either counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DAY_S

MINUTE_S = 60
EPOCH = date(1970, 1, 1).toordinal()
# That day was a Thursday.
FIRST_WEEKDAY = 4
SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 6, WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Window:
    """From each time of a cron line on, for so many seconds; its last second is not within."""

    cron: str
    duration_s: int

    def __post_init__(self) -> None:
        _parsed(self.cron)
        if self.duration_s < 1:
            raise InstanceError(f"the schedule '{self.cron:.60}' lasts {self.duration_s} s; give at least 1.")

    def holds(self, at_s: int) -> bool:
        """Whether a second, since 1970 in UTC, is within. O(days of the duration)."""
        minutes, days, months, weekdays, either = _parsed(self.cron)
        day, second = divmod(at_s, DAY_S)
        first = (at_s - self.duration_s) // DAY_S
        while day >= first:
            on = date.fromordinal(EPOCH + day)
            of_month, of_week = on.day in days, (day + FIRST_WEEKDAY) % 7 in weekdays
            if on.month in months and (of_month or of_week if either else of_month and of_week):
                last = max((m for m in minutes if m * MINUTE_S <= second), default=None)
                if last is not None:
                    # Earlier times end earlier.
                    return at_s - (day * DAY_S + last * MINUTE_S) < self.duration_s
            day, second = day - 1, DAY_S
        return False


@lru_cache(maxsize=256)
def _parsed(
    cron: str,
) -> tuple[frozenset[int], frozenset[int], frozenset[int], frozenset[int], bool]:
    """Return minutes of the day, days of the month, months, days of the week, and whether a day of either field counts.

    Raises
    ------
    InstanceError
        naming the field that is none.
    """
    given = SHORT.get(cron.strip(), cron).split()
    if len(given) != len(FIELDS):
        raise InstanceError(f"the schedule '{cron:.60}' has {len(given)} fields; give five, as cron has them.")
    found = [_values(text, *field) for text, field in zip(given, FIELDS, strict=True)]
    minutes = frozenset(60 * hour + minute for hour in found[1] for minute in found[0])
    stars = [any(part in ("*", "?", "*/1") for part in given[i].split(",")) for i in (2, 4)]
    return minutes, frozenset(found[2]), frozenset(found[3]), frozenset(found[4]), not any(stars)


def _values(text: str, what: str, low: int, high: int, names: tuple[str, ...]) -> set[int]:
    """Return what a field admits."""
    found: set[int] = set()
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        ends = [names.index(end) if end and end in names else end for end in span.split("-")]
        if span in ("*", "?"):
            ends = [low, high]
        elif len(ends) == 1 and step:
            ends.append(high)
        if not all(str(end).isdecimal() for end in (*ends, step or 1)) or len(ends) > 2:
            raise InstanceError(f"a schedule has '{text:.60}' as its {what}; give numbers, ranges, steps or a star.")
        first, last, stride = int(ends[0]), int(ends[-1]), int(step or 1)
        if not low <= first <= last <= high or stride < 1:
            raise InstanceError(f"a schedule has '{text:.60}' as its {what}; give {low} to {high}, in order.")
        found.update(range(first, last + 1, stride))
    return found
