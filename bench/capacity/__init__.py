"""What a running cluster could hold: how it is used, what is stranded, what fits and what no moves make fit."""

from schedgap.bench.capacity.search import Capacity, Point, Question, capacity
from schedgap.bench.capacity.text import capacity_lines

__all__ = ["Capacity", "Point", "Question", "capacity", "capacity_lines"]
