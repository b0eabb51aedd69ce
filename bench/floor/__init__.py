"""What a running cluster pays above the least that anybody could: the floor, the best plan, and price against moves."""

from schedgap.bench.floor.found import HOURLY, MONTH_H, Floor, Point
from schedgap.bench.floor.search import floor

__all__ = ["HOURLY", "MONTH_H", "Floor", "Point", "floor"]
