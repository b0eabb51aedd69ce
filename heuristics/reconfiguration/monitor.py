"""Eva's ThroughputMonitor (sections 4.3, 4.4 and 5): which tasks slow each other down, learned as they run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_monitor import COUNTS, Table, observe, rehash, throughput_beside
from schedgap.heuristics.reconfiguration.observation import Observation
from schedgap.instances.errors import MethodError

SEMANTICS = ("artifact", "paper")
FIRST_CLASSES, FIRST_SLOTS = 16, 256


class ThroughputMonitor:
    """The co-location throughput table, for policies that keep one in `observation.memory`.

    default : throughput of a task beside one with which it has not been seen yet (tau).
    semantics : `artifact`, an entry is the mean of what was observed, as in the authors' code; `paper`, the largest
        of it, since what is put down to one task of a job is a lower bound of its throughput (section 4.4).

    Raises
    ------
    MethodError
        if the default is outside [0, 1] or the semantics unknown.
    """

    def __init__(self, default: float = 0.95, semantics: str = "artifact") -> None:
        """Begin with nothing observed."""
        if not 0 <= default <= 1:
            raise MethodError(f"tau is {default:g}; give a throughput from 0 to 1.")
        if semantics not in SEMANTICS:
            raise MethodError(f"semantics is '{semantics}'; it is one of {', '.join(SEMANTICS)}.")
        self.default = default
        self.by_maximum = semantics == "paper"
        # The table's answers do not depend on the numbers drawn.
        self._numbers = np.random.default_rng(20250330)
        self.table = Table(
            number_beside=np.empty(0, np.int64),
            number_itself=np.empty(0, np.int64),
            key=np.zeros(FIRST_SLOTS, np.int64),
            times=np.zeros(FIRST_SLOTS, np.int64),
            value=np.zeros(FIRST_SLOTS),
            alone=np.empty(0),
            pair=np.empty((0, 0)),
            count=np.zeros(1, COUNTS),
        )
        self.know_classes(FIRST_CLASSES)

    @property
    def changes(self) -> int:
        """How often a value of the table has changed: as long as it has not, neither has any look-up."""
        return int(self.table.count["changes"][0])

    def observe(self, observation: Observation) -> None:
        """Record what the tasks of an observation show, once a plan."""
        self.know_classes(observation.demand.shape[1])
        self._make_room(observation.num_tasks)
        observe(
            self.table,
            observation.task_job,
            observation.task_class,
            observation.task_held_on,
            observation.task_rate,
            observation.machine_running,
            self.by_maximum,
        )

    def throughput(self, task_class: int, beside: Sequence[int]) -> float:
        """Return the normalised throughput of a task of a class beside tasks of the given classes.

        Raises
        ------
        MethodError
            for a class that has not been seen in an observation.
        """
        classes = np.array(beside, np.int64)
        known = self.table.alone.shape[0]
        for c in (task_class, *classes.tolist()):
            if not 0 <= c < known:
                raise MethodError(f"task class {c} has not been seen; classes are numbered from 0 as they arrive.")
        return throughput_beside(self.table, task_class, classes, classes.shape[0])

    def know_classes(self, number: int) -> None:
        """Make room for that many classes; without it, look-ups of a new class have no answer."""
        known = self.table.alone.shape[0]
        if number <= known:
            return
        wanted = max(number, 2 * known)
        bits = np.iinfo(np.int64)
        beside, itself = self._numbers.integers(bits.min, bits.max, (wanted - known, 2), endpoint=True).T
        alone = np.ones(wanted)
        alone[:known] = self.table.alone
        pair = np.full((wanted, wanted), self.default)
        pair[:known, :known] = self.table.pair
        self.table = self.table._replace(
            number_beside=np.concatenate((self.table.number_beside, beside)),
            number_itself=np.concatenate((self.table.number_itself, itself)),
            alone=alone,
            pair=pair,
        )

    def _make_room(self, more: int) -> None:
        """Keep at least half of the slots free, and move the entries to where they belong among more slots."""
        table, entries = self.table, int(self.table.count["entries"][0])
        slots = table.key.shape[0]
        if 2 * (entries + more) < slots:
            return
        while 2 * (entries + more) >= slots:
            slots *= 2
        key, times, value = np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots)
        self.table = table._replace(key=key, times=times, value=value)
        rehash(table, self.table)
