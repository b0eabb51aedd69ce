"""What a running cluster pays above the least that anybody could: the floor, the best plan, and price against disruption."""

from schedgap.bench.floor.search import Floor, Point, floor
from schedgap.bench.floor.text import floor_lines

__all__ = ["Floor", "Point", "floor", "floor_lines"]
