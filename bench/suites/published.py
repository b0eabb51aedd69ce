"""What a suite shows of its runs beside a published source: its figures, its setting, and plots and maps like its own."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

# Parts of a suite's file refuse what they do not know, and numbers that are none.
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class _Strict(BaseModel):
    model_config = STRICT


class Reference(_Strict):
    """A published figure to show beside ours, for a method and, if given, one group or one size of instances.

    tasks : the size, as the family measures it (see `Family.size`).
    measures : figures by the names of the family's measures.
    """

    method: str
    name: str
    group: str | None = None
    tasks: int | None = None
    mean: float | None = None
    std: float | None = None
    time_s: float | None = None
    note: str = ""
    measures: dict[str, float] = {}


class Setting(_Strict):
    """What must hold of a suite's runs for the paper's figures to be comparable: a mean over each group, within bounds.

    method : whose runs, by its label. groups : in which; empty for all. why : where the paper says so.
    """

    measure: str
    method: str
    least: float | None = None
    most: float | None = None
    groups: list[str] = []
    why: str

    @model_validator(mode="after")
    def _is_bounded(self) -> Setting:
        if self.least is None and self.most is None:
            raise ValueError("give 'least' or 'most', or both")
        return self

    def holds(self, value: float) -> bool:
        """Return whether a mean is within the bounds."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


class Sweep(_Strict):
    """A figure of the report: a measure against a parameter, a line for each method without it.

    x : a parameter of the methods, else of the instances, else another measure. methods : names of those to show, empty
    for all. price : a parameter of the instances that prices x against y, so that the objective is y + worth x, where
    `worth` is a measure: every instance's bound then lies under all points of the others that differ in the price only.
    """

    title: str
    x: str
    y: str
    methods: list[str] = []
    log_y: bool = False
    price: str = ""
    worth: str = ""


class Map(_Strict):
    """A table of which method is the best where: by the lowest mean of a measure, for each pair of two parameters' values.

    x, y : parameters of the instances; those of each group have a map of their own. methods : labels of those to compare,
    empty for all.
    """

    title: str
    x: str
    y: str
    measure: str
    methods: list[str] = []
