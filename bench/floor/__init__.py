"""What a running cluster pays above the least that anybody could: the floor, the best plan, and price against disruption.

The same over days: what a cluster cost, and what others would have paid.
"""

from schedgap.bench.floor.over import Bill, floor_over
from schedgap.bench.floor.search import Floor, Point, floor
from schedgap.bench.floor.text import floor_lines, over_lines

__all__ = ["Bill", "Floor", "Point", "floor", "floor_lines", "floor_over", "over_lines"]
