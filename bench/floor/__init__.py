"""What a running cluster pays above the least that anybody could: the floor, the best plan, and price against moves."""

from schedgap.bench.floor.found import Floor, Point
from schedgap.bench.floor.search import floor
from schedgap.bench.floor.text import floor_lines

__all__ = ["Floor", "Point", "floor", "floor_lines"]
